#include "benchmarks/pdgemm.hpp"

#include "benchmarks/mpi/scalapack.hpp"

namespace partita::benchmarks {
namespace {

using Function = void (*)(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                          const int* k, const double* alpha, const double* a, const int* ia, const int* ja,
                          const int* desca, const double* b, const int* ib, const int* jb, const int* descb,
                          const double* beta, double* c, const int* ic, const int* jc, const int* descc);

class Fortran : public Pdgemm {
 public:
  Fortran(const Scalapack& tools, Function function, const PdgemmProblem& problem)
      : function_(function), problem_(problem) {
    const int grid = make_grid(tools, problem.grid_rows, problem.grid_columns);
    const auto of = [&](int rows, int columns) {
      return describe(tools, grid, rows, columns, problem.block, problem.block);
    };
    a_ = of(problem.m, problem.k);
    b_ = of(problem.k, problem.n);
    d_ = of(problem.m, problem.n);
  }

  void run(const double* a, const double* b, double* d) override {
    const int first = 1;
    const double one = 1;
    const double zero = 0;
    function_("N", "N", &problem_.m, &problem_.n, &problem_.k, &one, a, &first, &first, a_.data(), b, &first,
              &first, b_.data(), &zero, d, &first, &first, d_.data());
  }

 private:
  Function function_;
  PdgemmProblem problem_;
  Descriptor a_{};
  Descriptor b_{};
  Descriptor d_{};
};

/// Together with ScaLAPACK in one process: it is given the address of BLACS (partita_scalapack.h).
void* open_drop_in(const Scalapack& tools) {
  constexpr const char* library = PARTITA_DROP_IN;  // empty: it is linked to another MPI
  void* const handle = *library == '\0' ? nullptr : ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void (*use)(void*) = nullptr;
  if (handle == nullptr || !find_symbol(handle, "partita_scalapack_use", use)) return nullptr;
  use(tools.handle);
  return handle;
}

}  // namespace

std::unique_ptr<Pdgemm> make_pdgemm(PdgemmLibrary library, const Context& context,
                                    const PdgemmProblem& problem) {
  const Scalapack* const tools = scalapack(context);  // BLACS's grids, which both take
  if (tools == nullptr) return nullptr;
  void* const handle = library == PdgemmLibrary::scalapack ? tools->handle : open_drop_in(*tools);
  Function function = nullptr;
  if (handle == nullptr || !find_symbol(handle, "pdgemm_", function)) return nullptr;
  return std::make_unique<Fortran>(*tools, function, problem);
}

}  // namespace partita::benchmarks
