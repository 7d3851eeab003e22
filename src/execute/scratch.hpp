// Scratch memory of a bound plan.
#pragma once

#include <memory>
#include <partita/plan.hpp>

#include "runtime/context_state.hpp"

namespace partita {

/// One buffer of kind `shared` (a block of the symmetric heap: creation is collective) or `scratch` (private,
/// page-aligned, huge pages asked for, touched). The destructor is local: a heap block is dropped for later
/// release.
class Scratch {
 public:
  Scratch(ContextState& context, const Buffer& buffer);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Where the buffer starts on `rank`: this rank, or for shared scratch one of the same node.
  char* on_rank(int rank) const;

 private:
  ContextState& context_;
  HeapBlock block_;
  bool shared_ = false;
  char* private_ = nullptr;
};

}  // namespace partita
