#!/bin/sh
# apps.sh PROGRAM-FOLDER LAUNCHER [FLAGS...] --: a rank of the programs of apps/ is killed while they run. The others end
# by themselves, soon, with an error that says so, and the last checkpoint is whole: a run continues from it.
set -u
programs=$1
shift
. "$(dirname "$0")/../launch_arguments.sh"
folder=$(mktemp -d)
trap 'rm -rf "$codes" "$folder"' EXIT
failures=0
ranks=3

fail() {
  failures=$((failures + 1))
  echo "$1"
  tail -n 20 "$folder/output"
}

# run_case PROGRAM STEPS ARGUMENTS...: writes a checkpoint often, and would run for minutes.
run_case() {
  program=$1
  steps=$2
  shift 2
  rm -rf "$codes"/* "$folder"/*
  PARTITA_CODES=$codes $launch $count $ranks sh -c \
    'echo $$ >"$PARTITA_CODES/pid.$$"; "$@" & child=$!; echo $child >"$PARTITA_CODES/child.$$"; wait $child; echo $? >"$PARTITA_CODES/code.$$"' \
    rank "$programs/$program" "$@" --steps "$steps" -o "$folder/run" </dev/null >"$folder/output" 2>&1 &
  job=$!
  waited=0
  until [ -e "$folder/run/checkpoint.h5" ] || [ "$waited" = 60 ]; do
    sleep 1
    waited=$((waited + 1))
  done
  sleep 1
  victim=$(ls "$codes"/child.* | head -n 1)
  kill -KILL "$(cat "$victim")"
  begin=$(date +%s)
  wait $job
  took=$(($(date +%s) - begin))
  given_up=$(cat "$codes"/code.* 2>/dev/null | grep -c '^1$')
  told=$(grep -c 'has ended' "$folder/output")
  [ "$given_up" = $((ranks - 1)) ] || fail "$program: codes $(cat "$codes"/code.* | tr '\n' ' ')"
  [ "$told" -ge 1 ] || fail "$program: nobody says that a rank has ended"
  [ "$took" -lt 40 ] || fail "$program: its ranks took $took s to end"
  # What was killed while it wrote leaves the file of before, or the new one.
  "$programs/$program" "$@" --steps 1 --restart -o "$folder/run" >"$folder/output" 2>&1 ||
    fail "$program: no run goes on from the checkpoint"
  echo "$program: $given_up ranks gave up after $took s"
}

run_case partita_density 100000 --cells 32 --particles 32 --checkpoint-every 1
run_case partita_shallow_water 10000000 --rows 90 --columns 180 --look-every 20 --checkpoints
exit "$failures"
