// to[I, J] = alpha a[I, K] b[K, J] + beta to[I, J] on a device: as few products of its BLAS as the positions
// of the sets allow, each on memory where it lies. An operand that BLAS cannot take so (neither stride 1,
// conjugated without transposition, short runs), or only slowly (halves of which lines begin anywhere, or
// have any length), is copied into the workspace whole.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "base/round.hpp"
#include "execute/device_bound_work.hpp"
#include "execute/element_nests.hpp"
#include "execute/lower.hpp"
#include "execute/product_padding.hpp"
#include "execute/product_shape.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

/// Starts of small products cost more than copies.
constexpr std::int64_t short_run = 128;
constexpr std::int64_t alignment = 256;

using Shape2 = kernels::Matrix<const std::byte>;  // without its memory

kernels::BlasForm form_of(const Shape2& matrix) {
  return kernels::blas_form(matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride);
}

Shape2 matrix_of(const kernels::TileAxis& rows, const kernels::TileAxis& columns) {
  return {nullptr, rows.count, columns.count, rows.step, columns.step};
}

/// One product, of which the factors change places where the result lies by rows: C^T = B^T A^T.
struct BlasCall {
  devices::DeviceGemm what;
  std::array<std::int64_t, 3> offset{};  // of a, b and to, in elements
  bool exchanged = false;
  bool first = false;  // onto its elements of `to`
  std::shared_ptr<devices::DeviceProduct> product = nullptr;
};

devices::DeviceGemm::Factor factor_of(const Shape2& matrix, bool conjugated, Dtype dtype) {
  const auto [transposed, leading] =
      kernels::blas_factor(matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride, conjugated);
  return {conjugated   ? devices::BlasOp::conjugate_transpose
          : transposed ? devices::BlasOp::transpose
                       : devices::BlasOp::none,
          leading, 0, dtype};
}

/// A matrix of the result's shape that a call takes beside it.
class MatrixBeside {
 public:
  using Lies = devices::DeviceGemm::Beside;

  MatrixBeside(const Part& part, const DeviceWorkBinding& binding)
      : place_(part.place.offset), part_(part, binding.memory) {}

  /// How it lies for the call, which makes `batches` results; nothing: not as BLAS takes it.
  std::optional<Lies> find(const BlasCall& call) {
    const int rows = part_.dimensions() - 2;
    std::optional<AxisRun> along = run_of(rows), across = run_of(rows + 1);
    if (!along || !across || part_.dtype() != call.what.result) return std::nullopt;
    if (call.exchanged) std::swap(along, across);
    const Shape2 matrix{nullptr, call.what.m, call.what.n, along->step[0], across->step[0]};
    if (!form_of(matrix).by_columns) return std::nullopt;
    offset_ = along->offset[0] + across->offset[0];
    Lies lies;
    lies.leading =
        kernels::blas_factor(matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride, false)
            .leading;
    std::int64_t batches = 1;
    for (int d = rows - 1; d >= 0; --d) {
      const std::optional<AxisRun> batch = run_of(d);
      if (!batch || (batches > 1 && batch->count > 1 && batch->step[0] != lies.stride * batches))
        return std::nullopt;
      offset_ += batch->offset[0];
      if (batches == 1 && batch->count > 1) lies.stride = batch->step[0];
      batches *= batch->count;
    }
    if (batches != call.what.batches) return std::nullopt;
    stride_ = lies.stride;
    return lies;
  }

  char* at(const AddressOf& address) const { return part_.base(address) + offset_ * size_of(part_.dtype()); }
  /// The bits of where its matrices lie behind its first byte.
  std::int64_t bits() const { return place_ | (offset_ | stride_) * size_of(part_.dtype()); }

 private:
  std::optional<AxisRun> run_of(int dimension) const {
    const std::array axis{part_.axis(dimension)};
    const std::vector<AxisRun> runs = axis_runs(axis, part_.extent(dimension));
    return runs.size() == 1 ? std::optional(runs[0]) : std::nullopt;
  }

  std::int64_t place_;
  BoundPart part_;
  std::int64_t offset_ = 0, stride_ = 0;  // in elements
};

class DeviceMultiply final : public FusedMultiply {
 public:
  /// `epilogue`, where there is one: what comes after the sums, as of bind_fused_multiply.
  DeviceMultiply(const Multiply& work, const ApplyEpilogue* epilogue, const DeviceWorkBinding& binding)
      : scaled_(work.scaled),
        beta_(work.beta),
        device_(binding.device),
        math_(binding.math()),
        rank_(binding.memory.plan.rank) {
    Multiply packed = work;
    std::unique_ptr<ProductShape> shape = take(packed, binding);
    aligns_ = math_.wants_aligned(shape->a.dtype(), shape->m_size, shape->n_size, shape->k_size);
    if (aligns_ && !shape->empty()) padding_ = padding_of(*shape);
    for (bool again = true; again && !shape->empty();) {
      again = pack(work, packed, *shape, binding);
      if (again) shape = take(packed, binding);
    }
    result_ = shape->to.dtype();
    if (shape->empty()) return;
    to_.emplace(work.to, binding.memory);
    list_passes(work.to.region.shape());
    list_copies(work, packed, binding);
    list_calls(packed, *shape);
    for (const Part* const part : {&packed.a, &packed.b, &packed.to}) {
      parts_.push_back(BoundPart(*part, binding.memory));
      places_ |= part->place.offset;
    }
    if (padding_.k) beyond_k_ = {beyond_k(parts_[0], true), beyond_k(parts_[1], false)};
    if (epilogue != nullptr && !add_epilogue(*epilogue, binding)) {
      calls_.clear();
      return;
    }
    for (BlasCall& call : calls_) {
      call.what.alignment = alignment_of(call);
      call.product = math_.prepare(call.what, binding.may_try);
    }
  }

  /// The device makes it, wherever memory is aligned as it ought to be.
  bool may_go() const { return !calls_.empty() && math_.makes(*calls_.front().product, {}); }

  bool goes(const AddressOf& address, const Parameters& parameters) const override {
    if (scaled_ && parameters.alpha == std::complex<double>(0)) return false;
    const devices::GemmPlaces at = places(calls_.front(), batches_.front(), address);
    return at.auxiliary != at.c && math_.makes(*calls_.front().product, at);
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    const auto number = [&](std::complex<double> value) {
      return is_complex(result_) ? value : std::complex<double>(value.real());
    };
    const std::complex<double> alpha = scaled_ ? number(parameters.alpha) : 1;
    const Beta kind = addend_ ? beta_of_addend_ : beta_;
    const std::complex<double> beta = kind == Beta::zero  ? 0
                                      : kind == Beta::one ? 1
                                                          : number(parameters.beta);
    if (calls_.empty() || alpha == std::complex<double>(0)) return scale(address, beta, stream);
    const bool reads_result = beta != std::complex<double>(0);
    for (const Packing& packing : packings_) {
      if (!packing.of_result || reads_result)
        copy(packing.nests, packing.part, packing.packed, address, stream);
    }
    fill_beyond_k(address, stream);
    for (const ProductShape::Batch& batch : batches_) {
      for (const BlasCall& call : calls_) {
        math_.gemm(*call.product, places(call, batch, address), alpha, call.first ? beta : 1, stream);
      }
    }
    for (const Packing& packing : packings_) {
      if (packing.of_result) copy(packing.back, packing.packed, packing.part, address, stream);
    }
  }

 private:
  /// An operand that is copied first; the result is copied back, too.
  struct Packing {
    bool of_result = false;
    Place part, packed;
    std::vector<kernels::StridedCopy> nests, back;
  };

  /// As BLAS takes them.
  devices::GemmPlaces places(const BlasCall& call, const ProductShape::Batch& batch,
                             const AddressOf& address) const {
    const auto at = [&](std::size_t x) {
      return parts_[x].base(address) + (batch[x] + call.offset[x]) * size_of(parts_[x].dtype());
    };
    devices::GemmPlaces places{at(call.exchanged ? 1 : 0), at(call.exchanged ? 0 : 1), at(2)};
    if (bias_) places.bias = bias_->base(address) + bias_offset_ * size_of(bias_->dtype());
    if (addend_) places.addend = addend_->at(address);
    if (auxiliary_) places.auxiliary = auxiliary_->at(address);
    return places;
  }

  /// False: it cannot come with the one product that this would be.
  bool add_epilogue(const ApplyEpilogue& epilogue, const DeviceWorkBinding& binding) {
    const bool packs_result = std::ranges::any_of(packings_, &Packing::of_result);
    if (calls_.size() != 1 || batches_.size() != 1 || packs_result) return false;
    calls_.front().what.activation = epilogue.activation;
    return add_bias(epilogue, binding) && add_addend(epilogue, binding) && add_auxiliary(epilogue, binding);
  }

  bool add_bias(const ApplyEpilogue& epilogue, const DeviceWorkBinding& binding) {
    if (!epilogue.has_bias) return true;
    BlasCall& call = calls_.front();
    bias_.emplace(epilogue.bias, binding.memory);
    const std::array axis{bias_->axis(0)};
    const std::vector<AxisRun> runs = axis_runs(axis, bias_->extent(0));
    if (epilogue.bias_along_rows == call.exchanged || runs.size() != 1 || runs[0].step[0] != 1) return false;
    bias_offset_ = runs[0].offset[0];
    call.what.bias = bias_->dtype();
    return true;
  }

  /// C, which may be the result's own memory.
  bool add_addend(const ApplyEpilogue& epilogue, const DeviceWorkBinding& binding) {
    if (!epilogue.has_c) return true;
    addend_.emplace(epilogue.c, binding);
    beta_of_addend_ = epilogue.beta;
    calls_.front().what.addend = addend_->find(calls_.front());
    return calls_.front().what.addend.has_value() && beta_ == Beta::zero;
  }

  bool add_auxiliary(const ApplyEpilogue& epilogue, const DeviceWorkBinding& binding) {
    if (!epilogue.has_auxiliary) return true;
    auxiliary_.emplace(epilogue.auxiliary, binding);
    const std::optional<MatrixBeside::Lies> lies = auxiliary_->find(calls_.front());
    if (!lies || (lies->leading | lies->stride) % devices::auxiliary_elements != 0) return false;
    calls_.front().what.auxiliary = lies;
    return true;
  }

  static std::unique_ptr<ProductShape> take(const Multiply& work, const DeviceWorkBinding& binding) {
    return std::make_unique<ProductShape>(work, binding.memory, ProductRules{short_run, short_run, true});
  }

  /// Places what BLAS cannot take in the workspace, in the order in which it can; false: it takes all. What
  /// has been packed changes how the others can be taken.
  bool pack(const Multiply& given, Multiply& packed, const ProductShape& shape,
            const DeviceWorkBinding& binding) {
    const bool conjugates = is_complex(shape.to.dtype());
    const auto place = [&](const Part& from, Part& to, const ProductRole& role, std::size_t operand,
                           const BoundPart& part, bool pads_rows, bool pads_columns, bool conjugated) {
      const bool is_new = to.place.buffer < binding.workspaces;
      const bool padded = pads_rows || pads_columns ||
                          (aligns_ && is_misaligned(role, shape, operand, part, from.place.offset));
      if (!role.packed && !(is_new && padded)) return false;
      const Dtype dtype = planning::dtype_at(binding.memory.plan, from.place);
      const bool by_columns = &role == &shape.role_to    ? shape.to_by_columns
                              : conjugates && conjugated ? !shape.to_by_columns
                                                         : role.lies_by_columns(0, 0);
      const auto dimensions = static_cast<int>(from.region.sets.size());
      Extents order = Extents::filled(dimensions, 0);
      for (int d = 0; d < dimensions; ++d) order[d] = d;
      if (by_columns) std::swap(order[dimensions - 2], order[dimensions - 1]);
      const std::int64_t offset = is_new ? workspace_bytes_ : to.place.offset;
      const Shape extents = from.region.shape();
      const std::int64_t rows = ProductPadding::of(extents[dimensions - 2], pads_rows),
                         columns = ProductPadding::of(extents[dimensions - 1], pads_columns);
      const std::int64_t matrices = from.region.size() / (extents[dimensions - 2] * extents[dimensions - 1]);
      if (is_new) {
        const std::int64_t elements = aligns_ ? padded_elements(matrices, rows, columns) : from.region.size();
        workspace_bytes_ += round_up(elements * size_of(dtype), alignment);
      }
      const std::int64_t length = by_columns ? rows : columns;
      to.place = {binding.workspaces + static_cast<int>(dtype), rank_, offset, order,
                  aligns_ ? round_up(length, ProductPadding::unit) : length};
      return true;
    };
    // The result first: the others follow how it lies.
    const auto [m, n, k] = padding_;
    if (place(given.to, packed.to, shape.role_to, 2, shape.to, m, n, false)) return true;
    const bool a = place(given.a, packed.a, shape.role_a, 0, shape.a, m, k, given.conjugate_a);
    const bool b = place(given.b, packed.b, shape.role_b, 1, shape.b, k, n, given.conjugate_b);
    return a || b;
  }

  void list_copies(const Multiply& given, const Multiply& packed, const DeviceWorkBinding& binding) {
    const Plan& plan = binding.memory.plan;
    const auto add = [&](const Part& from, const Part& to, bool of_result) {
      if (to.place.buffer < binding.workspaces) return;
      const std::int64_t item = size_of(planning::dtype_at(plan, from.place));
      const auto side = [&](const Place& place) {
        return side_of(plan, place, from.region,
                       binding.memory.strides[static_cast<std::size_t>(place.buffer)], item);
      };
      const Side there = side(from.place), here = side(to.place);
      Packing packing{of_result, from.place, to.place, lower(from.region, there, here, item), {}};
      if (of_result) packing.back = lower(from.region, here, there, item);
      packings_.push_back(std::move(packing));
    };
    add(given.a, packed.a, false);
    add(given.b, packed.b, false);
    add(given.to, packed.to, true);
  }

  /// How many of the first batches lie evenly apart, and as many after them again and again; 1: none.
  static std::size_t even_run(const std::vector<ProductShape::Batch>& batches) {
    const auto apart = [&](std::size_t i) {
      ProductShape::Batch steps{};
      for (std::size_t x = 0; x < steps.size(); ++x) steps[x] = batches[i][x] - batches[i - 1][x];
      return steps;
    };
    if (batches.size() < 2) return 1;
    const ProductShape::Batch steps = apart(1);
    if (steps[2] <= 0 || steps[0] < 0 || steps[1] < 0) return 1;
    std::size_t run = 1;
    while (run < batches.size() && apart(run) == steps) ++run;
    if (batches.size() % run != 0) return 1;
    for (std::size_t i = 1; i < batches.size(); ++i) {
      if (i % run != 0 && apart(i) != steps) return 1;
    }
    return run;
  }

  /// Matrices of a batch that lie evenly apart go in one call.
  void list_calls(const Multiply& work, const ProductShape& shape) {
    batches_ = shape.batches;
    const std::size_t run = even_run(batches_);
    ProductShape::Batch apart{};
    if (run > 1) {
      for (std::size_t x = 0; x < apart.size(); ++x) apart[x] = batches_[1][x] - batches_[0][x];
    }
    for (std::size_t i = 0; i < batches_.size() / run; ++i) batches_[i] = batches_[i * run];
    batches_.resize(batches_.size() / run);
    for (std::size_t l = 0; l < shape.k.chunks().size(); ++l) {
      for (std::size_t j = 0; j < shape.n.chunks().size(); ++j) {
        for (std::size_t i = 0; i < shape.m.chunks().size(); ++i) {
          BlasCall call = call_of(work, shape, i, j, l);
          pad(call);
          if (run > 1) {
            call.what.batches = static_cast<std::int64_t>(run);
            call.what.a.stride = apart[call.exchanged ? 1 : 0];
            call.what.b.stride = apart[call.exchanged ? 0 : 1];
            call.what.stride = apart[2];
          }
          calls_.push_back(call);
        }
      }
    }
  }

  void pad(BlasCall& call) const {
    const bool m = call.exchanged ? padding_.n : padding_.m, n = call.exchanged ? padding_.m : padding_.n;
    call.what.m = ProductPadding::of(call.what.m, m);
    call.what.n = ProductPadding::of(call.what.n, n);
    call.what.k = ProductPadding::of(call.what.k, padding_.k);
  }

  /// Of A or B, packed: over what is beyond k, for each of its lines.
  static devices::ElementNest beyond_k(const BoundPart& part, bool of_a) {
    const int rows = part.dimensions() - 2, depth = rows + (of_a ? 1 : 0), lines = rows + (of_a ? 0 : 1);
    const std::int64_t size = part.extent(depth), stride = part.axis(depth).stride;
    devices::ElementNest nest;
    nest.offset[devices::ElementPass::to] = size * stride;
    const auto loop = [&](std::int64_t count, std::int64_t step) {
      nest.loops.push_back({count, {}});
      nest.loops.back().strides[devices::ElementPass::to] = step;
    };
    loop(part.extent(lines), part.axis(lines).stride);
    loop(ProductPadding::of(size, true) - size, stride);
    return nest;
  }

  void fill_beyond_k(const AddressOf& address, Stream stream) const {
    for (std::size_t x = 0; x < beyond_k_.size(); ++x) {
      devices::ElementPass zeros;
      zeros.computed = Dtype::f32;
      zeros.dtypes[devices::ElementPass::to] = parts_[x].dtype();
      zeros.data[devices::ElementPass::to] = parts_[x].base(address);
      math_.pass(zeros, beyond_k_[x], stream);
    }
  }

  static BlasCall call_of(const Multiply& work, const ProductShape& shape, std::size_t i, std::size_t j,
                          std::size_t l) {
    const auto offset = [](const ProductRole& role, std::size_t r, std::size_t c) {
      return role.row(r).offset + role.column(c).offset;
    };
    BlasCall call;
    call.offset = {offset(shape.role_a, i, l), offset(shape.role_b, l, j), offset(shape.role_to, i, j)};
    call.first = l == 0;
    Shape2 a = matrix_of(shape.role_a.row(i), shape.role_a.column(l));
    Shape2 b = matrix_of(shape.role_b.row(l), shape.role_b.column(j));
    Shape2 to = matrix_of(shape.role_to.row(i), shape.role_to.column(j));
    const bool conjugates = is_complex(shape.to.dtype());
    bool of_a = conjugates && work.conjugate_a, of_b = conjugates && work.conjugate_b;
    call.exchanged =
        !form_of(to).by_columns || (of_a && !form_of(a).by_rows) || (of_b && !form_of(b).by_rows);
    if (call.exchanged) {
      const Shape2 left = b.transposed();
      b = a.transposed();
      a = left;
      to = to.transposed();
      std::swap(of_a, of_b);
    }
    call.what.result = shape.to.dtype();
    call.what.compute = work.compute;
    call.what.m = to.rows;
    call.what.n = to.columns;
    call.what.k = a.columns;
    call.what.a = factor_of(a, of_a, shape.a.dtype());
    call.what.b = factor_of(b, of_b, shape.a.dtype());
    call.what.leading =
        kernels::blas_factor(to.rows, to.columns, to.row_stride, to.column_stride, false).leading;
    return call;
  }

  /// As far as the places in the parts say; where those begin is known when it is executed.
  std::int64_t alignment_of(const BlasCall& call) const {
    std::int64_t bits = alignment | places_;
    bits |= (call.what.a.stride | call.what.b.stride) * size_of(call.what.a.dtype);
    bits |= call.what.stride * size_of(call.what.result);
    if (addend_) bits |= addend_->bits();
    for (const ProductShape::Batch& batch : batches_) {
      for (std::size_t x = 0; x < 3; ++x) bits |= (batch[x] + call.offset[x]) * size_of(parts_[x].dtype());
    }
    return bits & -bits;
  }

  void list_passes(const Extents& extents) {
    std::vector<std::vector<PartAxis>> axes;
    for (int d = 0; d < extents.size(); ++d) {
      axes.emplace_back(devices::ElementNest::parts);
      axes.back()[devices::ElementPass::to] = axes.back()[devices::ElementPass::c] = to_->axis(d);
    }
    passes_ = element_nests(axes, extents, devices::ElementPass::to);
  }

  /// to = beta to.
  void scale(const AddressOf& address, std::complex<double> beta, Stream stream) const {
    if (!to_ || beta == std::complex<double>(1)) return;
    devices::ElementPass pass;
    pass.computed = devices::wide(result_);
    pass.beta = beta;
    for (const std::size_t x : {devices::ElementPass::to, devices::ElementPass::c}) {
      pass.dtypes[x] = result_;
      pass.data[x] = to_->base(address);
    }
    for (const devices::ElementNest& nest : passes_) math_.pass(pass, nest, stream);
  }

  void copy(const std::vector<kernels::StridedCopy>& nests, const Place& from, const Place& to,
            const AddressOf& address, Stream stream) const {
    const bool inside = from.rank == rank_ && to.rank == rank_;
    const auto scope = inside ? devices::CopyScope::inside : devices::CopyScope::any;
    for (const kernels::StridedCopy& nest : nests)
      device_.copy(nest, address(from), address(to), stream, scope);
  }

  bool scaled_;
  Beta beta_;
  devices::Accelerator& device_;
  devices::DeviceMath& math_;
  int rank_;
  Dtype result_;
  std::int64_t workspace_bytes_ = 0;
  bool aligns_ = false;
  ProductPadding padding_;
  std::vector<devices::ElementNest> beyond_k_;  // of A and B, where k is padded
  std::optional<BoundPart> to_;                 // where it lies; nothing: the work is empty
  std::vector<devices::ElementNest> passes_;    // over it
  std::vector<Packing> packings_;
  std::vector<BoundPart> parts_;  // a, b and to as they are multiplied
  std::int64_t places_ = 0;       // the bits of their offsets
  std::vector<ProductShape::Batch> batches_;
  std::vector<BlasCall> calls_;
  std::optional<BoundPart> bias_;
  std::int64_t bias_offset_ = 0;  // in elements
  std::optional<MatrixBeside> addend_, auxiliary_;
  Beta beta_of_addend_ = Beta::given;
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
