// 64-bit hashes that are the same in every process.
#pragma once

#include <cstdint>
#include <partita/fact.hpp>
#include <span>
#include <string_view>

namespace partita {

/// FNV-1a (Fowler, Noll, Vo).
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  }
  return hash;
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of
/// `value`.
constexpr std::uint64_t scramble(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// Joins a value to a hash; the order matters.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return scramble(hash + 0x9e3779b97f4a7c15U * (value + 1));
}

/// One number for what ranks compare; names, values and their order count.
inline std::uint64_t hash_of_facts(std::span<const Fact> facts) {
  std::uint64_t hash = facts.size();
  for (const Fact& fact : facts) hash = mix(mix(hash, hash_of(fact.name)), hash_of(fact.value));
  return hash;
}

}  // namespace partita
