// Column-major matrices of works bound to memory, as LAPACK takes them.
#pragma once

#include <algorithm>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "execute/axis_runs.hpp"
#include "kernels/host/factorizations.hpp"
#include "kernels/host/lapack_library.hpp"

namespace partita::execution {

/// Who takes a matrix: LAPACK on the host counts in 32 bits.
enum class MatrixSizes : std::uint8_t { in_32_bits, in_64_bits };

/// A part [m, n] whose rows are adjacent in memory and whose columns are evenly spaced, in as few runs as
/// their positions allow. Throws UnsupportedError where a run exceeds the sizes.
class ColumnMajorPart {
 public:
  struct Run {
    std::int64_t offset = 0;  ///< elements
    std::int64_t columns = 0;
    std::int64_t leading = 1;
  };

  ColumnMajorPart(const Part& part, const WorkBinding& binding, MatrixSizes sizes = MatrixSizes::in_32_bits);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Dtype dtype() const { return part_.dtype(); }
  const std::vector<Run>& runs() const { return runs_; }
  char* place(const Run& run, const AddressOf& address) const {
    return part_.base(address) + run.offset * size_of(dtype());
  }
  bool empty() const { return rows_ == 0 || columns_ == 0; }
  /// Of all columns if they are one run; most columns of a run otherwise.
  std::int64_t longest_run() const;
  /// That the columns are evenly spaced is an invariant. `name`: of the part.
  void require_one_run(const char* name) const;

  /// Calls visit(ColumnMatrix<T>) for each run of columns. Rows and columns are not 0.
  template <class T, class Visit>
  void for_each_run(const AddressOf& address, const Visit& visit) const {
    for (const Run& run : runs_) {
      visit(kernels::ColumnMatrix<T>{reinterpret_cast<T*>(place(run, address)), rows_, run.columns,
                                     run.leading});
    }
  }
  /// All of a part that is one run; without data if it is empty.
  template <class T>
  kernels::ColumnMatrix<T> whole(const AddressOf& address) const {
    kernels::ColumnMatrix<T> matrix{nullptr, rows_, columns_, std::max<std::int64_t>(1, rows_)};
    for_each_run<T>(address, [&](const kernels::ColumnMatrix<T>& run) { matrix = run; });
    return matrix;
  }

 private:
  BoundPart part_;
  std::int64_t rows_, columns_;
  std::vector<Run> runs_;
};

/// A part of one dimension, or of none, whose elements are adjacent in memory.
class AdjacentPart {
 public:
  AdjacentPart(const Part& part, const WorkBinding& binding, std::int64_t size);

  std::int64_t size() const { return size_; }
  /// Null if the part is empty.
  char* place(const AddressOf& address) const {
    return size_ == 0 ? nullptr : part_.base(address) + offset_ * size_of(part_.dtype());
  }
  template <class T>
  T* data(const AddressOf& address) const {
    return reinterpret_cast<T*>(place(address));
  }

 private:
  BoundPart part_;
  std::int64_t size_;
  std::int64_t offset_ = 0;
};

/// A work Bound<T> for the type that LAPACK computes in. Throws UnsupportedError for other dtypes, and where
/// there is no LAPACK.
template <template <class> class Bound, class Work>
std::unique_ptr<BoundWork> bind_in_dtype(Dtype dtype, const char* what, const Work& work,
                                         const WorkBinding& binding) {
  return kernels::visit_lapack_dtype(dtype, what,
                                     [&]<class T>(TypeTag<T> /*tag*/) -> std::unique_ptr<BoundWork> {
                                       (void)kernels::lapack<T>();
                                       return std::make_unique<Bound<T>>(work, binding);
                                     });
}

}  // namespace partita::execution
