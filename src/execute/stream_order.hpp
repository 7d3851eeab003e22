// Which streams of one execution have to wait for each other.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <partita/plan.hpp>
#include <vector>

namespace partita {

/// A plan in three lines: its own, and one each for what is packed for messages and what is unpacked. Steps
/// of one line run in order; of two lines only those are ordered that the plan's meaning needs:
///   - a move and an earlier one in another line that wrote the same buffer, or read what it writes (private
///     scratch aside, which the lines share by other rules: see MessageUse),
///   - a signal to a peer and everything before it, a wait for a peer and everything behind it.
class StreamOrder {
 public:
  static constexpr int lines = 3;
  /// What `after` is given from here on waits for what `before` was given until here.
  using Order = std::function<void(int before, int after)>;

  StreamOrder(const Plan& plan, Order order);

  /// A new execution; all lines have just met. `operands_meet`: some operands share memory.
  void begin(bool operands_meet);
  /// The step is going to be put into this line.
  void move(const Step& step, int line);
  void signal();
  void wait();

 private:
  using Set = unsigned;  // of lines
  struct Use {
    Set writers = 0;  // since the last time when one line had waited for all
    Set readers = 0;
  };
  void follow(int line, Set others);
  void put(int line) { ++given_[static_cast<std::size_t>(line)]; }
  Use* use_of(const Place& place);

  const Plan& plan_;
  Order order_;
  bool operands_meet_ = false;
  Use of_operands_;                                            // of all together, where they meet
  std::vector<Use> uses_;                                      // by buffer
  std::array<std::int64_t, lines> given_{};                    // steps
  std::array<std::array<std::int64_t, lines>, lines> seen_{};  // [line][other]: of those given to the other
};

}  // namespace partita
