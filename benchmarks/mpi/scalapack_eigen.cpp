#include "benchmarks/scalapack_eigen.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <partita/error.hpp>
#include <string>
#include <vector>

#include "benchmarks/mpi/scalapack.hpp"

namespace partita::benchmarks {
namespace {

using Syevd = void(const char* job, const char* triangle, const int* n, double* a, const int* ia,
                   const int* ja, const int* desca, double* values, double* z, const int* iz, const int* jz,
                   const int* descz, double* work, const int* work_size, int* integers,
                   const int* integers_size, int* info, std::size_t, std::size_t);

struct Workspace {
  std::vector<double> numbers = std::vector<double>(1);
  std::vector<int> integers = std::vector<int>(1);
};

}  // namespace

std::function<void()> make_pdsyevd(const Context& context, const EigenProblem& problem, double* a,
                                   double* values, double* vectors) {
  const Scalapack* const tools = scalapack(context);
  Syevd* syevd = nullptr;
  if (tools == nullptr || !find_symbol(tools->handle, "pdsyevd_", syevd)) return nullptr;
  const int grid = make_grid(*tools, problem.grid_rows, problem.grid_columns);
  const Descriptor matrix = describe(*tools, grid, problem.n, problem.n, problem.block, problem.block);
  const auto call = [=](Workspace& space, int numbers, int integers) {
    const int one = 1;
    int info = 0;
    syevd("V", "L", &problem.n, a, &one, &one, matrix.data(), values, vectors, &one, &one, matrix.data(),
          space.numbers.data(), &numbers, space.integers.data(), &integers, &info, 1, 1);
    if (info != 0) throw Error("ScaLAPACK: info is " + std::to_string(info));
  };
  const auto space = std::make_shared<Workspace>();
  call(*space, -1, -1);
  // Its answer is a little too small for the transformation back (pdormtr).
  const double numbers = space->numbers[0] + 2.0 * problem.n * problem.block;
  space->numbers.resize(static_cast<std::size_t>(numbers));
  space->integers.resize(static_cast<std::size_t>(std::max(space->integers[0], 7 * problem.n + 8)));
  return [=] {
    call(*space, static_cast<int>(space->numbers.size()), static_cast<int>(space->integers.size()));
  };
}

}  // namespace partita::benchmarks
