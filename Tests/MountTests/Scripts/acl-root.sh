#!/usr/bin/env bash
# Access control lists where only the user who mounted is let in: kept and inherited as everywhere.
# mount: PLACE=memory
. "$(dirname "$0")/support/lib.sh"
python -c "import acl_rules; acl_rules.run(False)"
