#!/usr/bin/env bash
# rsync into the mount, within it and out of it; the second run of each finds nothing to do.
# mount: COMPARE=1 SECONDS=180
. "$(dirname "$0")/support/lib.sh"
source=${TREE_SOURCE:-/usr/include}
mkdir "$W/tree"
{ find "$source" -type f -printf '%P\0' | sort -z || true; } | head -z -n "${RSYNC_FILES:-1000}" >files
tar -C "$source" --null -T files -cf - | tar -C "$W/tree" -xf -
# What plain trees seldom have.
(
    cd "$W/tree"
    ln -s no/such/target dangling
    head -c 100000 /dev/urandom >one
    ln one two
    truncate -s 5M sparse
    printf x | dd of=sparse bs=1 seek=3000000 conv=notrunc status=none
    mkdir -m 2775 setgid
    : >empty
    touch -d '1969-12-31 23:59:59.5' empty
    touch -h -d '2001-02-03 04:05:06.789' dangling
    setfattr -n user.note -v "a note" one
    setfacl -m u:2001:rw,g:4321:r one
    setfacl -d -m u:2001:rwx setgid
)
# twice OPTIONS FROM TO: the second run has to be silent
twice() {
    local options=$1 said
    # shellcheck disable=SC2086
    rsync $options "$2/" "$3/"
    # shellcheck disable=SC2086
    said=$(rsync $options --itemize-changes "$2/" "$3/")
    [[ -z $said ]] || fail "rsync $options to $3, the second run: $(head -n 3 <<<"$said")"
}
# Times to the nanosecond.
all="-aAHXS --modify-window=-1"
twice "$all" "$W/tree" "$M/in"
twice "$all" "$M/in" "$M/within"
remount
twice "$all" "$M/in" "$W/out"
twice "-aAHX --modify-window=-1 --inplace --no-whole-file" "$W/tree" "$M/within"
# shellcheck disable=SC2086
said=$(rsync $all --itemize-changes --checksum --delete "$W/tree/" "$M/in/")
[[ -z $said ]] || fail "rsync --checksum finds changes after a remount: $(head -n 3 <<<"$said")"
for copy in "$M/in" "$M/within" "$W/out"; do
    diff -r --no-dereference "$W/tree" "$copy" || fail "$copy differs"
    diff <(cd "$W/tree" && getfacl -n one setgid) <(cd "$copy" && getfacl -n one setgid) || fail "$copy has other access lists"
    diff <(metadata "$W/tree") <(metadata "$copy") >difference || fail "$copy has other metadata: $(head -n 4 difference)"
done
[[ $M/in/one -ef $M/in/two ]] || fail "the hard link was not kept"

# Changes go over, and only they; with deltas into the old file, and out of it.
printf 'changed' | dd of="$W/tree/one" bs=1 seek=50000 conv=notrunc status=none
rm "$W/tree/sparse"
said=$(rsync -aAHXS --no-whole-file --delete --itemize-changes "$W/tree/" "$M/in/" | cut -c1-2,13- | sort)
equal "$said" "$(printf '%s\n' '*dsparse' '.d./' '>fone' 'hftwo => one' | sort)" "what rsync transfers"
cmp "$W/tree/two" "$M/in/two"
