#!/usr/bin/env bash
# found: left mounted
. "$(dirname "$0")/../support/lib.sh"
mkdir "$W/other"
"$SFS_BINARY" init "$W/vault" --passfile "$PASSFILE" --kdf-memory 64 --kdf-passes 1 >/dev/null
"$SFS_BINARY" mount "$W/vault" "$W/other" --passfile "$PASSFILE"
