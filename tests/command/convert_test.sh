#!/bin/sh
# .npy to HDF5 and back gives the same bytes, through any distribution; bad input is reported.
. "$(dirname "$0")/common.sh"

make_npy a.npy '<f4' 13,7,5 False 1
"$partita" convert -n 3 a.npy a.h5 -d block-cyclic:3x1x1:2x3x2 >out || fail "to HDF5: $(cat out)"
grep -q '13x7x5 f32, 1.8 KiB through block-cyclic:3x1x1:2x3x2 on 3 ranks' out || fail "$(cat out)"
"$partita" convert -n 3 a.h5 back.npy -d slab:2 >out || fail "from HDF5"
cmp a.npy back.npy || fail "npy to HDF5 to npy"

# Transposed, into Fortran order, and both back.
"$partita" convert -n 2 a.npy transposed.npy --axes 2,0,1 --order f >out
"$partita" convert -n 3 transposed.npy back.npy --axes 1,2,0 --order c -d slab:1 >out
cmp a.npy back.npy || fail "transposed and back"

make_npy f.npy '<c16' 6,11 True 2
"$partita" convert -n 1 f.npy f.h5 --dataset group/f >out
"$partita" convert -n 3 f.h5 back.npy --dataset group/f --order f >out
cmp f.npy back.npy || fail "complex numbers in Fortran order"

make_npy one.npy '<i2' 2 False 3
"$partita" convert -n 3 one.npy one.h5 >out && "$partita" convert -n 2 one.h5 back.npy >out
cmp one.npy back.npy || fail "fewer elements than ranks"

# Other dtypes: there and back where nothing is lost, and the rest as the library says.
make_npy i.npy '<i2' 5,9 False 4
"$partita" convert -n 3 i.npy wide.h5 --dtype f64 >out || fail "to f64: $(cat out)"
grep -q '5x9 f64, 360 B' out || fail "$(cat out)"
"$partita" convert -n 2 wide.h5 back.npy --dtype i16 -d slab:1 >out
cmp i.npy back.npy || fail "integers to f64 and back"
"$partita" convert -n 2 i.npy same.npy --dtype int16 >out && cmp i.npy same.npy || fail "the same dtype"

# A folder of the PATH that cannot be looked at (a loop of links), and names that are not UTF-8, or as long as they may be.
ln -s loop loop
PATH="$PWD/loop:$PATH" "$partita" convert -n 2 a.npy b.npy >out 2>&1 || fail "with a loop in the PATH: $(cat out)"
odd=$(printf 'caf\351') long=$(printf '%0251d' 0)
"$partita" convert -n 2 a.npy "$odd.h5" >out 2>&1 && "$partita" convert -n 2 "$odd.h5" "$odd.npy" >out 2>&1 || fail "$(cat out)"
cmp a.npy "$odd.npy" || fail "a name that is not UTF-8"
"$partita" convert -n 2 a.npy "$long.npy" >out 2>&1 && cmp a.npy "$long.npy" || fail "a long name: $(cat out)"
# Python's other quotes.
sed "1s/'/\"/g" a.npy >quotes.npy
"$partita" convert -n 2 quotes.npy b.npy >out 2>&1 && cmp a.npy b.npy || fail "double quotes: $(cat out)"

# Progress is written to a terminal only.
"$partita" convert -n 2 a.npy b.npy >out 2>err && [ ! -s err ] || fail "stderr of a good run: $(cat err)"

head -c 300 a.npy >truncated.npy
echo 'not an array' >foreign.npy
expect_failure 1 'missing.npy' "$partita" convert -n 2 missing.npy b.npy
expect_failure 1 'truncated' "$partita" convert -n 2 truncated.npy c.npy
expect_failure 1 'foreign.npy' "$partita" convert -n 2 foreign.npy c.npy
expect_failure 1 'nothing' "$partita" convert -n 2 a.h5 c.npy --dataset nothing
expect_failure 2 'suffix' "$partita" convert a.npy c.tiff
expect_failure 2 'slop' "$partita" convert -n 2 a.npy c.npy -d slop
expect_failure 2 'axis 3' "$partita" convert -n 2 a.npy c.npy -d slab:3
expect_failure 2 'axes' "$partita" convert -n 2 a.npy c.npy --axes 1,0
expect_failure 2 'permutation' "$partita" convert -n 2 a.npy c.npy --axes 1,1,0
expect_failure 2 'C order' "$partita" convert -n 2 a.npy c.h5 --order f
expect_failure 2 'complex' "$partita" convert -n 2 f.npy c.npy --dtype f64
expect_failure 2 'known: bool, i8' "$partita" convert -n 2 a.npy c.npy --dtype f33
expect_failure 1 'missing/c.npy\|missing/' "$partita" convert -n 2 a.npy missing/c.npy
[ ! -e c.npy ] && [ ! -e c.h5 ] || fail "a failed conversion leaves a file"
[ -z "$(find . -name '.*partial*')" ] || fail "temporary files are left"
