#!/bin/sh
# The program as users start it: what it writes, what it says beforehand, and a rank that dies. PARTITA is the command,
# TRANSFORMER the program.
. "$(dirname "$0")/../command/common.sh"
program=$TRANSFORMER
small="--text book --layers 1 --heads 2 --hidden 16 --sequence 8 --batch 4"
for i in 1 2 3 4 5 6 7 8; do echo "The quick brown fox jumps over the lazy dog, time $i."; done >book

"$partita" run -q --threads 2 -- "$program" $small --steps 6 --look-every 3 --sample 20 --trace -o first >out || fail "$(cat out)"
grep -q '^step      6  loss ' out || fail "$(cat out)"
[ "$(grep -c '^[0-9]' first/loss.txt)" = 6 ] || fail "$(cat first/loss.txt)"
[ "$(wc -c <first/sample.txt)" = 20 ] || fail "a sample of other length"
[ "$(head -c 4 first/loss.png | tail -c 3)" = PNG ] || fail "no picture"
grep -q traceEvents first/trace.json || fail "no trace"

# One rank continues from where two were.
"$program" $small --steps 8 --restart first/checkpoint.h5 --sample 0 -o second >out || fail "$(cat out)"
[ "$(grep -v '^#' second/loss.txt | cut -d' ' -f1 | tr '\n' ' ')" = "7 8 " ] || fail "$(cat second/loss.txt)"

"$program" --layers 1 --heads 2 --hidden 16 --sequence 8 --batch 64 --dry-run 64 --data 32 --machine cluster >out || fail "$(cat out)"
grep -q '^memory of a rank: [0-9]* bytes of arrays' out || fail "$(cat out)"

"$program" $small --steps 1 --sample 1 --no-checkpoint -o none >out || fail "$(cat out)"
[ -e none/loss.txt ] && [ ! -e none/checkpoint.h5 ] || fail "a checkpoint all the same: $(cat out)"

code=0
PARTITA_MEMORY_LIMIT=200000 "$program" $small --steps 1 -o third >out 2>err || code=$?
[ "$code" = 1 ] || fail "exit code $code of a model that does not fit: $(cat out err)"
grep -q '^transformer: .* need [0-9]* bytes on each rank (.*), and there are 200000;' err || fail "$(cat err)"
[ ! -e third ] || fail "it began all the same"

# A rank dies while it trains; the other says so and ends, and the checkpoint is whole.
"$partita" run -q --threads 2 -- sh -c '"$@" & echo $! >"pid.$$"; wait $!' rank "$program" $small --steps 1000000 \
  --look-every 5 -o fourth >out 2>err &
launcher=$!
tries=0
until [ -s fourth/checkpoint.h5 ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 300 ] || fail "no checkpoint: $(cat out err)"
  sleep 0.1
done
kill -9 "$(cat pid.* | head -n 1)"
code=0
wait "$launcher" || code=$?
[ "$code" != 0 ] || fail "a dead rank is a success: $(cat out err)"
grep -q '^transformer: .*rank [01].*\(lost\|gone\|died\|dead\|ended\)' err || fail "$(cat err)"
"$program" $small --steps 0 --restart fourth/checkpoint.h5 --sample 5 -o fifth >out 2>&1 || fail "$(cat out)"
[ "$(wc -c <fifth/sample.txt)" = 5 ] || fail "a sample of other length"
