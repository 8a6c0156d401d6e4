#!/usr/bin/env bash
# Nothing of names or contents lies readable in the vault: unique markers in every place that a user can fill are not found by grep.
. "$(dirname "$0")/support/lib.sh"
marker=Marker$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')Marker
mkdir -p "$M/${marker}D/inner-$marker"
printf '%s' "$marker" >"$M/small"
printf '%s\n' "$marker" >"$M/${marker}F"
for size in 3800 5000 300000; do
    head -c $size /dev/zero | tr '\0' x >"$M/large.$size"
    printf '%s' "$marker" | dd of="$M/large.$size" bs=1 seek=$((size / 2)) conv=notrunc status=none
    printf '%s' "$marker" >>"$M/large.$size"
done
long=$(printf '%s' "$marker"{,,,,,})
ln -s "/$marker" "$M/symlink"
ln -s "/$(for _ in $(seq 1 70); do printf '%s/' "$marker"; done)" "$M/long-symlink"
printf x >"$M/${long:0:255}"
mkdir "$M/D${long:0:254}"
setfattr -n "user.$marker" -v "$marker" "$M/small" "$M/${marker}D"
setfattr -h -n "trusted.$marker" -v "$marker" "$M/symlink" 2>/dev/null || printf 'no trusted attributes here\n'
# Written and removed, written and cut, written and overwritten: what was once there counts as well.
printf '%s' "$marker" >"$M/removed"
sync "$M/removed"
rm "$M/removed"
printf '%s' "$marker" >"$M/cut"
sync "$M/cut"
truncate -s 3 "$M/cut"
printf 'another content' >"$M/small.2"
mv "$M/small.2" "$M/moved-$marker"
# A program that maps and one that writes directly.
dd if="$M/large.300000" of="$M/direct" bs=4096 oflag=direct iflag=fullblock conv=notrunc status=none 2>/dev/null || cp "$M/large.300000" "$M/direct"
remount
grep -q "$marker" "$M/small" || fail "the marker is not even in the mount"
sync -f "$V"

found() {
    # Contents, as they are, backwards as a number might be, in UTF-16, and in base64 at each of its three offsets.
    python - "$V" "$marker" "$(head -n 1 "$PASSFILE")" <<'END'
import base64, os, sys
vault, marker, passphrase = (os.fsencode(a) for a in sys.argv[1:])
needles = {}
for secret, what in ((marker, "the marker"), (passphrase, "the passphrase")):
    needles[secret] = what
    needles[secret[::-1]] = f"{what}, backwards"
    needles[secret.decode().encode("utf-16-le")] = f"{what} in UTF-16"
    needles[secret.hex().encode()] = f"{what} in hexadecimal"
    if len(secret) >= 12:
        for offset in range(3):
            whole = base64.urlsafe_b64encode(bytes(offset) + secret)
            needles[whole[4:len(whole) - 5]] = f"{what} in base64"
def look(data, place):
    for needle, what in needles.items():
        if needle in data:
            print(f"{what}: in {os.fsdecode(place)}")
count = 0
for folder, folders, files in os.walk(vault):
    for name in folders + files:
        path, count = os.path.join(folder, name), count + 1
        look(name, b"the name " + path)
        for attribute in os.listxattr(path, follow_symlinks=False):
            look(os.fsencode(attribute), b"an attribute's name of " + path)
            look(os.getxattr(path, attribute, follow_symlinks=False), b"an attribute of " + path)
        if os.path.islink(path):
            look(os.readlink(path), b"the target of " + path)
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                look(file.read(), b"the content of " + path)
if count < 15:
    print("only", count, "entries looked at")
END
}
said=$(found)
[[ -z $said ]] || fail "$said"
# The plain tools agree.
if grep -rqaF "$marker" "$V"; then fail "grep finds the marker: $(grep -rlaF "$marker" "$V" | head -n 3)"; fi
[[ -z $(find "$V" -name "*$marker*" -o -lname "*$marker*") ]] || fail "find finds the marker"
# And the check itself sees what it is looking for.
printf '%s' "$marker" >"$V/planted"
[[ -n $(found) ]] || fail "the search does not find a planted marker"
rm "$V/planted"
