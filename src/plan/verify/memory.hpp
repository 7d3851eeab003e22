// Where the plans' places lie in the memory of all ranks, and which of it messages use.
#pragma once

#include "plan/verify/plans.hpp"

namespace partita::verification {

/// Slots of a buffer [first, last) that a message still reads or writes.
struct InFlight {
  int buffer = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool is_receive = false;
  int step = 0;
};

class Memory {
 public:
  explicit Memory(const Plans& plans) : plans_(plans), in_flight_(plans.plans.size()) {}

  /// The slots of a region at a place, in row-major order of the region. A Fault where the place does not
  /// hold the region or lies beyond the buffer. `item`: bytes of an element, where one may take several slots
  /// of scratch; 0: each takes one.
  std::vector<std::int64_t> slots(const Place& place, const Region& region, std::int64_t item = 0) const;
  /// The slots of a message: [first, last).
  InFlight range(const Place& place, std::int64_t bytes, bool is_receive, int step) const;

  /// Messages read and write their scratch until their rank has seen them complete. A Fault where an access
  /// in between touches it.
  void check_quiet(const Place& place, std::int64_t first, std::int64_t last, bool is_write) const;
  void check_quiet(const Place& place, const std::vector<std::int64_t>& slots, bool is_write) const;
  void start(int rank, const InFlight& message);
  void finish(int rank, int step);

 private:
  std::int64_t capacity(int rank, int buffer) const;

  const Plans& plans_;
  std::vector<std::vector<InFlight>> in_flight_;  // by rank
};

}  // namespace partita::verification
