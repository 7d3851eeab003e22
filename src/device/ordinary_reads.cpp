#include "device/ordinary_reads.hpp"

#include "device/physical_device.hpp"

namespace partita::devices {

OrdinaryReads* OrdinaryReads::of(PhysicalDevice& device) {
  return dynamic_cast<OrdinaryReads*>(&device);
}

/// A handle may come again for another allocation, at the addresses of the one before.
char* OrdinaryReads::find_or_open(const ExportedMemory& memory) {
  const std::lock_guard lock(mutex_);
  const auto found = opened_.find(memory.handle);
  if (found != opened_.end()) {
    if (found->second.allocation == memory.allocation) return static_cast<char*>(found->second.memory);
    close(found->second.memory);
    opened_.erase(found);
  }
  void* const opened = open(memory.handle);
  if (opened != nullptr) opened_[memory.handle] = {memory.allocation, opened};
  return static_cast<char*>(opened);
}

void OrdinaryReads::forget(const ExportedMemory& memory) {
  const std::lock_guard lock(mutex_);
  const auto found = opened_.find(memory.handle);
  if (found == opened_.end() || found->second.allocation != memory.allocation) return;
  freed_.push_back(found->second.memory);
  opened_.erase(found);
}

void OrdinaryReads::close_freed() noexcept {
  const std::lock_guard lock(mutex_);
  for (void* const memory : freed_) close(memory);
  freed_.clear();
}

void OrdinaryReads::close_all() noexcept {
  close_freed();
  for (const auto& [handle, opened] : opened_) close(opened.memory);
  opened_.clear();
}

}  // namespace partita::devices
