#include "distribution/meeting_runs.hpp"

#include <numeric>
#include <utility>

namespace partita::detail {
namespace {

__extension__ using Wide = __int128;  // products of two indices

template <class Integer>
Integer floor_modulo(Integer value, Integer modulus) {
  const Integer rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// x with value * x = 1 modulo `modulus`, for coprime arguments (extended Euclid).
std::int64_t inverse(std::int64_t value, std::int64_t modulus) {
  std::int64_t rest = modulus;
  std::int64_t next_rest = value % modulus;
  std::int64_t factor = 0;
  std::int64_t next_factor = 1;
  while (next_rest != 0) {
    const std::int64_t quotient = rest / next_rest;
    rest = std::exchange(next_rest, rest - quotient * next_rest);
    factor = std::exchange(next_factor, factor - quotient * next_factor);
  }
  return floor_modulo(factor, modulus);
}

}  // namespace

std::int64_t meeting_offsets(const Family& a, const Family& b) {
  return (a.length + b.length) / std::gcd(a.period, b.period) + 1;
}

std::vector<Run> meeting_runs(const Family& a, const Family& b, std::int64_t from, std::int64_t to) {
  const std::int64_t divisor = std::gcd(a.period, b.period);
  const std::int64_t turns = a.period / divisor;  // blocks of b until the two stand the same way again
  const std::int64_t inverse_of_b = inverse(b.period / divisor, turns);
  const std::int64_t difference = b.first - a.first;
  std::vector<Run> runs;
  // from the smallest d above -b.length
  std::int64_t d = 1 - b.length + floor_modulo(difference - (1 - b.length), divisor);
  for (; d < a.length; d += divisor) {
    const std::int64_t begin = std::max<std::int64_t>(0, -d);  // of the common run, in the block of b
    const std::int64_t end = std::min(b.length, a.length - d);
    // j * b.period = d - difference modulo a.period
    const std::int64_t residue =
        static_cast<std::int64_t>(floor_modulo(Wide{(d - difference) / divisor} * inverse_of_b, Wide{turns}));
    const std::int64_t above = from - b.first - end;  // the run of block j ends above `from`
    const std::int64_t least = (above - floor_modulo(above, b.period)) / b.period + 1;
    Wide block = Wide{b.first} + (Wide{least} + floor_modulo(residue - least, turns)) * b.period;
    for (; block + begin < to; block += Wide{turns} * b.period) {
      runs.push_back({std::max(from, static_cast<std::int64_t>(block + begin)),
                      static_cast<std::int64_t>(std::min(Wide{to}, block + end))});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& x, const Run& y) { return x.first < y.first; });
  return runs;
}

}  // namespace partita::detail
