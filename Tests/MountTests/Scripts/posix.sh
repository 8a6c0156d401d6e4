#!/usr/bin/env bash
# A table of rules, each with its manual page (support/posix_table.py, `list` shows them): done in a plain folder, too, and what that passes the mount
# has to pass, before and after a remount. ROWS may name some: the beginnings of their names.
# mount: OPTIONS=allow_other
. "$(dirname "$0")/support/lib.sh"
chmod 755 "$M" "$W"
table=$support/posix_table.py
mkdir plain "$M/rows"
# shellcheck disable=SC2086  # Several names.
python "$table" run "$W/plain" "$W/plain.json" ${ROWS-}
# shellcheck disable=SC2086
python "$table" run "$M/rows" "$W/mount.json" ${ROWS-}
remount
python "$table" later "$W/plain" "$W/plain.json"
python "$table" later "$M/rows" "$W/mount.json"
python "$table" compare "$W/plain.json" "$W/mount.json"
