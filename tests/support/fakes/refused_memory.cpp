#include "support/fakes/refused_memory.hpp"

#include <cstdlib>

namespace partita::testing {
namespace {

thread_local int refused = 0;

}  // namespace

RefusedMemory::RefusedMemory() {
  ++refused;
}

RefusedMemory::~RefusedMemory() {
  --refused;
}

bool memory_is_refused() {
  return refused > 0;
}

}  // namespace partita::testing

/// In place of the C library's.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (partita::testing::memory_is_refused()) return nullptr;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}
