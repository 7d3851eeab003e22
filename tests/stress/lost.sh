#!/bin/sh
# lost.sh RANKS LAUNCHER [FLAGS...] -- PROGRAM: runs of the stress program that end with a killed rank. The others must
# end by themselves, with code 7 because they were notified of a lost peer.
set -u
ranks=$1
shift
. "$(dirname "$0")/../launch_arguments.sh"
failures=0
for run in 1 2 3; do
  rm -f "$codes"/*
  PARTITA_CODES=$codes $launch -n "$ranks" sh -c '"$@"; echo $? >"$PARTITA_CODES/$$"' rank "$@" --lost=end --seconds=1 \
    </dev/null >"$codes/.output" 2>&1
  [ "$(cat "$codes"/* 2>/dev/null | grep -c '^7$')" = $((ranks - 1)) ] && continue
  failures=$((failures + 1))
  echo "run $run: exit codes $(cat "$codes"/* 2>/dev/null | tr '\n' ' ')"
  cat "$codes/.output"
done
exit "$failures"
