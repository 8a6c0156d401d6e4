# Sourced by the campaigns of real programs: a vault and a mount in a private folder, and how they end.
#   campaign_start NAME KEEP   makes V, the vault, and M, the mount point; W, an empty folder outside of both; mounts with $OPTIONS
#   campaign_end               unmounts, and has `sfs check` verify everything
# shellcheck shell=bash
campaign_name=campaign keep_folder=false
FOLDER=

say() { printf '%s: %s\n' "$campaign_name" "$*"; }
die() {
    printf '%s: FAILED: %s\n' "$campaign_name" "$*" >&2
    keep_folder=true
    exit 1
}

campaign_start() {
    campaign_name=$1 keep_folder=$2
    local scripts
    scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    SUPPORT=$scripts/../Tests/MountTests/Scripts/support
    CONTROL=$(cd "$SUPPORT" && pwd)/mount-control
    [[ -e /dev/fuse ]] || die '/dev/fuse is missing'
    SFS_BINARY=${SFS_BINARY:-$("$scripts/build" --path)}
    FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/sfs-$campaign_name.XXXXXX")
    chmod 755 "$FOLDER"
    V=$FOLDER/vault M=$FOLDER/mount W=$FOLDER/work PASSFILE=$FOLDER/pass
    export SFS_BINARY V M W PASSFILE LOG=${LOG-} OPTIONS=${OPTIONS-}
    trap campaign_finish EXIT
    trap 'exit 130' INT TERM HUP
    mkdir "$M" "$W"
    printf 'the passphrase of a campaign\n' >"$PASSFILE"
    "$SFS_BINARY" init "$V" --passfile "$PASSFILE" --kdf-memory 64 --kdf-passes 1 >/dev/null
    "$CONTROL" start
}

# The process that serves the mount; its memory in KiB; how many descriptors it has open.
daemon() { "$CONTROL" pid; }
daemon_rss() { awk '/^VmRSS:/ {print $2}' "/proc/$(daemon)/status"; }
daemon_descriptors() { find "/proc/$(daemon)/fd" -mindepth 1 | wc -l; }
remount() { "$CONTROL" restart; }

campaign_end() {
    cd /
    "$CONTROL" stop || die 'it cannot be unmounted'
    "$SFS_BINARY" check "$V" --passfile "$PASSFILE" >"$FOLDER/check" 2>&1 || die "sfs check: $(tail -n 5 "$FOLDER/check")"
    say "sfs check: $(tail -n 1 "$FOLDER/check")"
}

# Also after a failure: nothing stays mounted, nothing runs on.
campaign_finish() {
    local status=$?
    trap - EXIT
    cd /
    ((status == 0)) || keep_folder=true
    declare -F campaign_clean_up >/dev/null && campaign_clean_up
    if mountpoint -q "$M" 2>/dev/null || [[ ! -d $M ]]; then
        "$CONTROL" stop 2>/dev/null || umount -l "$M" || fusermount3 -uz "$M" || true
    fi
    if $keep_folder; then
        printf '%s: kept: %s\n' "$campaign_name" "$FOLDER" >&2
    else
        chmod -R u+rwX "$FOLDER" 2>/dev/null || true
        rm -rf --one-file-system "$FOLDER"
    fi
    exit $status
}
