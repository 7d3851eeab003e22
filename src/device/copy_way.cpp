#include "device/copy_way.hpp"

namespace partita::devices {
namespace {

// Measured on H200 over NVLink: engines push at 390 GB/s and kernels at 355, but what engines copy has to be
// started, ordered and reported one by one, some 15 us in all, so one kernel launch wins below about 16 MiB
// per peer. Engines move short rows one by one.
constexpr std::int64_t least_bytes = std::int64_t{16} << 20;
// Beside what a device computes starts are hidden, and kernels that store to peers would cost it their
// multiprocessors; below some MiB the engine's start is longer than its copy.
constexpr std::int64_t least_bytes_beside = std::int64_t{2} << 20;
constexpr std::int64_t least_copy = std::int64_t{1} << 20;
constexpr std::int64_t least_row = 4096;
constexpr std::int64_t most_copies = 32;
constexpr std::int64_t most_pitch = (std::int64_t{1} << 31) - 1;

/// The innermost loop becomes the rows of a two-dimensional copy; the others are loops over copies.
bool engine_can(const kernels::StridedCopy& nest) {
  if (nest.loops.empty()) return true;
  const kernels::CopyLoop& rows = nest.loops.back();
  const auto is_pitch = [&](std::int64_t stride) {
    return stride >= nest.item_bytes && stride <= most_pitch;
  };
  return is_pitch(rows.from_stride) && is_pitch(rows.to_stride);
}

std::int64_t engine_copies(const kernels::StridedCopy& nest) {
  std::int64_t copies = 1;
  for (std::size_t i = 0; i + 1 < nest.loops.size(); ++i) copies *= nest.loops[i].count;
  return copies;
}

}  // namespace

CopyChoice choose_copy_way(const kernels::StridedCopy& nest, CopyScope scope, CopyWay wanted) {
  if (wanted == CopyWay::kernel) return {CopyWay::kernel, "asked for"};
  if (!engine_can(nest)) return {CopyWay::kernel, "the engine needs rows one after the other on both sides"};
  if (wanted == CopyWay::engine) return {CopyWay::engine, "asked for"};
  if (scope == CopyScope::inside || scope == CopyScope::background)
    return {CopyWay::kernel, "it stays within the device"};
  const std::int64_t copies = engine_copies(nest);
  if (!nest.loops.empty() && nest.item_bytes < least_row) return {CopyWay::kernel, "the rows are short"};
  const std::int64_t least = scope == CopyScope::beside ? least_bytes_beside : least_bytes;
  if (kernels::bytes(nest) < least || kernels::bytes(nest) / copies < least_copy)
    return {CopyWay::kernel, "the copies are small"};
  if (copies > most_copies) return {CopyWay::kernel, "it would be many copies"};
  return {CopyWay::engine, "long rows"};
}

BusChoice choose_bus_way(std::span<const kernels::StridedCopy> nests, CopyWay wanted) {
  constexpr std::int64_t good_piece = std::int64_t{256} << 10;
  if (wanted == CopyWay::kernel) return {BusWay::kernel, "asked for"};
  std::int64_t total = 0, copies = 0;
  bool fits = true, rows_are_long = true;
  for (const kernels::StridedCopy& nest : nests) {
    total += kernels::bytes(nest);
    copies += engine_copies(nest);
    fits = fits && engine_can(nest);
    rows_are_long = rows_are_long && (nest.loops.empty() || nest.item_bytes >= least_row);
  }
  if (wanted == CopyWay::engine) return {fits ? BusWay::engine : BusWay::through_device, "asked for"};
  if (total <= few_bytes_on_bus) return {BusWay::kernel, "few bytes"};
  if (!fits) return {BusWay::through_device, "the engine needs rows one after the other on both sides"};
  if (!rows_are_long) return {BusWay::through_device, "the rows are short"};
  if (copies > 1 && total / copies < good_piece) return {BusWay::through_device, "it would be many copies"};
  return {BusWay::engine, "long rows"};
}

}  // namespace partita::devices
