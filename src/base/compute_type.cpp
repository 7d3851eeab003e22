#include <array>
#include <partita/compute_type.hpp>

#include "base/check.hpp"

namespace partita {
namespace {

constexpr std::array<std::string_view, compute_type_count> compute_names{"automatic", "f16", "f32", "tf32",
                                                                         "bf16x9",    "f64", "i32"};

}  // namespace

std::string_view name(ComputeType compute) {
  const auto index = static_cast<std::size_t>(compute);
  check(index < compute_names.size(), "unknown compute type number {}", index);
  return compute_names[index];
}

}  // namespace partita
