// Matches of a tournament of rows, and the pivots of those that have won, in host memory.
#include <numeric>
#include <utility>

#include "base/round.hpp"
#include "execute/works/bound_work.hpp"
#include "execute/works/column_major.hpp"
#include "plan/row_moves.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

template <class T>
class BoundChooseRows final : public BoundWork {
 public:
  BoundChooseRows(const ChooseRows& work, const WorkBinding& binding)
      : from_(work.from, binding),
        chosen_(work.chosen, binding),
        rows_(work.from.region.sets[0]),
        numbered_(work.numbered),
        m_(from_.rows()),
        n_(chosen_.columns() - 2),
        order_(static_cast<std::size_t>(m_)),
        pivots_(static_cast<std::size_t>(std::min(m_, n_))),
        workspace_(binding.workspace) {
    from_.require_one_run("matrix that rows are chosen of");
    chosen_.require_one_run("matrix of chosen rows");
    invariant(chosen_.rows() <= std::min(m_, n_) && from_.columns() == n_ + (numbered_ ? 2 : 0),
              "{} rows of {} chosen of {}x{}", chosen_.rows(), n_, m_, from_.columns());
    workspace_->reserve(m_ * n_ * static_cast<std::int64_t>(sizeof(T)));
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    const kernels::ColumnMatrix<const T> from = from_.whole<const T>(address);
    const kernels::ColumnMatrix<T> chosen = chosen_.whole<T>(address);
    choose(from);
    for (std::int64_t j = 0; j < from.columns; ++j) {
      for (std::int64_t i = 0; i < chosen.rows; ++i)
        chosen.data[i + j * chosen.leading] = from.data[row(i) + j * from.leading];
    }
    if (numbered_) return;
    using Real = kernels::RealType<T>;
    T* const high = chosen.data + n_ * chosen.leading;
    for (std::int64_t i = 0; i < chosen.rows; ++i) {
      const std::int64_t number = rows_.at(row(i)), quotient = number / row_number_base;
      high[i] = static_cast<Real>(quotient);
      high[i + chosen.leading] = static_cast<Real>(number % row_number_base);
    }
  }

 private:
  std::int64_t row(std::int64_t i) const { return order_[static_cast<std::size_t>(i)]; }

  /// The order of the rows after LU with partial pivoting.
  void choose(const kernels::ColumnMatrix<const T>& from) {
    const kernels::ColumnMatrix<T> factors{reinterpret_cast<T*>(workspace_->data()), m_, n_, m_};
    for (std::int64_t j = 0; j < n_; ++j)
      std::copy_n(from.data + j * from.leading, m_, factors.data + j * factors.leading);
    (void)kernels::factor_lu(factors, pivots_.data());
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    for (std::size_t i = 0; i < pivots_.size(); ++i)
      std::swap(order_[i], order_[static_cast<std::size_t>(pivots_[i])]);
  }

  ColumnMajorPart from_, chosen_;
  IndexSet rows_;
  bool numbered_;
  std::int64_t m_, n_;
  std::vector<std::int64_t> order_;
  std::vector<std::int32_t> pivots_;
  std::shared_ptr<Workspace> workspace_;
};

template <class T>
class BoundPivotsOfRows final : public BoundWork {
 public:
  BoundPivotsOfRows(const PivotsOfRows& work, const WorkBinding& binding)
      : numbers_(work.numbers, binding),
        pivots_(work.pivots, binding, numbers_.rows()),
        first_(work.pivots.region.sets[0].front()),
        moves_(static_cast<std::size_t>(numbers_.rows())) {
    numbers_.require_one_run("list of rows");
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    const kernels::ColumnMatrix<const T> numbers = numbers_.whole<const T>(address);
    auto* const pivots = pivots_.data<std::int32_t>(address);
    const auto at = [&](std::int64_t i) { return static_cast<std::int64_t>(std::real(numbers.data[i])); };
    for (std::int64_t i = 0; i < numbers.rows; ++i)
      pivots[i] = static_cast<std::int32_t>(at(i) * row_number_base + at(i + numbers.leading) - first_);
    moves_.make_pivots({pivots, static_cast<std::size_t>(numbers.rows)});
  }

 private:
  ColumnMajorPart numbers_;
  AdjacentPart pivots_;
  std::int64_t first_;
  planning::RowMoves moves_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_choose_rows(const ChooseRows& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundChooseRows>(planning::dtype_at(binding.plan, work.from.place), "choice of rows",
                                        work, binding);
}

std::unique_ptr<BoundWork> bind_pivots_of_rows(const PivotsOfRows& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundPivotsOfRows>(planning::dtype_at(binding.plan, work.numbers.place),
                                          "choice of rows", work, binding);
}

}  // namespace partita::execution
