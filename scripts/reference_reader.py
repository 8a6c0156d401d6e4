#!/usr/bin/python3
"""The reference reader: opens a SecureFS vault, written from docs/FORMAT.md alone and sharing no code with SecureFS.

usage: reference_reader.py VAULT CREDENTIAL COMMAND
         CREDENTIAL  --passfile F | --recovery-file F | --keyfile F | --key-hex-file F  (the volume key, 64 hex digits)
         COMMAND     ls [-R] [PATH] | cat PATH | tree-digest | check | info   (info needs no credential)
       reference_reader.py tree-digest --plain DIR           the same lines of a plain (or mounted) directory
                     standalone FILE: a file outside of the vault, under its key, to stdout
       reference_reader.py file-read FILE --key-hex-file F [--session none|dead|open]   one content file, to stdout
       reference_reader.py vectors DIR                       every test vector, each compared with what it expects

A line of tree-digest is: type (d, f, l; p, s, c, b), mode, size, SHA-256 of the content or link target, digest of the extended attributes, path.

Exit codes: 0 ok, 1 damage, 2 usage, 3 wrong passphrase or key, 4 not a vault or an unsupported version.
Needs Debian's python3-cryptography and, for passphrases, python3-argon2.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import stat
import struct
import sys

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
    from cryptography.hazmat.primitives.cmac import CMAC
except ImportError as problem:
    print(f"reference_reader: {problem}; install Debian's python3-cryptography, and use /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

# FORMAT 1
BLOCK, GROUP_BLOCKS, HEAD, SLOT, INLINE_MAX, MAX_SIZE = 4096, 64, 256, 30, 3839, 1 << 62
GROUP, GROUP_BACKING = BLOCK * GROUP_BLOCKS, BLOCK * (1 + GROUP_BLOCKS)
ZERO_ID = bytes(16)

EXIT = {"wrongKey": 3, "wrongPassphrase": 3, "badMagic": 4, "unsupportedVersion": 4}  # every other code: 1


class FormatError(Exception):
    """What a reader refuses. `code` is the kind; `block` the first block it concerns, where it concerns blocks."""

    def __init__(self, code, text, block=None):
        super().__init__(text)
        self.code, self.text, self.block = code, text, block

    @property
    def exit_code(self):
        return EXIT.get(self.code, 1)

    def describe(self, where):
        """`file: block N: code (text)`; without the block where none is concerned."""
        place = "" if self.block is None else f" block {self.block}:"
        return f"{where}:{place} {self.code} ({self.text})"


class UsageError(Exception):
    """A command line that cannot be done."""


# ---------------------------------------------------------------------------------------------- FORMAT 1: primitives


def hmac256(key, message):
    """HMAC-SHA-256."""
    return hmac.new(key, message, hashlib.sha256).digest()


def hkdf_expand(key, info, length):
    """HKDF-Expand of RFC 5869 section 2.3 with SHA-256."""
    out, last, count = b"", b"", 1
    while len(out) < length:
        last = hmac256(key, last + info + bytes([count]))
        out, count = out + last, count + 1
    return out[:length]


def expand(key, label, context, length):
    """EXPAND of FORMAT 1: the info is label, a zero byte, context."""
    return hkdf_expand(key, label + b"\0" + context, length)


def b64(raw):
    """B64 of FORMAT 1: base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def unb64(text):
    """The bytes of a canonical B64, or None (FORMAT 1: a non-canonical form is rejected)."""
    if not re.fullmatch(rb"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    raw = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    return raw if b64(raw) == text else None


def unhex(text, length=None):
    """The bytes of a lower-case hex string of that many bytes, or None."""
    if not isinstance(text, str) or not re.fullmatch(r"([0-9a-f]{2})*", text):
        return None
    raw = bytes.fromhex(text)
    return raw if length is None or len(raw) == length else None


class Siv:
    """AES-256-SIV of RFC 5297, written out (the libraries' own refuse an empty plaintext)."""

    def __init__(self, key):
        self.mac_key, self.ctr_key = key[:32], key[32:]

    def _cmac(self, message):
        mac = CMAC(algorithms.AES(self.mac_key))
        mac.update(message)
        return mac.finalize()

    @staticmethod
    def _double(block):
        value = int.from_bytes(block, "big") << 1
        return ((value & ((1 << 128) - 1)) ^ (0x87 if value >> 128 else 0)).to_bytes(16, "big")

    @staticmethod
    def _xor(a, b):
        return bytes(x ^ y for x, y in zip(a, b, strict=True))

    def _s2v(self, components, plaintext):
        state = self._cmac(bytes(16))
        for component in components:
            state = self._xor(self._double(state), self._cmac(component))
        if len(plaintext) >= 16:
            return self._cmac(plaintext[:-16] + self._xor(plaintext[-16:], state))
        padded = plaintext + b"\x80" + bytes(15 - len(plaintext))
        return self._cmac(self._xor(self._double(state), padded))

    def _ctr(self, iv, data):
        counter = bytearray(iv)
        counter[8] &= 0x7F
        counter[12] &= 0x7F
        stream = Cipher(algorithms.AES(self.ctr_key), modes.CTR(bytes(counter))).encryptor()
        return stream.update(data) + stream.finalize()

    def seal(self, components, plaintext):
        """The synthetic IV, then the ciphertext."""
        iv = self._s2v(components, plaintext)
        return iv + self._ctr(iv, plaintext)

    def open(self, components, sealed):
        """The plaintext, or None where it does not verify."""
        if len(sealed) < 16:
            return None
        plaintext = self._ctr(sealed[:16], sealed[16:])
        return plaintext if hmac.compare_digest(self._s2v(components, plaintext), sealed[:16]) else None


class Aead:
    """The two ciphers of FORMAT 1 by their number in a page (FORMAT 3.1, offset 9)."""

    KINDS = {1: AESGCM, 2: ChaCha20Poly1305}

    def __init__(self, cipher, key):
        self.engine = self.KINDS[cipher](key)

    def open(self, nonce, ciphertext, tag, associated):
        """The plaintext, or None where the tag does not verify."""
        try:
            return self.engine.decrypt(nonce, ciphertext + tag, associated)
        except InvalidTag:
            return None

    def seal(self, nonce, plaintext, associated):
        """(ciphertext, tag); used for the accumulated vector only."""
        sealed = self.engine.encrypt(nonce, plaintext, associated)
        return sealed[:-16], sealed[-16:]


# ---------------------------------------------------------------------------------------------------- FORMAT 4: keys


class KeyRing:
    """The keys that FORMAT 4 derives from a volume key."""

    def __init__(self, volume):
        self.volume = volume
        self.key_id = expand(volume, b"sfs1 key id", b"", 8)
        self.content = expand(volume, b"sfs1 content", b"", 32)
        self.names = expand(volume, b"sfs1 names", b"", 64)
        self.symlinks = expand(volume, b"sfs1 symlinks", b"", 64)
        self.xattrs = expand(volume, b"sfs1 xattrs", b"", 64)
        self.directory = expand(volume, b"sfs1 directory", b"", 32)
        self.config = expand(volume, b"sfs1 config", b"", 32)
        self.session = expand(volume, b"sfs1 session", b"", 32)

    def file_key(self, file_id):
        return expand(self.content, b"sfs1 file", file_id, 32)

    def group_key(self, file_id, group):
        return expand(self.file_key(file_id), b"sfs1 group", struct.pack("<Q", group), 32)


# ------------------------------------------------------------------------------------------------ FORMAT 8: sessions


class SessionRecord:
    """The file `sfs.session` (FORMAT 8.1)."""

    MAGIC = bytes.fromhex("5346535345535301")

    def __init__(self, open_session=ZERO_ID, dead=()):
        self.open_session, self.dead = open_session, list(dead)

    @classmethod
    def parse(cls, raw, keys):
        if len(raw) < 64 or raw[:8] != cls.MAGIC:
            raise FormatError("damaged", "the session record has another form")
        count, zero = struct.unpack_from("<II", raw, 24)
        if count > 1024 or zero != 0 or len(raw) != 64 + 16 * count:
            raise FormatError("damaged", "the session record has another form or length")
        if not hmac.compare_digest(hmac256(keys.session, raw[:-32]), raw[-32:]):
            raise FormatError("damaged", "the session record's tag does not verify")
        return cls(raw[8:24], [raw[32 + 16 * i:48 + 16 * i] for i in range(count)])

    def state(self, session):
        """`none`, `open` or `dead`, of the session a file names."""
        if session == ZERO_ID:
            return "none"
        return "dead" if session in self.dead else "open" if session == self.open_session else "none"

    @property
    def unsettled(self):
        """Whether a file without its first page may be one never made durable (FORMAT 8.3)."""
        return bool(self.dead) or self.open_session != ZERO_ID


class AssumedSession:
    """Stands in for the record where a file is read by itself: whatever session it names is in that state."""

    def __init__(self, state):
        self.assumed, self.unsettled = state, state != "none"

    def state(self, session):
        return "none" if session == ZERO_ID else self.assumed


# -------------------------------------------------------------------------------------------- FORMAT 3: content files


class FileBacking:
    """The bytes of an open backing file."""

    def __init__(self, fd):
        self.fd, self.length = fd, os.fstat(fd).st_size

    def read(self, offset, count):
        """Up to `count` bytes; fewer only at the end of the file."""
        out = b""
        while len(out) < count:
            part = os.pread(self.fd, count - len(out), offset + len(out))
            if not part:
                break
            out += part
        return out


class MemoryBacking:
    """The bytes of a test vector."""

    def __init__(self, raw):
        self.raw, self.length = bytes(raw), len(raw)

    def read(self, offset, count):
        return self.raw[offset:offset + count]


class Geometry:
    """Where things lie in a grouped backing file (FORMAT 3)."""

    @staticmethod
    def needs(size):
        """The backing length that a plaintext of `size` bytes needs; the first page at least."""
        return BLOCK * max(1, -(-size // GROUP)) + size

    @staticmethod
    def holds(backing):
        """The plaintext size a backing length holds; one that ends inside a metadata page holds the groups before it."""
        groups, rest = divmod(backing, GROUP_BACKING)
        return GROUP * groups + max(0, rest - BLOCK)

    @staticmethod
    def page(group):
        return GROUP_BACKING * group

    @staticmethod
    def data(block):
        return GROUP_BACKING * (block // GROUP_BLOCKS) + BLOCK * (1 + block % GROUP_BLOCKS)


class Slot:
    """One sealed version of one block (FORMAT 3.1)."""

    def __init__(self, raw):
        self.nonce, self.tag, (self.length,) = raw[:12], raw[12:28], struct.unpack_from("<H", raw, 28)
        self.empty = raw == bytes(SLOT)
        self.valid = self.empty or 1 <= self.length <= BLOCK


class MetadataPage:
    """A metadata page, opened (FORMAT 3.1).

    What must be known to open it is looked at first: magic, version, cipher, flags, form, key id, and the size of the
    inline form. Then the tag. Only then the rest: a rule broken under a good tag is `malformed`, not `damaged`.
    """

    MAGIC = bytes.fromhex("89534653 0D0A1A0A")

    def __init__(self, raw):
        self.raw = raw
        self.version, self.cipher, self.form, self.flags, self.group = struct.unpack_from("<BBBBI", raw, 8)
        self.nonce, self.tag = raw[16:28], raw[28:44]
        self.sequence, self.newest = struct.unpack_from("<QQ", raw, 48)
        self.file_id, self.key_id = raw[64:96], raw[96:104]
        (self.size,) = struct.unpack_from("<Q", raw, 104)
        self.session = raw[112:128]
        self.content = None  # of the inline form
        self.slots = []  # of the grouped form: a pair an index
        self.aead = None

    sparse = property(lambda self: bool(self.flags & 1))
    standalone = property(lambda self: bool(self.flags & 2))

    @classmethod
    def open_first(cls, raw, keys, sessions, place):
        """Page 0 of a file; `raw` is at least a head long. None where a session that is not over left only a part of it."""
        page = cls(raw)
        if raw[:8] != cls.MAGIC:
            raise FormatError("badMagic", "this is no SecureFS file", 0)
        if page.version != 1:
            raise FormatError("unsupportedVersion", f"version {page.version}", 0)
        if page.cipher not in Aead.KINDS:
            raise FormatError("unsupportedVersion", f"cipher {page.cipher}", 0)
        if page.flags & ~3:
            raise FormatError("unsupportedVersion", f"flags {page.flags:#x}", 0)
        if page.form not in (1, 2):
            raise FormatError("unsupportedVersion", f"form {page.form}", 0)
        if place == "standalone" and not page.standalone:
            raise FormatError("badMagic", "a content file of a vault, outside of it", 0)
        if page.key_id != keys.key_id:
            raise FormatError("wrongKey", "the file belongs to another volume key", 0)
        if page.form == 1 and page.size > INLINE_MAX:
            raise FormatError("malformed", "an inline file with a size above 3839", 0)
        if len(raw) < (HEAD + page.size if page.form == 1 else BLOCK):
            if sessions.state(page.session) != "none" or place == "standalone" and page.session != ZERO_ID:
                return None
            raise FormatError("truncated", "the backing file ends in its first page", 0)
        page._unseal(keys.group_key(page.file_id, 0), 0)
        page._judge(0)
        if page.size >= MAX_SIZE:
            raise FormatError("malformed", "size of 2^62 or more", 0)
        return page

    @classmethod
    def open_above(cls, raw, group, first, keys):
        """The page of a group above 0."""
        page, block = cls(raw), group * GROUP_BLOCKS
        expected = (1, first.cipher, 2, 0, group & 0xFFFFFFFF)
        if raw[:8] != cls.MAGIC or (page.version, page.cipher, page.form, page.flags, page.group) != expected:
            raise FormatError("damaged", f"the metadata page of group {group} has another head", block)
        page._unseal(keys.group_key(first.file_id, group), block)
        page._judge(group)
        if raw[64:128] != bytes(64):
            raise FormatError("malformed", f"fields of group 0 in the page of group {group}", block)
        return page

    def _unseal(self, key, block):
        raw, self.aead = self.raw, Aead(self.cipher, key)
        if self.form == 1:
            self.content = self.aead.open(self.nonce, raw[HEAD:HEAD + self.size], self.tag, raw[:16] + raw[44:HEAD])
            opened = self.content is not None
        else:
            opened = self.aead.open(self.nonce, b"", self.tag, raw[:16] + raw[44:BLOCK]) is not None
        if not opened:
            raise FormatError("damaged", "the metadata page does not verify", block)

    def _judge(self, group):
        """The rules that hold for authenticated fields."""
        block = group * GROUP_BLOCKS

        def refuse(text):
            raise FormatError("malformed", text, block)

        if self.group != group & 0xFFFFFFFF:
            refuse("another group's index")
        if self.raw[44:48] != bytes(4) or self.raw[128:HEAD] != bytes(128):
            refuse("reserved bytes are set")
        if self.sequence == 0:
            refuse("sequence 0")
        if self.form == 1:
            if self.newest:
                refuse("newest bits in an inline file")
            return
        for index in range(GROUP_BLOCKS):
            at = HEAD + 2 * SLOT * index
            pair = Slot(self.raw[at:at + SLOT]), Slot(self.raw[at + SLOT:at + 2 * SLOT])
            bit = self.newest >> index & 1
            if not (pair[0].valid and pair[1].valid):
                refuse(f"slot length of index {index}")
            if bit and pair[1].empty:
                refuse(f"newest names the empty slot 1 of index {index}")
            if not bit and pair[0].empty and not pair[1].empty:
                refuse(f"newest names the empty slot 0 of index {index}")
            self.slots.append(pair)


class ContentFile:
    """A content file (FORMAT 3), read strictly or leniently as its session says (FORMAT 3.3, 8.3).

    `notes` collects what lenient reading let pass.
    """

    def __init__(self, backing, keys, sessions, place="vault"):
        self.backing, self.keys, self.notes = backing, keys, []
        self.first, self.size, self.lenient = None, 0, False
        self._group, self._page = None, None
        start = backing.read(0, BLOCK)
        if not start:
            return
        if place == "standalone" and start[:8] != MetadataPage.MAGIC:
            raise FormatError("badMagic", "not a content file", 0)
        if len(start) < HEAD or not any(start):
            if place == "standalone" or not sessions.unsettled:
                raise FormatError("damaged", "the first page is missing", 0)
            self.notes.append("the first page never became durable: an empty file")
            return
        self.first = MetadataPage.open_first(start, keys, sessions, place)
        if self.first is None:
            self.notes.append("the first page is only partly there and never became durable: an empty file")
            return
        if place == "vault" and self.first.standalone:
            raise FormatError("damaged", "a standalone file inside a vault", 0)
        state = sessions.state(self.first.session)
        self.lenient = state != "none" or (self.first.standalone and self.first.session != ZERO_ID)
        self.size = self.first.size
        if self.first.form == 2 and backing.length < Geometry.needs(self.size):
            held = min(self.size, Geometry.holds(backing.length))
            if not self.lenient:
                raise FormatError("truncated", f"{held} of {self.size} bytes are there", held // BLOCK)
            self.notes.append(f"the backing file is shorter than recorded: {held} of {self.size} bytes")
            self.size = held

    @property
    def block_count(self):
        return -(-self.size // BLOCK)

    def _metadata(self, group):
        """The opened page of a group, or None for 64 holes."""
        if group == 0:
            return self.first
        if group != self._group:
            raw = self.backing.read(Geometry.page(group), BLOCK)
            if any(raw):
                page = MetadataPage.open_above(raw, group, self.first, self.keys)
            elif self.first.sparse:
                page = None
            elif self.lenient:
                self.notes.append(f"the metadata page of group {group} never became durable: holes")
                page = None
            else:
                raise FormatError("damaged", f"the metadata page of group {group} is missing", group * GROUP_BLOCKS)
            self._group, self._page = group, page
        return self._page

    def _open_slot(self, page, block, slot):
        """The plaintext of a version (FORMAT 3.2), or None."""
        ciphertext = self.backing.read(Geometry.data(block), slot.length)
        if len(ciphertext) < slot.length:
            return None
        associated = struct.pack("<BBBBHH", 0x42, page.version, page.cipher, 0, block % GROUP_BLOCKS, slot.length)
        return page.aead.open(slot.nonce, ciphertext, slot.tag, associated)

    def _version(self, block):
        """The plaintext of the version of a block that counts (FORMAT 3.3); empty for a hole."""
        page = self._metadata(block // GROUP_BLOCKS)
        if page is None:
            return b""
        index = block % GROUP_BLOCKS
        newest = page.newest >> index & 1
        slot, other = page.slots[index][newest], page.slots[index][1 - newest]
        if slot.empty:
            return b""
        content = self._open_slot(page, block, slot)
        if content is None and self.lenient:
            if other.empty:
                self.notes.append(f"block {block}: its only version never became durable: a hole")
                return b""
            content = self._open_slot(page, block, other)
        if content is None:
            raise FormatError("damaged", "the block does not verify", block)
        return content

    def block(self, block):
        """The plaintext of a block, cut at the size."""
        if self.first.form == 1:
            return self.first.content
        return self._version(block).ljust(BLOCK, b"\0")[:self.size - BLOCK * block]

    def blocks(self):
        """The plaintext, block by block."""
        return map(self.block, range(self.block_count))

    def problems(self):
        """Every error of its pages and blocks: one a page that does not open, one a block."""
        if self.size == 0 or self.first.form == 1:
            return
        for group in range(-(-self.size // GROUP)):
            try:
                if self._metadata(group) is None:
                    continue
            except FormatError as error:
                yield error
                continue
            for block in range(group * GROUP_BLOCKS, min((group + 1) * GROUP_BLOCKS, self.block_count)):
                try:
                    self._version(block)
                except FormatError as error:
                    yield error


# --------------------------------------------------------------------------------------- FORMAT 5: directories, names


class DirectoryId:
    """`sfs.dir` and the attribute that holds the same (FORMAT 5.2)."""

    @staticmethod
    def _verify(raw, keys):
        return raw is not None and len(raw) == 32 and hmac.compare_digest(hmac256(keys.directory, raw[:16])[:16], raw[16:])

    @classmethod
    def choose(cls, content, attribute, keys):
        """The id by the file's content, else by the attribute's (either None where missing)."""
        for raw in (content, attribute):
            if cls._verify(raw, keys):
                return raw[:16]
        raise FormatError("damaged", "the directory's id is missing or does not verify")


class NameCodec:
    """Names of entries (FORMAT 5)."""

    LONG = b"sfs.long."

    def __init__(self, keys):
        self.siv = Siv(keys.names)

    @classmethod
    def is_reserved(cls, stored):
        """Whether the name never stands for a user's entry (FORMAT 5.1)."""
        return stored.startswith(b"sfs.") and (not stored.startswith(cls.LONG) or stored.endswith(b".name"))

    def open(self, stored, directory_id, companion):
        """The name behind a stored name; `companion()` gives the companion's content or None. Foreign and damaged names raise."""
        if not stored.startswith(self.LONG):
            sealed = unb64(stored)
            name = None if sealed is None else self.siv.open([directory_id], sealed)
            if name is None or not self._allowed(name) or len(name) > 175:
                raise FormatError("foreign", "the name is none of this directory")
            return name
        sealed = companion()
        if sealed is None or stored != self.LONG + b64(hashlib.sha256(sealed).digest()):
            raise FormatError("damaged", "the long name's companion is missing or another's")
        name = self.siv.open([directory_id], sealed)
        if name is None or not self._allowed(name) or len(name) <= 175:
            raise FormatError("damaged", "the long name does not verify")
        return name

    @staticmethod
    def _allowed(name):
        return 1 <= len(name) <= 255 and b"/" not in name and b"\0" not in name and name not in (b".", b"..")


# ----------------------------------------------------------------------------- FORMAT 6: symlinks, extended attributes


class SymlinkCodec:
    """Targets of symlinks (FORMAT 6)."""

    LONG = re.compile(rb"sfs\.link\.([A-Za-z0-9_-]{22})\.([0-9a-f]{5})")

    def __init__(self, keys):
        self.siv = Siv(keys.symlinks)

    def open(self, stored, fetch):
        """The target; `fetch(name)` gives the content of a file of `sfs.links/`, or None."""
        long = self.LONG.fullmatch(stored)
        sealed = fetch(long[1]) if long and unb64(long[1]) is not None else unb64(stored)
        target = None if sealed is None or len(sealed) < 33 else self.siv.open([b"target", sealed[:16]], sealed[16:])
        if target is None:
            raise FormatError("damaged", "the symlink's target does not verify")
        if long:
            fits = 3040 <= len(target) <= 4095 and int(long[2], 16) == len(target)
        else:
            fits = 1 <= len(target) <= 3039
        if not fits or b"\0" in target:
            raise FormatError("malformed", "the symlink's target has another length than its form allows")
        return target


class XattrCodec:
    """Names and values of extended attributes (FORMAT 6)."""

    STORED = re.compile(rb"(?:user|trusted)\.sfs\.([nh])\.([A-Za-z0-9_-]+)")

    def __init__(self, keys):
        self.siv = Siv(keys.xattrs)

    def open(self, stored, value):
        """(name, value), or None for an attribute that is not shown."""
        match = self.STORED.fullmatch(stored)
        if not match:
            return None
        form, coded = match[1], unb64(match[2])
        if coded is None or len(value) < 32:
            raise FormatError("damaged", "an attribute has another form")
        name = self.siv.open([b"name"], coded) if form == b"n" else None
        if form == b"n" and name is None:
            raise FormatError("damaged", "an attribute's name does not verify")
        plain = self.siv.open([b"value", value[:16], stored], value[16:])
        if plain is None:
            raise FormatError("damaged", "an attribute's value does not verify")
        if form == b"h":
            length = int.from_bytes(plain[:2], "little")
            name, plain = plain[2:2 + length], plain[2 + length:]
            if len(name) != length or hashlib.sha256(self.siv.seal([b"name"], name)).digest() != coded:
                raise FormatError("malformed", "an attribute's long name is another's")
        if not 1 <= len(name) <= 255:
            raise FormatError("malformed", "an attribute's name has no length that may be")
        return name, plain


# ----------------------------------------------------------------------------------------------- FORMAT 7: sfs.json


class RecoveryKey:
    """A recovery key as typed (FORMAT 7)."""

    ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    @classmethod
    def parse(cls, typed):
        """Its 20 bytes."""
        text = re.sub(r"[\s-]", "", typed.decode("latin-1")).upper().translate(str.maketrans("OIL", "011"))
        if len(text) != 36 or any(c not in cls.ALPHABET for c in text):
            raise FormatError("malformed", "this is no recovery key: 36 letters and digits are expected")
        value = 0
        for c in text:
            value = value << 5 | cls.ALPHABET.index(c)
        raw, check = (value >> 20).to_bytes(20, "big"), value & 0xFFFFF
        if int.from_bytes(hashlib.sha256(b"sfs1 recovery" + raw).digest()[:3], "big") >> 4 != check:
            raise FormatError("malformed", "the recovery key has a typing error")
        return raw


class Credential:
    """What opens a vault: a passphrase, a recovery key, a key file, or the volume key itself."""

    def __init__(self, kind, secret):
        self.kind, self.secret = kind, secret

    def key_encryption_key(self, kdf):
        """The KEK of a slot of this credential's type (FORMAT 7)."""
        salt = bytes.fromhex(kdf["salt"])
        if self.kind == "passphrase":
            try:
                from argon2.low_level import Type, hash_secret_raw
            except ImportError:
                raise UsageError("passphrases need Argon2id: install Debian's python3-argon2") from None
            return hash_secret_raw(self.secret, salt, kdf["passes"], kdf["memoryKiB"], kdf["lanes"], 32, Type.ID, 0x13)
        return hkdf_expand(hmac256(salt, self.secret), b"sfs1 " + self.kind.encode(), 32)


class Config:
    """`sfs.json` (FORMAT 7)."""

    MEMBERS = {"magic", "format", "features", "volumeId", "keyId", "cipher", "created", "slots", "mac", "checksum"}
    TYPES = ("passphrase", "recovery", "keyfile")
    NOT_A_VAULT = ("badMagic", "this is no SecureFS vault")

    def __init__(self, raw):
        """Parses and judges all that needs no key: magic, format, checksum, features, members, in this order."""
        if len(raw) > 65536:
            raise FormatError("malformed", "sfs.json is larger than 64 KiB")
        self.tree = self._parse(raw)
        if not isinstance(self.tree, dict) or self.tree.get("magic") != "SecureFS vault":
            raise FormatError(*self.NOT_A_VAULT)
        if self.tree.get("format") != 1:
            raise FormatError("unsupportedVersion", f"format {self.tree.get('format')}")
        if self.tree.get("checksum") != hashlib.sha256(self.canonical("checksum")).hexdigest():
            raise FormatError("damaged", "sfs.json does not fit its checksum")
        self._judge()

    @staticmethod
    def _parse(raw):
        def pairs(members):
            out = dict(members)
            if len(out) != len(members):
                raise FormatError("malformed", "sfs.json names a member twice")
            return out

        def refuse(text):
            raise FormatError("malformed", f"sfs.json holds {text[:20]}, not an integer")

        try:
            return json.loads(raw.decode("ascii"), object_pairs_hook=pairs, parse_float=refuse, parse_constant=refuse)
        except (ValueError, RecursionError):
            raise FormatError("damaged", "sfs.json is no JSON") from None

    def canonical(self, *without):
        """The canonical form, without some members."""
        kept = {name: value for name, value in self.tree.items() if name not in without}
        return json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()

    def _judge(self):
        tree = self.tree

        def need(condition, text):
            if not condition:
                raise FormatError("malformed", f"sfs.json: {text}")

        self._judge_values(tree)
        need(isinstance(tree.get("features"), list), "features")
        need(all(isinstance(f, str) for f in tree["features"]), "features")
        if tree["features"]:
            raise FormatError("unsupportedVersion", f"features {tree['features']}")
        need(set(tree) == self.MEMBERS, "members")
        need(unhex(tree["volumeId"], 16) is not None, "volumeId")
        need(unhex(tree["keyId"], 8) is not None, "keyId")
        need(unhex(tree["mac"], 32) is not None, "mac")
        need(tree["cipher"] in ("aes-256-gcm", "chacha20-poly1305"), "cipher")
        need(isinstance(tree["created"], int), "created")
        need(isinstance(tree["slots"], list) and 1 <= len(tree["slots"]) <= 64, "slots")
        for slot in tree["slots"]:
            need(isinstance(slot, dict) and set(slot) == {"id", "type", "kdf", "nonce", "wrapped"}, "slot members")
            need(unhex(slot["id"], 8) is not None and unhex(slot["nonce"], 12) is not None, "slot id or nonce")
            need(unhex(slot["wrapped"], 48) is not None and slot["type"] in self.TYPES, "slot wrapped or type")
            self._judge_kdf(slot["type"], slot["kdf"], need)

    @staticmethod
    def _judge_kdf(slot_type, kdf, need):
        need(isinstance(kdf, dict) and unhex(kdf.get("salt"), 16) is not None, "kdf")
        if slot_type != "passphrase":
            need(set(kdf) == {"algorithm", "salt"} and kdf["algorithm"] == "hkdf-sha256", "kdf")
            return
        need(set(kdf) == {"algorithm", "lanes", "memoryKiB", "passes", "salt"} and kdf["algorithm"] == "argon2id", "kdf")
        lanes, memory, passes = kdf["lanes"], kdf["memoryKiB"], kdf["passes"]
        need(all(isinstance(n, int) for n in (lanes, memory, passes)), "kdf")
        need(1 <= lanes <= 16 and 8 * lanes <= memory <= 4194304 and 1 <= passes <= 1024, "kdf limits")

    @classmethod
    def _judge_values(cls, value):
        """Only objects, arrays, strings without what would need an escape, and unsigned integers."""
        if isinstance(value, dict):
            for name, member in value.items():
                cls._judge_values(name)
                cls._judge_values(member)
        elif isinstance(value, list):
            for member in value:
                cls._judge_values(member)
        elif isinstance(value, str):
            if not re.fullmatch(r'[ !#-\[\]-~]*', value):
                raise FormatError("malformed", "sfs.json: a string that needs escapes")
        elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise FormatError("malformed", "sfs.json: a value that is no unsigned integer")

    def unlock(self, credential):
        """The keys of the vault, by a credential."""
        if credential.kind == "volume":
            keys = KeyRing(credential.secret)
            if keys.key_id.hex() != self.tree["keyId"]:
                raise FormatError("wrongKey", "the volume key is another vault's")
        else:
            keys = next(filter(None, (self._try(slot, credential) for slot in self.tree["slots"])), None)
            if keys is None:
                raise FormatError("wrongPassphrase", f"no {credential.kind} slot opens")
        mac = hmac256(keys.config, self.canonical("mac", "checksum"))
        if keys.key_id.hex() != self.tree["keyId"] or not hmac.compare_digest(mac.hex(), self.tree["mac"]):
            raise FormatError("tampered", "sfs.json was changed by someone without the key")
        return keys

    def _try(self, slot, credential):
        if slot["type"] != credential.kind:
            return None
        associated = b"sfs1 slot\0" + bytes.fromhex(self.tree["volumeId"] + slot["id"]) + slot["type"].encode()
        wrapped, nonce = bytes.fromhex(slot["wrapped"]), bytes.fromhex(slot["nonce"])
        volume = Aead(1, credential.key_encryption_key(slot["kdf"])).open(nonce, wrapped[:-16], wrapped[-16:], associated)
        return KeyRing(volume) if volume is not None else None


# ------------------------------------------------------------------------------------------------- a vault on disk


class Disk:
    """Reads of the backing filesystem, relative to directory descriptors so that no path grows too long."""

    @staticmethod
    def path(directory, name):
        return b"/proc/self/fd/%d/%b" % (directory, name)

    @classmethod
    def content(cls, directory, name, limit):
        """The content of a small regular file, or None."""
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        except OSError:
            return None
        with os.fdopen(fd, "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(fd).st_mode) else None

    @staticmethod
    def attributes(path):
        """(name, value) of every extended attribute, as bytes, of the entry itself."""
        try:
            names = os.listxattr(path, follow_symlinks=False)
            return [(os.fsencode(name), os.getxattr(path, name, follow_symlinks=False)) for name in names]
        except OSError:
            return []


class Entry:
    """A user's entry: where it lies and what it is."""

    # Pipes, sockets and devices are a name and an inode, and nothing else (FORMAT 6).
    KINDS = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l",
             stat.S_IFIFO: "p", stat.S_IFSOCK: "s", stat.S_IFCHR: "c", stat.S_IFBLK: "b"}

    def __init__(self, vault, directory, stored, path, status):
        self.vault, self.directory, self.stored, self.path, self.status = vault, directory, stored, path, status
        self.kind = self.KINDS[stat.S_IFMT(status.st_mode)]

    def target(self):
        """The target of a symlink."""
        return self.vault.symlinks.open(os.readlink(self.stored, dir_fd=self.directory), self.vault.long_target)

    def with_content(self, use):
        """Opens the content file, and gives what `use` makes of it."""
        fd = os.open(self.stored, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.directory)
        try:
            return use(ContentFile(FileBacking(fd), self.vault.keys, self.vault.sessions))
        finally:
            os.close(fd)

    def attributes(self):
        """(name, value) of the shown attributes."""
        stored = Disk.attributes(Disk.path(self.directory, self.stored))
        opened = [opened for opened in (self.vault.xattrs.open(*pair) for pair in stored) if opened]
        return [(name, self._with_mode(value)) if name == b"system.posix_acl_access" else (name, value) for name, value in opened]

    def _with_mode(self, value):
        """An access control list; what the mode says too is taken from the mode (FORMAT 6.1)."""
        entries = [struct.unpack_from("<HHI", value, start) for start in range(4, len(value), 8)]
        if value[:4] != b"\2\0\0\0" or len(value) % 8 != 4:
            raise FormatError("malformed", "no access control list")
        group = 16 if 16 in (tag for tag, _, _ in entries) else 4
        shifts = {1: 6, group: 3, 32: 0}
        of_mode = [(tag, self.status.st_mode >> shifts[tag] & 7 if tag in shifts else bits, who) for tag, bits, who in entries]
        return value[:4] + b"".join(struct.pack("<HHI", *entry) for entry in of_mode)


class Vault:
    """A vault, opened (FORMAT 5 to 8)."""

    def __init__(self, path, credential):
        self.root = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self.config = self.read_config(path)
        self.keys = self.config.unlock(credential)
        self.names, self.symlinks, self.xattrs = NameCodec(self.keys), SymlinkCodec(self.keys), XattrCodec(self.keys)
        record = Disk.content(self.root, b"sfs.session", 65536)
        self.sessions = SessionRecord() if record is None else SessionRecord.parse(record, self.keys)

    @staticmethod
    def read_config(path):
        try:
            with open(os.path.join(os.fsencode(path), b"sfs.json"), "rb") as file:
                return Config(file.read(65537))
        except (FileNotFoundError, NotADirectoryError):
            raise FormatError(*Config.NOT_A_VAULT) from None

    def long_target(self, name):
        return Disk.content(self.root, b"sfs.links/" + name, 8192)

    def directory_id(self, directory):
        attribute = dict(Disk.attributes(b"/proc/self/fd/%d/." % directory)).get(b"user.sfs.dir")
        return DirectoryId.choose(Disk.content(directory, b"sfs.dir", 64), attribute, self.keys)

    def entries(self, directory, path, report):
        """The entries of one directory, sorted by name; `report(where, error)` hears of the others."""
        try:
            directory_id = self.directory_id(directory)
        except FormatError as error:
            report(path or b".", error)
            return []
        found = []
        for stored in os.listdir(directory):
            stored = os.fsencode(stored)
            if NameCodec.is_reserved(stored):
                continue
            status = os.stat(stored, dir_fd=directory, follow_symlinks=False)
            try:
                name = self.names.open(stored, directory_id, lambda s=stored: Disk.content(directory, s + b".name", 512))
                found.append((name, Entry(self, directory, stored, os.path.join(path, name), status)))
            except FormatError as error:
                report(os.path.join(path, stored), error)
        return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]

    def walk(self, report, directory=None, path=b""):
        """Every entry below a directory. An entry is to be used before the next is asked for."""
        for entry in self.entries(self.root if directory is None else directory, path, report):
            yield entry
            if entry.kind == "d":
                fd = os.open(entry.stored, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=entry.directory)
                try:
                    yield from self.walk(report, fd, entry.path)
                finally:
                    os.close(fd)

    def find(self, path, report):
        """(entry or None for the root, descriptor of the directory it is in or, for directories, is)."""
        directory, entry, here = self.root, None, b""
        for part in [p for p in path.split(b"/") if p not in (b"", b".")]:
            if entry is not None and entry.kind != "d":
                raise UsageError(f"not a directory: {os.fsdecode(here)}")
            here = os.path.join(here, part)
            entry = next((e for e in self.entries(directory, os.path.dirname(here), report) if e.path == here), None)
            if entry is None:
                raise UsageError(f"no such entry: {os.fsdecode(here)}")
            if entry.kind == "d":
                directory = os.open(entry.stored, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
        return entry, directory


# ------------------------------------------------------------------------------------------------------ tree digest


class TreeDigest:
    """The lines of `tree-digest`, of a vault and of a plain directory alike."""

    @staticmethod
    def quote(path):
        """A path in double quotes; bytes other than printable ASCII, the quote and the backslash as \\xNN."""
        return '"' + "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\x{c:02x}" for c in path) + '"'

    @staticmethod
    def _attributes(pairs):
        if not pairs:
            return "-"
        digest = hashlib.sha256()
        for name, value in sorted(pairs):
            digest.update(struct.pack("<QQ", len(name), len(value)) + name + value)
        return digest.hexdigest()

    @classmethod
    def _line(cls, kind, mode, size, digest, attributes, path):
        return f"{kind} {stat.S_IMODE(mode):04o} {size} {digest} {cls._attributes(attributes)} {cls.quote(path)}"

    @staticmethod
    def _content(parts):
        digest, size = hashlib.sha256(), 0
        for part in parts:
            digest.update(part)
            size += len(part)
        return size, digest.hexdigest()

    @classmethod
    def of_entry(cls, entry):
        size, digest = "-", "-"
        if entry.kind == "f":
            size, digest = entry.with_content(lambda file: cls._content(file.blocks()))
        elif entry.kind == "l":
            size, digest = cls._content([entry.target()])
        elif entry.kind in "cb":
            size = entry.status.st_rdev
        return cls._line(entry.kind, entry.status.st_mode, size, digest, entry.attributes(), entry.path)

    @classmethod
    def of_plain(cls, root):
        """(path, line) of every entry of a plain directory."""
        pending = [b""]
        while pending:
            directory = pending.pop()
            for name in os.listdir(os.path.join(root, directory)):
                path = os.path.join(directory, name)
                full = os.path.join(root, path)
                status, size, digest = os.lstat(full), "-", "-"
                if stat.S_ISDIR(status.st_mode):
                    kind = "d"
                    pending.append(path)
                elif stat.S_ISLNK(status.st_mode):
                    kind, (size, digest) = "l", cls._content([os.readlink(full)])
                elif stat.S_ISREG(status.st_mode):
                    with open(full, "rb") as file:
                        kind, (size, digest) = "f", cls._content(iter(lambda: file.read(1 << 20), b""))
                else:
                    kind = Entry.KINDS[stat.S_IFMT(status.st_mode)]
                    size = status.st_rdev if kind in "cb" else "-"
                yield path, cls._line(kind, status.st_mode, size, digest, Disk.attributes(full), path)


# ----------------------------------------------------------------------------------------------------- test vectors


class Vector:
    """A test vector: header, blank line, `offset hex` lines (Tests/VectorTests/Vectors/README.md)."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            head, _, body = file.read().partition("\n\n")
        self.fields = dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in head.split("\n"))
        self.raw = bytearray(int(self.fields.get("backing-length", "0")))
        for line in filter(None, body.split("\n")):
            offset, text = line.split(" ")
            piece = bytes.fromhex(text)
            if int(offset) + len(piece) > len(self.raw):
                raise ValueError(f"{path}: bytes past backing-length")
            self.raw[int(offset):int(offset) + len(piece)] = piece

    def __getitem__(self, name):
        return self.fields[name]

    def bytes(self, name):
        """A hex field, or None where it is missing."""
        return bytes.fromhex(self.fields[name]) if name in self.fields else None


class VectorRunner:
    """Runs vectors and compares the outcome with what they expect."""

    def outcome(self, vector):
        """The fields found: `expect` always, others by kind."""
        try:
            return {"expect": "ok", **getattr(self, "_" + vector["kind"])(vector, bytes(vector.raw))}
        except FormatError as error:
            return {"expect": error.code, "at-block": str(error.block)}

    def differences(self, vector):
        """What differs: lines of text."""
        found, told = self.outcome(vector), vector.fields
        for name in set(found) | {"size", "payload-sha256", "at-block"} & set(told):
            if told.get(name) != found.get(name) and not (name == "at-block" and name not in told):
                yield f"{name} is {found.get(name)}, expected {told.get(name)}"

    @staticmethod
    def _payload(parts):
        size, digest = TreeDigest._content(parts)
        return {"size": str(size), "payload-sha256": digest}

    def _content(self, vector, raw):
        sessions = AssumedSession(vector.fields.get("session", "none"))
        file = ContentFile(MemoryBacking(raw), KeyRing(vector.bytes("key")), sessions, vector.fields.get("place", "vault"))
        found = self._payload(file.blocks())
        return {**found, "notes": str(len(file.notes))}

    def _name(self, vector, raw):
        codec = NameCodec(KeyRing(vector.bytes("key")))
        stored = vector["stored-name"].encode()
        if codec.is_reserved(stored):
            raise FormatError("foreign", "a reserved name")
        return {"name": codec.open(stored, vector.bytes("directory-id"), lambda: raw or None).hex()}

    def _symlink(self, vector, raw):
        stored = vector["stored-target"].encode()
        codec = SymlinkCodec(KeyRing(vector.bytes("key")))
        return self._payload([codec.open(stored, lambda name: raw if name == stored[9:31] and raw else None)])

    def _xattr(self, vector, raw):
        name, value = XattrCodec(KeyRing(vector.bytes("key"))).open(vector["stored-name"].encode(), raw)
        return {"name": name.hex(), **self._payload([value])}

    def _directory(self, vector, raw):
        return {"directory-id": DirectoryId.choose(raw, vector.bytes("attribute"), KeyRing(vector.bytes("key"))).hex()}

    def _session(self, vector, raw):
        record = SessionRecord.parse(raw, KeyRing(vector.bytes("key")))
        return {"open-session": record.open_session.hex(), "dead-sessions": " ".join(i.hex() for i in record.dead)}

    def _config(self, vector, raw):
        return {"key": Config(raw).unlock(Credential(vector["credential"], vector.bytes("secret"))).volume.hex()}

    def _recovery(self, vector, raw):
        return {"recovery-bytes": RecoveryKey.parse(raw).hex()}

    def _keys(self, vector, raw):
        keys, file_id = KeyRing(vector.bytes("key")), vector.bytes("file-id")
        named = {"key-id": keys.key_id, "content-key": keys.content, "file-key": keys.file_key(file_id),
                 "name-key": keys.names, "symlink-key": keys.symlinks, "xattr-key": keys.xattrs,
                 "directory-key": keys.directory, "config-key": keys.config, "session-key": keys.session}
        groups = {f"group-key-{g}": keys.group_key(file_id, g) for g in (0, 1, 1 << 32)}
        return {name: value.hex() for name, value in {**named, **groups}.items()}

    def _accumulated(self, vector, raw):
        """1,000 rounds of a data page and a metadata page; the README gives every field."""
        def stream(label, round_, count):
            text = b"accumulated " + label + b" %d" % round_
            parts = (hashlib.sha256(text + b"\0" + struct.pack("<Q", n)).digest() for n in range(-(-count // 32)))
            return b"".join(parts)[:count]

        keys, digest = KeyRing(vector.bytes("key")), hashlib.sha256()
        for n in range(1000):
            cipher, group, index, length = 1 + n % 2, n % 7, n % GROUP_BLOCKS, 1 + n * 37 % BLOCK
            file_id = stream(b"file id", n, 32)
            aead = Aead(cipher, keys.group_key(file_id, group))
            nonce = stream(b"block nonce", n, 12)
            associated = struct.pack("<BBBBHH", 0x42, 1, cipher, 0, index, length)
            ciphertext, tag = aead.seal(nonce, stream(b"block", n, length), associated)
            digest.update(ciphertext)
            page = bytearray(BLOCK)
            page[:28] = MetadataPage.MAGIC + bytes([1, cipher, 2, 0]) + struct.pack("<I", group) + stream(b"page nonce", n, 12)
            struct.pack_into("<Q", page, 48, 2)
            if group == 0:
                struct.pack_into("<32s8sQ16s", page, 64, file_id, keys.key_id, BLOCK * index + length, stream(b"session", n, 16))
            struct.pack_into("<12s16sH", page, HEAD + 2 * SLOT * index, nonce, tag, length)
            page[28:44] = aead.seal(bytes(page[16:28]), b"", bytes(page[:16] + page[44:]))[1]
            digest.update(page)
        return {"payload-sha256": digest.hexdigest()}


# -------------------------------------------------------------------------------------------------------- commands


class VaultCommands:
    """The commands on a vault. Problems go to `report`; the exit code is that of the first."""

    def __init__(self, vault):
        self.vault, self.code, self.report_file = vault, 0, sys.stderr

    def report(self, where, error):
        print(error.describe(TreeDigest.quote(where)), file=self.report_file)
        self.code = self.code or error.exit_code

    def ls(self, args):
        parser = argparse.ArgumentParser(prog="ls")
        parser.add_argument("-R", action="store_true", dest="recursive")
        parser.add_argument("path", nargs="?", default="")
        options = parser.parse_args(args)
        entry, directory = self.vault.find(os.fsencode(options.path), self.report)
        if entry is not None and entry.kind != "d":
            entries = [entry]
        elif options.recursive:
            entries = self.vault.walk(self.report, directory, entry.path if entry else b"")
        else:
            entries = self.vault.entries(directory, entry.path if entry else b"", self.report)
        for found in entries:
            print(found.kind, TreeDigest.quote(found.path))

    def standalone(self, argv):
        """Prints a standalone file under the vault's key."""
        if len(argv) != 1:
            raise UsageError("standalone FILE")
        with open(argv[0], "rb") as file:
            write_out(ContentFile(FileBacking(file.fileno()), self.vault.keys, AssumedSession("none"), place="standalone"))

    def cat(self, args):
        if len(args) != 1:
            raise UsageError("cat PATH")
        entry, _ = self.vault.find(os.fsencode(args[0]), self.report)
        if entry is None or entry.kind != "f":
            raise UsageError("not a regular file")
        try:
            entry.with_content(write_out)
        except FormatError as error:
            self.report(entry.path, error)

    def tree_digest(self, _):
        lines = []
        for entry in self.vault.walk(self.report):
            try:
                lines.append((entry.path, TreeDigest.of_entry(entry)))
            except FormatError as error:
                self.report(entry.path, error)
        print_sorted(lines)

    def check(self, _):
        self.report_file = sys.stdout
        count = 0
        for entry in self.vault.walk(self.report):
            count += 1
            try:
                if entry.kind == "f":
                    entry.with_content(lambda file, e=entry: self._check_content(e, file))
                elif entry.kind == "l":
                    entry.target()
                entry.attributes()
            except FormatError as error:
                self.report(entry.path, error)
        print(f"{count} entries checked", file=sys.stderr)

    def _check_content(self, entry, file):
        for error in file.problems():
            self.report(entry.path, error)
        for note in file.notes:
            print(f"{TreeDigest.quote(entry.path)}: note: {note}", file=sys.stderr)


def info(config):
    """What `sfs.json` says without a key."""
    for name in ("format", "features", "volumeId", "keyId", "cipher", "created"):
        print(f"{name}: {config.tree[name]}")
    for slot in config.tree["slots"]:
        print(f"slot {slot['id']}: {slot['type']} {json.dumps(slot['kdf'], sort_keys=True)}")


def write_out(file):
    """The plaintext of a content file to stdout, its notes to stderr."""
    for block in file.blocks():
        sys.stdout.buffer.write(block)
    for note in file.notes:
        print(f"note: {note}", file=sys.stderr)


def print_sorted(lines):
    for _, line in sorted(lines):
        print(line)


def read_secret(path):
    try:
        with open(path, "rb") as file:
            return file.read(1048577)
    except OSError as error:
        raise UsageError(str(error)) from None


def read_key(path):
    key = unhex(read_secret(path).decode("latin-1").strip().lower(), 32)
    if key is None:
        raise UsageError(f"{path}: 64 hex digits are expected")
    return key


def credential_of(options):
    """The credential a command line names, or None."""
    given = [name for name in ("passfile", "recovery_file", "keyfile", "key_hex_file") if getattr(options, name)]
    if len(given) != 1:
        return None
    path = getattr(options, given[0])
    if given[0] == "passfile":
        return Credential("passphrase", read_secret(path).split(b"\n", 1)[0])
    if given[0] == "recovery_file":
        return Credential("recovery", RecoveryKey.parse(read_secret(path)))
    if given[0] == "keyfile":
        return Credential("keyfile", read_secret(path))
    return Credential("volume", read_key(path))


def run_vault(argv):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("vault")
    for option in ("--passfile", "--recovery-file", "--keyfile", "--key-hex-file"):
        parser.add_argument(option)
    parser.add_argument("command", choices=("ls", "cat", "tree-digest", "check", "info", "standalone"))
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    if options.command == "info":
        info(Vault.read_config(options.vault))
        return 0
    credential = credential_of(options)
    if credential is None:
        raise UsageError("one of --passfile, --recovery-file, --keyfile, --key-hex-file is needed")
    if not os.path.isdir(options.vault):
        raise UsageError(f"no such directory: {options.vault}")
    Vault.read_config(options.vault)  # its errors come before those of the credential
    commands = VaultCommands(Vault(options.vault, credential))
    getattr(commands, options.command.replace("-", "_"))(options.rest)
    return commands.code


def run_plain_digest(argv):
    parser = argparse.ArgumentParser(prog="tree-digest")
    parser.add_argument("--plain", required=True, metavar="DIR")
    print_sorted(TreeDigest.of_plain(os.fsencode(parser.parse_args(argv).plain)))
    return 0


def run_file_read(argv):
    parser = argparse.ArgumentParser(prog="file-read")
    parser.add_argument("file")
    parser.add_argument("--key-hex-file", required=True)
    parser.add_argument("--session", choices=("open", "dead", "none"), default="none")
    options = parser.parse_args(argv)
    keys = KeyRing(read_key(options.key_hex_file))
    try:
        with open(options.file, "rb") as file:
            write_out(ContentFile(FileBacking(file.fileno()), keys, AssumedSession(options.session), place="anywhere"))
    except FormatError as error:
        sys.stdout.flush()
        print(f"error: {error.code} block={error.block}", file=sys.stderr)
        return error.exit_code
    return 0


def run_vectors(argv):
    parser = argparse.ArgumentParser(prog="vectors")
    parser.add_argument("directory")
    directory = parser.parse_args(argv).directory
    names = sorted(name for name in os.listdir(directory) if name.endswith(".vec"))
    failed = 0
    for name in names:
        differences = list(VectorRunner().differences(Vector(os.path.join(directory, name))))
        failed += bool(differences)
        for difference in differences:
            print(f"{name}: {difference}")
    print(f"{len(names)} vectors, {failed} failed")
    return 1 if failed or not names else 0


def main(argv):
    alone = {"tree-digest": run_plain_digest, "file-read": run_file_read, "vectors": run_vectors}
    try:
        if argv and argv[0] in alone:
            return alone[argv[0]](argv[1:])
        return run_vault(argv)
    except FormatError as error:
        print(f"reference_reader: {error.code}: {error.text}", file=sys.stderr)
        return error.exit_code
    except (UsageError, OSError) as error:
        print(f"reference_reader: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
