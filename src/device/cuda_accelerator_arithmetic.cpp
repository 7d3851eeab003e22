// The accelerator's elementwise operations and reductions.
#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "cuda/stream.hpp"
#include "device/cuda_accelerator.hpp"
#include "device/cuda_exchange.hpp"
#include "kernels/cuda/arithmetic_launch.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/places_launch.hpp"
#include "kernels/cuda/random_launch.hpp"
#include "kernels/cuda/scan_launch.hpp"
#include "kernels/cuda/search_launch.hpp"
#include "kernels/cuda/selection_launch.hpp"
#include "kernels/cuda/sort_launch.hpp"
#include "kernels/cuda/symbol_launch.hpp"

namespace partita::devices {
namespace {

kernels::cuda::ElementLoops kernel_loops(const std::vector<kernels::ElementwiseLoop>& loops) {
  kernels::cuda::ElementLoops result;
  invariant(loops.size() <= kernels::cuda::ElementLoops::most, "a pass of {} loops", loops.size());
  result.loops = static_cast<int>(loops.size());
  for (std::size_t l = 0; l < loops.size(); ++l) {
    result.counts[l] = loops[l].count;
    std::ranges::copy(loops[l].strides, result.strides[l]);
  }
  return result;
}

kernels::cuda::Sort kernel_sort(const kernels::SortPass& pass) {
  return {pass.dtype, pass.descending, pass.count, pass.from, pass.to, pass.order};
}

kernels::cuda::Scan kernel_scan(const kernels::ScanPass& pass) {
  invariant(pass.inner == 1, "a scan of lines whose elements are {} apart", pass.inner);
  return {pass.dtype, pass.from_dtype, pass.product, pass.lines, pass.length, pass.from, pass.to};
}

// CUB does not document what it launches. These are bounds, which a test on GPUs compares with graphs: a sort
// has passes over six bits or more, of three kernels at most, and ours before and after them.
int launches_of_sort(Dtype dtype) {
  const int bits = 8 * static_cast<int>(size_of(dtype));
  return 3 * ((bits + 5) / 6) + 4;
}
constexpr int launches_of_cub = 4;  // of a scan or a selection

}  // namespace

void CudaAccelerator::convert(const kernels::StridedCopy& nest, Dtype from_dtype, Dtype to_dtype,
                              const void* from, void* to, Stream stream) {
  if (nest.item_bytes == 0) return;
  cuda::check_launch(kernels::cuda::launch_convert(kernel_nest(nest), from_dtype, to_dtype,
                                                   static_cast<const char*>(from) + nest.from_offset,
                                                   static_cast<char*>(to) + nest.to_offset, in_turn(stream)),
                     "convert");
}

void CudaAccelerator::compute(const kernels::ElementwisePass& pass, Stream stream) {
  kernels::cuda::Elementwise kernel;
  kernel.operation = pass.operation;
  kernel.dtype = pass.dtype;
  std::ranges::copy(pass.data, kernel.data);
  std::memcpy(kernel.number, pass.number.data(), sizeof kernel.number);
  kernel.loops = kernel_loops(pass.loops);
  cuda::check_launch(kernels::cuda::launch_elementwise(kernel, in_turn(stream)), "compute elements");
}

void CudaAccelerator::generate(const kernels::RandomPass& pass, Stream stream) {
  const kernels::cuda::RandomElements kernel{pass.kind, pass.dtype, pass.seed,
                                             pass.data, pass.first, kernel_loops(pass.loops)};
  cuda::check_launch(kernels::cuda::launch_random(kernel, in_turn(stream)), "make random numbers");
}

std::int64_t CudaAccelerator::sort_scratch_bytes(const kernels::SortPass& pass) {
  std::int64_t bytes = 0;
  cuda::check_launch(kernels::cuda::find_sort_scratch(kernel_sort(pass), bytes), "sort elements");
  return bytes;
}

void CudaAccelerator::sort(const kernels::SortPass& pass, void* scratch, Stream stream) {
  cuda::check_launch(
      kernels::cuda::launch_sort(kernel_sort(pass), scratch, in_turn(stream, launches_of_sort(pass.dtype))),
      "sort elements");
}

std::int64_t CudaAccelerator::scan_scratch_bytes(const kernels::ScanPass& pass) {
  std::int64_t bytes = 0;
  cuda::check_launch(kernels::cuda::find_scan_scratch(kernel_scan(pass), bytes), "scan elements");
  return bytes;
}

void CudaAccelerator::scan(const kernels::ScanPass& pass, void* scratch, Stream stream) {
  cuda::check_launch(kernels::cuda::launch_scan(kernel_scan(pass), scratch, in_turn(stream, launches_of_cub)),
                     "scan elements");
}

void CudaAccelerator::gather(const GatherPass& pass, Stream stream) {
  cuda::check_launch(kernels::cuda::launch_gather(pass, in_turn(stream)), "gather elements");
}

std::int64_t CudaAccelerator::true_scratch_bytes(const TruePass& pass) {
  std::int64_t bytes = 0;
  cuda::check_launch(kernels::cuda::find_true_scratch(pass, bytes), "select elements");
  return bytes;
}

void CudaAccelerator::find_true(const TruePass& pass, void* scratch, Stream stream) {
  cuda::check_launch(kernels::cuda::launch_true(pass, scratch, in_turn(stream, launches_of_cub)),
                     "select elements");
}

void CudaAccelerator::search(const SearchPass& pass, Stream stream) {
  cuda::check_launch(kernels::cuda::launch_search(pass, in_turn(stream)), "search elements");
}

void CudaAccelerator::count(const CountPass& pass, Stream stream) {
  cuda::check_launch(kernels::cuda::launch_count(pass, in_turn(stream, 2)), "count elements");
}

void CudaAccelerator::find_places(const kernels::PlacePass& pass, void* scratch, Stream stream) {
  kernels::cuda::Places kernel;
  kernel.dtype = pass.dtype;
  kernel.smallest = pass.smallest;
  std::ranges::copy(pass.data, kernel.data);
  kernel.kept = kernel_loops(pass.kept);
  kernel.over = kernel_loops(pass.over);
  cuda::check_launch(kernels::cuda::launch_places(kernel, scratch, in_turn(stream)), "compare elements");
}

void CudaAccelerator::multiply(const kernels::SymbolPass& pass, Stream stream) {
  invariant(pass.loops.size() <= kernels::cuda::SymbolProduct::most_loops, "a pass of {} loops",
            pass.loops.size());
  kernels::cuda::SymbolProduct kernel;
  kernel.symbol = pass.symbol;
  kernel.dtype = pass.dtype;
  std::ranges::copy(pass.data, kernel.data);
  kernel.loops = static_cast<int>(pass.loops.size());
  for (std::size_t l = 0; l < pass.loops.size(); ++l) {
    kernel.counts[l] = pass.loops[l].count;
    std::ranges::copy(pass.loops[l].strides, kernel.strides[l]);
    kernel.terms[l] = pass.loops[l].terms;
  }
  cuda::check_launch(kernels::cuda::launch_symbol(kernel, in_turn(stream)), "multiply modes");
}

void CudaAccelerator::fold(const kernels::FoldPass& pass, void* scratch, Stream stream) {
  static_assert(fold_scratch_bytes == kernels::cuda::fold_scratch_bytes);
  kernels::cuda::Fold kernel;
  kernel.reduction = pass.reduction;
  kernel.folded = pass.folded;
  kernel.dtype = pass.dtype;
  kernel.joined = pass.joined;
  kernel.factor = pass.factor;
  std::ranges::copy(pass.data, kernel.data);
  write_identity(pass.reduction, pass.joined, kernel.identity);
  kernel.kept = kernel_loops(pass.kept);
  kernel.over = kernel_loops(pass.over);
  cuda::check_launch(kernels::cuda::launch_fold(kernel, scratch, in_turn(stream)), "join elements");
}

void CudaAccelerator::finish(const kernels::FinishPass& pass, Stream stream) {
  kernels::cuda::Finish kernel;
  kernel.joined = pass.joined;
  kernel.result = pass.result;
  kernel.root = pass.root;
  kernel.divisor = pass.divisor;
  if (pass.replaced) {
    kernel.replaces = true;
    kernel.least = pass.replaced->least;
    kernel.most = pass.replaced->most;
  }
  std::ranges::copy(pass.data, kernel.data);
  kernel.loops = kernel_loops(pass.loops);
  cuda::check_launch(kernels::cuda::launch_finish(kernel, in_turn(stream)), "join elements");
}

}  // namespace partita::devices
