// Row exchanges of an LU factorization in host memory.
#include "execute/works/bound_work.hpp"
#include "execute/works/column_major.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

template <class T>
class BoundExchangeRows final : public BoundWork {
 public:
  BoundExchangeRows(const ExchangeRows& work, const WorkBinding& binding)
      : to_(work.to, binding),
        pivots_(work.pivots, binding, work.pivots.region.size()),
        backward_(work.backward) {
    invariant(pivots_.size() <= to_.rows(), "{} exchanges of {} rows", pivots_.size(), to_.rows());
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    const auto* const pivots = pivots_.data<const std::int32_t>(address);
    to_.for_each_run<T>(address, [&](const kernels::ColumnMatrix<T>& columns) {
      kernels::exchange_rows(columns, pivots, pivots_.size(), backward_);
    });
  }

 private:
  ColumnMajorPart to_;
  AdjacentPart pivots_;
  bool backward_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_exchange_rows(const ExchangeRows& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundExchangeRows>(planning::dtype_at(binding.plan, work.to.place), "row exchange",
                                          work, binding);
}

}  // namespace partita::execution
