#!/usr/bin/env bash
# File capabilities and set-id bits: kept and dropped as on the plain folder beside the mount; kept by remounts and copies.
# mount: OPTIONS=allow_other
. "$(dirname "$0")/support/lib.sh"
if ((EUID != 0)) || ! setcap cap_net_bind_service=ep "$(cp /bin/true probe && echo probe)" 2>/dev/null; then
    skip_part "file capabilities: this needs root, setcap, and a scratch folder that keeps them"
    exit 0
fi
chmod 755 "$M"
for above in "$W" "$(dirname "$W")"; do chmod o+x "$above"; done
python -c 'import capability_rules; capability_rules.run()'
# As a package installs it.
cp /bin/true "$M/program"
setcap cap_net_bind_service,cap_net_raw=ep "$M/program"
cp --preserve=all "$M/program" "$M/copy"
rsync -aX "$M/program" "$M/synced"
remount
for file in program copy synced; do equal "$(getcap -n "$M/$file" | cut -d' ' -f2-)" "cap_net_bind_service,cap_net_raw=ep" "capabilities of $file"; done
printf x >>"$M/copy"
equal "$(getcap "$M/copy")" "" "capabilities after a write"
chown 2001 "$M/synced"
equal "$(getcap "$M/synced")" "" "capabilities after a change of owner"
