#!/usr/bin/python3
"""Makes the test vectors of docs/FORMAT.md section 13: an independent writer of the format, fed with fixed inputs.

usage: make_vectors.py [DIR]          writes the vectors (DIR: Tests/VectorTests/Vectors beside this script's folder)
       make_vectors.py --check [DIR]  compares the files there with what would be written; exit 1 on a difference
       make_vectors.py --vault VAULT PLAIN
                                      makes a small vault, and the same tree in plain (both must not exist yet)

Two runs give the same bytes. The form of the files is described in README.md beside them. Exit codes: 0, 1, 2 usage.
Needs Debian's python3-cryptography and python3-argon2.
"""
import base64
import hashlib
import hmac
import json
import os
import struct
import sys

try:
    from argon2.low_level import Type, hash_secret_raw
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.ciphers import algorithms
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV, ChaCha20Poly1305
    from cryptography.hazmat.primitives.cmac import CMAC
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
except ImportError as problem:
    print(f"make_vectors: {problem}; install Debian's python3-cryptography and python3-argon2, and use /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

PAGE, BLOCKS, GROUP, GROUP_BACKING = 4096, 64, 262144, 266240
AES, CHACHA = 1, 2
CIPHERS = {AES: ("aes", AESGCM), CHACHA: ("chacha", ChaCha20Poly1305)}
VOLUME = bytes(range(32))
SESSION = bytes(range(0xA0, 0xB0))


def stream(label, count):
    """The deterministic stream: SHA-256 of label, a zero byte and a counter (8 bytes), one after the other."""
    parts = (hashlib.sha256(label.encode() + b"\0" + struct.pack("<Q", n)).digest() for n in range(-(-count // 32)))
    return b"".join(parts)[:count]


def expand(key, label, context=b"", length=32):
    """EXPAND of FORMAT 1."""
    return HKDFExpand(hashes.SHA256(), length, label.encode() + b"\0" + context).derive(key)


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def b64(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def siv(key, components, plaintext):
    """AES-256-SIV by the library; an empty plaintext, which it refuses, by hand (RFC 5297 section 2.4: CMAC of dbl(D) xor pad)."""
    if plaintext:
        return AESSIV(key).encrypt(plaintext, components)

    def cmac(message):
        engine = CMAC(algorithms.AES(key[:32]))
        engine.update(message)
        return int.from_bytes(engine.finalize(), "big")

    def double(value):
        return (value << 1 & (1 << 128) - 1) ^ 0x87 * (value >> 127)

    value = cmac(bytes(16))
    for component in components:
        value = double(value) ^ cmac(component)
    return cmac((double(value) ^ 0x80 << 120).to_bytes(16, "big")).to_bytes(16, "big")


class Keys:
    """FORMAT 4."""

    def __init__(self, volume):
        self.volume = volume
        self.key_id = expand(volume, "sfs1 key id", length=8)
        self.content = expand(volume, "sfs1 content")
        self.names, self.symlinks, self.xattrs = (
            expand(volume, f"sfs1 {what}", length=64) for what in ("names", "symlinks", "xattrs"))
        self.directory, self.config, self.session = (expand(volume, f"sfs1 {what}") for what in ("directory", "config", "session"))

    def group(self, file_id, group):
        return expand(expand(self.content, "sfs1 file", file_id), "sfs1 group", struct.pack("<Q", group))


KEYS, OTHER = Keys(VOLUME), Keys(stream("other volume", 32))


class ContentWriter:
    """Writes one content file (FORMAT 3). Random fields come from the stream under the file's own label."""

    def __init__(self, label, size, cipher=AES, flags=0, session=bytes(16), keys=KEYS):
        self.label, self.size, self.cipher, self.flags, self.session, self.keys = label, size, cipher, flags, session, keys
        self.file_id = stream(f"{label} file id", 32)
        self.nonces = 0
        self.entries, self.newest, self.seals, self.data = {}, {}, {}, {}

    def _seal(self, group, plaintext, associated):
        self.nonces += 1
        nonce = stream(f"{self.label} nonce {self.nonces}", 12)
        sealed = CIPHERS[self.cipher][1](self.keys.group(self.file_id, group)).encrypt(nonce, plaintext, associated(nonce))
        return nonce, sealed[:-16], sealed[-16:]

    def put(self, block, plaintext, slot=0, lost=False):
        """A version of a block in a slot, made the newest; `lost`: its data page never reached the disk."""
        group, index = divmod(block, BLOCKS)
        associated = b"\x42\x01" + bytes([self.cipher, 0]) + struct.pack("<HH", index, len(plaintext))
        nonce, ciphertext, tag = self._seal(group, plaintext, lambda _: associated)
        self.entries.setdefault(block, [bytes(30), bytes(30)])[slot] = nonce + tag + struct.pack("<H", len(plaintext))
        self.newest[block] = slot
        self.seals[group] = self.seals.get(group, 0) + 1
        if not lost:
            self.data[block] = ciphertext
        return self

    def _head(self, group, form, sequence, newest):
        page = bytearray(256)
        page[:16] = b"\x89SFS\r\n\x1a\n" + bytes([1, self.cipher, form, self.flags if group == 0 else 0]) + struct.pack("<I", group)
        page[48:64] = struct.pack("<QQ", sequence, newest)
        if group == 0:
            page[64:128] = self.file_id + self.keys.key_id + struct.pack("<Q", self.size) + self.session
        return page

    def _seal_page(self, page, group, patch, plaintext=b""):
        if patch:
            patch(page)
        nonce, ciphertext, tag = self._seal(group, plaintext, lambda n: bytes(page[:16]) + bytes(page[44:]))
        page[16:44] = nonce + tag
        return bytes(page) + ciphertext

    def inline(self, patch=None):
        """The backing file in the inline form; `patch(page)` changes the head before it is sealed."""
        return bytearray(self._seal_page(self._head(0, 1, 1, 0), 0, patch, stream(f"{self.label} content", self.size)))

    def page(self, group, patch=None):
        """A metadata page; `patch(page)` changes it before it is sealed."""
        inside = range(group * BLOCKS, (group + 1) * BLOCKS)
        newest = sum(self.newest.get(block, 0) << block % BLOCKS for block in inside)
        page = self._head(group, 2, self.seals.get(group, 0) + 1, newest)
        page += b"".join(b"".join(self.entries.get(block, [bytes(30), bytes(30)])) for block in inside)
        return self._seal_page(page, group, patch)

    def grouped(self, patch=None, group_patched=0, missing=()):
        """The backing file in the grouped form, as long as the size needs; pages of `missing` groups stay zero."""
        image = bytearray(PAGE * max(1, -(-self.size // GROUP)) + self.size)
        for group in range(max(1, -(-self.size // GROUP))):
            if group not in missing:
                place(image, GROUP_BACKING * group, self.page(group, patch if group == group_patched else None))
        for block, ciphertext in self.data.items():
            place(image, data_at(block), ciphertext)
        return image


def data_at(block):
    """Backing offset of a data page."""
    return GROUP_BACKING * (block // BLOCKS) + PAGE * (1 + block % BLOCKS)


def place(image, offset, piece):
    """Writes a piece; what lies past the end is dropped."""
    image[offset:offset + len(piece)] = piece[:max(0, len(image) - offset)]


def flip(image, offset, mask=1):
    image[offset] ^= mask
    return image


def cut(image, length):
    del image[length:]
    return image


class Vectors:
    """Collects vectors: name → text."""

    def __init__(self):
        self.files = {}

    def add(self, name, kind, expect, raw=b"", /, *, comment="", **fields):
        """One vector; underscores in field names become hyphens."""
        assert name not in self.files, name
        given = {"kind": kind, "expect": expect}
        given.update((key.replace("_", "-"), value.hex() if isinstance(value, bytes) else str(value)) for key, value in fields.items())
        if kind != "keys" and kind != "accumulated":
            given["backing-length"] = str(len(raw))
        if comment:
            given["comment"] = comment
        lines = [f"{key}: {value}".rstrip() for key, value in given.items()] + [""]
        for at in range(0, len(raw), 64):
            piece = bytes(raw[at:at + 64])
            if any(piece):
                lines.append(f"{at} {piece.hex()}")
        self.files[name + ".vec"] = "\n".join(lines) + "\n"

    def content(self, name, raw, plaintext, /, notes=0, keys=KEYS, **fields):
        """A content file that opens."""
        self.add(name, "content", "ok", raw, key=keys.volume, size=len(plaintext),
                 payload_sha256=hashlib.sha256(plaintext).digest(), notes=notes, **fields)

    def refused(self, name, raw, code, block, **fields):
        """A content file that does not."""
        self.add(name, "content", code, raw, at_block=block, key=VOLUME, **fields)


def text(label, count):
    """Plaintext of a test file."""
    return stream(f"{label} plaintext", count)


# ------------------------------------------------------------------------------------------------- content: what opens


def content_ok(out):
    out.content("ok_empty", b"", b"", comment="a backing file of no bytes")
    for cipher, (suffix, _) in CIPHERS.items():
        for size in (0, 1, 3839):
            label = f"inline {size} {suffix}"
            out.content(f"ok_inline_{size}.{suffix}", ContentWriter(label, size, cipher).inline(), stream(f"{label} content", size))
        for size in (1, 3840, 4096, 4097):
            label = f"grouped {size} {suffix}"
            plain, writer = text(label, size), ContentWriter(label, size, cipher)
            for block in range(-(-size // PAGE)):
                writer.put(block, plain[PAGE * block:PAGE * (block + 1)])
            out.content(f"ok_grouped_{size}.{suffix}", writer.grouped(), plain)
        label = f"two groups {suffix}"
        head, tail = text(label, 40), text(label + " tail", 10)
        writer = ContentWriter(label, GROUP + 10, cipher).put(1, head).put(BLOCKS, tail)
        out.content(f"ok_two_groups.{suffix}", writer.grouped(), bytes(PAGE) + head + bytes(GROUP - PAGE - 40) + tail,
                    comment="block 1 and block 64; the others are holes")
        writer = ContentWriter(f"sparse {suffix}", 2 * GROUP + 10, cipher, flags=1).put(0, head).put(2 * BLOCKS, tail)
        out.content(f"ok_sparse_hole_group.{suffix}", writer.grouped(missing=[1]), head + bytes(2 * GROUP - 40) + tail,
                    comment="group 1 has no metadata page and the file is flagged sparse")
        writer = ContentWriter(f"short block {suffix}", PAGE + 100, cipher).put(0, head).put(1, tail)
        out.content(f"ok_block_shorter_than_size.{suffix}", writer.grouped(), head + bytes(PAGE - 40) + tail + bytes(90))
        writer = two_versions(f"slot 1 {suffix}", cipher)
        out.content(f"ok_slot1_newest.{suffix}", writer.grouped(), text(f"slot 1 {suffix} new", 200))
    label = "excess"
    writer = ContentWriter(label, 100).put(0, text(label, 100))
    out.content("ok_excess_ignored", writer.grouped() + stream("rubbish", 5000), text(label, 100))
    out.content("ok_excess_after_inline", ContentWriter("excess inline", 50).inline() + stream("rubbish", 40),
                stream("excess inline content", 50))
    image = ContentWriter("conversion", 50).inline()
    image += bytes(PAGE - len(image)) + stream("conversion block", 900)
    out.content("ok_inline_with_blocks_behind", image, stream("conversion content", 50),
                comment="a conversion to the grouped form that ended before page 0: page 0 is inline, whatever the backing length")
    image = ContentWriter("page slack", PAGE + 10).put(0, text("page slack", 100)).put(1, text("page slack", 10)).grouped()
    place(image, data_at(0) + 100, stream("rubbish", 300))
    out.content("ok_bytes_behind_block_ignored", image, text("page slack", 100) + bytes(PAGE - 100) + text("page slack", 10),
                comment="what follows a block's ciphertext in its page is not read")
    writer = ContentWriter("longer block", 30).put(0, text("longer block", 100))
    out.content("ok_block_longer_than_size", writer.grouped() + writer.data[0][30:], text("longer block", 30))
    writer = two_versions("other session")
    writer.session = SESSION
    out.content("ok_session_ended", writer.grouped(), text("other session new", 200), session="none",
                comment="the session it names is neither dead nor open: strict reading")


def two_versions(label, cipher=AES, session=bytes(16), lost=False):
    """Block 0 in two versions of 200 bytes: old in slot 0, new in slot 1; `lost`: the page still holds the old one."""
    writer = ContentWriter(label, 200, cipher, session=session)
    return writer.put(0, text(f"{label} old", 200)).put(0, text(f"{label} new", 200), slot=1, lost=lost)


# -------------------------------------------------------------------------------------------------- content: lenient


def content_lenient(out):
    old_back = two_versions("put back", session=SESSION, lost=True).grouped()
    out.content("lenient_old_slot", old_back, text("put back old", 200), session="dead", comment="same bytes as strict_old_slot_not_tried")
    out.refused("strict_old_slot_not_tried", old_back, "damaged", 0, session="none")
    out.content("lenient_old_slot_open_session", old_back, text("put back old", 200), session="open")
    clean = two_versions("clean", lost=True).grouped()
    out.refused("strict_without_session", clean, "damaged", 0, session="dead",
                comment="the file names no session: strict, though the vault has dead sessions")
    out.content("lenient_standalone", two_versions_standalone(SESSION), text("standalone old", 200), session="none", place="standalone",
                comment="a standalone file with a session: its writer died")
    out.refused("strict_standalone_closed", two_versions_standalone(bytes(16)), "damaged", 0, place="standalone")
    whole = ContentWriter("standalone whole", 200, flags=2).put(0, text("standalone whole", 200)).grouped()
    out.content("ok_standalone", whole, text("standalone whole", 200), place="standalone")
    out.refused("standalone_in_vault", whole, "damaged", 0, comment="same bytes as ok_standalone")
    out.refused("vault_file_outside", ContentWriter("vault file", 200).put(0, text("vault file", 200)).grouped(), "badMagic", 0, place="standalone",
                comment="without the standalone flag: a file of a vault, which is to be used through it")
    out.content("ok_standalone_inline", ContentWriter("standalone inline", 100, flags=2).inline(), stream("standalone inline content", 100),
                place="standalone")
    out.content("ok_standalone_empty", b"", b"", place="standalone", comment="a backing file of no bytes")
    for name, raw in (("zeros", bytes(2 * PAGE)), ("text", b"plaintext with content\n"), ("short", b"x")):
        out.refused(f"standalone_plaintext_{name}", raw, "badMagic", 0, place="standalone", comment="somebody else's file")
    out.refused("standalone_head_cut", ContentWriter("standalone head", 100, flags=2).inline()[:200], "damaged", 0, place="standalone")
    page_cut = ContentWriter("standalone cut", 100, session=SESSION, flags=2).inline()[:300]
    out.content("lenient_standalone_page_cut_is_empty", page_cut, b"", notes=1, place="standalone")
    out.refused("strict_standalone_page_cut", ContentWriter("standalone cut", 100, flags=2).inline()[:300], "truncated", 0, place="standalone")

    image = two_versions("both dead", session=SESSION).grouped()
    place(image, data_at(0), stream("rubbish", 200))
    out.refused("lenient_both_slots_dead", image, "damaged", 0, session="dead")
    writer = ContentWriter("first lost", PAGE + 20, session=SESSION)
    writer.put(0, text("first lost", PAGE), lost=True).put(1, text("first lost", 20))
    out.content("lenient_first_version_lost_is_hole", writer.grouped(), bytes(PAGE) + text("first lost", 20), notes=1, session="dead")
    out.refused("strict_first_version_lost", writer.grouped(), "damaged", 0)

    label = "shorter"
    writer = ContentWriter(label, 10000, session=SESSION)
    for block in range(3):
        writer.put(block, text(f"{label} {block}", min(PAGE, 10000 - PAGE * block)))
    image = cut(writer.grouped(), PAGE + 6000)
    out.content("lenient_backing_shorter", image, text(f"{label} 0", PAGE) + bytes(1904), notes=2, session="dead",
                comment="recorded size 10000, backing for 6000: block 1 is not whole and has one version, so a hole")
    out.refused("strict_backing_shorter", image, "truncated", 1)
    writer = ContentWriter("shorter block", 5000, session=SESSION).put(0, text("shorter block 0", 100))
    writer.put(1, text("shorter block 1", 500)).put(1, text("shorter block 2", 904), slot=1, lost=True)
    out.content("lenient_backing_shorter_old_slot", cut(writer.grouped(), 2 * PAGE + 600),
                text("shorter block 0", 100) + bytes(PAGE - 100) + text("shorter block 1", 500) + bytes(100), notes=1, session="dead",
                comment="an append that never came to be: block 1 reads as its older, shorter version")
    writer = ContentWriter("ends in page 1", GROUP + 10, session=SESSION).put(0, text("ends in page 1", 10)).put(64, text("t", 10))
    out.content("lenient_backing_ends_in_page1", cut(writer.grouped(), GROUP_BACKING + 100), text("ends in page 1", 10) + bytes(GROUP - 10),
                notes=1, session="dead", comment="the backing file ends inside the page of group 1: it holds group 0, 262144 bytes")
    writer = ContentWriter("page 1 lost", GROUP + 10, session=SESSION).put(0, text("page 1 lost", 10)).put(64, text("t", 10))
    out.content("lenient_group_page_lost_is_holes", writer.grouped(missing=[1]), text("page 1 lost", 10) + bytes(GROUP), notes=1,
                session="dead", comment="the page of group 1 is zero, never made durable, and the file not flagged sparse")

    out.content("lenient_page0_missing_is_empty", bytes(2 * PAGE), b"", notes=1, session="dead")
    out.refused("page0_missing_strict", bytes(2 * PAGE), "damaged", 0)
    out.content("lenient_page0_short_is_empty", ContentWriter("short head", 9).inline()[:200], b"", notes=1, session="dead")
    out.refused("page0_short_strict", ContentWriter("short head", 9).inline()[:200], "damaged", 0)
    inline = cut(ContentWriter("inline dead", 100, session=SESSION).inline(), 355)
    out.content("lenient_inline_page_cut_is_empty", inline, b"", notes=1, session="dead",
                comment="page 0 is only partly there and names a session that died: it was never made durable")
    out.refused("strict_inline_page_cut", inline, "truncated", 0, session="none", comment="same bytes as lenient_inline_page_cut_is_empty")
    grouped = cut(ContentWriter("grouped dead", 5000, session=SESSION).put(0, text("grouped dead", PAGE)).grouped(), 4095)
    out.content("lenient_grouped_page_cut_is_empty", grouped, b"", notes=1, session="dead")
    out.refused("strict_grouped_page_cut", grouped, "truncated", 0, session="none")
    out.refused("cut_page_without_session", cut(ContentWriter("inline closed", 100).inline(), 355), "truncated", 0, session="dead",
                comment="page 0 names no session")
    out.content("lenient_inline_page_zero_is_empty", bytes(300), b"", notes=1, session="dead",
                comment="256 bytes or more, fewer than 4096, all zero")


def two_versions_standalone(session):
    writer = two_versions("standalone", session=session, lost=True)
    writer.flags = 2
    return writer.grouped()


# -------------------------------------------------------------------------------------------------- content: refused


def content_refused(out):
    def small():
        return ContentWriter("small", 5000).put(0, text("small", PAGE)).put(1, text("small tail", 904))

    def tampered(name, at, code="damaged", mask=1, block=0):
        out.refused(name, flip(small().grouped(), at, mask), code, block)

    def sealed(name, patch, code="malformed", block=0, **how):
        out.refused(name, small().grouped(patch, **how), code, block, comment="under a tag that verifies")

    def setting(at, piece):
        return lambda page: page.__setitem__(slice(at, at + len(piece)), piece)

    tampered("magic_changed", 1, "badMagic")
    tampered("version_unknown", 8, "unsupportedVersion", 3)
    tampered("cipher_unknown", 9, "unsupportedVersion", 2)
    tampered("cipher_changed", 9, "damaged", 3)
    tampered("form_unknown", 10, "unsupportedVersion", 1)
    tampered("flag_unknown", 11, "unsupportedVersion", 4)
    tampered("flag_sparse_set", 11)
    tampered("group_index_changed", 12)
    tampered("nonce_changed", 16)
    tampered("tag_changed", 43, mask=0x80)
    tampered("reserved_flipped", 44)
    tampered("sequence_changed", 48)
    tampered("newest_bit_flipped", 56)
    tampered("file_id_changed", 64)
    tampered("size_changed", 104)
    tampered("session_changed", 112)
    tampered("reserved2_flipped", 255)
    tampered("slot_tag_changed", 256 + 12)
    tampered("slot_length_changed", 256 + 28)
    tampered("entry_of_hole_set", 256 + 60 * 63)
    image = small().grouped()
    place(image, 256, bytes(60))
    out.refused("entry_zeroed", image, "damaged", 0)
    foreign = ContentWriter("small", 5000, keys=OTHER).put(0, text("small", PAGE)).put(1, text("small tail", 904))
    out.refused("key_id_other_vault", foreign.grouped(), "wrongKey", 0)
    image = foreign.grouped()
    place(image, 96, KEYS.key_id)
    out.refused("other_vault_with_our_key_id", image, "damaged", 0)

    sealed("reserved_set", setting(44, b"\1"))
    sealed("reserved2_set", setting(200, b"\1"))
    sealed("sequence_zero", setting(48, bytes(8)))
    sealed("group_index_wrong", setting(12, b"\1"))
    sealed("slot_length_zero_with_bytes", setting(256 + 60 * 5, b"\1"))
    sealed("slot_length_4097", setting(256 + 28, struct.pack("<H", 4097)))
    sealed("newest_names_empty_slot1", setting(56, b"\1"))
    sealed("newest_set_for_hole", setting(63, b"\x80"))
    sealed("newest_names_empty_slot0", lambda page: setting(256, page[286:316] + page[256:286])(page))
    sealed("size_2_to_62", setting(104, struct.pack("<Q", 1 << 62)))
    inline = ContentWriter("inline", 100)
    out.refused("inline_newest_set", inline.inline(setting(56, b"\1")), "malformed", 0)
    out.refused("inline_reserved_set", inline.inline(setting(128, b"\1")), "malformed", 0)
    out.refused("inline_size_3840", inline.inline(setting(104, struct.pack("<Q", 3840))) + bytes(3740), "malformed", 0)
    out.refused("inline_byte_flipped", flip(inline.inline(), 300), "damaged", 0)
    out.refused("inline_size_less", flip(inline.inline(), 104, 4), "damaged", 0)
    out.refused("inline_cut", cut(inline.inline(), 355), "truncated", 0)
    out.refused("inline_as_grouped", flip(inline.inline(), 10, 3), "truncated", 0,
                comment="the form byte says grouped, the backing file has no page")
    out.refused("inline_zeroed", bytes(356), "damaged", 0)

    tampered("data_byte_flipped", data_at(0) + 4095)
    tampered("data_byte_flipped_block1", data_at(1) + 903, block=1)
    image = small().grouped()
    place(image, data_at(0), bytes(PAGE))
    out.refused("data_block_zeroed", image, "damaged", 0)
    pair = ContentWriter("pair", 2 * PAGE).put(0, text("pair 0", PAGE)).put(1, text("pair 1", PAGE))
    image = pair.grouped()
    place(image, data_at(0), pair.data[1] + pair.data[0])
    out.refused("blocks_swapped", image, "damaged", 0)
    image = pair.grouped(lambda page: setting(256, page[316:376] + page[256:316])(page))
    place(image, data_at(0), pair.data[1] + pair.data[0])
    out.refused("blocks_swapped_with_entries", image, "damaged", 0,
                comment="entries moved along, under a tag that verifies: the index is bound")
    image = small().grouped()
    twin = ContentWriter("twin", 5000).put(0, text("small", PAGE))
    place(image, data_at(0), twin.data[0])
    out.refused("block_from_other_file", image, "damaged", 0)
    image = small().grouped(setting(256, twin.entries[0][0]))
    place(image, data_at(0), twin.data[0])
    out.refused("block_from_other_file_with_entry", image, "damaged", 0, comment="under a tag that verifies: the file is bound by the key")

    def long():
        return ContentWriter("long", GROUP + 20).put(0, text("long 0", 20)).put(1, text("long 1", 20)).put(64, text("long 64", 20))

    image = long().grouped()
    place(image, data_at(64), long().data[0])
    out.refused("block_from_other_group", image, "damaged", 64)
    image = long().grouped(setting(256, long().entries[0][0]), group_patched=1)
    place(image, data_at(64), long().data[0])
    out.refused("block_from_other_group_with_entry", image, "damaged", 64,
                comment="under a tag that verifies: the group is bound by the key")
    out.refused("old_data_page_put_back", two_versions("replayed", lost=True).grouped(), "damaged", 0)
    image = small().grouped()
    place(image, 0, bytes(PAGE))
    out.refused("metadata_page_zeroed", image, "damaged", 0)
    image = long().grouped()
    place(image, GROUP_BACKING, bytes(PAGE))
    out.refused("metadata_page_zeroed_group1", image, "damaged", 64, comment="not flagged sparse")
    image = long().grouped()
    place(image, GROUP_BACKING, image[:PAGE])
    out.refused("metadata_page_from_group0", image, "damaged", 64)
    out.refused("metadata_byte_flipped_group1", flip(long().grouped(), GROUP_BACKING + 256), "damaged", 64)
    out.refused("data_byte_flipped_group1", flip(long().grouped(), data_at(64)), "damaged", 64)
    for name, at, piece in (("file_id", 64, b"\1"), ("key_id", 96, KEYS.key_id), ("size", 104, b"\1"), ("session", 112, SESSION)):
        out.refused(f"{name}_set_in_group1", long().grouped(setting(at, piece), group_patched=1), "malformed", 64,
                    comment="under a tag that verifies")
    out.refused("cut_at_100", cut(long().grouped(), 100), "damaged", 0, comment="of 270356 bytes")
    for length, block in ((1000, 0), (4096, 0), (8192, 1), (266240, 64), (266240 + 2000, 64), (270336, 64), (270355, 64)):
        out.refused(f"cut_at_{length}", cut(long().grouped(), length), "truncated", block, comment="of 270356 bytes")


# ------------------------------------------------------------------------------------------- names, symlinks, xattrs


def names(out):
    directory, other = stream("directory", 16), stream("other directory", 16)

    def sealed(name, directory_id=directory):
        return siv(KEYS.names, [directory_id], name)

    def ok(label, name, raw=b"", **fields):
        stored = b64(sealed(name)) if not raw else "sfs.long." + b64(hashlib.sha256(raw).digest())
        out.add(f"name_ok_{label}", "name", "ok", raw, key=VOLUME, directory_id=directory, stored_name=stored, name=name, **fields)

    def refused(label, code, stored, raw=b"", directory_id=directory, **fields):
        out.add(f"name_{label}", "name", code, raw, key=VOLUME, directory_id=directory_id, stored_name=stored, **fields)

    def long_name(raw):
        return "sfs.long." + b64(hashlib.sha256(raw).digest())

    ok("short", b"a")
    ok("utf8", "Übergrößenträger 名前".encode())
    ok("not_utf8", b"\xff\xfe\x80 \n\x01*?\"'\\")
    ok("175", b"n" * 175)
    ok("176", b"n" * 176, sealed(b"n" * 176))
    longest = stream("name 255", 600).replace(b"/", b"").replace(b"\0", b"")[:255]
    ok("255", longest, sealed(longest))
    ok("like_reserved", b"sfs.json", comment="a user's name may be any: only stored names are reserved")
    stored = b64(sealed(b"abcd"))  # 20 bytes: the last character has four unused bits
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    refused("b64_not_canonical", "foreign", stored[:-1] + alphabet[alphabet.index(stored[-1]) | 1], comment="unused bits set")
    refused("b64_padded", "foreign", stored + "=")
    refused("b64_other_alphabet", "foreign", "+/" + stored[2:])
    refused("byte_changed", "foreign", ("B" if stored[0] != "B" else "C") + stored[1:])
    refused("cut", "foreign", stored[:16])
    refused("other_directory", "foreign", stored, directory_id=other)
    refused("reserved", "foreign", "sfs.json")
    refused("reserved_companion", "foreign", long_name(sealed(b"n" * 176)) + ".name", sealed(b"n" * 176))
    for label, name in (("dot", b"."), ("dotdot", b".."), ("slash", b"a/b"), ("nul", b"a\0b"), ("empty", b"")):
        refused(f"sealed_{label}", "foreign", b64(sealed(name)), comment="opens, but no name may be so")
    refused("long_without_companion", "damaged", long_name(sealed(b"n" * 176)))
    refused("long_other_companion", "damaged", long_name(sealed(b"n" * 176)), sealed(b"m" * 176))
    refused("long_other_directory", "damaged", long_name(sealed(b"n" * 176)), sealed(b"n" * 176), directory_id=other)
    refused("long_companion_cut", "damaged", long_name(sealed(b"n" * 176)), sealed(b"n" * 176)[:-1])
    refused("long_form_of_short_name", "damaged", long_name(sealed(b"n" * 175)), sealed(b"n" * 175),
            comment="175 bytes have a form of their own")


def symlinks(out):
    def sealed(target):
        salt = stream(f"symlink {len(target)}", 16)
        return salt + siv(KEYS.symlinks, [b"target", salt], target)

    def target(count):
        return stream("target", 5000).replace(b"\0", b"")[:count]

    def long_stored(count):
        return f"sfs.link.{b64(stream('link id', 16))}.{count:05x}"

    def payload(plain):
        return {"size": len(plain), "payload_sha256": hashlib.sha256(plain).digest()}

    for count in (1, 30, 3039):
        out.add(f"symlink_ok_{count}", "symlink", "ok", key=VOLUME, stored_target=b64(sealed(target(count))), **payload(target(count)))
    for count in (3040, 4095):
        out.add(f"symlink_ok_{count}", "symlink", "ok", sealed(target(count)),
                key=VOLUME, stored_target=long_stored(count), **payload(target(count)))
    stored = b64(sealed(target(30)))
    out.add("symlink_byte_changed", "symlink", "damaged", key=VOLUME,
            stored_target=stored[:40] + ("A" if stored[40] != "A" else "B") + stored[41:])
    out.add("symlink_cut", "symlink", "damaged", key=VOLUME, stored_target=stored[:-4])
    out.add("symlink_plain", "symlink", "damaged", key=VOLUME, stored_target="../some/where")
    out.add("symlink_other_vault", "symlink", "damaged", key=OTHER.volume, stored_target=stored)
    out.add("symlink_long_file_missing", "symlink", "damaged", key=VOLUME, stored_target=long_stored(3040))
    out.add("symlink_long_file_changed", "symlink", "damaged", flip(bytearray(sealed(target(3040))), 100),
            key=VOLUME, stored_target=long_stored(3040))
    out.add("symlink_long_length_differs", "symlink", "malformed", sealed(target(3040)), key=VOLUME, stored_target=long_stored(3041))


def xattrs(out):
    def name_of(attribute, prefix="user."):
        sealed = siv(KEYS.xattrs, [b"name"], attribute)
        if len(attribute) <= 164:
            return f"{prefix}sfs.n.{b64(sealed)}"
        return f"{prefix}sfs.h.{b64(hashlib.sha256(sealed).digest())}"

    def value_of(attribute, value, stored):
        salt = stream(f"xattr {stored}", 16)
        plain = value if len(attribute) <= 164 else struct.pack("<H", len(attribute)) + attribute + value
        return salt + siv(KEYS.xattrs, [b"value", salt, stored.encode()], plain)

    def ok(label, attribute, value, prefix="user."):
        stored = name_of(attribute, prefix)
        out.add(f"xattr_ok_{label}", "xattr", "ok", value_of(attribute, value, stored), key=VOLUME, stored_name=stored, name=attribute,
                size=len(value), payload_sha256=hashlib.sha256(value).digest())

    ok("short", b"user.comment", b"hello")
    ok("empty_value", b"user.comment", b"")
    ok("long_value", b"user.comment", stream("value", 2000))
    ok("name_164", b"user." + b"x" * 159, b"v")
    ok("name_165", b"user." + b"x" * 160, b"v")
    ok("name_255", b"user." + b"x" * 250, b"v")
    ok("name_255_empty_value", b"user." + b"x" * 250, b"")
    ok("on_symlink", b"trusted.note", b"v", prefix="trusted.")
    stored, other = name_of(b"user.a"), name_of(b"user.b")
    good = bytearray(value_of(b"user.a", b"value", stored))
    out.add("xattr_value_changed", "xattr", "damaged", flip(bytearray(good), 36), key=VOLUME, stored_name=stored)
    out.add("xattr_value_cut", "xattr", "damaged", good[:31], key=VOLUME, stored_name=stored)
    out.add("xattr_value_of_another_name", "xattr", "damaged", good, key=VOLUME, stored_name=other)
    out.add("xattr_name_changed", "xattr", "damaged", good, key=VOLUME,
            stored_name=stored[:-5] + ("A" if stored[-5] != "A" else "B") + stored[-4:])
    stored, other = name_of(b"user." + b"x" * 200), name_of(b"user." + b"y" * 200)
    out.add("xattr_long_name_of_another", "xattr", "malformed", value_of(b"user." + b"y" * 200, b"v", stored),
            key=VOLUME, stored_name=stored,
            comment="the value verifies but holds another name than the stored one stands for")


# -------------------------------------------------------------------------------- directory, session, config, recovery


def directories(out):
    directory = stream("directory", 16)
    good = bytearray(directory + mac(KEYS.directory, directory)[:16])
    out.add("dir_ok", "directory", "ok", good, key=VOLUME, directory_id=directory)
    out.add("dir_tag_changed", "directory", "damaged", flip(bytearray(good), 31), key=VOLUME)
    out.add("dir_id_changed", "directory", "damaged", flip(bytearray(good), 0), key=VOLUME)
    out.add("dir_short", "directory", "damaged", good[:31], key=VOLUME)
    out.add("dir_long", "directory", "damaged", good + b"\0", key=VOLUME)
    out.add("dir_empty", "directory", "damaged", b"", key=VOLUME)
    out.add("dir_other_vault", "directory", "damaged", good, key=OTHER.volume)
    out.add("dir_ok_by_attribute", "directory", "ok", b"", key=VOLUME, attribute=bytes(good), directory_id=directory)
    out.add("dir_ok_by_attribute_tag_changed", "directory", "ok", flip(bytearray(good), 31),
            key=VOLUME, attribute=bytes(good), directory_id=directory)
    out.add("dir_both_changed", "directory", "damaged", flip(bytearray(good), 31), key=VOLUME, attribute=bytes(flip(bytearray(good), 30)))


def sessions(out):
    dead = [stream(f"dead {n}", 16) for n in range(3)]

    def record(open_session=bytes(16), ids=(), count=None, zero=0, magic=b"SFSSESS\1"):
        body = magic + open_session + struct.pack("<II", len(ids) if count is None else count, zero) + b"".join(ids)
        return bytearray(body + mac(KEYS.session, body))

    for label, open_session, ids in (("none", bytes(16), []), ("open", SESSION, []), ("dead", bytes(16), dead), ("both", SESSION, dead),
                                     ("1024_dead", bytes(16), [stream(f"dead {n}", 16) for n in range(1024)])):
        out.add(f"session_ok_{label}", "session", "ok", record(open_session, ids), key=VOLUME, open_session=open_session,
                dead_sessions=" ".join(i.hex() for i in ids))
    refused = {"tag_changed": flip(record(SESSION, dead), 111), "id_changed": flip(record(SESSION, dead), 32),
               "open_changed": flip(record(SESSION, dead), 8), "empty": b"", "cut": record(SESSION, dead)[:-1],
               "length_wrong": record(SESSION, dead, count=2), "excess": record(SESSION, dead) + b"\0",
               "count_1025": record(SESSION, [stream(f"dead {n}", 16) for n in range(1025)]),
               "count_huge": record(SESSION, dead, count=0xFFFFFFFF), "zero_set": record(SESSION, dead, zero=1),
               "magic_changed": record(SESSION, dead, magic=b"SFSSESS\2")}
    for label, raw in refused.items():
        out.add(f"session_{label}", "session", "damaged", raw, key=VOLUME)


class ConfigWriter:
    """Writes `sfs.json` (FORMAT 7)."""

    RECOVERY = stream("recovery key 2", 20)
    KEYFILE = stream("key file", 64)

    def __init__(self):
        self.tree = {"magic": "SecureFS vault", "format": 1, "features": [], "volumeId": stream("volume id", 16).hex(),
                     "keyId": KEYS.key_id.hex(), "cipher": "aes-256-gcm", "created": 1700000000, "slots": []}

    def slot(self, kind, secret, lanes=1, memory=8, passes=1):
        count = len(self.tree["slots"])
        slot_id, salt, nonce = stream(f"slot {count} id", 8), stream(f"slot {count} salt", 16), stream(f"slot {count} nonce", 12)
        if kind == "passphrase":
            kek = hash_secret_raw(secret, salt, passes, memory, lanes, 32, Type.ID)
            kdf = {"algorithm": "argon2id", "lanes": lanes, "memoryKiB": memory, "passes": passes, "salt": salt.hex()}
        else:
            kek = HKDF(hashes.SHA256(), 32, salt, f"sfs1 {kind}".encode()).derive(secret)
            kdf = {"algorithm": "hkdf-sha256", "salt": salt.hex()}
        associated = b"sfs1 slot\0" + bytes.fromhex(self.tree["volumeId"]) + slot_id + kind.encode()
        self.tree["slots"].append({"id": slot_id.hex(), "type": kind, "kdf": kdf, "nonce": nonce.hex(),
                                   "wrapped": AESGCM(kek).encrypt(nonce, VOLUME, associated).hex()})
        return self

    def three(self):
        return self.slot("passphrase", b"correct horse").slot("recovery", self.RECOVERY).slot("keyfile", self.KEYFILE)

    @staticmethod
    def canonical(tree):
        return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()

    def sealed(self, patch=None, late=None, last=None, indent=None):
        """The file; `patch` changes the tree before the mac, `late` before the checksum, `last` after both."""
        for change, member in ((patch, "mac"), (late, "checksum"), (last, None)):
            if change:
                change(self.tree)
            if member == "mac":
                self.tree["mac"] = mac(KEYS.config, self.canonical(self.tree)).hex()
            elif member:
                self.tree["checksum"] = hashlib.sha256(self.canonical(self.tree)).hexdigest()
        return json.dumps(self.tree, indent=indent).encode() if indent else self.canonical(self.tree)


def configs(out):
    horse = {"credential": "passphrase", "secret": b"correct horse"}

    def add(label, expect, raw, **fields):
        out.add(f"json_{label}", "config", expect, raw, **{**horse, **({"key": VOLUME} if expect == "ok" else {}), **fields})

    def made(patch=None, late=None, last=None, indent=None):
        return ConfigWriter().three().sealed(patch, late, last, indent)

    def setting(*path_and_value):
        *path, member, value = path_and_value

        def change(tree):
            for part in path:
                tree = tree[part]
            tree[member] = value
        return change

    def hexflip(*path):
        def change(tree):
            for part in path[:-1]:
                tree = tree[part]
            raw = bytearray.fromhex(tree[path[-1]])
            tree[path[-1]] = bytes(flip(raw, 0)).hex()
        return change

    add("ok_passphrase", "ok", ConfigWriter().slot("passphrase", b"correct horse").sealed())
    add("ok_passphrase_4_lanes", "ok", ConfigWriter().slot("passphrase", b"\xff p\xc3\xa4ss ", 4, 32, 2).sealed(),
        secret=b"\xff p\xc3\xa4ss ",
        comment="bytes that are no UTF-8, a space at the end: taken as they are")
    add("ok_recovery", "ok", made(), credential="recovery", secret=ConfigWriter.RECOVERY)
    add("ok_keyfile", "ok", made(), credential="keyfile", secret=ConfigWriter.KEYFILE)
    add("ok_second_passphrase", "ok", ConfigWriter().three().slot("passphrase", b"second").sealed(), secret=b"second")
    add("ok_chacha", "ok", made(setting("cipher", "chacha20-poly1305")))
    add("ok_indented", "ok", made(indent=2) + b"\n", comment="members unsorted, white space: only the canonical form counts")
    add("wrong_passphrase", "wrongPassphrase", made(), secret=b"wrong horse")
    add("wrong_recovery", "wrongPassphrase", made(), credential="recovery", secret=stream("another", 20))
    add("wrong_keyfile", "wrongPassphrase", made(), credential="keyfile", secret=stream("another", 64))
    add("checksum_broken", "damaged", made(last=hexflip("checksum")))
    add("bit_flip", "damaged", made(last=hexflip("slots", 0, "wrapped")), comment="not reported as a wrong passphrase")
    add("bit_flip_wrong_passphrase", "damaged", made(last=hexflip("slots", 0, "wrapped")), secret=b"wrong horse")
    add("mac_broken", "tampered", made(late=hexflip("mac")), comment="with the right checksum")
    add("key_id_changed", "tampered", made(late=hexflip("keyId")), comment="with the right checksum")
    add("cipher_changed", "tampered", made(late=setting("cipher", "chacha20-poly1305")), comment="with the right checksum")
    add("slot_removed", "tampered", made(late=lambda tree: tree["slots"].pop()), comment="with the right checksum")
    add("slot_tampered", "wrongPassphrase", made(late=hexflip("slots", 0, "wrapped")),
        comment="with the right checksum: the slot does not open")
    add("slot_id_changed", "wrongPassphrase", made(late=hexflip("slots", 0, "id")), comment="with the right checksum: the id is bound")
    add("volume_id_changed", "wrongPassphrase", made(late=hexflip("volumeId")), comment="with the right checksum: the volume id is bound")
    add("other_slot_tampered", "tampered", made(late=hexflip("slots", 1, "wrapped")),
        comment="with the right checksum: the passphrase's slot opens")
    add("key_id_wrong", "tampered", made(setting("keyId", OTHER.key_id.hex())), comment="with a mac that fits: keyId must be the key's")
    add("unknown_feature", "unsupportedVersion", made(setting("features", ["time-travel"])))
    add("format_2", "unsupportedVersion", made(setting("format", 2)))
    add("magic_other", "badMagic", made(setting("magic", "Another vault")))
    add("not_json", "damaged", b"no json")
    add("cut", "damaged", made()[:-30])
    add("other_json", "badMagic", b'{"name": "something else"}')
    add("member_missing", "malformed", made(lambda tree: tree.pop("created")))
    add("member_unknown", "malformed", made(setting("comment", "hello")))
    add("member_twice", "malformed", made()[:-1] + b',"format":1}')
    add("float", "malformed", made(setting("created", 1.5)))
    add("no_slots", "malformed", made(setting("slots", [])))
    add("slots_65", "malformed", made(lambda tree: tree["slots"].extend([tree["slots"][1]] * 62)))
    add("slot_type_unknown", "malformed", made(setting("slots", 1, "type", "tpm")))
    add("upper_case_hex", "malformed", made(lambda tree: tree.update(volumeId=tree["volumeId"].upper())))
    add("string_with_quote", "malformed", made(setting("cipher", 'aes"')))
    for label, path, value in (("memory_too_large", "memoryKiB", 4194305), ("memory_huge", "memoryKiB", 1 << 70),
                               ("memory_too_small", "memoryKiB", 7),
                               ("lanes_0", "lanes", 0), ("passes_0", "passes", 0), ("passes_1025", "passes", 1025)):
        add(f"argon2_{label}", "malformed", made(setting("slots", 0, "kdf", path, value)))
    add("argon2_lanes_17", "malformed", made(lambda tree: tree["slots"][0]["kdf"].update(lanes=17, memoryKiB=136)))
    add("too_large", "malformed", made() + b" " * 65536)


def recovery(out):
    raw = ConfigWriter.RECOVERY
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    value = int.from_bytes(raw, "big") << 20 | int.from_bytes(hashlib.sha256(b"sfs1 recovery" + raw).digest(), "big") >> 236
    letters = "".join(alphabet[value >> 5 * (35 - n) & 31] for n in range(36))
    written = "-".join(letters[n:n + 4] for n in range(0, 36, 4))
    assert "0" in letters and "1" in letters, "the stream's key should show the substitutions"

    def add(label, expect, typed, **fields):
        out.add(f"recovery_{label}", "recovery", expect, typed.encode(), typed=typed.encode(), **fields)

    add("ok", "ok", written, recovery_bytes=raw)
    add("ok_lower_case_spaces", "ok", " " + written.lower().replace("-", "  ") + " \n", recovery_bytes=raw)
    add("ok_without_groups", "ok", letters, recovery_bytes=raw)
    add("ok_letter_o", "ok", written.replace("0", "O"), recovery_bytes=raw)
    add("ok_letter_i", "ok", written.replace("1", "I"), recovery_bytes=raw)
    add("ok_letter_l", "ok", written.replace("0", "o").replace("1", "l"), recovery_bytes=raw)
    add("bad_check", "malformed", written[:-1] + alphabet[alphabet.index(written[-1]) ^ 1])
    add("typing_error", "malformed", alphabet[alphabet.index(written[0]) ^ 1] + written[1:])
    add("swapped", "malformed", written[1] + written[0] + written[2:])
    add("too_short", "malformed", written[:-1])
    add("too_long", "malformed", written + "0")
    add("letter_u", "malformed", "U" + written[1:])


# --------------------------------------------------------------------------------------------------- keys, accumulated


def keys(out):
    file_id = bytes(range(0x20, 0x40))
    file_key = expand(KEYS.content, "sfs1 file", file_id)
    groups = {f"group_key_{g}": KEYS.group(file_id, g) for g in (0, 1, 1 << 32)}
    out.add("keys", "keys", "ok", key=VOLUME, file_id=file_id, key_id=KEYS.key_id, content_key=KEYS.content, file_key=file_key, **groups,
            name_key=KEYS.names, symlink_key=KEYS.symlinks, xattr_key=KEYS.xattrs, directory_key=KEYS.directory,
            config_key=KEYS.config, session_key=KEYS.session)


def accumulated(out):
    digest = hashlib.sha256()
    for n in range(1000):
        def fixed(what, count, n=n):
            return stream(f"accumulated {what} {n}", count)

        group, index, length = n % 7, n % 64, 1 + n * 37 % 4096
        writer = ContentWriter("", PAGE * index + length, 1 + n % 2)
        writer.file_id, writer.session = fixed("file id", 32), fixed("session", 16)
        nonces = iter((fixed("block nonce", 12), fixed("page nonce", 12)))
        engine = CIPHERS[writer.cipher][1](KEYS.group(writer.file_id, group))

        def seal(_, plaintext, associated, nonces=nonces, engine=engine):
            nonce = next(nonces)
            sealed = engine.encrypt(nonce, plaintext, associated(nonce))
            return nonce, sealed[:-16], sealed[-16:]

        writer._seal = seal
        block = group * BLOCKS + index
        writer.put(block, fixed("block", length))
        digest.update(writer.data[block] + writer.page(group))
    out.add("accumulated", "accumulated", "ok", key=VOLUME, payload_sha256=digest.digest())


# ------------------------------------------------------------------------------------------------------- a whole vault


class VaultWriter:
    """Makes a small vault and the same tree in plain."""

    ATTRIBUTES = {b"user.comment": b"hello", b"user.empty": b"", b"user." + b"long" * 60: b"v" * 100}

    def __init__(self, vault, plain):
        self.vault, self.plain, self.count = os.fsencode(vault), os.fsencode(plain), 0
        self.attributes = True

    def _id(self):
        self.count += 1
        return stream(f"vault {self.count}", 16)

    @staticmethod
    def _write(path, raw):
        with open(path, "xb") as file:
            file.write(raw)

    def _set(self, path, stored, shown):
        try:
            for name, value in stored.items():
                os.setxattr(path, name, value)
            for name, value in self.ATTRIBUTES.items():
                os.setxattr(shown, name, value)
        except OSError:
            self.attributes = False

    def _directory(self, backing, shown):
        os.mkdir(backing, 0o750)
        os.mkdir(shown, 0o750)
        directory = self._id()
        self._write(backing + b"/sfs.dir", directory + mac(KEYS.directory, directory)[:16])
        return backing, shown, directory

    def _name(self, where, name):
        """(backing path, plain path) of an entry."""
        backing, shown, directory = where
        sealed = siv(KEYS.names, [directory], name)
        stored = b64(sealed).encode()
        if len(name) > 175:
            stored = b"sfs.long." + b64(hashlib.sha256(sealed).digest()).encode()
            self._write(backing + b"/" + stored + b".name", sealed)
        return backing + b"/" + stored, shown + b"/" + name

    def _file(self, where, name, plaintext, image):
        backing, shown = self._name(where, name)
        self._write(backing, image)
        self._write(shown, plaintext)
        for path in (backing, shown):
            os.chmod(path, 0o640)
        return backing, shown

    def _grouped(self, where, name, size, cipher):
        plain, writer = stream(f"vault file {size}", size), ContentWriter(f"vault {size}", size, cipher)
        for block in range(-(-size // PAGE)):
            writer.put(block, plain[PAGE * block:PAGE * (block + 1)], slot=block % 3 // 2)
        return self._file(where, name, plain, writer.grouped())

    def _symlink(self, where, name, target):
        backing, shown = self._name(where, name)
        salt, link = self._id(), b64(self._id())
        sealed = salt + siv(KEYS.symlinks, [b"target", salt], target)
        stored = b64(sealed)
        if len(target) > 3039:
            self._write(self.vault + b"/sfs.links/" + link.encode(), sealed)
            stored = f"sfs.link.{link}.{len(target):05x}"
        os.symlink(stored.encode(), backing)
        os.symlink(target, shown)

    def _stored_attributes(self):
        stored = {}
        for name, value in self.ATTRIBUTES.items():
            sealed, long = siv(KEYS.xattrs, [b"name"], name), len(name) > 164
            key = f"user.sfs.h.{b64(hashlib.sha256(sealed).digest())}" if long else f"user.sfs.n.{b64(sealed)}"
            salt = self._id()
            plain = struct.pack("<H", len(name)) + name + value if long else value
            stored[key] = salt + siv(KEYS.xattrs, [b"value", salt, key.encode()], plain)
        return stored

    def make(self):
        root = self._directory(self.vault, self.plain)
        os.mkdir(self.vault + b"/sfs.links")
        self._write(self.vault + b"/sfs.json", ConfigWriter().three().sealed(indent=1))
        body = b"SFSSESS\1" + bytes(24)
        self._write(self.vault + b"/sfs.session", body + mac(KEYS.session, body))
        self._file(root, b"empty", b"", b"")
        backing, shown = self._file(root, b"inline", stream("vault inline content", 100), ContentWriter("vault inline", 100).inline())
        self._set(backing, self._stored_attributes(), shown)
        self._grouped(root, b"not \xff utf-8 \"\n", 3840, AES)
        below = self._directory(*self._name(root, b"d" * 255))
        self._grouped(below, b"two groups", GROUP + 5000, CHACHA)
        deeper = self._directory(*self._name(below, b"deeper"))
        self._grouped(deeper, b"e" * 176, 4097, CHACHA)
        self._symlink(deeper, b"link", b"../two groups")
        self._symlink(root, b"long link", b"/".join([b"x" * 99] * 40)[:3900])
        self._directory(*self._name(root, b"empty directory"))
        self._file(root, b"sfs.json", b"", b"")
        print("attributes: " + ("set" if self.attributes else "none (the filesystem takes none)"))


def make_all():
    out = Vectors()
    contents = (content_ok, content_lenient, content_refused)
    for section in (*contents, names, symlinks, xattrs, directories, sessions, configs, recovery, keys, accumulated):
        section(out)
    return out.files


def main(argv):
    if argv[:1] == ["--vault"] and len(argv) == 3:
        VaultWriter(*argv[1:]).make()
        return 0
    check = argv[:1] == ["--check"]
    rest = argv[1:] if check else argv
    if len(rest) > 1 or (rest and rest[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    here = os.path.dirname(os.path.abspath(__file__))
    directory = rest[0] if rest else os.path.join(here, "..", "Tests", "VectorTests", "Vectors")
    files = make_all()
    present = {name for name in os.listdir(directory) if name.endswith(".vec")}
    if check:
        wrong = sorted(present ^ set(files))
        for name in sorted(present & set(files)):
            with open(os.path.join(directory, name), encoding="latin-1", newline="") as file:
                if file.read() != files[name]:
                    wrong.append(name)
        for name in wrong:
            print(f"{name}: not what make_vectors.py makes")
        print(f"{len(files)} vectors made, {len(wrong)} differ from the files")
        return 1 if wrong else 0
    for name in present - set(files):
        os.unlink(os.path.join(directory, name))
    for name, content in files.items():
        with open(os.path.join(directory, name), "w", encoding="ascii", newline="") as file:
            file.write(content)
    print(f"{len(files)} vectors written, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
