#!/usr/bin/env bash
# found: no process serves it
. "$(dirname "$0")/../support/lib.sh"
pid=$(daemon)
kill -KILL "$pid"
gone "$pid"
