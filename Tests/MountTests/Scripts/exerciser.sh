#!/usr/bin/env bash
# Random operations on many files, everything compared with a model in memory: the exerciser (scripts/file-exerciser), a small run of it.
# SEED and OPERATIONS may be given; a failure names the seed.
. "$(dirname "$0")/support/lib.sh"
if [[ -z ${EXERCISER_BINARY-} && -n ${SFS_MOUNT_TESTS-} ]]; then
    EXERCISER_BINARY=$(dirname "$SFS_BINARY")/file-exerciser  # swift test has built it
elif [[ -z ${EXERCISER_BINARY-} ]]; then
    build=(swift build -c release --static-swift-stdlib --package-path "$support/../../../.." --product file-exerciser)
    "${build[@]}" >build.log 2>&1 || fail "cannot build: $(tail -n 5 build.log)"
    EXERCISER_BINARY=$("${build[@]}" --show-bin-path)/file-exerciser
fi
"$EXERCISER_BINARY" "$M" --operations "${OPERATIONS:-20000}" ${SEED:+--seed "$SEED"} --remount "cd / && $REMOUNT"
