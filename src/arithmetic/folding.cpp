#include "arithmetic/folding.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "arithmetic/pieces.hpp"
#include "array/elements.hpp"
#include "base/check.hpp"
#include "device/device_memory.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::arithmetic {
namespace {

/// The dtype in which numbers are reduced, so that little precision is lost.
Dtype wide(Dtype dtype) {
  if (is_complex(dtype)) return Dtype::c128;
  if (dtype == Dtype::boolean || is_signed(dtype)) return Dtype::i64;
  return is_integer(dtype) ? Dtype::u64 : Dtype::f64;
}

/// Of sums and products: as wide for integers, at least f32.
Dtype result_of_sum(Dtype dtype) {
  if (dtype == Dtype::f16 || dtype == Dtype::bf16) return Dtype::f32;
  const bool whole = dtype == Dtype::boolean || is_integer(dtype);
  return whole ? wide(dtype) : dtype;
}

Dtype result_of_mean(Dtype dtype) {
  const bool whole = dtype == Dtype::boolean || is_integer(dtype);
  return whole ? Dtype::f64 : result_of_sum(dtype);
}

// A sum of squares from 2^-900 to the largest double has lost nothing that counts: what one of its at most
// 2^63 squares can lose is below 2^-1074. Where the sum is beyond, the largest element is above 2^480, or
// below 2^-450: the squares of such by these powers of two, and all of them together, are far from both ends.
constexpr double overflown = std::numeric_limits<double>::infinity(), inexact = 0x1p-450;
constexpr double smaller = 0x1p-600, larger = 0x1p600;

kernels::Between lost_without(double factor) {
  return factor < 1 ? kernels::Between{overflown, overflown} : kernels::Between{0, inexact};
}

Dtype real_part(Dtype dtype) {
  if (dtype == Dtype::c64) return Dtype::f32;
  return dtype == Dtype::c128 ? Dtype::f64 : dtype;
}

}  // namespace

Folding folding_of(ArrayReduction reduction, Dtype dtype) {
  check(!is_float8(dtype), "{} is not defined for {}", name(reduction), name(dtype));
  const Dtype mean = result_of_mean(dtype);
  switch (reduction) {
    case ArrayReduction::sum:
      return {Reduction::sum, kernels::Folded::value, wide(dtype), result_of_sum(dtype)};
    case ArrayReduction::product:
      return {Reduction::product, kernels::Folded::value, wide(dtype), result_of_sum(dtype)};
    case ArrayReduction::min:
    case ArrayReduction::max: {
      check(!is_complex(dtype), "{} is not defined for {}", name(reduction), name(dtype));
      const bool least = reduction == ArrayReduction::min;
      return {least ? Reduction::min : Reduction::max,
              kernels::Folded::value,
              wide(dtype),
              dtype,
              false,
              false,
              true};
    }
    case ArrayReduction::mean:
      return {Reduction::sum,
              kernels::Folded::value,
              is_complex(dtype) ? Dtype::c128 : Dtype::f64,
              mean,
              false,
              true,
              true};
    case ArrayReduction::norm:
      return {Reduction::sum, kernels::Folded::square, Dtype::f64, real_part(mean), true};
    case ArrayReduction::any:
      return {Reduction::max, kernels::Folded::truth, Dtype::u64, Dtype::boolean};
    case ArrayReduction::all:
      return {Reduction::min, kernels::Folded::truth, Dtype::u64, Dtype::boolean};
  }
  throw ArgumentError(fmt::format("reduction number {}", static_cast<int>(reduction)));
}

Folding inner_product_of(Dtype dtype, bool conjugated) {
  check(!is_float8(dtype), "an inner product is not defined for {}", name(dtype));
  const auto folded = conjugated ? kernels::Folded::conjugate_product : kernels::Folded::product;
  return {Reduction::sum, folded, wide(dtype), result_of_sum(dtype)};
}

std::vector<double> factors_for(double least, double most) {
  std::vector<double> factors;
  if (!(most < overflown)) factors.push_back(smaller);  // also for a NaN, which hides all others
  if (!(least >= inexact)) factors.push_back(larger);
  return factors;
}

bool squares_leave_range(const Folding& folding, Dtype dtype) {
  return folding.folded == kernels::Folded::square && (dtype == Dtype::f64 || dtype == Dtype::c128);
}

bool counts(const Layout& layout, int rank) {
  return layout.is_replicated() ? arrays::is_first_holder(layout, rank) : layout.local_size(rank) > 0;
}

void fold_part(const Folding& folding, const Array& array, const Array* other, const Destination& to,
               Stream stream) {
  using kernels::ElementwisePass;
  const View& local = array.local();
  const Region region = array.layout().region(array.context_state()->rank());
  kernels::FoldPass pass{folding.reduction, folding.folded, local.dtype, folding.joined, {}, {}, {},
                         folding.factor};
  std::vector<Dimension> kept;
  for (int d = 0; d < local.extents.size(); ++d) {
    const std::int64_t second = other == nullptr ? 0 : other->local().strides[d];
    const auto place = std::find(to.kept.begin(), to.kept.end(), d);
    if (place == to.kept.end()) {
      pass.over.push_back({local.extents[d], {0, local.strides[d], second}});
      continue;
    }
    const std::int64_t stride = to.strides[static_cast<int>(place - to.kept.begin())];
    kept.push_back(
        {to.by_index ? pieces_of(region.sets[static_cast<std::size_t>(d)]) : one_piece(local.extents[d]),
         {Step{stride, to.by_index, 0}, Step{local.strides[d], false, 0}, Step{second, false, 0}}});
  }
  ContextState& context = *array.context_state();
  for_each_nest(kept, [&](const Offsets& at, const Nest& loops) {
    const auto place = [&](void* data, std::int64_t offset, Dtype dtype) -> void* {
      return static_cast<char*>(data) + offset * size_of(dtype);
    };
    pass.data = {place(to.data, at[0], folding.joined), place(local.data, at[1], local.dtype),
                 other == nullptr ? nullptr : place(other->local().data, at[2], local.dtype)};
    pass.kept = loops;
    const kernels::FoldPass simple = simplify(pass);
    if (local.space == MemorySpace::host) return kernels::fold(simple);
    context.device->fold(simple, fold_scratch(context), stream);
  });
}

void finish_part(ContextState& context, const Folding& folding, const View& joined, const View& result,
                 std::int64_t count, Stream stream) {
  const std::int64_t elements = volume(result.extents);
  if (elements == 0) return;
  kernels::FinishPass pass;
  pass.joined = folding.joined;
  pass.result = folding.result;
  pass.root = folding.root;
  pass.divisor = folding.divided ? static_cast<double>(count) : folding.factor;
  if (folding.factor != 1) pass.replaced = lost_without(folding.factor);
  pass.data = {result.data, joined.data};
  pass.loops = {{elements, {1, 1, 0}}};
  if (result.space == MemorySpace::host) return kernels::finish(pass);
  context.device->finish(pass, stream);
}

namespace {

struct FoldScratch {
  std::optional<devices::DeviceMemory> memory;
};

}  // namespace

char* fold_scratch(ContextState& context) {
  return static_cast<char*>(context.attachments.get<FoldScratch>().memory.value().data());
}

void make_fold_scratch(std::string_view operation, const Array& array) {
  ContextState& context = *array.context_state();
  if (array.local().space == MemorySpace::host) return;
  std::optional<devices::DeviceMemory>& memory = context.attachments.get<FoldScratch>().memory;
  if (memory) return;
  std::optional<devices::DeviceMemory> made;
  runtime::collectively(context, operation, [&] {
    made.emplace(*context.device, devices::DeviceArithmetic::fold_scratch_bytes);
  });
  memory = std::move(made);
}

void check_folds(std::string_view operation, const Array& array, const std::optional<Stream>& stream) {
  if (array.local().space == MemorySpace::host) return;
  ContextState& context = *array.context_state();
  devices::require_no_capture(context, operation, "it");
  devices::require_not_captured(context, operation, stream);
}

}  // namespace partita::arithmetic
