# Sourced by every case. A case gets, in the environment:
#   M  the mount point      V  the vault      W  an empty folder outside of both
#   REMOUNT  a command that unmounts and mounts again      SFS_BINARY, PASSFILE
# and succeeds by ending with 0. scripts/mount-case NAME runs one alone.
# shellcheck shell=bash
set -Eeuo pipefail
: "${M:?the mount point}" "${V:?the vault}" "${W:?a scratch folder}" "${REMOUNT:?a command}" "${SFS_BINARY:?}" "${PASSFILE:?}"

support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH=$support PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8 HOME=$W TZ=UTC
umask 022
cd "$W"

trap 'printf "%s:%s: exit %s: %s\n" "$(basename "$0")" "$LINENO" "$?" "$BASH_COMMAND" >&2' ERR

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Says that a part of a case cannot be done here, and why. Where nothing may be skipped, that is a failure.
skip_part() {
    [[ ${REQUIRE_FUSE-} != 1 ]] || fail "cannot do, and REQUIRE_FUSE=1: $*"
    printf 'SKIPPED: %s\n' "$*"
}

# The Debian Python: what a version manager puts first in PATH may lack modules.
python() { /usr/bin/python3 "$@"; }

remount() {
    cd "$W"
    # shellcheck disable=SC2086  # A command with its arguments.
    $REMOUNT
}

# refused WORDS COMMAND…: the command fails and says WORDS (an extended regular expression).
refused() {
    local words=$1 said
    shift
    if said=$("$@" 2>&1); then fail "not refused: $*"; fi
    grep -qE -- "$words" <<<"$said" || fail "$*: refused with another message than '$words': $said"
}

# equal GOT EXPECTED WHAT
equal() { [[ $1 == "$2" ]] || fail "$3: got '$1', expected '$2'"; }

# metadata FOLDER: a line an entry, of what a copy has to keep.
metadata() {
    (cd "$1" && find . -mindepth 1 \( -type d -printf '%p d %m %U:%G %T@\n' -o -printf '%p %y %m %U:%G %T@ %s %n %l\n' \) | sort)
}

# vault_digest VAULT: every entry of the vault with all that may not change: type, mode, owner, size, mtime, content, target, attributes.
vault_digest() {
    local vault=$1
    (
        cd "$vault"
        find . -printf '%p %y %m %U:%G %s %T@ %l\n' | sort
        find . -type f -print0 | sort -z | xargs -0r sha256sum
        find . -print0 | sort -z | xargs -0r getfattr -h -d -m - -e hex 2>/dev/null
    )
}

# ends CODE WORDS COMMAND…: the command ends with that exit code and says WORDS (an extended regular expression) on standard error.
ends() {
    local code=$1 words=$2 got=0
    shift 2
    "$@" >"$W/said.out" 2>"$W/said" </dev/null || got=$?
    [[ $got == "$code" ]] || fail "$*: exit $got, expected $code: $(cat "$W/said")"
    grep -qE -- "$words" "$W/said" || fail "$*: exit $got as expected, but says: $(cat "$W/said"); expected words: $words"
}

# The process that serves the mount point.
daemon() { "$support/mount-control" pid; }

# gone PID: waits until the process has ended, a minute at most.
gone() {
    python - "$1" <<'END' || fail "process $1 does not end"
import os, select, sys
try:
    handle = os.pidfd_open(int(sys.argv[1]))
except ProcessLookupError:
    sys.exit(0)
sys.exit(0 if select.select([handle], [], [], 60)[0] else 1)
END
}

# Whether the vault's session record says that its last writer ended well (FORMAT 8.1).
session_closed() { [[ $(od -An -tx1 -j8 -N16 "$V/sfs.session" | tr -d ' 0\n') == "" ]]; }
