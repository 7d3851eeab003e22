#!/bin/sh
# The doctor finds nothing essential broken where the tests pass.
. "$(dirname "$0")/common.sh"

"$partita" doctor >out || fail "$(cat out)"
for subject in MPI launcher cores memory 'shared memory' BLAS FFT CUDA links 'device MPI' cuBLAS cuBLASLt cuFFT cuSOLVER NCCL NVSHMEM settings; do
  grep -q "^$subject " out || fail "nothing on $subject"
done
# Which MPI this process would take, and which there are: one command for all of them.
if ! grep -q '^MPI *missing' out; then
  grep -q "^MPI *ok *none: this process was not started by an MPI launcher" out || fail "$(cat out)"
  grep -q 'for ranks of \(openmpi: Open MPI v\|mpich: MPICH\)' out || fail "$(cat out)"
  OMPI_COMM_WORLD_SIZE=1 "$partita" doctor >out
  grep -q 'MPI .*\(libmpi.so.40: its launcher started the process (OMPI_COMM_WORLD_SIZE\|has no module\)' out ||
    fail "$(cat out)"
  PMI_RANK=0 PARTITA_MPI_LIBRARY=libc.so.6 "$partita" doctor >out
  grep -q '^MPI *warning *libc.so.6: PARTITA_MPI_LIBRARY names it' out || fail "$(cat out)"
  grep -q 'for ranks of .*: it is not an MPI' out || fail "$(cat out)"
fi

"$partita" doctor --json >out
python3 - <<'END'
import json
findings = json.load(open("out"))["findings"]
assert len(findings) == 17
assert all(f["health"] in ("ok", "warning", "missing") for f in findings), findings
assert all(f["summary"] for f in findings)
END

# Every setting with its value and its origin; a bad one is reported.
PARTITA_DEADLINE=7 "$partita" doctor >out
grep -q ' PARTITA_DEADLINE = 7 (environment)' out || fail "$(cat out)"
grep -q ' PARTITA_DEVICE_LANES = 1 (default)' out || fail "$(cat out)"
if PARTITA_THREADS=many "$partita" doctor >out 2>&1; then fail "a bad setting is not told"; fi
grep -q '^settings *broken *PARTITA_THREADS is "many"' out || fail "$(cat out)"

# Another FFT library can be named; a wrong name is reported.
PARTITA_FFT_LIBRARY=/nowhere/libfft.so "$partita" doctor >out
grep -q '^FFT *missing *PARTITA_FFT_LIBRARY names no library' out || fail "$(cat out)"
PARTITA_FFT_LIBRARY=libc.so.6 "$partita" doctor >out
grep -q '^FFT *missing .*does not have the FFTW3 interface' out || fail "$(cat out)"

# Kernels of a processor of long ago, forced by the environment: the doctor and the bench say what to unset.
if grep -q '^BLAS *ok' out && grep -qw avx2 /proc/cpuinfo; then
  forced='OPENBLAS_CORETYPE=Nehalem in the environment forces OpenBLAS.s Nehalem kernels.*unset OPENBLAS_CORETYPE'
  OPENBLAS_CORETYPE=Nehalem "$partita" doctor >out
  grep -q '^BLAS *warning *Nehalem' out || fail "$(cat out)"
  grep -q "to do: $forced" out || fail "$(cat out)"
  OPENBLAS_CORETYPE=Nehalem "$partita" bench matmul --case square-256/native --ranks 1 >out 2>err &
  bench=$!
  for _ in $(seq 300); do
    grep -q '^note:' err && break
    sleep 0.2
  done
  kill $bench
  wait $bench || true
  grep -q "^note: $forced" err || fail "$(cat err)"
fi
