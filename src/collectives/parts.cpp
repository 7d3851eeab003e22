#include "collectives/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "base/hash.hpp"

namespace partita::collective {

namespace {

std::int64_t sum(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// `part` has a dimension.
Shape joined(Shape part, std::span<const std::int64_t> counts, int ranks) {
  part[0] = counts.empty() ? part[0] * ranks : sum(counts);
  return part;
}

}  // namespace

std::string counts_text(std::span<const std::int64_t> counts) {
  constexpr std::size_t few = 64;
  if (counts.size() <= few) return fmt::format("{}", fmt::join(counts, ","));
  std::uint64_t hash = counts.size();
  for (const std::int64_t count : counts) hash = mix(hash, static_cast<std::uint64_t>(count));
  return fmt::format("{} counts with the hash {:016x}", counts.size(), hash);
}

void check_counts(std::string_view operation, std::span<const std::int64_t> counts, int ranks) {
  if (counts.empty()) return;
  check(counts.size() == static_cast<std::size_t>(ranks), "{}: {} counts for {} ranks", operation,
        counts.size(), ranks);
  for (const std::int64_t count : counts) check(count >= 0, "{}: a count of {}", operation, count);
}

View in_rows(const View& part) {
  if (!part.extents.empty()) return part;
  View row = part;
  row.extents = {1};
  row.strides = {1};
  return row;
}

Shape whole_of(const Shape& part, std::span<const std::int64_t> counts, int ranks) {
  return joined(part, counts, ranks);
}

Call parts_call(std::string_view operation, const View& part, std::span<const std::int64_t> counts,
                int ranks) {
  Call call{.operation = operation,
            .shape_name = counts.empty() ? "shape of a part" : "shape of a part without dimension 0",
            .shape = part.extents,
            .dtype = part.dtype,
            .counts = counts};
  if (!counts.empty()) call.shape[0] = 0;  // each rank has its own
  call.bytes = size_of(part.dtype);
  for (const std::int64_t extent : joined(part.extents, counts, ranks)) {
    call.bytes *= std::max<std::int64_t>(extent, 0);
  }
  return call;
}

std::int64_t first_of(const Shape& part, std::span<const std::int64_t> counts, int rank) {
  if (counts.empty()) return part[0] * rank;
  return sum(counts.first(static_cast<std::size_t>(rank)));
}

void check_in_place(std::string_view operation, const View& part, const View& whole, std::int64_t first) {
  if (part.data == nullptr || whole.data == nullptr || whole.strides.empty()) return;
  View place = part;
  place.data = static_cast<char*>(whole.data) + first * whole.strides[0] * size_of(whole.dtype);
  place.strides = whole.strides;
  check_same_or_apart(operation, part, place, whole);
}

}  // namespace partita::collective
