#include "benchmarks/pdgemr2d.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>

namespace partita::benchmarks {
namespace {

/// ScaLAPACK's C interface. Opened when it is wanted, not linked: it brings a BLAS with it, and the library
/// chooses the BLAS's kernels before that is loaded.
struct Library {
  int (*sys2blacs_handle)(MPI_Comm communicator) = nullptr;
  void (*gridinit)(int* context, const char* order, int rows, int columns) = nullptr;
  void (*gridinfo)(int context, int* rows, int* columns, int* row, int* column) = nullptr;
  int (*numroc)(const int* n, const int* block, const int* coordinate, const int* first,
                const int* processes) = nullptr;
  void (*pdgemr2d)(int m, int n, double* a, int ia, int ja, int* desca, double* b, int ib, int jb, int* descb,
                   int context) = nullptr;
};

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

/// Null where it cannot be opened.
const Library* scalapack() {
  static const Library* const found = []() -> const Library* {
    // Local: its many global names must not stand in for those of libraries that are loaded later.
    void* handle = ::dlopen(PARTITA_SCALAPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    static Library library;
    const bool whole = find(handle, "Csys2blacs_handle", library.sys2blacs_handle) &&
                       find(handle, "Cblacs_gridinit", library.gridinit) &&
                       find(handle, "Cblacs_gridinfo", library.gridinfo) &&
                       find(handle, "numroc_", library.numroc) && find(handle, "Cpdgemr2d", library.pdgemr2d);
    return whole ? &library : nullptr;
  }();
  return found;
}

/// A matrix as BLACS knows it: context and descriptor (DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD).
struct Matrix {
  int context = 0;
  std::array<int, 9> descriptor{};
};

Matrix describe(const Library& library, int m, int n, const BlacsLayout& layout) {
  Matrix matrix;
  matrix.context = library.sys2blacs_handle(MPI_COMM_WORLD);
  library.gridinit(&matrix.context, "Row", layout.grid_rows, layout.grid_columns);
  int rows = 0;
  int columns = 0;
  int row = 0;
  int column = 0;
  library.gridinfo(matrix.context, &rows, &columns, &row, &column);
  const int zero = 0;
  const int local_rows = library.numroc(&m, &layout.block_rows, &row, &zero, &rows);
  matrix.descriptor = {1, matrix.context,         m, n, layout.block_rows, layout.block_columns, 0,
                       0, std::max(1, local_rows)};
  return matrix;
}

class Scalapack : public Pdgemr2d {
 public:
  Scalapack(const Library& library, const Shape& shape, const BlacsLayout& source,
            const BlacsLayout& destination)
      : library_(library),
        m_(static_cast<int>(shape[0])),
        n_(static_cast<int>(shape[1])),
        source_(describe(library, m_, n_, source)),
        destination_(describe(library, m_, n_, destination)) {}

  void run(const double* source, double* destination) override {
    // Cpdgemr2d takes its source as a plain pointer but only reads it.
    library_.pdgemr2d(m_, n_, const_cast<double*>(source), 1, 1, source_.descriptor.data(), destination, 1, 1,
                      destination_.descriptor.data(), source_.context);
  }

 private:
  const Library& library_;
  int m_;
  int n_;
  Matrix source_;
  Matrix destination_;
};

}  // namespace

std::unique_ptr<Pdgemr2d> make_pdgemr2d(const Context& context, const Shape& shape, const BlacsLayout& source,
                                        const BlacsLayout& destination) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) return nullptr;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != context.size() || scalapack() == nullptr) return nullptr;
  return std::make_unique<Scalapack>(*scalapack(), shape, source, destination);
}

}  // namespace partita::benchmarks
