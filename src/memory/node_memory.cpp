#include "memory/node_memory.hpp"

#include "memory/process_node_memory.hpp"
#include "memory/threads_node_memory.hpp"
#include "runtime/runtime.hpp"

namespace partita {

std::unique_ptr<NodeMemory> NodeMemory::create(Runtime& state, std::int64_t control_bytes) {
  if (state.group->in_process()) return std::make_unique<ThreadsNodeMemory>(state, control_bytes);
  return std::make_unique<ProcessNodeMemory>(state, control_bytes);
}

}  // namespace partita
