// ScaLAPACK, opened when it is needed. Not linked: it brings a BLAS with it, and the BLAS's kernels are
// chosen before that is loaded.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <partita/context.hpp>

namespace partita::benchmarks {

/// What the benchmarks call of BLACS and ScaLAPACK's tools.
struct Scalapack {
  void* handle = nullptr;
  int (*sys2blacs_handle)(MPI_Comm communicator) = nullptr;
  void (*gridinit)(int* context, const char* order, int rows, int columns) = nullptr;
  void (*gridinfo)(int context, int* rows, int* columns, int* row, int* column) = nullptr;
  int (*numroc)(const int* n, const int* block, const int* coordinate, const int* first,
                const int* processes) = nullptr;
};

/// Null where it cannot be opened, or `context` is not all of MPI_COMM_WORLD.
const Scalapack* scalapack(const Context& context);

template <class Function>
bool find_symbol(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

/// A grid of processes over MPI_COMM_WORLD, numbered row by row: its BLACS context. Collective.
int make_grid(const Scalapack& library, int rows, int columns);

/// DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD.
using Descriptor = std::array<int, 9>;

/// Of an m x n matrix on the grid `context`, its local parts without gaps.
Descriptor describe(const Scalapack& library, int context, int m, int n, int block_rows, int block_columns);

}  // namespace partita::benchmarks
