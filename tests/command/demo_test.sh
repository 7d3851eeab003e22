#!/bin/sh
# The demo's main job, on a small volume of three dimensions, a matrix, and more ranks than some extents.
. "$(dirname "$0")/common.sh"

make_npy volume.npy '|u1' 37,29,3 False 1
"$partita" demo volume.npy -n 4 --output pictures >out || fail "$(cat out)"
grep -q '^demo: all 7 redistributions bit for bit equal$' out || fail "$(cat out)"
grep -q '^demo: all 3 products agree with a serial one$' out || fail "$(cat out)"
[ -s pictures/left.npy ] && [ -s pictures/right.npy ] || fail "the files that were multiplied"
grep -q '^demo: smoothed by a Gaussian' out || fail "$(cat out)"
grep -q '^demo: a Poisson problem of 37x32x32 points .* largest error [0-9.]*e-1[0-9]$' out || fail "$(cat out)"
[ "$(head -c 4 pictures/smoothed.png | tail -c 3)" = PNG ] || fail "no picture of the smoothed volume"
[ "$(head -c 4 pictures/demo.png | tail -c 3)" = PNG ] || fail "no picture"

make_npy matrix.npy '<i2' 50,41 False 2
"$partita" demo matrix.npy -n 3 --output pictures >out || fail "$(cat out)"
grep -q '^demo: all 5 redistributions bit for bit equal$' out || fail "$(cat out)"
grep -q '^demo: all 3 products agree with a serial one$' out || fail "$(cat out)"

make_npy vector.npy '<f8' 50 False 3
expect_failure 2 'two or three dimensions' "$partita" demo vector.npy
expect_failure 1 'missing.npy' "$partita" demo missing.npy
expect_failure 2 'no INPUT' "$partita" demo volume.npy --app density
expect_failure 2 'density, shallow-water, transformer' "$partita" demo --app nonsense
expect_failure 2 'needs a program' "$partita" demo volume.npy --device cuda
