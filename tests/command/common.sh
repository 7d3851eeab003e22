# For the tests of the command: sourced by each. They work in a folder of their own.
set -eu
partita=$PARTITA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_failure CODE TEXT COMMAND...: ends with CODE, and says TEXT in the only line on stderr.
expect_failure() {
  wanted_code=$1 wanted_text=$2
  shift 2
  code=0
  "$@" >out 2>err </dev/null || code=$?
  [ "$code" = "$wanted_code" ] || fail "exit code $code, not $wanted_code, of: $* ($(cat err))"
  [ "$(wc -l <err)" = 1 ] || fail "not one line on stderr of: $* ($(cat err))"
  grep -q "^partita: .*$wanted_text" err || fail "no \"$wanted_text\" in: $(cat err)"
}

# make_npy FILE DESCR SHAPE FORTRAN SEED: an .npy file of random bytes.
make_npy() {
  python3 - "$@" <<'END'
import random, struct, sys
path, descr, shape, fortran, seed = sys.argv[1:]
extents = [int(n) for n in shape.split(",") if n]
size = int(descr[-1]) if descr[-2:] != "16" else 16
for n in extents:
    size *= n
header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({', '.join(map(str, extents))}{',' if len(extents) == 1 else ''}), }}"
header += " " * (63 - (len(header) + 10) % 64) + "\n"
random.seed(int(seed))
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + random.randbytes(size))
END
}
