#include "kernels/host/selection.hpp"

#include <algorithm>
#include <cstring>

namespace partita::kernels {

namespace {

std::int64_t row_of(std::int64_t index, const GatherPass& pass) {
  const std::int64_t row = settled(index, pass);
  if (row >= 0) return row;
  *pass.reported = 1;
  return 0;
}

}  // namespace

void gather(const GatherPass& pass) {
  const std::int64_t row_bytes = pass.width * pass.element_bytes;
  const auto* from = static_cast<const char*>(pass.from);
  const std::int64_t* index = pass.indices;
  auto* to = static_cast<char*>(pass.to);
  for (std::int64_t o = 0; o < pass.outer; ++o, from += pass.extent * row_bytes) {
    if (!pass.own) index = pass.indices;
    for (std::int64_t i = 0; i < pass.count; ++i) {
      if (!pass.own) {
        std::memcpy(to, from + row_of(*index++, pass) * row_bytes, static_cast<std::size_t>(row_bytes));
        to += row_bytes;
        continue;
      }
      for (std::int64_t w = 0; w < pass.width; ++w, to += pass.element_bytes)
        std::memcpy(to, from + row_of(*index++, pass) * row_bytes + w * pass.element_bytes,
                    static_cast<std::size_t>(pass.element_bytes));
    }
  }
}

void find_true(const TruePass& pass) {
  if (pass.to == nullptr) {
    *pass.found = std::count(pass.from, pass.from + pass.count, true);
    return;
  }
  std::int64_t* next = pass.to;
  for (std::int64_t i = 0; i < pass.count; ++i) {
    if (pass.from[i]) *next++ = i;
  }
  *pass.found = next - pass.to;
}

}  // namespace partita::kernels
