#!/bin/sh
# partita run --threads starts ranks on this machine without MPI: processes that are connected with each other.
. "$(dirname "$0")/common.sh"
export PARTITA_TEST_FOLDER="$work" TMPDIR="$work"
run="$partita run -q --threads"

"$partita" run --dry-run --threads 3 -- program -n 7 >out
grep -q 'run --threads 3 -- program -n 7$' out || fail "dry run: $(cat out)"
"$partita" run --threads 3 -- sh -c 'echo "$1 by $PARTITA_RANK" >"$PARTITA_TEST_FOLDER/rank.$$"' name 'two words' 2>err
[ "$(cat rank.* | sort | tr '\n' ';')" = 'two words by 0;two words by 1;two words by 2;' ] || fail "$(cat rank.*)"
[ "$(cat err)" = 'partita: 3 ranks on this machine, without MPI' ] || fail "which launcher it is: $(cat err)"
[ "$(echo typed | $run 3 -- cat)" = typed ] || fail "stdin is rank 0's"

# Exit codes and mistakes.
code=0
$run 3 -- sh -c 'exit $((PARTITA_RANK * 3))' 2>err || code=$?
[ "$code" = 3 ] && [ ! -s err ] || fail "the code of the lowest rank that failed, not $code; $(cat err)"
expect_failure 137 'rank 1 was ended by signal 9' $run 2 -- sh -c '[ $PARTITA_RANK = 0 ] || kill -9 $$'
expect_failure 127 'no-such-program' $run 2 -- no-such-program
expect_failure 2 'which program' $run 2
expect_failure 2 'threads' $run 0 -- true
expect_failure 2 'exclude each other' $run 2 -n 2 -- true
expect_failure 2 'needs no launcher' $run 2 --launcher mpirun -- true
expect_failure 2 'cannot start another job' $run 1 -- "$partita" run -q -n 2 -- true
(
  ulimit -n 100
  expect_failure 1 '40 ranks need .* file descriptors, and this shell allows 100' $run 40 -- true
)
[ "$($run 40 -- sh -c 'ulimit -n' | sort -u)" = "$(ulimit -n)" ] || fail "the ranks have another limit of descriptors"

# Partita's ranks are these: in the program itself, and behind a shell.
make_npy a.npy '<f4' 37,29,11 False 1
$run 3 -- "$partita" convert a.npy b.h5 -d block-cyclic:3x1x1:4x4x4 | grep -q 'on 3 ranks' || fail "convert on 3 ranks"
$run 2 -- sh -c 'exec 3>other 9>>other; "$0" convert b.h5 c.npy && true' "$partita" | grep -q 'on 2 ranks' || fail "behind a shell"
cmp a.npy c.npy || fail "another file came back"
expect_failure 1 'missing.npy' $run 3 -- "$partita" convert missing.npy d.h5
expect_failure 2 'not a connection: a program between the launcher and this one has closed it' \
  $run 2 -- python3 -c 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))' "$partita" convert a.npy d.npy
PARTITA_SOCKETS=nonsense expect_failure 2 'PARTITA_SOCKETS is "nonsense"; it must be what' "$partita" convert a.npy d.npy

# Several programs in a rank, one after the other: each meets the same one of the other ranks, however late those are.
$run 3 -- sh -c '"$0" convert a.npy c.h5 >first.$PARTITA_RANK && sleep 0.$PARTITA_RANK && "$0" convert c.h5 d.npy && true' "$partita" >second
grep -q 'on 3 ranks' first.0 && grep -q 'on 3 ranks' second || fail "two programs in a rank: $(cat first.0 second)"
cmp a.npy d.npy || fail "another file came back of two programs in a rank"

expect_interrupted 1 'ready.*ready' $run 2 -- sh -c 'echo ready; exec sleep 600'
expect_interrupted 2 'ready.*ready' $run 2 -- sh -c 'trap "" INT; echo ready; while :; do sleep 0.05; done'

# Signals reach the ranks, and the ranks end when the launcher does, however that ends.
wait_until() { # COMMAND: at most a minute
  for _ in $(seq 300); do
    eval "$1" && return
    sleep 0.2
  done
  fail "this never came: $1"
}
ended() { # also if its exit code has not been asked for
  [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"
}
rm -f rank.*
$run 2 -- sh -c 'trap "exit 9" TERM; echo $$ >"$PARTITA_TEST_FOLDER/rank.$PARTITA_RANK"; while :; do sleep 0.1; done' &
launcher=$!
wait_until '[ -s rank.0 ] && [ -s rank.1 ]'
kill -TERM $launcher
code=0
wait $launcher || code=$?
[ "$code" = 9 ] || fail "SIGTERM: exit code $code"
rm -f rank.*
$run 2 -- sh -c 'echo $$ >"$PARTITA_TEST_FOLDER/rank.$PARTITA_RANK"; exec sleep 600' &
launcher=$!
wait_until '[ -s rank.0 ] && [ -s rank.1 ]'
kill -9 $launcher
wait $launcher 2>/dev/null || true
wait_until 'ended $(cat rank.0) && ended $(cat rank.1)'
