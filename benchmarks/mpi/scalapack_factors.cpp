#include "benchmarks/scalapack_factors.hpp"

#include <cstddef>
#include <partita/error.hpp>
#include <string>
#include <vector>

#include "benchmarks/mpi/scalapack.hpp"

namespace partita::benchmarks {
namespace {

constexpr int one = 1;

struct Functions {
  void (*getrf)(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca,
                int* pivots, int* info) = nullptr;
  void (*potrf)(const char* triangle, const int* n, double* a, const int* ia, const int* ja, const int* desca,
                int* info, std::size_t) = nullptr;
  void (*geqrf)(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca,
                double* tau, double* work, const int* work_size, int* info) = nullptr;
  void (*getrs)(const char* op, const int* n, const int* sides, const double* a, const int* ia, const int* ja,
                const int* desca, const int* pivots, double* b, const int* ib, const int* jb,
                const int* descb, int* info, std::size_t) = nullptr;
  void (*potrs)(const char* triangle, const int* n, const int* sides, const double* a, const int* ia,
                const int* ja, const int* desca, double* b, const int* ib, const int* jb, const int* descb,
                int* info, std::size_t) = nullptr;

  bool find(void* handle) {
    return find_symbol(handle, "pdgetrf_", getrf) && find_symbol(handle, "pdpotrf_", potrf) &&
           find_symbol(handle, "pdgeqrf_", geqrf) && find_symbol(handle, "pdgetrs_", getrs) &&
           find_symbol(handle, "pdpotrs_", potrs);
  }
};

void require_success(int info) {
  if (info != 0) throw Error("ScaLAPACK: info is " + std::to_string(info));
}

class OfLibrary : public ScalapackFactors {
 public:
  OfLibrary(const Scalapack& tools, const Functions& functions, const FactorProblem& problem)
      : functions_(functions), problem_(problem) {
    const int grid = make_grid(tools, problem.grid_rows, problem.grid_columns);
    a_ = describe(tools, grid, problem.n, problem.n, problem.block, problem.block);
    b_ = describe(tools, grid, problem.n, problem.sides, problem.block, problem.block);
    pivots_.resize(static_cast<std::size_t>(problem.n) + static_cast<std::size_t>(problem.block));
    if (problem.kind == Factorization::qr) ask_for_work();
  }

  void factorize(double* a) override {
    const int n = problem_.n, work = static_cast<int>(work_.size());
    int info = 0;
    if (problem_.kind == Factorization::lu)
      functions_.getrf(&n, &n, a, &one, &one, a_.data(), pivots_.data(), &info);
    if (problem_.kind == Factorization::cholesky)
      functions_.potrf("L", &n, a, &one, &one, a_.data(), &info, 1);
    if (problem_.kind == Factorization::qr)
      functions_.geqrf(&n, &n, a, &one, &one, a_.data(), tau_.data(), work_.data(), &work, &info);
    require_success(info);
  }

  void solve(const double* a, double* b) override {
    const int n = problem_.n, sides = problem_.sides;
    int info = 0;
    if (problem_.kind == Factorization::lu) {
      functions_.getrs("N", &n, &sides, a, &one, &one, a_.data(), pivots_.data(), b, &one, &one, b_.data(),
                       &info, 1);
    } else {
      functions_.potrs("L", &n, &sides, a, &one, &one, a_.data(), b, &one, &one, b_.data(), &info, 1);
    }
    require_success(info);
  }

 private:
  void ask_for_work() {
    tau_.resize(static_cast<std::size_t>(problem_.n));
    double wanted = 0;
    const int question = -1;
    int info = 0;
    functions_.geqrf(&problem_.n, &problem_.n, nullptr, &one, &one, a_.data(), tau_.data(), &wanted,
                     &question, &info);
    require_success(info);
    work_.resize(static_cast<std::size_t>(wanted));
  }

  Functions functions_;
  FactorProblem problem_;
  Descriptor a_{};
  Descriptor b_{};
  std::vector<int> pivots_;
  std::vector<double> tau_, work_;
};

}  // namespace

std::unique_ptr<ScalapackFactors> make_scalapack_factors(const Context& context,
                                                         const FactorProblem& problem) {
  const Scalapack* const tools = scalapack(context);
  Functions functions;
  if (tools == nullptr || !functions.find(tools->handle)) return nullptr;
  return std::make_unique<OfLibrary>(*tools, functions, problem);
}

}  // namespace partita::benchmarks
