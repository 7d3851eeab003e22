#!/bin/sh
# One command for every MPI that is here: it takes its launcher's, and so do the benchmarks' peers.
. "$(dirname "$0")/common.sh"

make_npy a.npy '<f8' 23,9 False 1
"$partita" doctor >doctor
for mpi in openmpi mpich; do
  command -v mpirun.$mpi >/dev/null && grep -q "for ranks of $mpi: .* (lib" doctor || continue
  "$partita" run -q --launcher mpirun.$mpi -n 3 -- "$partita" convert a.npy b.npy --order f >out 2>err ||
    fail "$mpi: $(cat out err)"
  "$partita" convert b.npy again.npy --order c -n 1 >out
  cmp a.npy again.npy || fail "$mpi: other bytes"
  "$partita" run -q --launcher mpirun.$mpi -n 2 -- \
    "$partita" bench collectives --case allreduce-1KiB/heap --runs 7 >out 2>err || fail "$mpi: $(cat out err)"
  grep -q mpi_allreduce out || fail "$mpi: no peer that calls MPI: $(cat out)"
done
