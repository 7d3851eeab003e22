#!/bin/sh
# Transforms of files against sums by hand, whatever the distribution; there and back; bad input is reported.
. "$(dirname "$0")/common.sh"

cat >transforms.py <<'END'
"""Small .npy files without NumPy: makes them, and checks a transform against its definition."""
import ast, cmath, itertools, math, random, struct, sys

FORMATS = {"<f8": "d", "<f4": "f", "<c16": "dd", "<c8": "ff"}


def load(path):
    data = open(path, "rb").read()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    kind, shape = FORMATS[header["descr"]], header["shape"]
    flat = struct.unpack("<%d%s" % (math.prod(shape) * len(kind), kind[0]), data[10 + length :])
    if len(kind) == 2:
        flat = [complex(*flat[i : i + 2]) for i in range(0, len(flat), 2)]
    axes = range(len(shape))
    order = list(axes) if header["fortran_order"] else list(reversed(axes))
    strides, step = {}, 1
    for d in order:
        strides[d], step = step, step * shape[d]
    return shape, {i: flat[sum(i[d] * strides[d] for d in axes)] for i in itertools.product(*map(range, shape))}


def make(path, descr, shape, fortran, seed):
    extents = tuple(int(n) for n in shape.split("x"))
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %r, }" % (descr, fortran, extents)
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    random.seed(int(seed))
    kind = FORMATS[descr]
    values = [random.randint(-4, 4) for _ in range(math.prod(extents) * len(kind))]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (len(values), kind[0]), *values))


def fourier(n, j, k):
    return cmath.exp(-2j * cmath.pi * j * k / n)


def dct2(n, j, k):
    return 2 * math.cos(math.pi * (j + 0.5) * k / n)


def along(array, axis, weight, results):
    shape, values = array
    n = shape[axis]
    to = shape[:axis] + (results or n,) + shape[axis + 1 :]
    return to, {
        i: sum(values[i[:axis] + (j,) + i[axis + 1 :]] * weight(n, j, i[axis]) for j in range(n))
        for i in itertools.product(*map(range, to))
    }


def check(result, source, kind, axes, factor="1"):
    wanted = load(source)
    axes = [int(a) for a in axes.split(",")]
    for axis in reversed(axes):  # the last named is halved, first
        half = kind == "r2c" and axis == axes[-1]
        weight = dct2 if kind == "dct2" else fourier
        wanted = along(wanted, axis, weight, wanted[0][axis] // 2 + 1 if half else None)
    equal(load(result), (wanted[0], {i: v * float(factor) for i, v in wanted[1].items()}))


def equal(got, wanted):
    assert got[0] == wanted[0], "of shape %r, not %r" % (got[0], wanted[0])
    for i, value in wanted[1].items():
        assert abs(got[1][i] - value) <= 1e-4 * (1 + abs(value)), "%r, not %r at %r" % (got[1][i], value, i)


def same(a, b):
    equal(load(a), load(b))


globals()[sys.argv[1]](*sys.argv[2:])
END
make() { python3 transforms.py make "$@"; }
check() { python3 transforms.py check "$@" || fail "not the transform: $* ($(cat out))"; }
same() { python3 transforms.py same "$@" || fail "$1 is not $2"; }
transform() { "$partita" fft "$@" >out 2>err || fail "fft $*: $(cat err)"; }

make real.npy '<f8' 6x5x7 False 1
transform real.npy -o spectrum.npy -n 3
check spectrum.npy real.npy r2c 0,1,2
grep -q 'real.npy -> spectrum.npy: r2c of 6x5x7 f64 to 6x5x4 c128, by .* on 3 ranks' out || fail "$(cat out)"
[ ! -s err ] || fail "stderr of a good run: $(cat err)"
transform spectrum.npy -o back.npy --kind c2r --last-length 7 -n 2
same back.npy real.npy
transform spectrum.npy -o back.npy --kind r2c --inverse --last-length 7 -n 4 -d block-cyclic:2x2x1:2x2x2
same back.npy real.npy

# Complex numbers in Fortran order, some axes, a plan that is shown.
make complex.npy '<c8' 4x9x3 True 2
transform complex.npy -o result.npy -n 3 --axes 2,0 --order f --explain -d slab:1
check result.npy complex.npy c2c 2,0
grep -q '^fft: rank 0 of 3' out || fail "no plan: $(cat out)"
transform complex.npy -o result.npy -n 4 --norm forward --method pencil --grid 2x2
check result.npy complex.npy c2c 0,1,2 0.009259259259259259
transform result.npy -o back.npy -n 2 --inverse --norm forward
same back.npy complex.npy

# Cosines, in single precision; wisdom is kept where it is asked for.
make single.npy '<f4' 5x6 False 3
transform single.npy -o result.npy --kind dct2 -n 2 --measure --wisdom wisdom
check result.npy single.npy dct2 0,1
[ -s wisdomf ] || fail "no wisdom was kept: $(ls)"
transform result.npy -o back.npy --kind dct2 --inverse -n 3 --wisdom wisdom
same back.npy single.npy

# HDF5, with the dataset in the word or in a separate option.
transform real.npy -o spectrum.h5 -n 2
[ "$(head -c 4 spectrum.h5 | tail -c 3)" = HDF ] || fail "spectrum.h5 is not HDF5: $(head -c 8 spectrum.h5)"
transform spectrum.h5 -o back.npy --kind c2r --last-length 7 -n 3
same back.npy real.npy
transform spectrum.h5 -o files.h5:group/back --kind c2r --last-length 7 -n 2
transform files.h5 -o again.hdf5 --dataset group/back -n 1
"$partita" convert -n 1 again.hdf5:group/back again.npy >out
check again.npy real.npy r2c 0,1,2

# Orthogonal cosines by default of norm ortho, and as FFTW has them.
make line.npy '<f8' 2 False 9
python3 - <<'END'
import struct
data = open("line.npy", "rb").read()
open("line.npy", "wb").write(data[:-16] + struct.pack("<2d", 3, 5))
END
ends() { tail -c 16 "$1" | python3 -c 'import struct, sys; print("%.4f %.4f" % struct.unpack("<2d", sys.stdin.buffer.read()))'; }
transform line.npy -o result.npy --kind dct2 --norm ortho -n 2
[ "$(ends result.npy)" = "5.6569 -1.4142" ] || fail "orthogonal: $(ends result.npy)"
transform line.npy -o result.npy --kind dct2 --norm ortho --orthogonalize no -n 1
[ "$(ends result.npy)" = "8.0000 -1.4142" ] || fail "not orthogonal: $(ends result.npy)"

rm result.npy
make whole.npy '<f8' 8 False 4
expect_failure 1 'missing.npy' "$partita" fft missing.npy -o result.npy -n 2
expect_failure 2 'complex' "$partita" fft real.npy -o result.npy --kind c2c -n 2
expect_failure 2 'real' "$partita" fft complex.npy -o result.npy --kind dct2 -n 2
expect_failure 2 'axis 3' "$partita" fft real.npy -o result.npy --axes 0,3 -n 2
expect_failure 2 'axis 1' "$partita" fft real.npy -o result.npy --axes 1,1 -n 2
expect_failure 2 'half spectrum' "$partita" fft spectrum.npy -o result.npy --kind c2r --last-length 9 -n 2
expect_failure 2 'fast' "$partita" fft real.npy -o result.npy --kind fast
expect_failure 2 'slop' "$partita" fft real.npy -o result.npy -d slop -n 2
expect_failure 2 'suffix' "$partita" fft real.npy -o result.tiff -n 2
expect_failure 2 'C order' "$partita" fft real.npy -o result.h5 --order f -n 2
expect_failure 1 'nothing' "$partita" fft spectrum.h5:nothing -o result.npy -n 2
expect_failure 2 'orthogonalize' "$partita" fft real.npy -o result.npy --orthogonalize yes -n 2
[ ! -e result.npy ] || fail "a failed transform leaves a file"
