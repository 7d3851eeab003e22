#include "kernels/host/rader.hpp"

#include <initializer_list>

namespace partita::kernels {
namespace {

constexpr std::int64_t smallest_prime = 17;
constexpr std::int64_t longest = std::int64_t{1} << 16;

bool has_factors_among(std::int64_t n, std::initializer_list<std::int64_t> primes) {
  for (const std::int64_t prime : primes) {
    while (n % prime == 0) n /= prime;
  }
  return n == 1;
}

/// base^0, base^1, ... until it is 1 again.
std::vector<std::int64_t> powers(std::int64_t base, std::int64_t modulus) {
  std::vector<std::int64_t> result{1};
  for (std::int64_t power = base; power != 1; power = power * base % modulus) result.push_back(power);
  return result;
}

std::vector<std::int64_t> powers_of_generator(std::int64_t prime) {
  for (std::int64_t base = 2;; ++base) {
    std::vector<std::int64_t> result = powers(base, prime);
    if (static_cast<std::int64_t>(result.size()) == prime - 1) return result;
  }
}

/// Results row by row (k modulo rows), in each at g^-q for q = 0, 1, ... and at last the one of frequency 0.
std::vector<std::int64_t> result_order(std::int64_t rows, const std::vector<std::int64_t>& inverse) {
  const auto prime = static_cast<std::int64_t>(inverse.size()) + 1;
  std::vector<std::int64_t> column(static_cast<std::size_t>(prime), prime - 1);
  for (std::size_t q = 0; q < inverse.size(); ++q) {
    column[static_cast<std::size_t>(inverse[q])] = static_cast<std::int64_t>(q);
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows * prime));
  for (std::int64_t k = 0; k < rows * prime; ++k) {
    const std::int64_t place = k % rows * prime + column[static_cast<std::size_t>(k % prime)];
    order[static_cast<std::size_t>(place)] = k;
  }
  return order;
}

}  // namespace

std::int64_t largest_prime_factor(std::int64_t length) {
  std::int64_t largest = 1;
  for (std::int64_t factor = 2; factor * factor <= length; ++factor) {
    for (; length % factor == 0; length /= factor) largest = factor;
  }
  return length > 1 ? length : largest;
}

std::int64_t convolution_length(std::int64_t prime) {
  if (has_factors_among(prime - 1, {2, 3, 5, 7, 11, 13})) return prime - 1;
  std::int64_t length = 2 * (prime - 1);
  while (!has_factors_among(length, {2, 3, 5})) length += 2;
  return length;
}

bool has_rader(std::int64_t length) {
  const std::int64_t prime = largest_prime_factor(length);
  return length <= longest && prime >= smallest_prime && length / prime % prime != 0;
}

std::optional<Rader> rader(std::int64_t length) {
  if (!has_rader(length)) return std::nullopt;
  Rader result;
  const std::int64_t prime = result.prime = largest_prime_factor(length);
  const std::int64_t rows = result.rows = length / prime;
  result.length = length;
  result.convolution = convolution_length(prime);
  const std::vector<std::int64_t> forward = powers_of_generator(prime);
  std::vector<std::int64_t> inverse{1};  // g^-q = g^(p-1-q)
  inverse.insert(inverse.end(), forward.rbegin(), forward.rend() - 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    result.first.push_back(prime * row);
    for (const std::int64_t i : forward) result.convolved.push_back((prime * row + rows * i) % length);
  }
  result.results = result_order(rows, inverse);
  // Position t and, from behind, -t.
  result.exponents.assign(static_cast<std::size_t>(result.convolution), -1);
  for (std::size_t t = 0; t < inverse.size(); ++t) result.exponents[t] = inverse[t];
  for (std::size_t t = 1; t < forward.size(); ++t) result.exponents[result.exponents.size() - t] = forward[t];
  return result;
}

}  // namespace partita::kernels
