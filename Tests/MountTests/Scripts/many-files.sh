#!/usr/bin/env bash
# 100,000 files in one directory: made, listed, looked up, removed. MANY_FILES gives another number.
# mount: PLACE=memory SECONDS=240
. "$(dirname "$0")/support/lib.sh"
count=${MANY_FILES:-100000}
mkdir "$M/many"
python - "$M/many" "$count" <<'END'
import os, sys
directory, count = sys.argv[1], int(sys.argv[2])
os.chdir(directory)
for i in range(count):
    os.close(os.open(f"file number {i}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
END
listed() {
    equal "$(find "$M/many" -mindepth 1 | wc -l)" "$count" "find $1"
    # Each name once, none missing: the order of readdir is nobody's business.
    # shellcheck disable=SC2012
    ls -U "$M/many" | sort | sha256sum >names
    equal "$(cat names)" "$(seq -f 'file number %.0f' 0 $((count - 1)) | sort | sha256sum)" "the names $1"
}
listed "after they were made"
remount
listed "after a remount"
[[ -e "$M/many/file number $((count / 2))" ]] || fail "one of many is not found"
refused 'No such file' stat "$M/many/file number $count"
refused 'Directory not empty' rmdir "$M/many"
rm -r "$M/many"
[[ ! -e $M/many ]] || fail "the directory is still there"
equal "$(find "$M" -mindepth 1 | wc -l)" 0 "what is left in the mount"
remount
equal "$(find "$M" -mindepth 1 | wc -l)" 0 "what is left after a remount"
# Nothing of them is left in the vault either.
left=$(find "$V" -mindepth 1 | wc -l)
((left <= 12)) || fail "$left entries are left in the vault of an empty tree"
