// Triangular solves in device memory.
#include <algorithm>
#include <cstring>

#include "device/device_factorizations.hpp"
#include "execute/works/column_major.hpp"
#include "execute/works/device_bound_work.hpp"
#include "kernels/host/elementwise.hpp"

namespace partita::execution {
namespace {

class DeviceTriangular final : public DeviceBoundWork {
 public:
  DeviceTriangular(const TriangularSolve& work, const DeviceWorkBinding& binding)
      : device_(binding.device),
        triangle_(work.triangle, binding.memory, MatrixSizes::in_64_bits),
        to_(work.to, binding.memory, MatrixSizes::in_64_bits),
        conjugates_(work.op == Op::conjugate && is_complex(to_.dtype())),
        workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
        factorizations_(binding.factorizations(to_.dtype(), "triangular solve")) {
    const std::int64_t n = triangle_.columns();
    invariant(triangle_.rows() == n && (work.from_right ? to_.columns() : to_.rows()) == n,
              "a triangle of {}x{} for {}x{}", triangle_.rows(), n, to_.rows(), to_.columns());
    triangle_.require_one_run("triangle");
    if (work.from_right) to_.require_one_run("matrix that a triangle is divided from on the right");
    for (const ColumnMajorPart::Run& run : to_.runs()) {
      calls_.push_back(factorizations_.prepare(devices::DeviceTriangularSolve{
          to_.dtype(), work.op == Op::conjugate ? Op::none : work.op, work.upper, work.unit_diagonal,
          work.from_right, to_.rows(), run.columns, run.leading, triangle_.runs().front().leading}));
      workspace_bytes_ = std::max(workspace_bytes_, calls_.back()->workspace_bytes());
    }
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const ColumnMajorPart::Run& run = to_.runs()[i];
      conjugate(run, address, stream);
      factorizations_.solve(*calls_[i], triangle_.place(triangle_.runs().front(), address),
                            to_.place(run, address), address(workspace_), stream);
      conjugate(run, address, stream);
    }
  }

 private:
  /// conj(T)^-1 x = conj(T^-1 conj(x)): of the real numbers in memory every second one changes its sign.
  void conjugate(const ColumnMajorPart::Run& run, const AddressOf& address, Stream stream) const {
    if (!conjugates_) return;
    kernels::ElementwisePass pass;
    pass.operation = kernels::Arithmetic::multiply;
    const auto negate_in = [&](auto minus_one) {
      pass.dtype = dtype_of<decltype(minus_one)>();
      std::memcpy(pass.number.data(), &minus_one, sizeof(minus_one));
    };
    to_.dtype() == Dtype::c64 ? negate_in(-1.0F) : negate_in(-1.0);
    char* const imaginary = to_.place(run, address) + size_of(pass.dtype);
    pass.data = {imaginary, imaginary, nullptr};
    pass.loops = {{run.columns, {2 * run.leading, 2 * run.leading, 0}}, {to_.rows(), {2, 2, 0}}};
    device_.compute(pass, stream);
  }

  devices::Accelerator& device_;
  ColumnMajorPart triangle_, to_;
  bool conjugates_;
  Place workspace_;
  std::int64_t workspace_bytes_ = 0;
  devices::DeviceFactorizations& factorizations_;
  std::vector<std::shared_ptr<devices::PreparedFactorCall>> calls_;  // by run of `to`
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_triangular_solve(const TriangularSolve& work,
                                                              const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceTriangular>(work, binding);
}

}  // namespace partita::execution
