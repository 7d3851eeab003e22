// to[I, J] = alpha a[I, K] b[K, J] + beta to[I, J] on a device, of factors of a byte an element. Its BLAS
// takes these along k alone, in multiples of 16 (devices::narrow_alignment). An operand with another layout
// is copied into the workspace, with zeros up to the next multiple. FP8 and INT8 numbers that BLAS does not
// multiply directly are copied in half precision, which holds them exactly.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "base/round.hpp"
#include "execute/element_nests.hpp"
#include "execute/lower.hpp"
#include "execute/works/device_bound_work.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using devices::ElementPass;
using devices::narrow_alignment;

std::int64_t padded(std::int64_t size) {
  return round_up(size, narrow_alignment);
}

/// One line of evenly spaced elements: its start and their distance, in elements.
struct Line {
  std::int64_t offset, step;
};

std::optional<Line> even_line(const BoundPart& part, int dimension) {
  const std::optional<AxisRun> run = part.even_axis(dimension);
  return run ? std::optional(Line{run->offset[0], run->step[0]}) : std::nullopt;
}

/// All batches of an operand count as one dimension.
std::int64_t batches_of(const Part& part) {
  std::int64_t batches = 1;
  for (std::size_t d = 0; d + 2 < part.region.sets.size(); ++d) batches *= part.region.sets[d].size();
  return batches;
}

/// A matrix of a batch that BLAS takes: lines of `length`, one behind the other.
struct MatrixPlace {
  std::int64_t offset = 0;  // in bytes, from the part on, or in the workspace
  std::int64_t leading = 0, stride = 0;
};

/// Numbers of 8 bits as they are, or as the halves that hold them.
bool multiplies_narrow(const devices::DeviceMath& math, Dtype a, Dtype b, Dtype to) {
  return math.multiplies(a, b, to) ||
         (is_float8(a) && is_float8(b) && math.multiplies(Dtype::f16, Dtype::f16, to));
}

class DeviceNarrowMultiply final : public DeviceBoundWork {
 public:
  DeviceNarrowMultiply(const Multiply& work, const DeviceWorkBinding& binding)
      : scaled_(work.scaled),
        beta_(work.beta),
        device_(binding.device),
        math_(binding.math()),
        workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
        to_(work.to, binding.memory) {
    if (work.to.region.empty()) return;
    const int rows = to_.dimensions() - 2, columns = to_.dimensions() - 1;
    const auto [a, b, to] = dtypes_of(work, binding.memory.plan);
    result_ = place_result(work.to, multiplies_narrow(math_, a, b, to), binding);
    list_passes(work.to, rows, columns);
    const std::int64_t depth = planning::depth_of(work);
    if (depth == 0) return;
    const bool as_they_are = math_.multiplies(a, b, sums_dtype());
    const auto factor = [&](const Part& part, std::optional<Dtype> dtype, int from_end) {
      factors_.emplace_back(BoundPart(part, binding.memory, dtype));
      place_factor(part, factors_.back(), from_end, as_they_are, binding);
    };
    factors_.reserve(2);
    factor(work.a, {}, work.transpose_a ? 1 : 2);
    factor(work.b, work.dtype_b, work.transpose_b ? 2 : 1);
    prepare(batches_of(work.to), depth, binding.may_try);
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    if (passes_.empty()) return;
    const double alpha = scaled_ ? parameters.alpha.real() : 1;
    const double beta = planning::beta_of(beta_, parameters).real();
    char* const scratch = address(workspace_);
    if (!product_ || alpha == 0) return finish(nullptr, beta, address, stream);
    std::array<const void*, 2> places{};
    for (std::size_t x = 0; x < places.size(); ++x) places[x] = pack(factors_[x], address, scratch, stream);
    if (by_rows_) std::swap(places[0], places[1]);
    char* const sums = (result_is_packed_ ? scratch : to_.base(address)) + result_.offset;
    math_.gemm(*product_, {places[0], places[1], sums}, alpha, result_is_packed_ ? 0 : beta, stream);
    if (result_is_packed_) finish(sums, beta, address, stream);
  }

 private:
  /// One that is copied first has nests, plain ones or of a pass that widens.
  struct Factor {
    explicit Factor(BoundPart bound) : part(std::move(bound)) {}

    BoundPart part;
    Dtype dtype = Dtype::i8;  // as it is multiplied
    MatrixPlace place;
    std::int64_t lines = 0;  // padded
    bool packed = false;
    std::int64_t zeroed_bytes = 0;  // before it is copied
    std::vector<kernels::StridedCopy> copies;
    std::vector<devices::ElementNest> widening;
  };

  /// Whether the first element of the part's array is aligned for certain.
  static bool begins_aligned(const Part& part, const DeviceWorkBinding& binding) {
    const Buffer& buffer = binding.memory.plan.buffers[static_cast<std::size_t>(part.place.buffer)];
    return part.place.offset % narrow_alignment == 0 &&
           (!buffer.operand || buffer.operand->residency == Residency::heap);
  }

  /// Where they are not the result, rounding is left to the last pass.
  Dtype sums_dtype() const { return result_is_packed_ ? devices::wide(to_.dtype()) : to_.dtype(); }

  std::int64_t take_workspace(std::int64_t bytes) {
    const std::int64_t offset = workspace_bytes_;
    workspace_bytes_ += round_up(bytes, workspace_alignment);
    return offset;
  }

  /// Where the sums are written, by rows or by columns as the result: there, if BLAS `takes` its dtype and
  /// place, or into the workspace.
  MatrixPlace place_result(const Part& part, bool takes, const DeviceWorkBinding& binding) {
    const int rows = to_.dimensions() - 2, columns = rows + 1;
    const std::int64_t m = to_.extent(rows), n = to_.extent(columns);
    const std::int64_t item = size_of(to_.dtype());
    const std::optional<Line> down = even_line(to_, rows), along = even_line(to_, columns);
    by_rows_ = to_.axis(columns).stride <= to_.axis(rows).stride;
    if (takes && down && along && batches_of(part) == 1 && begins_aligned(part, binding)) {
      const std::int64_t offset = (down->offset + along->offset) * item;
      const Line &inner = by_rows_ ? *along : *down, &outer = by_rows_ ? *down : *along;
      const bool whole = m % narrow_alignment == 0 && n % narrow_alignment == 0;
      if (whole && inner.step == 1 && outer.step * item % narrow_alignment == 0 &&
          offset % narrow_alignment == 0 && to_.dimensions() == 2)
        return {offset, outer.step, 0};
    }
    result_is_packed_ = true;
    const std::int64_t elements = padded(m) * padded(n);
    return {take_workspace(batches_of(part) * elements * size_of(sums_dtype())),
            by_rows_ ? padded(n) : padded(m), elements};
  }

  /// Over the result, and over its sums where they are stored separately.
  void list_passes(const Part& part, int rows, int columns) {
    std::vector<std::vector<PartAxis>> axes;
    std::int64_t batch_stride = result_.stride;
    for (int d = to_.dimensions() - 1; d >= 0; --d) {
      axes.emplace(axes.begin(), devices::ElementNest::parts);
      std::vector<PartAxis>& here = axes.front();
      here[ElementPass::to] = here[ElementPass::c] = to_.axis(d);
      const IndexSet& set = part.region.sets[static_cast<std::size_t>(d)];
      const bool inner = d == (by_rows_ ? columns : rows), outer = d == (by_rows_ ? rows : columns);
      here[ElementPass::from] = {&set, &set, inner ? 1 : outer ? result_.leading : batch_stride};
      if (!inner && !outer) batch_stride *= set.size();
    }
    passes_ = element_nests(axes, part.region.shape(), ElementPass::to);
  }

  /// `from_end`: the dimension of its lines, 1: the last one; k is the other.
  void place_factor(const Part& part, Factor& factor, int from_end, bool as_it_is,
                    const DeviceWorkBinding& binding) {
    const BoundPart& bound = factor.part;
    const int lines = bound.dimensions() - from_end, depth = bound.dimensions() - 3 + from_end;
    const std::int64_t count = bound.extent(lines), length = bound.extent(depth);
    factor.dtype = as_it_is ? bound.dtype() : Dtype::f16;
    factor.lines = padded(count);
    const bool whole = count == padded(count) && length == padded(length);
    const std::optional<Line> down = even_line(bound, lines), along = even_line(bound, depth);
    if (as_it_is && whole && down && along && bound.dimensions() == 2 && begins_aligned(part, binding) &&
        along->step == 1 && down->step % narrow_alignment == 0 &&
        (down->offset + along->offset) % narrow_alignment == 0) {
      factor.place = {down->offset + along->offset, down->step, 0};
      return;
    }
    factor.packed = true;
    const std::int64_t elements = padded(count) * padded(length), batches = batches_of(part);
    const std::int64_t bytes = batches * elements * size_of(factor.dtype);
    factor.place = {take_workspace(bytes), padded(length), bound.dimensions() > 2 ? elements : 0};
    factor.zeroed_bytes = whole ? 0 : bytes;
    Strides strides = Strides::filled(bound.dimensions(), 0);
    strides[depth] = 1;
    strides[lines] = padded(length);
    for (std::int64_t d = bound.dimensions() - 3, stride = elements; d >= 0; --d) {
      strides[static_cast<int>(d)] = stride;
      stride *= bound.extent(static_cast<int>(d));
    }
    if (as_it_is) {
      Side from = side_of(binding.memory.plan, part.place, part.region,
                          binding.memory.strides[static_cast<std::size_t>(part.place.buffer)], 1);
      from.byte_offset = 0;  // BoundPart::base has it
      factor.copies = lower(part.region, from, {part.region, strides, 0}, 1);
    } else {
      factor.widening = widening_of(part, bound, strides);
    }
  }

  static std::vector<devices::ElementNest> widening_of(const Part& part, const BoundPart& bound,
                                                       const Strides& strides) {
    std::vector<std::vector<PartAxis>> axes;
    for (int d = 0; d < bound.dimensions(); ++d) {
      axes.emplace_back(devices::ElementNest::parts);
      const IndexSet& set = part.region.sets[static_cast<std::size_t>(d)];
      axes.back()[ElementPass::from] = bound.axis(d);
      axes.back()[ElementPass::to] = {&set, &set, strides[d]};
    }
    return element_nests(axes, part.region.shape(), ElementPass::to);
  }

  void prepare(std::int64_t batches, std::int64_t depth, bool may_try) {
    const Factor &first = factors_[by_rows_ ? 1 : 0], &second = factors_[by_rows_ ? 0 : 1];
    devices::DeviceGemm what;
    what.m = first.lines, what.n = second.lines, what.k = padded(depth);
    what.a = {devices::BlasOp::transpose, first.place.leading, first.place.stride, first.dtype};
    what.b = {devices::BlasOp::none, second.place.leading, second.place.stride, second.dtype};
    what.result = sums_dtype();
    what.leading = result_.leading;
    what.stride = result_.stride;
    what.batches = batches;
    what.alignment = narrow_alignment;
    product_ = math_.prepare(what, may_try);
  }

  /// Where BLAS takes it.
  const char* pack(const Factor& factor, const AddressOf& address, char* scratch, Stream stream) const {
    const char* const part = factor.part.base(address);
    if (!factor.packed) return part + factor.place.offset;
    char* const packed = scratch + factor.place.offset;
    ElementPass pass;
    pass.computed = Dtype::f32;
    pass.data[ElementPass::to] = packed;
    if (factor.zeroed_bytes > 0) {
      pass.dtypes[ElementPass::to] = Dtype::f32;
      math_.pass(pass, zeroes(factor.zeroed_bytes), stream);
    }
    for (const kernels::StridedCopy& nest : factor.copies)
      device_.copy(nest, part, packed, stream, devices::CopyScope::any);
    pass.data[ElementPass::from] = const_cast<char*>(part);
    pass.dtypes[ElementPass::from] = factor.part.dtype();
    pass.dtypes[ElementPass::to] = factor.dtype;
    for (const devices::ElementNest& nest : factor.widening) math_.pass(pass, nest, stream);
    return packed;
  }

  static devices::ElementNest zeroes(std::int64_t bytes) {
    devices::ElementNest nest;
    nest.loops.push_back({bytes / size_of(Dtype::f32), {}});
    nest.loops.back().strides[ElementPass::to] = 1;
    return nest;
  }

  /// to = sums + beta to; without sums, they are 0.
  void finish(char* sums, double beta, const AddressOf& address, Stream stream) const {
    if (sums == nullptr && beta == 1) return;
    ElementPass pass;
    pass.computed = devices::wide(to_.dtype());
    pass.beta = beta;
    pass.dtypes.fill(to_.dtype());
    pass.dtypes[ElementPass::from] = sums_dtype();
    pass.data[ElementPass::from] = sums;
    pass.data[ElementPass::to] = pass.data[ElementPass::c] = to_.base(address);
    for (const devices::ElementNest& nest : passes_) math_.pass(pass, nest, stream);
  }

  bool scaled_;
  Beta beta_;
  devices::Accelerator& device_;
  devices::DeviceMath& math_;
  Place workspace_;
  std::int64_t workspace_bytes_ = 0;
  BoundPart to_;
  bool by_rows_ = true;  // the result: then the factors change places
  bool result_is_packed_ = false;
  MatrixPlace result_;
  std::vector<devices::ElementNest> passes_;  // over the result; none: it is empty
  std::vector<Factor> factors_;
  std::shared_ptr<devices::DeviceProduct> product_;  // null: there is nothing to sum
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_narrow_multiply(const Multiply& work,
                                                             const DeviceWorkBinding& binding) {
  const Plan& plan = binding.memory.plan;
  const auto [a, b, to] = dtypes_of(work, plan);
  check<UnsupportedError>(multiplies_narrow(binding.math(), a, b, devices::wide(to)),
                          "{}: {} does not multiply {} by {} into {}", plan.operation, binding.math().name(),
                          name(a), name(b), name(to));
  return std::make_unique<DeviceNarrowMultiply>(work, binding);
}

}  // namespace partita::execution
