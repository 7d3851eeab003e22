#!/bin/sh
# uncaught.sh LAUNCHER [FLAGS...] -- PROGRAM: what no rank catches is printed once. See uncaught.cpp.
set -u
. "$(dirname "$0")/../launch_arguments.sh"
program=$1
ulimit -c 0
failures=0

# expect_once HOW TEXT: three ranks; one line of std::terminate's, with the text.
expect_once() {
  $launch $count 3 "$program" "$1" </dev/null >"$codes/.output" 2>&1
  if [ "$(grep -c 'what():' "$codes/.output")" = 1 ] && grep -q "what(): .*$2" "$codes/.output"; then
    echo "$1: printed once"
    return
  fi
  failures=$((failures + 1))
  echo "$1: not once, with \"$2\":"
  cat "$codes/.output"
}

expect_once all 'cannot multiply'
expect_once one "rank 1's own"
expect_once some 'ended by an uncaught exception of all ranks: cannot multiply'
expect_once two 'ended by an uncaught exception of all ranks: cannot multiply'
exit "$failures"
