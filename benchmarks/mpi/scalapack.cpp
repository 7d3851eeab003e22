#include "benchmarks/mpi/scalapack.hpp"

#include <algorithm>
#include <partita/error.hpp>

#include "benchmarks/mpi/mpi_world.hpp"
#include "benchmarks/openblas.hpp"

namespace partita::benchmarks {
namespace {

const Scalapack* open() {
  try {
    (void)openblas();  // ScaLAPACK's calls of BLAS shall find this one
  } catch (const UnsupportedError&) {
    // It may have another BLAS.
  }
  // Local: its many global names must not stand in for those of libraries that are loaded later.
  void* handle = ::dlopen(PARTITA_SCALAPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  static Scalapack library;
  library.handle = handle;
  const bool whole = find_symbol(handle, "Csys2blacs_handle", library.sys2blacs_handle) &&
                     find_symbol(handle, "Cblacs_gridinit", library.gridinit) &&
                     find_symbol(handle, "Cblacs_gridinfo", library.gridinfo) &&
                     find_symbol(handle, "numroc_", library.numroc);
  return whole ? &library : nullptr;
}

}  // namespace

const Scalapack* scalapack(const Context& context) {
  if (!spans_mpi_world(context)) return nullptr;
  static const Scalapack* const found = open();
  return found;
}

int make_grid(const Scalapack& library, int rows, int columns) {
  int context = library.sys2blacs_handle(MPI_COMM_WORLD);
  library.gridinit(&context, "Row", rows, columns);
  return context;
}

Descriptor describe(const Scalapack& library, int context, int m, int n, int block_rows, int block_columns) {
  int rows = 0;
  int columns = 0;
  int row = 0;
  int column = 0;
  library.gridinfo(context, &rows, &columns, &row, &column);
  const int zero = 0;
  const int local_rows = library.numroc(&m, &block_rows, &row, &zero, &rows);
  return {1, context, m, n, block_rows, block_columns, 0, 0, std::max(1, local_rows)};
}

}  // namespace partita::benchmarks
