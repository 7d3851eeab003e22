#!/bin/sh
# dead_rank.sh survive|cleanly LAUNCHER [FLAGS...] -- PROGRAM: a rank dies or stays away; the survivors must end
# by themselves with code 7, and nothing may stay in shared memory. `cleanly`: the launcher kills survivors too,
# so that only the second is asked, and that no rank takes a dead one for a living one. See dead_rank.cpp.
set -u
promise=$1
shift
. "$(dirname "$0")/../launch_arguments.sh"
program=$1
failures=0

# Files of /dev/shm that came since the list $1 was taken and that no living process maps any more.
left_behind() {
  ls -A /dev/shm 2>/dev/null | sort | comm -13 "$1" - | while read -r name; do
    grep -qs "/dev/shm/$name" /proc/[0-9]*/maps || echo "$name"
  done
}

# run_case RANKS RANKS_PER_NODE WHERE
run_case() {
  rm -f "$codes"/*
  ls -A /dev/shm 2>/dev/null | sort >"$codes/.before"
  PARTITA_RANKS_PER_NODE=$2 PARTITA_CODES=$codes $launch -n "$1" \
    sh -c '"$@"; echo $? >"$PARTITA_CODES/$$"' rank "$program" "$3" </dev/null >"$codes/.output" 2>&1
  expected=$(($1 - 1))
  [ "$3" = silent ] && expected=$1
  given_up=$(cat "$codes"/* 2>/dev/null | grep -c '^7$')
  left=$(left_behind "$codes/.before")
  if [ "$promise" = cleanly ]; then
    cat "$codes"/* 2>/dev/null | grep -q '^[01]$' || given_up=$expected
  fi
  if [ "$given_up" = "$expected" ] && [ -z "$left" ]; then
    echo "$3, $1 ranks, $2 a node: in good order; codes $(cat "$codes"/* 2>/dev/null | tr '\n' ' ')"
    return
  fi
  failures=$((failures + 1))
  echo "$3, $1 ranks, $2 a node: codes $(cat "$codes"/* 2>/dev/null | tr '\n' ' '), left behind: ${left:-nothing}"
  cat "$codes/.output"
}

run_case 2 0 barrier
run_case 3 1 barrier
run_case 4 0 allocate
run_case 3 0 subgroup
run_case 4 1 allocate
run_case 3 0 silent
run_case 3 0 stream
exit "$failures"
