#!/bin/sh
# Every subcommand explains itself, and the command line's own mistakes are refused.
. "$(dirname "$0")/common.sh"

"$partita" --help >out
grep -q 'Usage: partita' out || fail "no usage in --help"
subcommands=$(sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
for name in run convert matmul solve eigh svd layout plan trace doctor demo bench completion; do
  echo "$subcommands" | grep -qx "$name" || fail "$name is not in the help"
done
for name in $subcommands; do
  "$partita" "$name" --help >out || fail "$name --help"
  grep -q -- '--help' out || fail "$name --help says nothing of --help"
  grep -q 'Examples:' out || fail "$name --help has no examples"
done
"$partita" --version | grep -Eq '^[0-9]+\.[0-9]+\.[0-9]+$' || fail "--version"

expect_failure 2 'required' "$partita" layout slab:0
expect_failure 2 'see partita --help' "$partita" nonsense
expect_failure 2 'nonsense' "$partita" layout slab:0 --shape 4 --nonsense
code=0
"$partita" >out 2>err || code=$?
[ "$code" = 2 ] && [ ! -s out ] && grep -q Usage err || fail "without a subcommand: the usage, and exit code 2"

# What is not known is named, with what was meant.
expect_failure 2 'no command "layoot"; did you mean layout?' "$partita" layoot
expect_failure 2 'no command "zzzzzz" (' "$partita" zzzzzz
expect_failure 2 'no option --shap; did you mean --shape?' "$partita" layout slab:0 --shap 4
expect_failure 2 'no option --shap; did you mean --shape?' "$partita" layout --shap 4 slab:0
expect_failure 2 'no option --shap; did you mean --shape?' "$partita" plan --shap 64x64
expect_failure 2 'no option --hlep; did you mean --help?' "$partita" --hlep
expect_failure 2 'redistribute, matmul, fft, .*; did you mean fft?' "$partita" plan --operation ftt slab:0 --shape 4
expect_failure 2 'needs two distributions' "$partita" plan slab:0 --shape 4
