#include "execute/works/column_major.hpp"

#include <algorithm>

namespace partita::execution {
namespace {

/// Elements from one column of a run to the next.
std::int64_t leading_of_run(const AxisRun& run, std::int64_t rows) {
  const std::int64_t least = std::max<std::int64_t>(1, rows);
  if (run.count <= 1) return least;
  invariant(run.step.front() >= least, "columns of {} rows that are {} elements apart", rows,
            run.step.front());
  return run.step.front();
}

}  // namespace

ColumnMajorPart::ColumnMajorPart(const Part& part, const WorkBinding& binding, MatrixSizes sizes)
    : part_(part, binding), rows_(part_.extent(0)), columns_(part_.extent(1)) {
  invariant(part_.dimensions() == 2, "a matrix of {} dimensions", part_.dimensions());
  if (empty()) return;
  const std::optional<AxisRun> rows = part_.even_axis(0);
  invariant(rows && (rows_ == 1 || rows->step.front() == 1),
            "{}: the {} rows of a matrix are not adjacent in memory", binding.plan.operation, rows_);
  for (const AxisRun& run : axis_runs(std::array{part_.axis(1)}, columns_)) {
    runs_.push_back({rows->offset.front() + run.offset.front(), run.count, leading_of_run(run, rows_)});
    check<UnsupportedError>(
        sizes == MatrixSizes::in_64_bits || kernels::fits_lapack(rows_, run.count, runs_.back().leading),
        "{}: LAPACK on the host counts in 32 bits; a matrix of {} rows and {} columns that are {} elements "
        "apart is too large for it; distribute the matrix over more ranks or use device memory",
        binding.plan.operation, rows_, run.count, runs_.back().leading);
  }
}

std::int64_t ColumnMajorPart::longest_run() const {
  std::int64_t longest = 0;
  for (const Run& run : runs_) longest = std::max(longest, run.columns);
  return longest;
}

void ColumnMajorPart::require_one_run(const char* name) const {
  invariant(runs_.size() <= 1, "the columns of a {} are not evenly spaced", name);
}

AdjacentPart::AdjacentPart(const Part& part, const WorkBinding& binding, std::int64_t size)
    : part_(part, binding), size_(size) {
  const int dimensions = part_.dimensions();
  invariant(dimensions <= 1 && (dimensions == 0 ? 1 : part_.extent(0)) == size,
            "{} of {} dimensions are not {} elements", to_string(part.region), dimensions, size);
  if (dimensions == 0 || size == 0) return;
  const std::optional<AxisRun> run = part_.even_axis(0);
  invariant(run && (size == 1 || run->step.front() == 1), "{} are not adjacent in memory",
            to_string(part.region));
  offset_ = run->offset.front();
}

}  // namespace partita::execution
