// What the accelerator puts into streams: copies, exchanges, reductions and flags.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "cuda/stream.hpp"
#include "device/cuda_accelerator.hpp"
#include "device/cuda_exchange.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/host/copy_onto_itself.hpp"

namespace partita::devices {
namespace {

// Measured on H200: with 16 to 64 of them NCCL's kernels lose nothing, with 132 there is no gain. 8 of them
// store to a peer at 350 GB/s.
constexpr unsigned background_blocks = 48;

kernels::cuda::MostBlocks most_blocks_of(CopyScope scope) {
  // Tiles have less under way than rows: a line of 2^30 on four H100 22.1 ms with 48, 20.3 with 96, 20.9 with
  // 160.
  if (scope == CopyScope::beside) return {background_blocks, 2 * background_blocks};
  if (scope == CopyScope::background) return {background_blocks, background_blocks};
  return {};
}

}  // namespace

void CudaAccelerator::copy_bytes(const void* from, void* to, std::int64_t bytes, Stream stream) {
  const cuda::CudaBesideCaptures unharmed;  // ordinary host memory may make this wait
  cuda::check_cuda(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, in_turn(stream)), "copy");
}

void CudaAccelerator::copy(const kernels::StridedCopy& nest, const void* from, void* to, Stream stream,
                           CopyScope scope) {
  if (nest.item_bytes == 0 || kernels::is_onto_itself(nest, from, to)) return;
  const char* const source = static_cast<const char*>(from) + nest.from_offset;
  char* const destination = static_cast<char*>(to) + nest.to_offset;
  if (choose_copy_way(nest, scope, way_).way == CopyWay::engine) {
    return copy_by_engine(nest, source, destination, stream);
  }
  cuda::check_launch(kernels::cuda::launch_copy(kernel_nest(nest), source, destination, most_blocks_of(scope),
                                                in_turn(stream)),
                     "copy");
}

void CudaAccelerator::transfer(const kernels::StridedCopy& nest, const void* from, void* to, Stream stream) {
  if (nest.item_bytes == 0) return;
  copy_by_engine(nest, static_cast<const char*>(from) + nest.from_offset,
                 static_cast<char*>(to) + nest.to_offset, stream);
}

bool CudaAccelerator::copies_at_once(std::span<const PlacedCopy> copies) const {
  PeerExchange all;
  all.copies = copies;
  return ExchangeFit(all, way_).copies();
}

/// Ranks that share the device, be they threads or processes, have the same contexts on it. Where they wait
/// for their turn, launches would take the room of other ranks'.
LaunchRoom CudaAccelerator::room() const {
  const int contexts = std::max(physical().contexts_of(user()), 1);
  LaunchRoom room = launch_room(device_.multiprocessors(), sharers_ * contexts);
  if (sharers_ > 1 || !device_.overlaps_launches()) room.packets_ahead = 0;
  if (sharers_ > 1) room.solves = 0;
  return room;
}

/// The small ones some at a time: each start takes longer than one of them.
void CudaAccelerator::copy_all(std::span<const PlacedCopy> copies, Stream stream) {
  constexpr std::int64_t small = std::int64_t{1} << 20;
  std::array<PlacedCopy, kernels::cuda::most_jobs> some;
  std::size_t count = 0;
  const auto start = [&] {
    PeerExchange together;
    together.copies = std::span(some).first(std::exchange(count, 0));
    if (!together.copies.empty())
      cuda::check_launch(kernels::cuda::launch_exchange(kernel_exchange(together, counters(), room().flags),
                                                        in_turn(stream)),
                         "copy");
  };
  for (const PlacedCopy& one : copies) {
    if (kernels::bytes(*one.nest) > small || !ExchangeFit::fits(one, way_)) {
      copy(*one.nest, one.from, one.to, stream, one.scope);
    } else {
      some[count++] = one;
      if (count == some.size()) start();
    }
  }
  start();
}

/// Where kernels do the copying anyway, one of them also gives and awaits the flags.
void CudaAccelerator::exchange(const PeerExchange& what, Stream stream) {
  const ExchangeFit fit(what, way_);
  if (!fit.one_kernel()) return Accelerator::exchange(what, stream);
  if (what.packs.empty()) {
    cuda::check_launch(
        kernels::cuda::launch_exchange(kernel_exchange(what, counters(), room().flags), in_turn(stream)),
        "exchange");
  } else {
    cuda::check_launch(kernels::cuda::launch_pack_exchange(
                           kernel_pack_exchange(what, counters(), room().flags), in_turn(stream)),
                       "exchange");
  }
}

bool CudaAccelerator::offers_packets(Dtype dtype, std::optional<Reduction> joined) const {
  return !joined || joined_dtype(dtype, *joined);
}

void CudaAccelerator::exchange_packets(const PacketExchange& what, Stream stream) {
  const kernels::cuda::Packets packets = kernel_packets(what, room());
  cuda::check_launch(kernels::cuda::launch_packets(packets, in_turn(stream)), "exchange packets");
}

void CudaAccelerator::move_packets(const PacketMoves& what, Stream stream) {
  kernels::cuda::PacketNests nests = kernel_packet_nests(what, room());
  cuda::check_launch(kernels::cuda::launch_packet_nests(nests, in_turn(stream)), "exchange packets");
}

/// The innermost loop in one copy; the others one after the other.
void CudaAccelerator::copy_by_engine(const kernels::StridedCopy& nest, const char* from, char* to,
                                     Stream stream) {
  const auto width = static_cast<std::size_t>(nest.item_bytes);
  if (nest.loops.empty()) {
    return cuda::check_cuda(cudaMemcpyAsync(to, from, width, cudaMemcpyDefault, in_turn(stream)), "copy");
  }
  const kernels::CopyLoop& rows = nest.loops.back();
  std::int64_t copies = 1;
  for (std::size_t i = 0; i + 1 < nest.loops.size(); ++i) copies *= nest.loops[i].count;
  for (std::int64_t number = 0; number < copies; ++number) {
    std::int64_t rest = number, from_offset = 0, to_offset = 0;
    for (std::size_t i = nest.loops.size() - 1; i-- > 0;) {
      const kernels::CopyLoop& loop = nest.loops[i];
      from_offset += rest % loop.count * loop.from_stride;
      to_offset += rest % loop.count * loop.to_stride;
      rest /= loop.count;
    }
    cuda::check_cuda(
        cudaMemcpy2DAsync(to + to_offset, static_cast<std::size_t>(rows.to_stride), from + from_offset,
                          static_cast<std::size_t>(rows.from_stride), width,
                          static_cast<std::size_t>(rows.count), cudaMemcpyDefault, in_turn(stream)),
        "copy");
  }
}

void CudaAccelerator::accumulate(const kernels::StridedCopy& nest, Dtype dtype, Reduction reduction,
                                 const void* from, void* to, Stream stream) {
  if (nest.item_bytes == 0) return;
  check(is_defined(reduction, dtype), "{} of {} is not defined", partita::name(reduction),
        partita::name(dtype));
  cuda::check_launch(
      kernels::cuda::launch_accumulate(kernel_nest(nest), dtype, reduction,
                                       static_cast<const char*>(from) + nest.from_offset,
                                       static_cast<char*>(to) + nest.to_offset, in_turn(stream)),
      "accumulate");
}

void CudaAccelerator::fill(const kernels::StridedCopy& nest, const void* element, std::int64_t element_bytes,
                           void* to, Stream stream) {
  if (nest.item_bytes == 0) return;
  kernels::cuda::Pattern pattern;
  auto* const bytes = reinterpret_cast<char*>(pattern.words);
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(sizeof(pattern)); at += element_bytes) {
    std::memcpy(bytes + at, element, static_cast<std::size_t>(element_bytes));
  }
  cuda::check_launch(kernels::cuda::launch_fill(kernel_nest(nest), pattern,
                                                static_cast<char*>(to) + nest.to_offset, in_turn(stream)),
                     "fill");
}

/// By kernels: the driver's own operations on flags know neither what the device counts nor that it has been
/// given up.
void CudaAccelerator::flags(std::span<const FlagOperation> operations, Stream stream) {
  for (std::size_t first = 0; first < operations.size(); first += kernels::cuda::most_flags) {
    const std::size_t count = std::min<std::size_t>(kernels::cuda::most_flags, operations.size() - first);
    cuda::check_launch(
        kernels::cuda::launch_flags(kernel_flags(operations.subspan(first, count)), in_turn(stream)),
        "flags");
  }
}

}  // namespace partita::devices
