// Householder reflectors applied in device memory.
#include <algorithm>

#include "device/device_factorizations.hpp"
#include "execute/works/column_major.hpp"
#include "execute/works/device_bound_work.hpp"

namespace partita::execution {
namespace {

class DeviceApplyReflectors final : public DeviceBoundWork {
 public:
  DeviceApplyReflectors(const ApplyReflectors& work, const DeviceWorkBinding& binding)
      : reflectors_(work.reflectors, binding.memory, MatrixSizes::in_64_bits),
        factors_(work.factors, binding.memory, reflectors_.columns()),
        to_(work.to, binding.memory, MatrixSizes::in_64_bits),
        workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
        factorizations_(binding.factorizations(to_.dtype(), "application of reflectors")) {
    const std::int64_t k = reflectors_.columns();
    reflectors_.require_one_run("panel of reflectors");
    invariant(reflectors_.rows() == to_.rows() && k <= to_.rows(), "{} reflectors of {} rows for {} rows", k,
              reflectors_.rows(), to_.rows());
    if (to_.empty() || k == 0) return;
    const devices::MostReflectors most = factorizations_.most_reflectors(to_.rows());
    const std::int64_t blocks = (k + most.reflectors - 1) / most.reflectors;
    for (std::int64_t i = 0; i < blocks; ++i)
      prepare_block((work.adjoint ? i : blocks - 1 - i) * most.reflectors, most, work.adjoint);
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    const std::int64_t item = size_of(to_.dtype());
    for (const Piece& piece : pieces_) {
      const ColumnMajorPart::Run& all = reflectors_.runs().front();
      factorizations_.apply(*piece.call,
                            reflectors_.place(all, address) + piece.first * (all.leading + 1) * item,
                            factors_.place(address) + piece.first * item,
                            to_.place(piece.to, address) + piece.first * item, address(workspace_), stream);
    }
  }

 private:
  /// Reflectors from `first` on, which have zeros in the rows before, onto adjacent columns.
  struct Piece {
    std::int64_t first = 0;
    ColumnMajorPart::Run to;
    std::shared_ptr<devices::PreparedFactorCall> call;
  };

  /// Q = Q_1 Q_2 .. of blocks: Q^H begins with the first one, Q with the last one.
  void prepare_block(std::int64_t first, const devices::MostReflectors& most, bool adjoint) {
    const std::int64_t leading = reflectors_.runs().front().leading;
    devices::DeviceReflectors what{to_.dtype(), adjoint, to_.rows() - first, 0, 0, 1, leading};
    what.k = std::min(most.reflectors, reflectors_.columns() - first);
    for (const ColumnMajorPart::Run& run : to_.runs()) {
      what.leading = run.leading;
      for (std::int64_t column = 0; column < run.columns; column += what.n) {
        what.n = std::min(most.columns, run.columns - column);
        const ColumnMajorPart::Run to{run.offset + column * run.leading, what.n, run.leading};
        pieces_.push_back({first, to, factorizations_.prepare(what)});
        workspace_bytes_ = std::max(workspace_bytes_, pieces_.back().call->workspace_bytes());
      }
    }
  }

  ColumnMajorPart reflectors_;
  AdjacentPart factors_;
  ColumnMajorPart to_;
  Place workspace_;
  devices::DeviceFactorizations& factorizations_;
  std::vector<Piece> pieces_;  // in the order in which they are applied
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_apply_reflectors(const ApplyReflectors& work,
                                                              const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceApplyReflectors>(work, binding);
}

}  // namespace partita::execution
