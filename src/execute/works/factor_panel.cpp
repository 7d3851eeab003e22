// Factorizations of panels in host memory, by LAPACK.
#include "execute/works/bound_work.hpp"
#include "execute/works/column_major.hpp"
#include "kernels/host/reflectors.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

template <class T>
class BoundFactorPanel final : public BoundWork {
 public:
  BoundFactorPanel(const FactorPanel& work, const WorkBinding& binding)
      : kind_(work.kind),
        panel_(work.panel, binding),
        status_(work.status, binding, 1),
        workspace_(binding.workspace) {
    panel_.require_one_run("panel");
    const std::int64_t m = panel_.rows(), n = panel_.columns();
    invariant(kind_ != Factorization::cholesky || m >= n, "a Cholesky factorization of {}x{}", m, n);
    if (kind_ != Factorization::cholesky) pivots_.emplace(work.pivots, binding, std::min(m, n));
    if (kind_ != Factorization::qr) return;
    workspace_->reserve(kernels::factor_qr_workspace<T>(m, n) * static_cast<std::int64_t>(sizeof(T)));
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    *status_.data<std::int32_t>(address) = factor(panel_.whole<T>(address), address);
  }

 private:
  std::int32_t factor(const kernels::ColumnMatrix<T>& panel, const AddressOf& address) {
    if (panel_.empty()) return 0;
    if (kind_ == Factorization::cholesky) return kernels::factor_cholesky(panel);
    if (kind_ == Factorization::lu) return kernels::factor_lu(panel, pivots_->data<std::int32_t>(address));
    kernels::factor_qr(panel, pivots_->data<T>(address), reinterpret_cast<T*>(workspace_->data()));
    return 0;
  }

  Factorization kind_;
  ColumnMajorPart panel_;
  std::optional<AdjacentPart> pivots_;
  AdjacentPart status_;
  std::shared_ptr<Workspace> workspace_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_factor_panel(const FactorPanel& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundFactorPanel>(planning::dtype_at(binding.plan, work.panel.place), "factorization",
                                         work, binding);
}

}  // namespace partita::execution
