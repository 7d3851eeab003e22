// Address ranges: reserved first, given memory later.
#pragma once

#include <cstdint>
#include <utility>

namespace partita::memory {

/// Addresses that nothing else in the process will get; touching them before memory is mapped there is a
/// fault. Costs no memory. Begins at a multiple of 2 MiB. The destructor unmaps the whole range, whatever was
/// mapped into it.
class Reservation {
 public:
  Reservation() = default;
  /// Throws MemoryError when the process cannot have so many addresses.
  explicit Reservation(std::int64_t bytes);
  ~Reservation();
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;

  /// `parts` segments of one stride: `stride`, halved until they can be had. Throws MemoryError when not even
  /// segments of 64 MiB can. Where the process has a limit of its address space (RLIMIT_AS), half of what is
  /// left of it is not taken: the rest of the program needs addresses too.
  static std::pair<Reservation, std::int64_t> segments(int parts, std::int64_t stride);

  char* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  /// Releases the addresses beyond the first `bytes`, a multiple of 2 MiB.
  void trim(std::int64_t bytes);

 private:
  static char* reserve(std::int64_t bytes);
  char* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Unmaps part of a reservation that is kept until the process ends, from a multiple of 2 MiB on: its
/// addresses may be others' at once, so the reservation must never be destroyed.
void release_addresses(char* first, std::int64_t bytes) noexcept;

/// The stride of a rank's segment: twice the memory of the node over its ranks, in whole GiB; less where the
/// process reserves for `nodes` nodes (ranks that are threads) and half of its addresses would not do for
/// all, so that none takes those of another.
std::int64_t preferred_stride(std::int64_t node_memory_bytes, int node_ranks, int nodes);

}  // namespace partita::memory
