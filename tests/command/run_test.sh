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

# A program of the PATH is the one that the caller's has: a launcher may put its own folder before it.
mkdir first
printf '#!/bin/sh\necho first\n' >first/env
chmod +x first/env
[ "$(PATH="$work/first:$PATH" "$partita" run -q -n 2 -- env)" = "$(printf 'first\nfirst')" ] || fail "another program than the caller's"

rank='${OMPI_COMM_WORLD_RANK:-$PMI_RANK}'
code=0
"$partita" run -q -n 3 -- sh -c "exit \$(($rank * 3))" 2>err || code=$?
[ "$code" = 3 ] || fail "the code of the lowest rank that failed, not $code"
[ ! -s err ] || fail "silence: $(cat err)"

# What Open MPI's library has to say of a dead rank is kept out, and what the ranks say is not.
"$partita" run -q -n 2 -- sh -c 'echo "${PMIX_OUTPUT_STDERR_FD:-none}" >&2' 2>err
[ "$(sort -u err)" = none ] || fail "the launcher's descriptor is handed on to ranks: $(cat err)"
if "$partita" run --dry-run -n 2 -- x | grep -q -- --enable-recovery; then
  cat >launcher <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo "mpirun (Open MPI) 4.1.4" && exit; }
eval "echo 'PMIX ERROR: noise' >&$PMIX_OUTPUT_STDERR_FD"
echo "of a rank" >&2
exit "$LAUNCHER_CODE"
END
  chmod +x launcher
  LAUNCHER_CODE=0 "$partita" run -q --launcher ./launcher -n 2 -- true 2>err
  [ "$(cat err)" = "of a rank" ] || fail "the launcher's noise is kept out: $(cat err)"
  code=0
  LAUNCHER_CODE=5 "$partita" run -q --launcher ./launcher -n 2 -- true 2>err || code=$?
  [ "$code" = 5 ] && grep -q noise err || fail "what a launcher says that fails is told ($code): $(cat err)"
fi

# Ctrl-C: programs get SIGINT, and those that do not end SIGTERM; typed twice, at once.
expect_interrupted 1 'ready.*ready' "$partita" run -q -n 2 -- sh -c 'trap "echo >\"$PARTITA_TEST_FOLDER/int.$$\"; exit 3" INT; echo ready; while :; do sleep 0.05; done'
[ "$(ls int.* | wc -l)" = 2 ] || fail "SIGINT does not reach both ranks"
expect_interrupted 2 'ready.*ready' "$partita" run -q -n 2 -- sh -c 'trap "" INT; trap "echo >\"$PARTITA_TEST_FOLDER/term.$$\"; exit 3" TERM; echo ready; while :; do sleep 0.05; done'
[ "$(ls term.* | wc -l)" = 2 ] || fail "SIGTERM does not reach both ranks"
# Stopped ranks get them, too.
rm int.*
expect_interrupted 1 'ready.*ready' "$partita" run -q -n 2 -- sh -c 'trap "echo >\"$PARTITA_TEST_FOLDER/int.$$\"; exit 3" INT; { sleep 0.5; echo ready; } & kill -STOP $$; while :; do sleep 0.05; done'
[ "$(ls int.* | wc -l)" = 2 ] || fail "SIGINT does not reach stopped ranks"
make_npy large.npy '<f8' 300,200,100 False 1
expect_interrupted 2 'read' "$partita" fft large.npy -n 2 -o spectrum.npy

expect_failure 137 'rank 1 was ended by signal 9' "$partita" run -q -n 2 -- sh -c "[ $rank = 0 ] || kill -9 \$\$"
expect_failure 127 'no-such-program' "$partita" run -q -n 2 -- no-such-program
expect_failure 2 'which program' "$partita" run -n 2
expect_failure 1 'no launcher "nowhere"' "$partita" run --launcher nowhere -n 2 -- true
[ -z "$(find "$TMPDIR" -name 'partita-job-*')" ] || fail "job folders are left"
