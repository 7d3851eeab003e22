#!/bin/sh
# Eigenvalues and singular values of files: vectors and values compose the matrix, and bad input is refused.
. "$(dirname "$0")/common.sh"
matrices=$(dirname "$0")/matrices.py
case $matrices in /*) ;; *) matrices=$OLDPWD/$matrices ;; esac

make() { python3 "$matrices" make "$@"; }
check() { python3 "$matrices" check "$@" || fail "$1 is not $2: $(cat out)"; }
run() { "$partita" "$@" >out 2>err || fail "$*: $(cat err)"; }
# residuals_below LIMIT COUNT: what the latest run printed.
residuals_below() {
  awk -v limit="$1" '/^  residual/ && $2 < limit { ++found } END { print found }' out | grep -qx "$2" || fail "$(cat out)"
}

# W W^H is Hermitian.
make w.npy '<c16' 12x9 False 1
run matmul w.npy w.npy -o a.npy --op nc -n 2
run eigh a.npy -o values.npy --vectors v.npy -n 3 --base 5
grep -q 'a.npy -> values.npy, v.npy: 12 eigenvalues and eigenvectors of 12x12 c128 in slab:0 on 3 ranks' out || fail "$(cat out)"
[ ! -s err ] || fail "stderr of a good run: $(cat err)"
residuals_below 5 2
check a.npy 'product([[x * w for x, w in zip(row, load("values.npy"))] for row in load("v.npy")], transposed(conjugated(load("v.npy"))))' 1e-10
run eigh a.npy -o again.npy -n 2 --upper
check again.npy 'load("values.npy")' 1e-10
residuals_below 5 1

run svd w.npy -o s.npy --u u.npy --vh vh.npy -n 2 --order f
grep -q 'w.npy -> s.npy, u.npy, vh.npy: 9 singular values and vectors of 12x9 c128' out || fail "$(cat out)"
residuals_below 5 3
check w.npy 'product([[x * s for x, s in zip(row, load("s.npy"))] for row in load("u.npy")], load("vh.npy"))' 1e-10
"$partita" convert -n 1 w.npy field.h5:w >out
run svd field.h5:w -o field.h5:s --vh field.h5:vh -n 3 -d slab:1 --dtype c64
grep -q 'in slab:1 on 3 ranks' out || fail "$(cat out)"
"$partita" convert -n 1 field.h5:s again.npy >out
check again.npy 'load("s.npy")' 1e-4

rm values.npy
expect_failure 2 'must be square, but its shape is 12x9' "$partita" eigh w.npy -o values.npy -n 2
expect_failure 2 'given for two results' "$partita" eigh a.npy -o values.npy --vectors values.npy
expect_failure 2 'C order' "$partita" svd w.npy -o values.npy --u u.h5 --order f
expect_failure 2 'suffix' "$partita" svd w.npy -o values.tiff
expect_failure 1 'missing.npy' "$partita" svd missing.npy -o values.npy -n 2
[ ! -e values.npy ] || fail "a failed run leaves a file"
