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

  /// One stage from one buffer to another, of which the rank transforms what is its own.
  void transform(const Stage& stage, int from, int to);
  void transform_directly(const Stage& stage, int from, int to);

  const Operand& operand(int buffer) const { return steps_.operand(buffer); }
  bool readable_in_place(int buffer) const;
  bool writable_in_place(int buffer) const;
  bool handed_over_in_place(const Stage& stage, int from) const;
  int add_array(const Layout& layout, Dtype dtype);
  bool is_last(const Stage& stage) const { return &stage == last_; }

  Steps& steps_;
  const Problem& problem_;
  const Stage* last_ = nullptr;
  int current_ = input;
  bool one_node_ = false;
};

/// A stage whose lines go through cache: for one chunk of lines after the other, gathered from whoever owns
/// them, transformed, and stored once, at whoever owns that place. Nothing of it passes through messages.
class ThroughCache {
 public:
  ThroughCache(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from, int to);
  void run();

 private:
  struct Lines {
    Region before;
    Region after;
  };

  void open();
  void gather(const Lines& lines);
  void compute(const Lines& lines);
  void store(const Lines& lines);
  void close();
  std::vector<int> others(const Layout& layout, const Region& region) const;

  Steps& steps_;
  const Problem& problem_;
  const Stage& stage_;
  bool last_;
  int from_;
  int to_;
  Extents packed_order_;
  Place packed_;       // the lines as they come
  Place packed_real_;  // and as they go, where that is another dtype
  std::vector<int> givers_, takers_;
  std::vector<int> receivers_, pushers_;
};

/// The transforms of a stage as works: from one place to another, in place where both are the same. `between`
/// is scratch for the lines of `from`, which may be `from` itself where its values need not be kept.
std::vector<Work> transforms(const Problem& problem, const Stage& stage, bool last, const Region& before,
                             const Place& from, const Place& to, const Place& between);

/// The region of the result's index space that the lines of `before` become.
Region transformed(const Problem& problem, const Stage& stage, const Region& before);

}  // namespace partita::fourier
