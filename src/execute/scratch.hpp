// Scratch memory of a bound plan.
#pragma once

#include <memory>
#include <partita/plan.hpp>

#include "runtime/context_state.hpp"

namespace partita {

/// One buffer of kind `shared` (a block of the symmetric heap: creation is collective) or `scratch` (private,
/// page-aligned, huge pages asked for, touched). Of a plan for devices: shared scratch lies in their memory,
/// private scratch is host memory that the device reads and writes in place, since messages leave from it. The destructor is local: a heap block is dropped for later
/// release.
class Scratch {
 public:
  Scratch(ContextState& context, const Buffer& buffer, MemorySpace space = MemorySpace::host);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Where the buffer starts on `rank`: this rank, or for shared scratch one of the same node.
  char* on_rank(int rank) const;

 private:
  ContextState& context_;
  MemorySpace space_;
  HeapBlock block_;
  bool shared_ = false;
  char* private_ = nullptr;
};

}  // namespace partita
