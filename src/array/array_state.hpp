// What an Array is made of.
#pragma once

#include <memory>
#include <partita/array.hpp>
#include <partita/memory.hpp>

#include "memory/symmetric_heap.hpp"

namespace partita {

struct Array::State {
  std::shared_ptr<ContextState> context;  // declared first: the heap outlives the block
  Operand operand;
  View local;
  // What owns the memory; nothing for wrapped memory.
  std::shared_ptr<void> owner;
  std::int64_t heap_offset =
      -1;  ///< of `local` in this rank's segment; the same on all ranks; -1: not on the heap
};

}  // namespace partita
