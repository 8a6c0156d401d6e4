#!/usr/bin/env bash
# git init, add, commit, gc, fsck --strict, clone, checkout, on a real tree. GIT_FILES: how many files of TREE_SOURCE.
# mount: SECONDS=240
. "$(dirname "$0")/support/lib.sh"
source=${TREE_SOURCE:-/usr/include}
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org

fsck() {
    git fsck --strict --full --no-dangling >"$W/fsck" 2>&1 || fail "fsck $1: $(cat "$W/fsck")"
    if grep -iE 'error|warning|missing|corrupt' "$W/fsck"; then fail "fsck $1 complains"; fi
}
clean() {
    local said
    said=$(git status --porcelain)
    [[ -z $said ]] || fail "git status $1: $(head -n 3 <<<"$said")"
}

mkdir "$M/repository"
# head ends the pipe early on purpose.
{ find "$source" -type f -printf '%P\0' | sort -z || true; } | head -z -n "${GIT_FILES:-700}" >files
tar -C "$source" --null -T files -cf - | tar -C "$M/repository" -xf -
cd "$M/repository"
git init -q -b main
git config gc.auto 0
git config core.fsync all
git add -A
git commit -q -m first
# A second commit: changed, removed, renamed and new files; small and large.
git ls-files -z >"$W/first"
head -z -n 40 "$W/first" | while IFS= read -r -d '' file; do printf '// changed\n' >>"$file"; done
tail -z -n 20 "$W/first" | xargs -0 git rm -q
mkdir moved
sed -z -n 100,120p "$W/first" | while IFS= read -r -d '' file; do git mv "$file" "moved/${file//\//-}"; done
head -c 3000000 /dev/urandom >large
git add -A
git commit -q -m second
clean "after the second commit"
fsck "before gc"
cp -a "$M/repository" "$W/copy"
git gc -q --prune=now
fsck "after gc"
clean "after gc"
git -c core.fsync=none checkout -q HEAD~1
git checkout -q main
remount
cd "$M/repository"
clean "after a remount"
fsck "after a remount"
git -C "$W" clone -q "$M/repository" "$W/clone"
git clone -q --no-hardlinks "$W/clone" "$M/clone"
git clone -q --local "$M/repository" "$M/linked"
for copy in "$W/copy" "$W/clone" "$M/clone" "$M/linked"; do
    equal "$(git -C "$copy" rev-parse 'HEAD^{tree}')" "$(git rev-parse 'HEAD^{tree}')" "the tree of $copy"
    [[ -z $(git -C "$copy" status --porcelain) ]] || fail "$copy is not clean"
    # git keeps no empty directories.
    diff <(cd "$M/repository" && git ls-files -z | xargs -0 sha256sum) <(cd "$copy" && git ls-files -z | xargs -0 sha256sum)
done
# git writes its objects read-only.
writable=$(find .git/objects -type f \( -path "*/??/*" -o -name "*.pack" -o -name "*.idx" \) -not -path "*/info/*" -perm /222)
[[ -z $writable ]] || fail "objects that can be written: $writable"
