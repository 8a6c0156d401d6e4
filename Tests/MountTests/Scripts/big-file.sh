#!/usr/bin/env bash
# A large file by dd, its sha256 before and after a remount. BIG_MIB: its size; 2,048 where nothing is said.
# mount: SECONDS=300
. "$(dirname "$0")/support/lib.sh"
mib=${BIG_MIB:-2048}
random() { openssl enc -aes-128-ctr -K 000102030405060708090a0b0c0d0e0f -iv 00 -in /dev/zero 2>/dev/null || true; }

# The sum of what went in is taken on the way.
mkfifo sum.in
sha256sum <sum.in >sum &
hasher=$!
random | head -c "${mib}M" | tee sum.in | dd of="$M/big" bs=1M iflag=fullblock conv=fsync status=none
wait "$hasher"
digest() { sha256sum <"$M/big"; }
equal "$(stat -c %s "$M/big")" $((mib * 1048576)) "size"
equal "$(digest)" "$(cat sum)" "sha256 before the remount"
remount
equal "$(stat -c %s "$M/big")" $((mib * 1048576)) "size after the remount"
equal "$(digest)" "$(cat sum)" "sha256 after the remount"
# Overwritten in the middle, cut and grown; what was around it stays.
random | head -c 10012345 | tail -c 10000000 | dd of="$M/big" bs=1000000 seek=500 conv=notrunc,fsync iflag=fullblock status=none
expected() { random | head -c 500000000; random | head -c 10012345 | tail -c 10000000; random | head -c 511000000 | tail -c 1000000; }
cmp <(head -c 511000000 "$M/big") <(expected)
rm "$M/big"
sync -f "$M"
