#!/usr/bin/env bash
# gcc compiles, archives and links in the mount, and the program runs there; and again over the old files.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
mkdir "$M/src"
cd "$M/src"
cat >answer.h <<'END'
int answer(void);
int shared_answer(void);
END
printf '#include "answer.h"\nint answer(void) { return ANSWER; }\n' >answer.c
printf '#include "answer.h"\nint shared_answer(void) { return 2 * answer(); }\n' >shared.c
cat >main.c <<'END'
#include "answer.h"
#include <stdio.h>
int main(int argc, char **argv) {
    printf("%d %d\n", answer(), shared_answer());
    return argc > 1 ? getchar() != EOF : 0;
}
END
build() {
    gcc -O2 -g -fPIC -DANSWER="$1" -c answer.c -o answer.o
    rm -f libanswer.a
    ar rcs libanswer.a answer.o
    gcc -O2 -g -shared -fPIC shared.c libanswer.a -o libshared.so
    gcc -O2 -g main.c -L. -Wl,-rpath,"$M/src" -lshared -lanswer -o program
}
build 21
equal "$(./program)" "21 42" "the program"
build 33
equal "$(./program)" "33 66" "the program, built again over the old one"
cp program stripped
strip stripped
equal "$(./stripped)" "33 66" "the stripped program"
gcc -O2 -flto -DANSWER=5 answer.c shared.c main.c -o optimized
equal "$(./optimized)" "5 10" "the program with link-time optimization"

# A program that runs cannot be written, and can be replaced.
mkfifo "$W/input"
./program wait <"$W/input" >"$W/output" &
program=$!
exec 3>"$W/input"
while [[ $(readlink "/proc/$program/exe") != "$M/src/program" ]]; do :; done
refused 'Text file busy' bash -c 'printf x >>./program'
cp optimized program.new
mv program.new program
exec 3>&-
wait "$program" || fail "the running program was disturbed"
equal "$(cat "$W/output")" "33 66" "the running program"
equal "$(./program)" "5 10" "the replaced program"

remount
cd "$M/src"
equal "$(./stripped)" "33 66" "the stripped program after a remount"
# shellcheck disable=SC2016  # The script's own argument.
printf '#!/bin/sh\necho "script $1"\n' >script
chmod 755 script
equal "$(./script works)" "script works" "a script"
chmod 644 script
refused 'Permission denied' ./script works
