#!/usr/bin/env bash
# tar x of a real tree, and diff -r against its source, before and after a remount. TREE_SOURCE names another tree.
# mount: COMPARE=1 SECONDS=240
. "$(dirname "$0")/support/lib.sh"
source=${TREE_SOURCE:-/usr/include}

compare() {
    diff -r --no-dereference "$source" "$M/tree" || fail "the content differs $1"
    metadata "$M/tree" >now
    diff expected now >difference || fail "names, modes, owners, times, sizes or links differ $1: $(head -n 4 difference)"
}

metadata "$source" >expected
mkdir "$M/tree"
tar -C "$source" --format=posix -cf - . | tar -C "$M/tree" -xpf -
compare "after tar x"
remount
compare "after a remount"
# And back: the archive of the copy is the archive of the source.
order=(--sort=name --format=posix '--pax-option=delete=atime,delete=ctime')
equal "$(tar -C "$M/tree" "${order[@]}" -cf - . | sha256sum)" "$(tar -C "$source" "${order[@]}" -cf - . | sha256sum)" "tar c of the copy"
printf '%s entries\n' "$(wc -l <expected)"
