// Triangular solves in host memory, by BLAS.
#include "execute/works/bound_work.hpp"
#include "execute/works/column_major.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

template <class T>
class BoundTriangularSolve final : public BoundWork {
 public:
  BoundTriangularSolve(const TriangularSolve& work, const WorkBinding& binding)
      : form_{work.op, work.upper, work.unit_diagonal, work.from_right},
        triangle_(work.triangle, binding),
        to_(work.to, binding) {
    const std::int64_t n = triangle_.columns();
    invariant(triangle_.rows() == n && (form_.from_right ? to_.columns() : to_.rows()) == n,
              "a triangle of {}x{} for {}x{}", triangle_.rows(), n, to_.rows(), to_.columns());
    triangle_.require_one_run("triangle");
    if (form_.from_right) to_.require_one_run("matrix that a triangle is divided from on the right");
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    if (to_.empty()) return;
    const kernels::ColumnMatrix<const T> triangle = triangle_.whole<const T>(address);
    to_.for_each_run<T>(address, [&](const kernels::ColumnMatrix<T>& columns) {
      kernels::solve_triangular(form_, triangle, columns);
    });
  }

 private:
  kernels::TriangularForm form_;
  ColumnMajorPart triangle_, to_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_triangular_solve(const TriangularSolve& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundTriangularSolve>(planning::dtype_at(binding.plan, work.to.place),
                                             "triangular solve", work, binding);
}

}  // namespace partita::execution
