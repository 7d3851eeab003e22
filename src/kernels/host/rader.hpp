// A transform whose length has a large prime factor, as convolutions of fast lengths.
//
// n = r p, p prime, r not divisible by p. With i = p i1 + r i2 mod n for inputs, k1 = k mod r and k2 = k mod
// p for results, w_n^(i k) = w_r^(i1 k1) w_p^(i2 k2): transforms of r and of p without factors in between
// (Good 1958). The transform of p: with a generator g of the residues modulo p, i2 = g^j and k2 = g^-q,
//
//     X[g^-q] = x[0] + sum_j x[g^j] w_p^(g^-(q - j)),
//
// a cyclic convolution of p - 1 (Rader 1968), itself done by transforms of that length if they are fast, or
// of a longer one that is, with zeros behind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace partita::kernels {

struct Rader {
  std::int64_t length = 0;
  std::int64_t prime = 0;
  std::int64_t rows = 0;         ///< length / prime
  std::int64_t convolution = 0;  ///< its length, prime - 1 at least
  /// Which elements of the input are convolved, row by row, prime - 1 in each; and x[0] of each row.
  std::vector<std::int64_t> convolved, first;
  /// Where results go, row by row, prime in each: those of the convolution, then X[0].
  std::vector<std::int64_t> results;
  /// Of the roots w_p in the convolution's kernel; -1: a zero.
  std::vector<std::int64_t> exponents;
};

/// The largest prime factor of `length`.
std::int64_t largest_prime_factor(std::int64_t length);
/// prime - 1, or more: with zeros behind.
std::int64_t convolution_length(std::int64_t prime);

/// Nothing where no prime factor is large (17 or more: smaller ones FFTW knows by heart), the largest one is
/// there twice, or the tables would be too long.
std::optional<Rader> rader(std::int64_t length);
bool has_rader(std::int64_t length);

}  // namespace partita::kernels
