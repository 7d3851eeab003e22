#!/bin/sh
# guesses.sh LEAST COMPILER [OPTION...]: at least so many of the expressions in guesses.txt compile, each in a
# function of its own. Lists those that do not.
set -u
cd "$(dirname "$0")" || exit 1
least=$1
shift
program=$(mktemp --suffix=.cpp) || exit 1
trap 'rm -f "$program"' EXIT
{
  printf '#include <iostream>\n#include <partita/partita.hpp>\nnamespace pt = partita;\n'
  awk '!/^#/ {
    printf "#line %d \"guesses.txt\"\n", NR
    printf "void guess%d(pt::Context& ctx, pt::Array& a, pt::Array& b, std::vector<double>& v, int n, int m) { %s }\n", NR, $0
  }' guesses.txt
} >"$program"
"$@" --version >/dev/null || exit 1
# Without warnings, whatever names a line is of an error there, or in a template that it instantiates.
refused=$("$@" -w -fsyntax-only "$program" 2>&1 | sed -n 's/^.*guesses\.txt:\([0-9]*\):.*/\1/p' | sort -nu)
compiled=$(($(grep -vc '^#' guesses.txt) - $(printf '%s' "$refused" | grep -c .)))
echo "$compiled compile. These do not:"
for line in $refused; do sed -n "${line}p" guesses.txt; done
[ "$compiled" -ge "$least" ]
