// Which array of a context it is, as a number (Array::State::number) and in errors.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace partita::runtime {

/// Of an array that each rank makes alone from the one with this number; 0: not known to be alike.
constexpr std::uint64_t number_of_result(std::uint64_t number) {
  return number == 0 ? 0 : number | std::uint64_t{1} << 63;
}

/// "array 12", or "a result of array 12".
inline std::string array_text(std::uint64_t number) {
  const std::uint64_t array = number << 1 >> 1;
  return fmt::format("{}array {}", array == number ? "" : "a result of ", array);
}

}  // namespace partita::runtime
