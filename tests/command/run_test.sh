#!/bin/sh
# partita run gives a program its ranks, and their failures back.
. "$(dirname "$0")/common.sh"
mkdir tmp
export TMPDIR="$work/tmp" # the folders of jobs are looked for in the end: no others come there

expect_failure 2 'no option --threds; did you mean --threads' "$partita" run --threds 2 -- true
expect_failure 2 'no option --quite' "$partita" run -n 2 --quite -- true -l
"$partita" run --dry-run -n 3 -- program -n 7 >out
grep -q -- 'run --threads 3 -- program' out && exit 0 # no MPI, or no launcher of it: connected_ranks_test.sh
grep -q -- '-n 3 program -n 7$' out || fail "dry run"
export PARTITA_TEST_FOLDER="$work"

"$partita" run -n 3 -- sh -c 'echo "$1" >"$PARTITA_TEST_FOLDER/rank.$$"' name 'two words' 2>err
[ "$(cat rank.* | sort | uniq -c | tr -s ' ')" = ' 3 two words' ] || fail "three ranks with their arguments"
[ "$(wc -l <err)" = 1 ] && grep -q '3 ranks by ' err || fail "which launcher it is: $(cat err)"

rank='${OMPI_COMM_WORLD_RANK:-$PMI_RANK}'
code=0
"$partita" run -q -n 3 -- sh -c "exit \$(($rank * 3))" 2>err || code=$?
[ "$code" = 3 ] || fail "the code of the lowest rank that failed, not $code"
[ ! -s err ] || fail "silence: $(cat err)"

expect_failure 137 'rank 1 was ended by signal 9' "$partita" run -q -n 2 -- sh -c "[ $rank = 0 ] || kill -9 \$\$"
expect_failure 127 'no-such-program' "$partita" run -q -n 2 -- no-such-program
expect_failure 2 'what shall run' "$partita" run -n 2
expect_failure 1 'no launcher "nowhere"' "$partita" run --launcher nowhere -n 2 -- true
[ -z "$(find "$TMPDIR" -name 'partita-job-*')" ] || fail "job folders are left"
