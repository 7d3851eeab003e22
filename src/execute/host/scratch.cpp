#include "execute/host/scratch.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.hpp"
#include "base/pages.hpp"
#include "base/round.hpp"
#include "execute/message_use.hpp"
#include "runtime/groups/kept_until_exit.hpp"

namespace partita::execution {
namespace {

// Many plans that a context keeps have a few hundred bytes of scratch: a huge page for each would be made,
// and zeroed, for nothing.
char* allocate_private(std::int64_t bytes) {
  Pages memory = allocate_pages(bytes, bytes > huge_page_bytes / 2);
  check<MemoryError>(memory != nullptr, "no memory for {} bytes of scratch", bytes);
  std::memset(memory.get(), 0, static_cast<std::size_t>(bytes));
  return memory.release();
}

void keep(char* memory) noexcept {
  try {
    runtime::keep_until_exit(std::shared_ptr<void>(memory, [](void*) {}));
  } catch (const std::bad_alloc&) {
    // It stays without a note, too.
  }
}

}  // namespace

Scratch::Scratch(ContextState& context, const Buffer& buffer, MemorySpace space, MemorySpace messages)
    : context_(context), space_(space), messages_(messages) {
  if (buffer.bytes == 0) return;
  if (buffer.kind == BufferKind::shared) {
    block_ = context.heap_in(space).allocate(buffer.bytes, memory::SymmetricHeap::Sizes::equal,
                                             "scratch of a plan", SourcePlace::current());
    on_heap_ = true;
  } else if (space == MemorySpace::device) {
    context.device->use();
    private_ = static_cast<char*>(messages == MemorySpace::device
                                      ? context.device->physical().allocate(buffer.bytes)
                                      : context.device->physical().allocate_pinned(buffer.bytes));
  } else {
    private_ = allocate_private(buffer.bytes);
  }
}

Scratch::Scratch(ContextState& context, std::int64_t heap_offset, MemorySpace space)
    : context_(context),
      space_(space),
      messages_(MemorySpace::host),
      block_{0, heap_offset, 0},
      on_heap_(true),
      owned_(false) {}

Scratch::~Scratch() {
  if (!owned_) return;
  if (on_heap_) context_.heap_in(space_).drop(block_.id);
  if (private_ == nullptr) return;
  // A failed context may still have messages in flight into this memory: it stays until the process exits.
  if (context_.failed()) {
    keep(private_);
  } else if (messages_ == MemorySpace::device) {
    context_.device->physical().release(private_);
  } else if (space_ == MemorySpace::device) {
    context_.device->physical().release_pinned(private_);
  } else {
    FreePages{}(private_);
  }
}

char* Scratch::on_rank(int rank) const {
  if (on_heap_) return static_cast<char*>(context_.heap_in(space_).at(rank, block_.offset));
  return private_;
}

ScratchPlaces scratch_places(const Plan& plan, MemorySpace space, MemorySpace messages) {
  ScratchPlaces places{std::vector<std::int64_t>(plan.buffers.size(), -1), 0};
  std::vector<bool> elsewhere(plan.buffers.size(), false);
  if (space == MemorySpace::device && messages == MemorySpace::host) elsewhere = message_buffers(plan);
  for (const BufferKind kind : {BufferKind::shared, BufferKind::scratch}) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      if (plan.buffers[b].kind != kind || plan.buffers[b].view_of >= 0 || elsewhere[b]) continue;
      places.offsets[b] = places.bytes;
      places.bytes += round_up(plan.buffers[b].bytes, page_bytes);
    }
  }
  return places;
}

}  // namespace partita::execution
