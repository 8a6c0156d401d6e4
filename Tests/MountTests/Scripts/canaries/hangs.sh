#!/usr/bin/env bash
# found: no end within 2 seconds
# mount: SECONDS=2
. "$(dirname "$0")/../support/lib.sh"
exec sleep 600
