#!/bin/sh
# The doctor finds nothing essential broken where the tests pass.
. "$(dirname "$0")/common.sh"

"$partita" doctor >out || fail "$(cat out)"
for subject in MPI launcher cores memory 'shared memory' BLAS FFT CUDA links 'device MPI' NCCL NVSHMEM; do
  grep -q "^$subject " out || fail "nothing on $subject"
done
"$partita" doctor --json >out
python3 - <<'END'
import json
findings = json.load(open("out"))["findings"]
assert len(findings) == 12
assert all(f["health"] in ("ok", "warning", "missing") for f in findings), findings
assert all(f["summary"] for f in findings)
END

# Another FFT library can be named; a wrong name is told.
PARTITA_FFT_LIBRARY=/nowhere/libfft.so "$partita" doctor >out
grep -q '^FFT *missing *PARTITA_FFT_LIBRARY names no library' out || fail "$(cat out)"
PARTITA_FFT_LIBRARY=libc.so.6 "$partita" doctor >out
grep -q '^FFT *missing .*does not have the FFTW3 interface' out || fail "$(cat out)"
