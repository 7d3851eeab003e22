#!/bin/sh
# Products of files against products by hand, whatever the distributions; bad input is reported.
. "$(dirname "$0")/common.sh"
matrices=$(dirname "$0")/matrices.py
case $matrices in /*) ;; *) matrices=$OLDPWD/$matrices ;; esac

make() { python3 "$matrices" make "$@"; }
check() { python3 "$matrices" check "$@" || fail "$1 is not $2: $(cat out)"; }
multiply() { "$partita" matmul "$@" >out 2>err || fail "matmul $*: $(cat err)"; }

make a.npy '<f8' 13x11 False 1
make b.npy '<f8' 11x17 False 2
make c.npy '<f8' 13x17 True 3
multiply a.npy b.npy -o d.npy -n 3
check d.npy 'product(load("a.npy"), load("b.npy"))'
grep -q 'a.npy x b.npy -> d.npy: 13x17 f64 with k = 11, by .* on 3 ranks' out || fail "$(cat out)"
[ ! -s err ] || fail "stderr of a good run: $(cat err)"

# HDF5, several datasets in a file, and one read by `convert`.
"$partita" convert -n 1 a.npy operands.h5:left >out && "$partita" convert -n 2 b.npy operands.h5:group/right >out
multiply operands.h5:left operands.h5:group/right -o d.h5 -n 3
[ "$(head -c 4 d.h5 | tail -c 3)" = HDF ] || fail "d.h5 is not HDF5: $(head -c 8 d.h5)"
"$partita" convert -n 2 d.h5 d.npy >out
check d.npy 'product(load("a.npy"), load("b.npy"))'
multiply operands.h5 b.npy --dataset left -o operands.h5:d -n 2
"$partita" convert -n 1 operands.h5 d.npy --dataset d >out
check d.npy 'product(load("a.npy"), load("b.npy"))'
expect_failure 2 'C order' "$partita" matmul a.npy b.npy -o d.h5 --order f -n 2
expect_failure 2 'suffix' "$partita" matmul a.npy b.npy -o d.tiff -n 2
expect_failure 1 'nothing' "$partita" matmul operands.h5:nothing b.npy -o d.npy -n 2

# Distributions, a plan that is shown, and Fortran order.
multiply a.npy b.npy -o d.npy -n 4 --distribution block-cyclic:2x2:3x2 --distribution-a slab:1 \
  --distribution-b block-noncyclic:1x4 --order f --explain
check d.npy 'product(load("a.npy"), load("b.npy"))'
grep -q '^matmul: rank 0 of 4' out || fail "no plan: $(cat out)"
for method in all-gather reduce-scatter summa-c communication-avoiding; do
  multiply a.npy b.npy -o d.npy -n 3 --method $method
  check d.npy 'product(load("a.npy"), load("b.npy"))'
done

# Vectors: a column on the right, a row on the left, and both.
make v.npy '<f8' 11 False 10
make w.npy '<f8' 13 False 11
multiply a.npy v.npy -o d.npy -n 3
check d.npy '[row[0] for row in product(load("a.npy"), [[x] for x in load("v.npy")])]'
multiply w.npy a.npy -o d.npy -n 4 --distribution slab:0
check d.npy 'product([load("w.npy")], load("a.npy"))[0]'
multiply a.npy w.npy -o d.npy --op tn -n 2
check d.npy 'product([load("w.npy")], load("a.npy"))[0]'
multiply v.npy v.npy -o d.npy -n 3
check d.npy 'product([load("v.npy")], [[x] for x in load("v.npy")])[0]'

# Transposed operands, factors, C.
make left.npy '<f8' 11x13 True 4
make right.npy '<f8' 17x11 False 5
multiply left.npy right.npy -o d.npy --op tt --alpha=-1.5 --c c.npy --beta 2 -n 3
check d.npy 'added(scaled(-1.5, product(transposed(load("left.npy")), transposed(load("right.npy")))), scaled(2, load("c.npy")))'
multiply a.npy b.npy -o d.npy --c c.npy -n 2
check d.npy 'added(product(load("a.npy"), load("b.npy")), load("c.npy"))'

# Complex numbers, in single precision, more ranks than rows.
make x.npy '<c8' 2x5 False 6
make y.npy '<c8' 7x5 True 7
multiply x.npy y.npy -o d.npy --op jc --alpha 0,1 -n 4
check d.npy 'scaled(1j, product(conjugated(load("x.npy")), transposed(conjugated(load("y.npy")))))'

# Epilogues with their files.
make bias.npy '<f8' 13 False 8
multiply a.npy b.npy -o d.npy -n 3 --epilogue gelu-bias-aux --bias bias.npy --auxiliary before.npy --alpha 0.1
check before.npy 'with_bias(scaled(0.1, product(load("a.npy"), load("b.npy"))), load("bias.npy"))'
check d.npy 'gelu(load("before.npy"))'
multiply a.npy b.npy -o d.npy -n 2 --epilogue bias-gradient-a --gradient sums.npy
check d.npy 'product(load("a.npy"), load("b.npy"))'
check sums.npy 'row_sums(load("a.npy"))'

rm d.npy
make single.npy '<f4' 11x17 False 9
expect_failure 1 'missing.npy' "$partita" matmul missing.npy b.npy -o d.npy -n 2
expect_failure 2 'do not multiply\|11.*13' "$partita" matmul b.npy a.npy -o d.npy -n 2
expect_failure 2 'f32' "$partita" matmul a.npy single.npy -o d.npy -n 2
expect_failure 2 'columns of op(A)' "$partita" matmul bias.npy b.npy -o d.npy -n 2
expect_failure 2 'one letter' "$partita" matmul a.npy b.npy -o d.npy --op n
expect_failure 2 'a number' "$partita" matmul a.npy b.npy -o d.npy --alpha two
expect_failure 2 '--beta is for C' "$partita" matmul a.npy b.npy -o d.npy --beta 2
expect_failure 2 'needs --bias' "$partita" matmul a.npy b.npy -o d.npy --epilogue bias
expect_failure 2 'does not use --auxiliary' "$partita" matmul a.npy b.npy -o d.npy --auxiliary e.npy
expect_failure 2 'swish' "$partita" matmul a.npy b.npy -o d.npy --epilogue swish
expect_failure 2 'slop' "$partita" matmul a.npy b.npy -o d.npy -n 2 -d slop
expect_failure 2 'cpu, cuda' "$partita" matmul a.npy b.npy -o d.npy --device gpu
if ! nvidia-smi >/dev/null 2>&1; then
  expect_failure 1 '--device cuda: no GPU' "$partita" matmul a.npy b.npy -o d.npy -n 2 --device cuda
fi
[ ! -e d.npy ] || fail "a failed multiply leaves a file"
