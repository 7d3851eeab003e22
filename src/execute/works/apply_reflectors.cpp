// Householder reflectors applied in host memory, in blocks, by products.
#include "execute/works/bound_work.hpp"
#include "execute/works/column_major.hpp"
#include "kernels/host/reflectors.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

template <class T>
class BoundApplyReflectors final : public BoundWork {
 public:
  BoundApplyReflectors(const ApplyReflectors& work, const WorkBinding& binding)
      : reflectors_(work.reflectors, binding),
        factors_(work.factors, binding, reflectors_.columns()),
        to_(work.to, binding),
        adjoint_(work.adjoint),
        workspace_(binding.workspace) {
    const std::int64_t k = reflectors_.columns();
    reflectors_.require_one_run("panel of reflectors");
    invariant(reflectors_.rows() == to_.rows() && k <= to_.rows(), "{} reflectors of {} rows for {} rows", k,
              reflectors_.rows(), to_.rows());
    const std::int64_t elements = Block::workspace(std::min(k, Block::most_reflectors), to_.longest_run());
    workspace_->reserve(elements * static_cast<std::int64_t>(sizeof(T)));
  }

  /// Q = Q_1 Q_2 .. of blocks: Q^H begins with the first one, Q with the last one.
  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    if (to_.empty()) return;
    const std::int64_t k = reflectors_.columns(), step = Block::most_reflectors;
    const std::int64_t blocks = (k + step - 1) / step;
    for (std::int64_t i = 0; i < blocks; ++i) apply_block(address, (adjoint_ ? i : blocks - 1 - i) * step);
  }

 private:
  using Block = kernels::BlockReflector<T>;

  void apply_block(const AddressOf& address, std::int64_t first) {
    const std::int64_t rows = to_.rows() - first;
    const std::int64_t some = std::min(Block::most_reflectors, reflectors_.columns() - first);
    const Block block(reflectors_.whole<const T>(address).part(first, first, rows, some),
                      factors_.data<const T>(address) + first, reinterpret_cast<T*>(workspace_->data()));
    to_.for_each_run<T>(address, [&](const kernels::ColumnMatrix<T>& columns) {
      block.apply(columns.part(first, 0, rows, columns.columns), adjoint_);
    });
  }

  ColumnMajorPart reflectors_;
  AdjacentPart factors_;
  ColumnMajorPart to_;
  bool adjoint_;
  std::shared_ptr<Workspace> workspace_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_apply_reflectors(const ApplyReflectors& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundApplyReflectors>(planning::dtype_at(binding.plan, work.to.place),
                                             "application of reflectors", work, binding);
}

}  // namespace partita::execution
