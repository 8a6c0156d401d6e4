#!/usr/bin/env bash
# found: fails: exit 1
. "$(dirname "$0")/../support/lib.sh"
fail "as it should"
