#!/usr/bin/env bash
# found: mount-control stop: exit 14
# A process that outlives its group and has a file of the mount open.
. "$(dirname "$0")/../support/lib.sh"
setsid bash -c "exec 3>'$M/open'; printf x >&3; touch '$W/started'; exec sleep 30" &
until [[ -e $W/started ]]; do :; done
