#!/usr/bin/env bash
# Access control lists: every rule as on the plain folder beside the mount, and kept by remounts, cp, rsync and tar.
# mount: OPTIONS=allow_other COMPARE=1
. "$(dirname "$0")/support/lib.sh"
users=False
if ((EUID == 0)) && grep -qE "^[^ ]* $M fuse[^ ]* [^ ]*allow_other" /proc/mounts; then
    users=True
    chmod 755 "$M"
    # Others get to the plain folder too.
    for above in "$W" "$(dirname "$W")"; do chmod o+x "$above"; done
else
    skip_part "other users' rights: this needs root and a mount that others may use"
fi
python -c "import acl_rules; acl_rules.run($users)"
# Trees with lists, by the programs that copy them.
mkdir tree
(
    cd tree
    mkdir -p plain inherits/below
    setfacl -d -m u:2001:rwx,g:4321:r inherits
    printf content | tee plain/file inherits/file inherits/below/file >/dev/null
    setfacl -m u:2001:r,g:4321:rw plain/file inherits/below
    setfattr -n user.note -v 'a note' plain/file
    truncate -s 1M plain/sparse
    ln plain/file plain/hard
)
lists() { (cd "$1" && find . | sort | xargs getfacl -n && find . | sort | xargs getfattr -d -m "^user" && find . -printf "%p %M\n" | sort); }
lists tree >expected
cp -a tree "$M/cp"
rsync -aAXHS tree/ "$M/rsync/"
said=$(rsync -aAXHS --itemize-changes tree/ "$M/rsync/")
equal "$said" "" "what a second rsync finds to do"
mkdir "$M/tar"
tar -C tree --acls --xattrs --sparse -cf tree.tar .
tar -C "$M/tar" --acls --xattrs -xf tree.tar
for copy in cp rsync tar; do diff expected <(lists "$M/$copy") || fail "$copy into the mount lost something"; done
remount
for copy in cp rsync tar; do diff expected <(lists "$M/$copy") || fail "$copy into the mount lost something by a remount"; done
# And out of it.
cp -a "$M/cp" out.cp
rsync -aAXHS "$M/rsync/" out.rsync/
mkdir out.tar
tar -C "$M/tar" --acls --xattrs --sparse -cf - . | tar -C out.tar --acls --xattrs -xf -
for copy in cp rsync tar; do diff expected <(lists "out.$copy") || fail "$copy out of the mount lost something"; done
