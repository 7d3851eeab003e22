#!/bin/sh
# Systems in files: op(A) X is B, whatever the factorization and the distributions; bad input is refused.
. "$(dirname "$0")/common.sh"
matrices=$(dirname "$0")/matrices.py
case $matrices in /*) ;; *) matrices=$OLDPWD/$matrices ;; esac

make() { python3 "$matrices" make "$@"; }
check() { python3 "$matrices" check "$@" || fail "$1 is not $2: $(cat out)"; }
solve() { "$partita" solve "$@" >out 2>err || fail "solve $*: $(cat err)"; }
# residual_below LIMIT: what the latest solve printed.
residual_below() { awk -v limit="$1" '/^  residual/ { found = $2 < limit } END { exit !found }' out || fail "$(cat out)"; }

make a.npy '<f8' 13x13 False 1
make b.npy '<f8' 13x3 True 2
make v.npy '<f8' 13 False 3
solve a.npy b.npy -o x.npy -n 3
grep -q 'a.npy . b.npy -> x.npy: 13x3 f64 by lu of 13x13 into .* on 3 ranks' out || fail "$(cat out)"
[ ! -s err ] || fail "stderr of a good run: $(cat err)"
residual_below 1
mv x.npy lu.npy
check b.npy 'product(load("a.npy"), load("lu.npy"))' 1e-11
solve a.npy v.npy -o x.npy -n 2 --op t --block 4 --explain
grep -q '^lu: rank 0 of 2' out && grep -q '4 panels of 4 columns' out || fail "no plan: $(cat out)"
check v.npy '[row[0] for row in product(transposed(load("a.npy")), [[x] for x in load("x.npy")])]' 1e-11

solve a.npy b.npy -o x.npy -n 2 --grid 2x1 --pivoting tournament --block 4 --memory-limit 1000000 --explain
residual_below 30
grep -q 'on a grid of 2x1 ranks' out || fail "--grid: $(cat out)"

# HDF5, distributions, Fortran order, single precision.
"$partita" convert -n 1 a.npy system.h5:a >out && "$partita" convert -n 1 b.npy system.h5:group/b >out
solve system.h5:a system.h5:group/b -o system.h5:x -n 3 --distribution-a block-cyclic:1x3:13x2 --distribution-b slab:1 \
  -d slab:0
grep -q 'into slab:0' out || fail "$(cat out)"
"$partita" convert -n 1 system.h5:x x.npy >out
check x.npy 'load("lu.npy")' 1e-11
solve a.npy b.npy -o x.npy -n 2 --method qr --order f --dtype f32
grep -q '13x3 f32 by qr' out || fail "$(cat out)"
residual_below 1
check x.npy 'load("lu.npy")' 1e-3

# Cholesky of a matrix that is positive definite, in complex numbers.
make w.npy '<c16' 9x7 False 4
make c.npy '<c16' 7x2 False 5
"$partita" matmul w.npy w.npy -o gram.npy --op cn -n 2 >out
solve gram.npy c.npy -o x.npy -n 3 --method cholesky --block 2
check c.npy 'product(load("gram.npy"), load("x.npy"))' 1e-11

# Factors in single precision, refined.
solve a.npy b.npy -o x.npy -n 3 --refine
grep -Eq '^  refined +[1-9][0-9]*  corrections, to a backward error of [0-9.]+e-1[5-9]$' out || fail "$(cat out)"
residual_below 1
check x.npy 'load("lu.npy")' 1e-11
solve gram.npy c.npy -o x.npy -n 2 --refine --method cholesky
check c.npy 'product(load("gram.npy"), load("x.npy"))' 1e-11
python3 - "$matrices" <<'END'
import runpy, struct, sys
header = open("a.npy", "rb").read()
def write(name, values):
    shape = {4: "(2, 2), }", 2: "(2,), }"}[len(values)]
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape
    text += (117 - len(text)) * " " + "\n"
    open(name, "wb").write(header[:8] + struct.pack("<H", len(text)) + text.encode() + struct.pack(f"<{len(values)}d", *values))
write("close.npy", [1, 1, 1, 1 + 1e-12])
write("two.npy", [1, 3])
END
solve close.npy two.npy -o x.npy -n 2 --refine
grep -q '^  factorized again in f64: .*singular' out || fail "$(cat out)"
residual_below 1
expect_failure 2 'refine excludes --method qr' "$partita" solve a.npy b.npy -o x.npy --refine --method qr

# Least squares, and the solution of least norm.
make tall.npy '<f8' 13x5 False 6
make wide.npy '<f8' 5x13 False 7
make short.npy '<f8' 5 True 8
solve tall.npy v.npy -o x.npy -n 3 --method qr --block 2
grep -q '|A^H (A X - B)|' out || fail "$(cat out)"
residual_below 1
column='[[x] for x in load("x.npy")]'
gradient="product(transposed(load('tall.npy')), added(product(load('tall.npy'), $column), [[-v] for v in load('v.npy')]))"
python3 - "$matrices" <<END || fail "least squares"
import runpy, sys
globals().update(runpy.run_path(sys.argv[1]))
assert max(abs(row[0]) for row in $gradient) < 1e-10
END
solve wide.npy short.npy -o x.npy -n 2 --method qr
check short.npy "[row[0] for row in product(load('wide.npy'), $column)]" 1e-11
residual_below 1

rm x.npy
make ones.npy '<f8' 3x3 False 1
python3 - <<'END'
data = open("ones.npy", "rb").read()
open("ones.npy", "wb").write(data[:-72] + 9 * (6 * b"\0" + b"\xf0\x3f"))
END
expect_failure 1 'A is singular: element (1, 1) of U is 0' "$partita" solve ones.npy ones.npy -o x.npy -n 2
expect_failure 1 'not positive definite' "$partita" solve a.npy v.npy -o x.npy -n 2 --method cholesky
expect_failure 2 'A must be square, but its shape is 13x5' "$partita" solve tall.npy v.npy -o x.npy -n 2
expect_failure 2 'B must have the shape' "$partita" solve a.npy short.npy -o x.npy -n 2
expect_failure 2 'must be a matrix' "$partita" solve v.npy v.npy -o x.npy -n 2
expect_failure 2 'cholesky, lu, qr' "$partita" solve a.npy v.npy -o x.npy --method svd
expect_failure 2 'n, t, c, j' "$partita" solve a.npy v.npy -o x.npy --op nn
expect_failure 2 'C order' "$partita" solve a.npy v.npy -o x.h5 --order f
expect_failure 2 'suffix' "$partita" solve a.npy v.npy -o x.tiff
expect_failure 1 'missing.npy' "$partita" solve missing.npy v.npy -o x.npy -n 2
make single.npy '<f4' 13 False 9
expect_failure 2 'f32' "$partita" solve a.npy single.npy -o x.npy -n 2
if ! nvidia-smi >/dev/null 2>&1; then
  expect_failure 1 'no GPU' "$partita" solve a.npy v.npy -o x.npy -n 2 --device cuda
fi
[ ! -e x.npy ] || fail "a failed solve leaves a file"
