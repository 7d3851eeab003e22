#!/bin/sh
# suites_test.sh PROGRAM "SUITE: ..."...: suites.cmake, whose rows are given, has every suite of the program.
set -u
program=$1
shift
suites=$("$program" --threads-group --gtest_list_tests | sed -n 's/^\([A-Za-z]*\/\)*\([A-Za-z0-9]*\)\.$/\2/p') || exit 1
[ -n "$suites" ] || exit 1
missing=
for suite in $suites; do
  case " $* " in
    *" $suite:"* | *"*/$suite:"*) ;;
    *) missing="$missing $suite" ;;
  esac
done
[ -z "$missing" ] || { echo "tests/ranks/suites.cmake does not say by what these are tested:$missing"; exit 1; }
