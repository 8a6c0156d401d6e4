#!/usr/bin/env bash
# What cannot be mounted is refused: each reason has its exit code (docs/CLI.md) and says what to do, and nothing changes.
. "$(dirname "$0")/support/lib.sh"
mkdir "$M/d"
printf content >"$M/d/file"
pid=$(daemon)
sfs() { "$SFS_BINARY" "$@"; }

# In use: by a second mount, by a writer of any kind; the message names who.
mkdir elsewhere
ends 6 "in use by process $pid\\b.*unmount" sfs mount "$V" elsewhere --passfile "$PASSFILE"
ends 6 "in use by process $pid\\b.*unmount" sfs mount -f "$V" elsewhere --passfile "$PASSFILE"
ends 6 "in use by process $pid\\b" sfs check --settle "$V" --passfile "$PASSFILE"
ends 7 'mounted there already.*umount' sfs mount "$V" "$M" --passfile "$PASSFILE"
equal "$(cat "$M/d/file")" content "the file after the refusals"
# Reading beside it is allowed.
sfs ls "$V" --passfile "$PASSFILE" >/dev/null
equal "$(sfs cat "$V" d/file --passfile "$PASSFILE")" content "sfs cat beside the mount"
sfs umount "$M"
gone "$pid"
# Not any more.
sfs mount "$V" elsewhere --passfile "$PASSFILE"
sfs umount elsewhere

vault_digest "$V" >before
ls -la --time-style=full-iso "$V" "$M" elsewhere >listed
printf 'not the passphrase\n' >wrong
printf 'the passphrase of a test' >no-newline
printf 'the passphrase of a test\n\nmore lines\n' >more-lines
: >empty
printf '\n' >blank

# The passphrase.
for command in "mount $V $M" "check $V" "ls $V" "cat $V d/file"; do
    # shellcheck disable=SC2086  # Words.
    ends 3 'wrong passphrase' sfs $command --passfile wrong
    # shellcheck disable=SC2086
    ends 8 'no/such.*(No such file|does not exist)' sfs $command --passfile no/such
    # shellcheck disable=SC2086
    ends 8 'empty' sfs $command --passfile empty
    # shellcheck disable=SC2086
    ends 8 'empty' sfs $command --passfile blank
    # shellcheck disable=SC2086
    ends 8 "$W" sfs $command --passfile "$W"
    # shellcheck disable=SC2086
    ends 8 'command failed' sfs $command --passcommand false
    # shellcheck disable=SC2086
    ends 2 'exclude|both|one of' sfs $command --passfile wrong --passcommand 'cat wrong'
done
if ((EUID == 0)); then
    chmod 755 "$W"
    mkdir -m 777 other
    cp "$PASSFILE" private
    chmod 600 private
    cp -a "$V" readable
    chmod -R a+rX readable
    ends 8 'private.*Permission denied' setpriv --reuid 12345 --regid 12345 --clear-groups "$SFS_BINARY" ls readable --passfile private
    chmod 700 readable
    ends 11 'readable.*Permission denied' setpriv --reuid 12345 --regid 12345 --clear-groups "$SFS_BINARY" ls readable --passfile no-newline
fi

# The vault.
ends 4 'no-such' sfs mount no-such "$M" --passfile "$PASSFILE"
mkdir plain plain-with-files
printf x >plain-with-files/file
for place in plain plain-with-files plain-with-files/file "$PASSFILE" /dev/null; do
    ends 4 'not a vault|no vault' sfs mount "$place" "$M" --passfile "$PASSFILE"
    ends 4 'not a vault|no vault' sfs check "$place" --passfile "$PASSFILE"
done
# Somebody else's sfs.json is no vault either; a damaged one of ours is called damaged, not a wrong passphrase.
printf '{"name":"another program"}' >plain/sfs.json
ends 4 'not the configuration' sfs mount plain "$M" --passfile "$PASSFILE"
changed() { # changed PYTHON: a copy of the vault whose configuration was changed so
    rm -rf changed
    cp -a "$V" changed
    python - "$1" <<'END'
import hashlib, json, sys
with open("changed/sfs.json", encoding="ascii") as file:
    tree = json.load(file)
def canonical(without):
    return json.dumps({k: v for k, v in tree.items() if k not in without}, sort_keys=True, separators=(",", ":")).encode()
exec(sys.argv[1])
if "checksum" not in sys.argv[1]:
    tree["checksum"] = hashlib.sha256(canonical(("checksum",))).hexdigest()
with open("changed/sfs.json", "w", encoding="ascii") as file:
    json.dump(tree, file)
END
    vault_digest changed >changed.before
}
# The lock file says who had the vault last, and may.
unchanged() { diff <(grep -v "/sfs.lock" changed.before) <(vault_digest changed | grep -v "/sfs.lock") >difference || fail "a refused vault was changed: $(head -n 3 difference)"; }
for newer in 'tree["format"] = 2' 'tree["format"] = 999' 'tree["features"] = ["a feature of 2030"]'; do
    changed "$newer"
    for command in "mount changed $M" "check changed" "ls changed" "info changed" "passwd changed --new-passfile wrong"; do
        # shellcheck disable=SC2086
        case $command in
        info*) ends 5 'version.*update' sfs $command ;;
        *) ends 5 'version.*update' sfs $command --passfile "$PASSFILE" ;;
        esac
    done
    unchanged
done
changed 'tree["checksum"] = "00" * 32'
ends 13 'damaged|checksum' sfs mount changed "$M" --passfile "$PASSFILE"
unchanged
changed 'tree["created"] = tree["created"] + 1'
ends 13 'tampered|changed' sfs mount changed "$M" --passfile "$PASSFILE"
unchanged
changed 'pass'
truncate -s 100 changed/sfs.json
ends 13 'damaged' sfs mount changed "$M" --passfile "$PASSFILE"
truncate -s 0 changed/sfs.json
ends 13 'damaged' sfs mount changed "$M" --passfile "$PASSFILE"
changed 'pass'
printf X | dd of=changed/sfs.session bs=1 seek=20 conv=notrunc status=none
vault_digest changed >changed.before
ends 13 'session|damaged' sfs mount changed "$M" --passfile "$PASSFILE"
unchanged

# The mount point.
ends 7 'does not exist.*make' sfs mount "$V" no/such/place --passfile "$PASSFILE"
printf x >file
ends 7 'not a directory' sfs mount "$V" file --passfile "$PASSFILE"
ends 7 'not empty' sfs mount "$V" plain-with-files --passfile "$PASSFILE"
ends 7 'vault' sfs mount "$V" "$V" --passfile "$PASSFILE"
mkdir changed/inside 2>/dev/null
ends 7 'inside the vault' sfs mount changed changed/inside --passfile "$PASSFILE"
mkdir -p around
cp -a "$V" around/vault
ends 7 'hide|inside' sfs mount around/vault around --passfile "$PASSFILE"

# How it is called.
ends 2 'mount' sfs mount "$V"
ends 2 'mount' sfs mount "$V" "$M" extra --passfile "$PASSFILE"
ends 2 'nonsense' sfs mount "$V" "$M" -o nonsense --passfile "$PASSFILE"
ends 2 'nonsense' sfs mount "$V" "$M" --nonsense
ends 18 'not|nothing' sfs umount "$M"
ends 18 'nothing|no vault' sfs umount /
ends 18 'No such file' sfs umount no/such/place
# init does not write into what is there.
ends 17 'not empty' sfs init plain-with-files --passfile "$PASSFILE"
ends 17 'already|not empty' sfs init "$V" --passfile "$PASSFILE"
ends 8 'empty' sfs init new --passfile empty
[[ ! -e new ]] || fail "a vault that was refused left something behind"

# After all that: nothing changed, nothing is mounted, no process is left; and the right way still works.
vault_digest "$V" >after
diff before after >difference || fail "the vault changed: $(head -n 5 difference)"
ls -la --time-style=full-iso "$V" "$M" elsewhere | diff listed - || fail "folders changed"
! grep -qF "$(dirname "$M")" /proc/self/mounts || fail "something is mounted"
[[ -z $(daemon) ]] || fail "a process is left"
for file in "$PASSFILE" no-newline more-lines; do
    sfs mount "$V" "$M" --passfile "$file"
    equal "$(cat "$M/d/file")" content "the file, by $file"
    sfs umount "$M"
done
sfs mount "$V" "$M" --passfile "$PASSFILE"
