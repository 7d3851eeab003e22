#include "execute/scratch.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/check.hpp"

namespace partita {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

char* allocate_private(std::int64_t bytes) {
  const std::size_t size = (static_cast<std::size_t>(bytes) + huge_page - 1) / huge_page * huge_page;
  auto* memory = static_cast<char*>(std::aligned_alloc(huge_page, size));
  check<MemoryError>(memory != nullptr, "no memory for {} bytes of scratch", bytes);
  ::madvise(memory, size, MADV_HUGEPAGE);  // a wish: where it is refused the pages are small
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return memory;
}

}  // namespace

Scratch::Scratch(ContextState& context, const Buffer& buffer, MemorySpace space)
    : context_(context), space_(space) {
  if (buffer.bytes == 0) return;
  if (buffer.kind == BufferKind::shared) {
    block_ = context.heap_in(space).allocate(buffer.bytes, SymmetricHeap::Sizes::equal, "scratch of a plan",
                                             SourcePlace::current());
    shared_ = true;
  } else if (space == MemorySpace::device) {
    context.device->use();
    private_ = static_cast<char*>(context.device->allocate_pinned(buffer.bytes));
  } else {
    private_ = allocate_private(buffer.bytes);
  }
}

Scratch::~Scratch() {
  if (shared_) context_.heap_in(space_).drop(block_.id);
  // A failed context may still have messages in flight into this memory: it stays until the process exits.
  if (private_ == nullptr || context_.failed()) return;
  if (space_ == MemorySpace::device) {
    context_.device->use();
    context_.device->release_pinned(private_);
  } else {
    std::free(private_);
  }
}

char* Scratch::on_rank(int rank) const {
  if (shared_) return static_cast<char*>(context_.heap_in(space_).at(rank, block_.offset));
  return private_;
}

}  // namespace partita
