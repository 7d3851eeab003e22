// One number for what ranks compare.
#pragma once

#include <partita/fact.hpp>
#include <span>

#include "base/hash.hpp"

namespace partita {

/// The same in every process; names, values and their order count.
inline std::uint64_t hash_of_facts(std::span<const Fact> facts) {
  std::uint64_t hash = facts.size();
  for (const Fact& fact : facts) hash = mix(mix(hash, hash_of(fact.name)), hash_of(fact.value));
  return hash;
}

}  // namespace partita
