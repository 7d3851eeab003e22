// Whole numbers, rounded. Of numbers of 0 and more.
#pragma once

#include <cstdint>

namespace partita {

constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}
/// To a multiple of `unit`.
constexpr std::int64_t round_up(std::int64_t number, std::int64_t unit) {
  return ceil_divide(number, unit) * unit;
}
constexpr std::int64_t round_down(std::int64_t number, std::int64_t unit) {
  return number / unit * unit;
}

}  // namespace partita
