#include "execute/works/device_operand_copies.hpp"

#include "execute/lower.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using devices::ElementPass;

/// Of A or B, packed: over what is beyond k, for each of its lines.
devices::ElementNest beyond_k(const BoundPart& part, bool of_a) {
  const int rows = part.dimensions() - 2, depth = rows + (of_a ? 1 : 0), lines = rows + (of_a ? 0 : 1);
  const std::int64_t size = part.extent(depth), stride = part.axis(depth).stride;
  devices::ElementNest nest;
  nest.offset[ElementPass::to] = size * stride;
  const auto loop = [&](std::int64_t count, std::int64_t step) {
    nest.loops.push_back({count, {}});
    nest.loops.back().strides[ElementPass::to] = step;
  };
  loop(part.extent(lines), part.axis(lines).stride);
  loop(ProductPadding::of(size, true) - size, stride);
  return nest;
}

}  // namespace

OperandCopies::OperandCopies(const Multiply& given, const PackedMultiply& packed,
                             const DeviceWorkBinding& binding)
    : device_(binding.device), math_(binding.math()), rank_(binding.memory.plan.rank) {
  const Plan& plan = binding.memory.plan;
  const auto add = [&](const Part& from, const Part& to, bool of_result) {
    if (!packed.is_packed(to)) return;
    const std::int64_t item = size_of(planning::dtype_at(plan, from.place));
    const auto side = [&](const Place& place) {
      return side_of(plan, place, from.region, binding.memory.strides[static_cast<std::size_t>(place.buffer)],
                     item);
    };
    const Side there = side(from.place), here = side(to.place);
    Packing packing{from.place, to.place, lower(from.region, there, here, item), {}};
    if (of_result) packing.back = lower(from.region, here, there, item);
    packings_.push_back(std::move(packing));
  };
  const auto add_zeros = [&](const Part& part, bool of_a, bool transposed) {
    BoundPart bound(part, binding.memory);
    if (transposed) bound.transpose();
    const devices::ElementNest nest = beyond_k(bound, of_a);
    zeros_.push_back({std::move(bound), nest});
  };
  add(given.a, packed.work.a, false);
  add(given.b, packed.work.b, false);
  add(given.to, packed.work.to, true);
  if (!packed.padding.k) return;
  add_zeros(packed.work.a, true, given.transpose_a);
  add_zeros(packed.work.b, false, given.transpose_b);
}

void OperandCopies::pack(const AddressOf& address, bool reads_result, Stream stream) const {
  for (const Packing& packing : packings_) {
    if (packing.back.empty() || reads_result)
      copy(packing.nests, packing.part, packing.packed, address, stream);
  }
  for (const Zeros& zeros : zeros_) {
    ElementPass pass;
    pass.computed = Dtype::f32;
    pass.dtypes[ElementPass::to] = zeros.part.dtype();
    pass.data[ElementPass::to] = zeros.part.base(address);
    math_.pass(pass, zeros.nest, stream);
  }
}

void OperandCopies::unpack(const AddressOf& address, Stream stream) const {
  for (const Packing& packing : packings_) copy(packing.back, packing.packed, packing.part, address, stream);
}

void OperandCopies::copy(const std::vector<kernels::StridedCopy>& nests, const Place& from, const Place& to,
                         const AddressOf& address, Stream stream) const {
  const bool inside = from.rank == rank_ && to.rank == rank_;
  const auto scope = inside ? devices::CopyScope::inside : devices::CopyScope::any;
  for (const kernels::StridedCopy& nest : nests)
    device_.copy(nest, address(from), address(to), stream, scope);
}

}  // namespace partita::execution
