// From a scheme to the steps of one rank.
#pragma once

#include <vector>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// Where the array is at any moment is one buffer; a stage takes it from there to another one, or back to the
/// same. Buffers 0 and 1 of the plan are the operands.
class Walk {
 public:
  Walk(Steps& steps, const Problem& problem, bool in_place);
  void run(const Scheme& scheme);

 private:
  static constexpr int input = 0;
  static constexpr int output = 1;

  void first_stage(const Stage& stage, const Stage* next);
  void next_stage(const Stage& stage);
  int stored(const Stage& stage);
  void finish();

  /// A stage from one buffer to another, of which the rank transforms what is its own. It waits until it is
  /// known what comes next: a change of hands between nodes takes one part after the other.
  struct Pending {
    const Stage* stage;
    int from;
    int to;
  };
  void transform(const Stage& stage, int from, int to);
  void transform_pending();
  /// The array as it is now into another buffer, with all that has to be transformed before.
  void hand_over(int to);
  bool needs_scratch(const Pending& pending) const;

  const Operand& operand(int buffer) const { return steps_.operand(buffer); }
  bool reachable_in_place(int buffer) const;  // peers may read and write it
  bool handed_over_in_place(const Stage& stage, int from) const;
  int add_array(const Layout& layout, Dtype dtype);
  bool is_last(const Stage& stage) const { return &stage == last_; }

  Steps& steps_;
  const Problem& problem_;
  const Stage* last_ = nullptr;
  std::optional<Pending> pending_;
  int current_ = input;
  bool one_node_ = false;
};

}  // namespace partita::fourier
