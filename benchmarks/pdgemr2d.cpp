#include "benchmarks/pdgemr2d.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>

extern "C" {
int Csys2blacs_handle(MPI_Comm communicator);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
int numroc_(const int* n, const int* block, const int* coordinate, const int* first, const int* processes);
void Cpdgemr2d(int m, int n, double* a, int ia, int ja, int* desca, double* b, int ib, int jb, int* descb,
               int context);
}

namespace partita::benchmarks {
namespace {

/// A matrix as BLACS knows it: context and descriptor (DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD).
struct Matrix {
  int context = 0;
  std::array<int, 9> descriptor{};
};

Matrix describe(int m, int n, const BlacsLayout& layout) {
  Matrix matrix;
  matrix.context = Csys2blacs_handle(MPI_COMM_WORLD);
  Cblacs_gridinit(&matrix.context, "Row", layout.grid_rows, layout.grid_columns);
  int rows = 0;
  int columns = 0;
  int row = 0;
  int column = 0;
  Cblacs_gridinfo(matrix.context, &rows, &columns, &row, &column);
  const int zero = 0;
  const int local_rows = numroc_(&m, &layout.block_rows, &row, &zero, &rows);
  matrix.descriptor = {1, matrix.context,         m, n, layout.block_rows, layout.block_columns, 0,
                       0, std::max(1, local_rows)};
  return matrix;
}

class Scalapack : public Pdgemr2d {
 public:
  Scalapack(const Shape& shape, const BlacsLayout& source, const BlacsLayout& destination)
      : m_(static_cast<int>(shape[0])),
        n_(static_cast<int>(shape[1])),
        source_(describe(m_, n_, source)),
        destination_(describe(m_, n_, destination)) {}

  void run(const double* source, double* destination) override {
    // Cpdgemr2d takes its source as a plain pointer but only reads it.
    Cpdgemr2d(m_, n_, const_cast<double*>(source), 1, 1, source_.descriptor.data(), destination, 1, 1,
              destination_.descriptor.data(), source_.context);
  }

 private:
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
  if (size != context.size()) return nullptr;
  return std::make_unique<Scalapack>(shape, source, destination);
}

}  // namespace partita::benchmarks
