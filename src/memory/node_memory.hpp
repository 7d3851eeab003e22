// Memory that the ranks of one node share: one reserved address range, each rank's segment at base + rank *
// stride.
#pragma once

#include <cstdint>
#include <memory>

namespace partita::runtime {
struct Runtime;
}

namespace partita::memory {

/// Backing of the symmetric heap. Backends: processes (memfd_create, descriptors passed over abstract Unix
/// sockets, mapped into one reserved range) and threads (one anonymous range of the process).
///
/// Each segment is mapped over its whole stride from the start; pages beyond what its owner has grown it to
/// must not be touched. Growing is the owner's local business: peers see it without mapping anything again.
class NodeMemory {
 public:
  virtual ~NodeMemory() = default;

  /// Zero-initialised, shared by the node's ranks.
  virtual void* control() = 0;
  /// Start of the segment of a rank (of the context), in this process's addresses; null on another node.
  virtual char* segment(int rank) = 0;
  virtual std::int64_t stride() const = 0;
  /// Makes this rank's segment at least `bytes` long. Throws MemoryError: beyond the stride, no memory left,
  /// or past the control group's headroom (touching more would end in SIGKILL). Fresh pages read as zero;
  /// they are touched here and made huge where that helps (MADV_COLLAPSE; MADV_HUGEPAGE where shmem_enabled
  /// allows it).
  virtual void grow(std::int64_t bytes) = 0;
  /// After all ranks have grown alike: lets peers reach what is new. Collective, blocking. Nothing to do
  /// where peers see it anyway.
  virtual void share_growth() {}
  /// Where this must stay until the process ends, since its context has failed: gives back the addresses in
  /// which there is nothing, of which a segment has many more than others. Local, last.
  virtual void give_back_addresses() noexcept {}

  /// Collective over the context's ranks (messages on the control lane), blocking within the deadline.
  /// `control_bytes` is the same on all ranks. Where a peer of the same node cannot be reached by the socket
  /// (another container), that is an Error which says so.
  static std::unique_ptr<NodeMemory> create(runtime::Runtime& state, std::int64_t control_bytes);
};

}  // namespace partita::memory
