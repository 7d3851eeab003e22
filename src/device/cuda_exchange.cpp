#include "device/cuda_exchange.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace partita::devices {
namespace {

/// What a launch that also packs may move: its few blocks take longer than other ways beyond.
constexpr std::int64_t most_packed_bytes = std::int64_t{8} << 20;

kernels::cuda::Job job_of(const PlacedCopy& one) {
  return {kernel_nest(*one.nest), static_cast<const char*>(one.from) + one.nest->from_offset,
          static_cast<char*>(one.to) + one.nest->to_offset};
}

}  // namespace

kernels::cuda::Nest kernel_nest(const kernels::StridedCopy& nest) {
  check<UnsupportedError>(nest.loops.size() <= kernels::cuda::Nest::most_loops,
                          "a strided copy of {} loops; devices support up to {}", nest.loops.size(),
                          kernels::cuda::Nest::most_loops);
  kernels::cuda::Nest result;
  result.loops = static_cast<int>(nest.loops.size());
  result.row_bytes = nest.item_bytes;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    result.counts[i] = nest.loops[i].count;
    result.from_strides[i] = nest.loops[i].from_stride;
    result.to_strides[i] = nest.loops[i].to_stride;
  }
  return result;
}

kernels::cuda::Flags kernel_flags(std::span<const FlagOperation> operations) {
  kernels::cuda::Flags to;
  for (const FlagOperation& one : operations) {
    to.flags[to.count++] = {one.flag, one.value, one.count, one.kind == FlagOperation::Kind::wait,
                            one.fenced};
    if (one.given_up != nullptr) to.given_up = one.given_up;
  }
  return to;
}

bool ExchangeFit::flags() const {
  for (const auto& list : {what_.early_signals, what_.early_waits, what_.late_signals, what_.late_waits}) {
    if (list.size() > kernels::cuda::most_flags) return false;
  }
  return true;
}

bool ExchangeFit::fits(const PlacedCopy& one, CopyWay way) {
  return one.nest->item_bytes > 0 && choose_copy_way(*one.nest, one.scope, way).way == CopyWay::kernel;
}

bool ExchangeFit::copies() const {
  if (what_.packs.size() > kernels::cuda::most_jobs || what_.copies.size() > kernels::cuda::most_jobs)
    return false;
  const auto suits = [this](const PlacedCopy& one) { return fits(one, way_); };
  return std::ranges::all_of(what_.packs, suits) && std::ranges::all_of(what_.copies, suits);
}

bool ExchangeFit::packs() const {
  if (what_.packs.empty()) return true;
  std::int64_t moved = 0;
  for (const auto& copies : {what_.packs, what_.copies}) {
    for (const PlacedCopy& one : copies) moved += kernels::bytes(*one.nest);
  }
  return moved <= most_packed_bytes;
}

kernels::cuda::Exchange kernel_exchange(const PeerExchange& what, unsigned* counters, unsigned most_blocks) {
  kernels::cuda::Exchange all;
  all.most_blocks = most_blocks;
  all.finished_blocks = counters;
  all.early_signals = kernel_flags(what.early_signals);
  all.early_waits = kernel_flags(what.early_waits);
  all.late_signals = kernel_flags(what.late_signals);
  all.late_waits = kernel_flags(what.late_waits);
  for (const PlacedCopy& one : what.copies) all.jobs[all.count++] = job_of(one);
  return all;
}

kernels::cuda::PackExchange kernel_pack_exchange(const PeerExchange& what, unsigned* counters,
                                                 unsigned most_blocks) {
  kernels::cuda::PackExchange all;
  all.rest = kernel_exchange(what, counters, most_blocks);
  for (const PlacedCopy& one : what.packs) all.pack[all.packs++] = job_of(one);
  return all;
}

std::optional<Dtype> joined_dtype(Dtype dtype, Reduction reduction) {
  if (!is_defined(reduction, dtype)) return std::nullopt;
  if (reduction == Reduction::sum) {
    if (dtype == Dtype::c64) dtype = Dtype::f32;
    if (dtype == Dtype::c128) dtype = Dtype::f64;
    if (dtype == Dtype::u32) dtype = Dtype::i32;
    if (dtype == Dtype::u64) dtype = Dtype::i64;
  }
  constexpr Dtype known[] = {Dtype::i32, Dtype::i64, Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64};
  const bool joins = reduction <= Reduction::max && std::ranges::find(known, dtype) != std::end(known);
  return joins ? std::optional(dtype) : std::nullopt;
}

}  // namespace partita::devices
