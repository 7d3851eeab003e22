# For the tests of the command: sourced by each. They work in a separate folder.
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

# on_terminal TIMES PATTERN COMMAND...: on a terminal, where Ctrl-C is typed so often, from when something has been
# printed that fits. Prints what the command prints; its exit code is that of this.
on_terminal() {
  python3 - "$@" <<'END'
import os, pty, re, select, signal, sys, time
times, pattern, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
process, terminal = pty.fork()
if process == 0:
    for name in (signal.SIGINT, signal.SIGTERM):  # which a shell has its jobs in the background ignore
        signal.signal(name, signal.SIG_DFL)
    os.execvp(command[0], command)
printed, due, latest = b"", None, time.monotonic() + 60
while time.monotonic() < latest:
    if select.select([terminal], [], [], 0.05)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        printed += data
    if due is None and re.search(pattern, printed.decode(errors="replace"), re.DOTALL):
        due = time.monotonic()
    if due is not None and times and time.monotonic() >= due:
        os.write(terminal, b"\x03")
        times, due = times - 1, time.monotonic() + 0.3
else:
    os.kill(process, signal.SIGKILL)
    printed += b"\nit did not end"
sys.stdout.write(printed.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
END
}

# expect_interrupted TIMES PATTERN COMMAND...: Ctrl-C ends it with 130 and the command's own message, and nothing is left
# of Open MPI's memory, which would be in /dev/shm.
expect_interrupted() {
  mkdir -p shm
  code=0
  OMPI_MCA_btl_vader_backing_directory="$work/shm" on_terminal "$@" >out || code=$?
  [ "$code" = 130 ] || fail "exit code $code, not 130, after Ctrl-C: $* ($(cat out))"
  grep -q 'partita: interrupted' out || fail "no word of the interrupt: $* ($(cat out))"
  ! grep -q 'ended by signal' out || fail "a rank is blamed: $* ($(cat out))"
  [ -z "$(ls shm)" ] || fail "left after Ctrl-C: $(ls shm)"
}
