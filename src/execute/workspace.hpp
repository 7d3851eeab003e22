// Memory that the local kernels of one plan share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <partita/error.hpp>

namespace partita::execution {

/// Grows while works are bound; then each work, when it runs, has as much as it reserved, from the start on,
/// with undefined contents. Works of one plan never run at the same time.
class Workspace {
 public:
  /// Throws MemoryError. What was there before is lost.
  void reserve(std::int64_t bytes) {
    if (bytes <= bytes_) return;
    const auto size = (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
    memory_.reset(static_cast<char*>(std::aligned_alloc(alignment, size)));
    bytes_ = memory_ ? bytes : 0;
    if (!memory_) throw MemoryError("no memory for " + std::to_string(bytes) + " bytes of workspace");
  }
  char* data() const { return memory_.get(); }

 private:
  static constexpr std::size_t alignment = 4096;
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace partita::execution
