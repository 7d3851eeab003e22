// One execution of all plans in one process; the schedule and the contents of memory are supplied by others.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

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

/// The slots of places in the memory of all ranks, and which of them messages use.
class Memory {
 public:
  explicit Memory(const Plans& plans) : plans_(plans), in_flight_(plans.plans.size()) {}

  /// The slots of a region at a place, in row-major order of the region. A Fault if the place does not
  /// contain the region or is beyond the buffer. `item`: bytes of an element, if one may take several slots
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

/// One end of a message.
struct MessageEnd {
  int step = 0;
  std::int64_t bytes = 0;
};

/// The messages of an ordered pair: the k-th sent is the k-th received.
struct Lane {
  std::vector<MessageEnd> sends;
  std::vector<MessageEnd> receives;
};

class Messages {
 public:
  Lane& lane(int from, int to) { return lanes_[{from, to}]; }
  const std::map<std::pair<int, int>, Lane>& lanes() const { return lanes_; }

  std::int64_t& signals(int from, int to, int channel) { return signals_[{from, to, channel}]; }
  const std::map<std::array<int, 3>, std::int64_t>& all_signals() const { return signals_; }

 private:
  std::map<std::pair<int, int>, Lane> lanes_;
  std::map<std::array<int, 3>, std::int64_t> signals_;
};

/// When a send counts as complete: at once (the library buffered it), or when the peer has posted its receive
/// (it did not). A plan must work both ways.
enum class SendMode : std::uint8_t { buffered, rendezvous };

/// Which of a rank's lanes proceeds if several can: plans without messages are executed by lanes
/// (plan/lanes.hpp), in any order that their dependencies allow.
enum class LaneOrder : std::uint8_t { first, last, by_turns };

/// Choices of an execution that plans do not determine.
struct Pace {
  SendMode mode = SendMode::buffered;
  LaneOrder lanes = LaneOrder::first;
};

/// Signals, waits, messages, and who may touch which memory when. Those that derive from it know values.
class Execution {
 public:
  Execution(const Plans& plans, Pace pace, Faults& faults);
  virtual ~Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

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

  /// Checks at the end of all ranks: messages without a partner or never finished, signals without a wait.
  void check_rest();

  /// "rank 1, step 3 (copy ...)", its next one.
  std::string next_label(int rank) const { return label(rank, progress(rank).current); }

 protected:
  /// Copy, accumulate, fill or compute. Throws Fault.
  virtual void run_local(int rank, const Step& step) = 0;
  /// The data of a message is copied when it is sent: it must not be overwritten in transit, so the time of
  /// reading does not matter. It is stored when the receiver observes completion.
  virtual void take(const std::array<int, 3>& message, int rank, const InFlight& from) = 0;
  virtual void put(const std::array<int, 3>& message, int rank, int buffer, std::int64_t slot) = 0;

  /// A Fault where a rank may not touch the place now.
  void check_access(int rank, const Place& place) const;

  const Memory& memory() const { return memory_; }

 private:
  struct Progress {
    std::vector<std::vector<int>> lanes;  // their steps
    std::vector<std::vector<int>> after;  // by step: those of other lanes
    std::vector<std::size_t> next;        // by lane
    std::vector<bool> done;               // by step
    std::size_t left = 0;                 // steps
    std::size_t turn = 0;                 // whose it is among the lanes
    int current = 0;                      // step that runs, or is looked at
    bool began = false;
    std::map<int, int> order;                           // of messages under way: step -> number in its lane
    std::map<std::array<int, 2>, std::int64_t> waited;  // (peer, channel): highest count
  };

  void divide(int rank);
  bool advance(int rank, std::size_t lane);
  bool may_begin(const Progress& progress, int step) const;
  const Step& step(int rank) const;
  Progress& progress(int rank) { return progress_[static_cast<std::size_t>(rank)]; }
  const Progress& progress(int rank) const { return progress_[static_cast<std::size_t>(rank)]; }
  std::string label(int rank, int step) const {
    return verification::label(plans_.plan(rank), rank, static_cast<std::size_t>(step));
  }
  bool is_complete(int rank, int message);
  std::optional<int> first_incomplete(int rank);
  bool must_wait(int rank);

  void run(int rank, const Step& step);
  void observe(int rank, int message);
  void send(int rank, const Step& step);
  void receive(int rank, const Step& step);

  const Plans& plans_;
  Pace pace_;
  Faults& faults_;
  Memory memory_;
  Messages messages_;
  std::vector<Progress> progress_;
};

/// The cells of one buffer of one rank. Only pages that were touched exist: most of a staging buffer is not.
template <class Value>
class Cells {
 public:
  /// What was never written: `Value()`.
  Value read(std::int64_t slot) const {
    const auto number = static_cast<std::size_t>(slot);
    const std::size_t page = number / page_size;
    return page < pages_.size() && pages_[page] ? (*pages_[page])[number % page_size] : Value();
  }
  Value& at(std::int64_t slot) {
    const auto number = static_cast<std::size_t>(slot);
    const std::size_t page = number / page_size;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[number % page_size];
  }

 private:
  static constexpr std::size_t page_size = 256;
  using Page = std::array<Value, page_size>;
  std::vector<std::unique_ptr<Page>> pages_;
};

/// With values of one kind in memory and in messages; `Value()` is what was never written.
template <class Value>
class ExecutionOn : public Execution {
 public:
  ExecutionOn(const Plans& plans, Pace pace, Faults& faults)
      : Execution(plans, pace, faults),
        buffers_(plans.plan(0).buffers.size()),
        cells_(plans.plans.size() * buffers_) {}

  Cells<Value>& cells(int rank, int buffer) { return cells_[number(rank, buffer)]; }
  const Cells<Value>& cells(int rank, int buffer) const { return cells_[number(rank, buffer)]; }

 private:
  std::size_t number(int rank, int buffer) const {
    return static_cast<std::size_t>(rank) * buffers_ + static_cast<std::size_t>(buffer);
  }
  void take(const std::array<int, 3>& message, int rank, const InFlight& from) final {
    std::vector<Value>& payload = payloads_[message];
    for (std::int64_t slot = from.first; slot < from.last; ++slot) {
      payload.push_back(cells(rank, from.buffer).read(slot));
    }
  }
  void put(const std::array<int, 3>& message, int rank, int buffer, std::int64_t slot) final {
    for (const Value& value : payloads_[message]) cells(rank, buffer).at(slot++) = value;
    payloads_.erase(message);
  }

  std::size_t buffers_;
  std::vector<Cells<Value>> cells_;  // by rank, then buffer
  std::map<std::array<int, 3>, std::vector<Value>> payloads_;
};

}  // namespace partita::verification
