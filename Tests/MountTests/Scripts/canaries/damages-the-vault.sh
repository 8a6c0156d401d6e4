#!/usr/bin/env bash
# found: check
# A byte of the vault changes.
. "$(dirname "$0")/../support/lib.sh"
head -c 100000 /dev/urandom >"$M/file"
remount
printf X | dd of="$(find "$V" -size +90k -type f)" bs=1 seek=50000 conv=notrunc status=none
