#!/usr/bin/env bash
# found: no end within 2 seconds
# mount: SECONDS=2
# A daemon that does not answer: what waits for it cannot even be killed in every case.
. "$(dirname "$0")/../support/lib.sh"
kill -STOP "$(daemon)"
cat "$M/file"
