// Scratch memory of a bound plan.
#pragma once

#include <memory>
#include <partita/plan.hpp>
#include <vector>

#include "context/context_state.hpp"

namespace partita::execution {

/// One buffer of kind `shared` (a block of the symmetric heap: creation is collective) or `scratch` (private,
/// page-aligned, with huge pages, touched). For device plans shared scratch is in device memory; private
/// scratch, from which messages are sent, is in device memory if `messages` accepts it, otherwise in pinned
/// host memory. The destructor is local: a heap block is dropped and released later.
class Scratch {
 public:
  Scratch(ContextState& context, const Buffer& buffer, MemorySpace space = MemorySpace::host,
          MemorySpace messages = MemorySpace::host);
  /// On memory of the caller's: from this offset on of the symmetric heap in that memory, the same on all
  /// ranks for shared scratch. Local.
  Scratch(ContextState& context, std::int64_t heap_offset, MemorySpace space);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Where the buffer starts on `rank`: this rank, or for shared scratch one of the same node.
  char* on_rank(int rank) const;

 private:
  ContextState& context_;
  MemorySpace space_;
  MemorySpace messages_;
  memory::HeapBlock block_;
  bool on_heap_ = false;
  bool owned_ = true;
  char* private_ = nullptr;
};

/// The offset of each buffer in one block that holds the scratch of a plan: shared scratch first, at the same
/// offsets on all ranks, in whole pages. For operands in device memory (`space`) with messages from host
/// memory (`messages`) it does not contain the buffers of messages.
struct ScratchPlaces {
  std::vector<std::int64_t> offsets;  ///< by buffer; of the others -1
  std::int64_t bytes = 0;
};
ScratchPlaces scratch_places(const Plan& plan, MemorySpace space, MemorySpace messages);

}  // namespace partita::execution
