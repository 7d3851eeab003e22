#!/bin/sh
# The first program in the README is the one that the consumer test builds and runs, and the plan that it prints is that of this version.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common.sh"
sed -n '/^```cpp$/,/^```$/p' "$root/README.md" | sed '1d;$d' >shown.cpp
diff shown.cpp "$root/examples/first.cpp" || fail "README.md shows another program than examples/first.cpp"
sed -n '/^    redistribute: /,/^    equal$/s/^    //p' "$root/README.md" | sed '$d' >shown
"$partita" plan slab:0 block-cyclic:1x4:64x64 --shape 1000x700 -n 4 | sed '/^predicted/d' | diff shown - ||
  fail "README.md shows another plan than examples/first.cpp prints"
