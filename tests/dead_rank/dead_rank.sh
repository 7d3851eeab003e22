#!/bin/sh
# dead_rank.sh survive|cleanly LAUNCHER [FLAGS...] -- PROGRAM: a rank dies, leaves or stays away; the others must
# end by themselves with code 7, soon, and nothing may stay in shared memory. `cleanly`: the launcher kills
# survivors too, so that only the last is asked, and that no rank takes a dead one for a living one. See
# dead_rank.cpp.
set -u
promise=$1
shift
. "$(dirname "$0")/../launch_arguments.sh"
program=$1
failures=0

# Files of /dev/shm that came since the list $1 was taken and that no living process maps any more.
unmapped() {
  ls -A /dev/shm 2>/dev/null | sort | comm -13 "$1" - | while read -r name; do
    grep -qs "/dev/shm/$name" /proc/[0-9]*/maps || echo "$name"
  done
}

# Those of them that stay: other programs of this machine make files before they map them.
left_behind() {
  unmapped "$1" >"$codes/.unmapped"
  for look in 1 2 3; do
    [ -s "$codes/.unmapped" ] || return
    sleep 1
    unmapped "$1" | sort | comm -12 "$codes/.unmapped" - >"$codes/.still"
    mv "$codes/.still" "$codes/.unmapped"
  done
  cat "$codes/.unmapped"
}

# run_case RANKS RANKS_PER_NODE WHERE HOW
run_case() {
  begin=$(date +%s)
  rm -f "$codes"/*
  ls -A /dev/shm 2>/dev/null | sort >"$codes/.before"
  PARTITA_RANKS_PER_NODE=$2 PARTITA_CODES=$codes $launch $count "$1" \
    sh -c '"$@"; echo $? >"$PARTITA_CODES/$$"' rank "$program" "$3" "$4" </dev/null >"$codes/.output" 2>&1
  expected=$(($1 - 1))
  [ "$4" = silent ] && expected=$1
  # The deadline is a minute: one that is waited for until then shows, also the one that left.
  slow=""
  [ $(($(date +%s) - begin)) -lt 40 ] || slow=" (too slow)"
  given_up=$(cat "$codes"/* 2>/dev/null | grep -c '^7$')
  left=$(left_behind "$codes/.before")
  if [ "$promise" = cleanly ]; then
    cat "$codes"/* 2>/dev/null | grep -q '^[01]$' || given_up=$expected
  fi
  if [ "$given_up" = "$expected" ] && [ -z "$left$slow" ]; then
    echo "$3, $4, $1 ranks, $2 a node: in good order; codes $(cat "$codes"/* 2>/dev/null | tr '\n' ' ')"
    return
  fi
  failures=$((failures + 1))
  echo "$3, $4, $1 ranks, $2 a node: codes $(cat "$codes"/* 2>/dev/null | tr '\n' ' '), left behind: ${left:-nothing}$slow"
  cat "$codes/.output"
}

run_case 2 0 barrier killed
run_case 3 1 barrier killed
run_case 4 0 allocate killed
run_case 3 0 subgroup killed
run_case 4 1 allocate killed
run_case 3 0 barrier silent
run_case 3 0 stream killed
run_case 3 0 stores killed
run_case 2 0 reads killed
run_case 4 0 reads killed
for per_node in 0 1; do
  run_case 3 $per_node barrier returns
  run_case 3 $per_node allocate throws
  run_case 4 $per_node subgroup exits
done
exit "$failures"
