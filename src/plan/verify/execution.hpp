// One run of all plans on symbols; who goes next is decided outside.
#pragma once

#include <optional>

#include "plan/verify/memory.hpp"
#include "plan/verify/messages.hpp"

namespace partita::symbolic {

/// When a send counts as complete: at once (the library buffered it), or when the peer has posted its receive
/// (it did not). A plan must work both ways.
enum class SendMode : std::uint8_t { buffered, rendezvous };

class Execution {
 public:
  Execution(const Problem& problem, ContributionSets& sets, SendMode mode, Faults& faults);

  /// Runs the rank's next step if that need not wait. Whether it did.
  bool advance(int rank);
  bool ended(int rank) const;
  bool all_ended() const;

  /// What a rank that cannot advance waits for.
  struct Blockage {
    int peer = -1;
    std::string reason;
  };
  Blockage blockage(int rank);

  /// What must not be left when all ranks have ended: messages without a partner or never finished, signals
  /// that nobody waited for.
  void check_rest();

  const Memory& memory() const { return memory_; }
  std::string label(int rank, int step) const;  ///< "rank 1, step 3 (copy ...)"
  std::string next_label(int rank) const {
    return label(rank, progress_[static_cast<std::size_t>(rank)].next);
  }

 private:
  struct Progress {
    int next = 0;
    bool began = false;
    std::map<int, int> order;                           // of messages under way: step -> number in its lane
    std::map<std::array<int, 2>, std::int64_t> waited;  // (peer, channel): highest count
  };

  const Step& step(int rank) const;
  Progress& progress(int rank) { return progress_[static_cast<std::size_t>(rank)]; }
  bool is_complete(int rank, int message);
  std::optional<int> first_incomplete(int rank);
  bool must_wait(int rank);

  void run(int rank, const Step& step);
  void observe(int rank, int message);
  void move(int rank, const Step& step);
  void fill(int rank, const Step& step);
  void send(int rank, const Step& step);
  void receive(int rank, const Step& step);

  void check_access(int rank, const Place& place, bool is_write) const;
  std::vector<Symbol> load(const Place& place, const Region& region) const;
  void store(const Place& place, std::int64_t slot, Symbol value);
  void join(const Place& place, std::int64_t slot, Symbol value);
  void check_reduction(Reduction reduction) const;
  std::string stale_text(const Place& place, std::int64_t expected, Symbol found) const;
  std::string element(std::int64_t number) const;

  const Problem& problem_;
  ContributionSets& sets_;
  SendMode mode_;
  Faults& faults_;
  Memory memory_;
  Messages messages_;
  std::vector<Progress> progress_;
};

}  // namespace partita::symbolic
