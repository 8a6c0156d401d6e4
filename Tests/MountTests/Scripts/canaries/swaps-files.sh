#!/usr/bin/env bash
# found: the independent reader finds another tree
# mount: COMPARE=1
# What the mount shows is not what lies in the vault: two contents are exchanged behind the mount's back, which the format allows.
. "$(dirname "$0")/../support/lib.sh"
head -c 100000 /dev/urandom >"$M/one"
head -c 100000 /dev/urandom >"$M/two"
remount
cat "$M/one" "$M/two" >/dev/null
mapfile -t files < <(find "$V" -size +90k -type f)
cp "${files[0]}" "$W/first"
cat "${files[1]}" >"${files[0]}"
cat "$W/first" >"${files[1]}"
