// Memory that the local kernels of one plan share.
#pragma once

#include <cstdint>
#include <partita/error.hpp>
#include <string>

#include "base/pages.hpp"

namespace partita::execution {

/// Grows while works are bound; then each work, when it runs, has as much as it reserved, from the start on,
/// with undefined contents. Works of one plan never run at the same time.
class Workspace {
 public:
  /// Throws MemoryError. What was there before is lost.
  void reserve(std::int64_t bytes) {
    if (bytes <= bytes_) return;
    memory_.reset();
    memory_ = allocate_pages(bytes);
    bytes_ = memory_ ? bytes : 0;
    if (!memory_) throw MemoryError("no memory for " + std::to_string(bytes) + " bytes of workspace");
  }
  char* data() const { return memory_.get(); }

 private:
  Pages memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace partita::execution
