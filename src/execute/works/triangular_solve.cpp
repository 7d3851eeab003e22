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
        to_(work.to, binding),
        zero_as_one_(work.zero_as_one),
        workspace_(binding.workspace) {
    const std::int64_t n = triangle_.columns();
    invariant(triangle_.rows() == n && (form_.from_right ? to_.columns() : to_.rows()) == n,
              "a triangle of {}x{} for {}x{}", triangle_.rows(), n, to_.rows(), to_.columns());
    triangle_.require_one_run("triangle");
    if (form_.from_right) to_.require_one_run("matrix that a triangle is divided from on the right");
    if (zero_as_one_) workspace_->reserve(n * n * static_cast<std::int64_t>(sizeof(T)));
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    if (to_.empty()) return;
    kernels::ColumnMatrix<const T> triangle = triangle_.whole<const T>(address);
    if (zero_as_one_) triangle = with_ones(triangle);
    to_.for_each_run<T>(address, [&](const kernels::ColumnMatrix<T>& columns) {
      kernels::solve_triangular(form_, triangle, columns);
    });
  }

 private:
  /// The triangle, or a copy of it without zeros on the diagonal.
  kernels::ColumnMatrix<const T> with_ones(const kernels::ColumnMatrix<const T>& triangle) const {
    const std::int64_t n = triangle.columns;
    bool has_zero = false;
    for (std::int64_t j = 0; j < n; ++j) has_zero |= triangle.data[j * (triangle.leading + 1)] == T(0);
    if (!has_zero) return triangle;
    auto* const copy = reinterpret_cast<T*>(workspace_->data());
    for (std::int64_t j = 0; j < n; ++j) {
      std::copy_n(triangle.data + j * triangle.leading, n, copy + j * n);
      if (copy[j * (n + 1)] == T(0)) copy[j * (n + 1)] = T(1);
    }
    return {copy, n, n, n};
  }

  kernels::TriangularForm form_;
  ColumnMajorPart triangle_, to_;
  bool zero_as_one_;
  std::shared_ptr<Workspace> workspace_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_triangular_solve(const TriangularSolve& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundTriangularSolve>(planning::dtype_at(binding.plan, work.to.place),
                                             "triangular solve", work, binding);
}

}  // namespace partita::execution
