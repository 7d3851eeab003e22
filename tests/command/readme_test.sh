#!/bin/sh
# The first program in the README is the one that the consumer test builds and runs.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common.sh"
sed -n '/^```cpp$/,/^```$/p' "$root/README.md" | sed '1d;$d' >shown.cpp
diff shown.cpp "$root/examples/first.cpp" || fail "README.md shows another program than examples/first.cpp"
