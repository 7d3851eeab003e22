// to[I, J] = alpha a[I, K] b[K, J] + beta to[I, J] on a device: as few products of its BLAS as the positions
// of the sets allow, each on memory in place, as far as BLAS accepts its layout (PackedMultiply).
#include <optional>

#include "base/check.hpp"
#include "execute/element_nests.hpp"
#include "execute/works/device_operand_copies.hpp"
#include "execute/works/device_product_epilogue.hpp"
#include "execute/works/scalar_as.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using devices::ElementPass;

class DeviceMultiply final : public FusedMultiply {
 public:
  /// `epilogue`, where there is one: what comes after the sums, as of bind_fused_multiply.
  DeviceMultiply(const Multiply& work, const ApplyEpilogue* epilogue, const DeviceWorkBinding& binding)
      : DeviceMultiply(work, epilogue, binding, PackedMultiply(work, binding)) {}

  /// The device makes it, wherever memory is aligned as it ought to be.
  bool may_go() const { return !all_.calls.empty() && math_.makes(*all_.calls.front().product, {}); }

  bool goes(const AddressOf& address, const Parameters& parameters) const override {
    if (scaled_ && parameters.alpha == std::complex<double>(0)) return false;
    const BlasCall& call = all_.calls.front();
    const devices::GemmPlaces at = places(call, all_.batches.front(), address);
    return at.auxiliary != at.c && math_.makes(*call.product, at);
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    const Beta kind = epilogue_ ? epilogue_->beta().value_or(beta_) : beta_;
    const std::complex<double> alpha = scaled_ ? scalar_of(result_, parameters.alpha) : 1;
    const std::complex<double> beta = scalar_of(result_, planning::beta_of(kind, parameters));
    if (all_.calls.empty() || alpha == std::complex<double>(0)) return scale(address, beta, stream);
    copies_.pack(address, beta != std::complex<double>(0), stream);
    for (const ProductShape::Batch& batch : all_.batches) {
      for (const BlasCall& call : all_.calls)
        math_.gemm(*call.product, places(call, batch, address), alpha, call.first ? beta : 1, stream);
    }
    copies_.unpack(address, stream);
  }

 private:
  DeviceMultiply(const Multiply& work, const ApplyEpilogue* epilogue, const DeviceWorkBinding& binding,
                 const PackedMultiply& packed)
      : scaled_(work.scaled),
        beta_(work.beta),
        math_(binding.math()),
        result_(packed.shape->to.dtype()),
        workspace_bytes_(packed.workspace_bytes),
        copies_(work, packed, binding) {
    if (packed.shape->empty()) return;
    to_.emplace(work.to, binding.memory);
    list_passes(work.to.region.shape());
    all_ = blas_calls(packed);
    for (const Part* const part : {&packed.work.a, &packed.work.b, &packed.work.to}) {
      parts_.emplace_back(*part, binding.memory);
      places_ |= part->place.offset;
    }
    if (epilogue != nullptr && !add(*epilogue, packed, binding)) {
      all_.calls.clear();
      return;
    }
    for (BlasCall& call : all_.calls) {
      call.what.alignment = alignment_of(call);
      call.product = math_.prepare(call.what, binding.may_try);
    }
  }

  /// False: it cannot come with the one product that this would be.
  bool add(const ApplyEpilogue& epilogue, const PackedMultiply& packed, const DeviceWorkBinding& binding) {
    if (all_.calls.size() != 1 || all_.batches.size() != 1 || packed.is_packed(packed.work.to)) return false;
    if (epilogue.has_c && beta_ != Beta::zero) return false;
    epilogue_.emplace(epilogue, binding);
    return epilogue_->add_to(all_.calls.front());
  }

  /// As BLAS takes them.
  devices::GemmPlaces places(const BlasCall& call, const ProductShape::Batch& batch,
                             const AddressOf& address) const {
    const auto at = [&](std::size_t x) {
      return parts_[x].base(address) + (batch[x] + call.offset[x]) * size_of(parts_[x].dtype());
    };
    devices::GemmPlaces places{at(call.exchanged ? 1 : 0), at(call.exchanged ? 0 : 1), at(2)};
    if (epilogue_) epilogue_->place(places, address);
    return places;
  }

  /// As far as the places in the parts say; where those begin is known when it is executed.
  std::int64_t alignment_of(const BlasCall& call) const {
    std::int64_t bits = workspace_alignment | places_;
    bits |= (call.what.a.stride | call.what.b.stride) * size_of(call.what.a.dtype);
    bits |= call.what.stride * size_of(call.what.result);
    if (epilogue_) bits |= epilogue_->bits();
    for (const ProductShape::Batch& batch : all_.batches) {
      for (std::size_t x = 0; x < batch.size(); ++x)
        bits |= (batch[x] + call.offset[x]) * size_of(parts_[x].dtype());
    }
    return bits & -bits;
  }

  void list_passes(const Extents& extents) {
    std::vector<std::vector<PartAxis>> axes;
    for (int d = 0; d < extents.size(); ++d) {
      axes.emplace_back(devices::ElementNest::parts);
      axes.back()[ElementPass::to] = axes.back()[ElementPass::c] = to_->axis(d);
    }
    passes_ = element_nests(axes, extents, ElementPass::to);
  }

  /// to = beta to.
  void scale(const AddressOf& address, std::complex<double> beta, Stream stream) const {
    if (!to_ || beta == std::complex<double>(1)) return;
    ElementPass pass;
    pass.computed = devices::wide(result_);
    pass.beta = beta;
    for (const std::size_t x : {ElementPass::to, ElementPass::c}) {
      pass.dtypes[x] = result_;
      pass.data[x] = to_->base(address);
    }
    for (const devices::ElementNest& nest : passes_) math_.pass(pass, nest, stream);
  }

  bool scaled_;
  Beta beta_;
  devices::DeviceMath& math_;
  Dtype result_;
  std::int64_t workspace_bytes_;
  OperandCopies copies_;
  std::optional<BoundPart> to_;               // its place; nothing: the work is empty
  std::vector<devices::ElementNest> passes_;  // over it
  std::vector<BoundPart> parts_;              // a, b and to as they are multiplied
  std::int64_t places_ = 0;                   // the bits of their offsets
  BlasCalls all_;
  std::optional<ProductEpilogue> epilogue_;
};

}  // namespace

std::array<Dtype, 3> dtypes_of(const Multiply& work, const Plan& plan) {
  return {planning::dtype_at(plan, work.a.place),
          work.dtype_b.value_or(planning::dtype_at(plan, work.b.place)),
          planning::dtype_at(plan, work.to.place)};
}

std::unique_ptr<DeviceBoundWork> bind_device_multiply(const Multiply& work,
                                                      const DeviceWorkBinding& binding) {
  const auto [a, b, to] = dtypes_of(work, binding.memory.plan);
  if (size_of(a) == 1) return bind_device_narrow_multiply(work, binding);
  check<UnsupportedError>(binding.math().multiplies(a, b, to), "{}: {} does not multiply {} by {} into {}",
                          binding.memory.plan.operation, binding.math().name(), name(a), name(b), name(to));
  return std::make_unique<DeviceMultiply>(work, nullptr, binding);
}

std::unique_ptr<FusedMultiply> bind_fused_multiply(const Multiply& work, const ApplyEpilogue& epilogue,
                                                   const DeviceWorkBinding& binding) {
  const auto [a, b, to] = dtypes_of(work, binding.memory.plan);
  if (size_of(a) == 1 || !binding.math().multiplies(a, b, to)) return nullptr;
  auto both = std::make_unique<DeviceMultiply>(work, &epilogue, binding);
  return both->may_go() ? std::move(both) : nullptr;
}

}  // namespace partita::execution
