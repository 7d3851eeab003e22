// The memory of all ranks, in symbols.
#pragma once

#include <array>
#include <memory>

#include "plan/verify/problem.hpp"

namespace partita::symbolic {

/// The cells of one buffer of one rank. Only pages that were touched exist: most of a staging buffer is not.
class Cells {
 public:
  Symbol read(std::int64_t slot) const;
  Symbol& at(std::int64_t slot);

 private:
  static constexpr std::size_t page_size = 256;
  using Page = std::array<Symbol, page_size>;
  std::vector<std::unique_ptr<Page>> pages_;
};

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
  Memory(const Problem& problem, ContributionSets& sets);

  Cells& cells(int rank, int buffer);
  const Cells& cells(int rank, int buffer) const;

  /// The slots of a region at a place, in row-major order of the region. A Fault where the place does not
  /// hold the region or lies beyond the buffer.
  std::vector<std::int64_t> slots(const Place& place, const Region& region) const;
  /// The slots of a message: [first, last).
  InFlight range(const Place& place, std::int64_t bytes, bool is_receive, int step) const;

  /// Messages read and write their scratch until their rank has seen them complete. A Fault where an access
  /// in between touches it.
  void check_quiet(const Place& place, std::int64_t first, std::int64_t last, bool is_write) const;
  void check_quiet(const Place& place, const std::vector<std::int64_t>& slots, bool is_write) const;
  void start(int rank, const InFlight& message);
  void finish(int rank, int step);

 private:
  void fill_source(ContributionSets& sets);
  std::int64_t capacity(int rank, int buffer) const;
  std::size_t number(int rank, int buffer) const;

  const Problem& problem_;
  std::size_t buffers_;
  std::vector<Cells> cells_;                      // by rank, then buffer
  std::vector<std::vector<InFlight>> in_flight_;  // by rank
};

}  // namespace partita::symbolic
