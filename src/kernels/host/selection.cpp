#include "kernels/host/selection.hpp"

#include <algorithm>
#include <cstring>

namespace partita::kernels {

void gather(const GatherPass& pass) {
  const auto bytes = static_cast<std::size_t>(pass.row_bytes);
  const auto* const from = static_cast<const char*>(pass.from);
  auto* to = static_cast<char*>(pass.to);
  for (std::int64_t i = 0; i < pass.count; ++i, to += pass.row_bytes)
    std::memcpy(to, from + pass.rows[i] * pass.row_bytes, bytes);
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
