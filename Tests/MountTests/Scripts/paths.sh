#!/usr/bin/env bash
# Vaults and mount points with every kind of path: spaces, commas, quotes, newlines, leading dashes, symlinks, relative ones.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
sfs() { "$SFS_BINARY" "$@"; }
sfs umount "$M"
both() { # both VAULT MOUNTPOINT: made, mounted, used, unmounted
    local vault=$1 place=$2
    sfs init --passfile "$PASSFILE" --kdf-memory 64 --kdf-passes 1 -- "$vault" >/dev/null
    mkdir -p -- "$place"
    sfs mount --passfile "$PASSFILE" -- "$vault" "$place"
    mountpoint -q -- "$place" || fail "not mounted: $place"
    printf content >"./$place/file" 2>/dev/null || printf content >"$place/file"
    sfs umount -- "$place"
    ! mountpoint -q -- "$place" || fail "still mounted: $place"
    equal "$(sfs cat --passfile "$PASSFILE" -- "$vault" file)" content "the file in $vault"
    ends 7 'not empty|inside|hide' sfs mount --passfile "$PASSFILE" -- "$vault" "$W"
}
both "with space" "mount with space"
both "comma,comma" "mount,comma"
both "a=b" "mount=x"
both "-dash" "-mount"
both $'new\nline' $'mount\nline'
both 'back\slash' 'mount\040slash'
both '"quotes'"'" '$(mount) `x` *'
both 'colon:colon' '#mount'
both "$(printf 'u\314\210nicode \344\270\255')" "$(printf 'mount\303\274')"
both "$(printf 'not \377 utf-8')" "$(printf 'mount \377')"
mkdir relative
both ./relative/../relative.v ./relative/../relative.m
both "$(printf 'v%.0s' {1..255})" "$(printf 'm%.0s' {1..255})"
mkdir real
ln -s real link
both link/vault link/mount
ln -s link/vault vault-link
ln -s link/mount mount-link
sfs mount mount-link 2>/dev/null && fail "mount with one operand"
sfs mount vault-link mount-link --passfile "$PASSFILE"
mountpoint -q real/mount || fail "not mounted through symlinks"
equal "$(cat mount-link/file)" content "through symlinks"
sfs umount mount-link
# With slashes behind, and by paths from elsewhere.
sfs mount real/vault/ real/mount/ --passfile "$PASSFILE"
(cd / && sfs umount "$W/real/../real/mount//")
# A passphrase file with an odd path, and options with commas in their values.
cp "$PASSFILE" 'pass, file'
sfs mount real/vault real/mount -o 'noatime,passfile=pass\, file,nosuid'
sfs umount real/mount
# As mount(8) and fstab call it.
if ((EUID == 0)) && [[ -x /sbin/mount.fuse || -x /sbin/mount.fuse3 ]]; then
    PATH=$(dirname "$SFS_BINARY"):$PATH mount -t fuse.sfs -o "passfile=$PASSFILE,noatime" "$W/real/vault" "$W/real/mount" 2>mount8 &&
        { equal "$(cat real/mount/file)" content "by mount -t fuse.sfs"; umount real/mount; } || printf 'note: mount -t fuse.sfs: %s\n' "$(cat mount8)"
fi
sfs mount "$V" "$M" --passfile "$PASSFILE"
