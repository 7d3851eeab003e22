// A stage whose lines are gathered, transformed and stored while they are in cache.
#pragma once

#include <optional>
#include <vector>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// A stage whose lines go through cache: for one chunk of lines after the other, gathered from whoever owns
/// them, transformed, and stored once, at whoever owns that place. Nothing of it passes through messages.
class ThroughCache {
 public:
  /// `twiddle`: its part is set to the lines, after their transform.
  ThroughCache(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from, int to,
               const std::optional<Twiddle>& twiddle = {});
  void run();

  /// About so many copies a rank needs; the same on every rank.
  static std::int64_t steps_needed(const Operand& from, const Stage& stage);
  /// Beyond it the plan itself would be what takes time: then whole parts are exchanged.
  static constexpr std::int64_t most_steps = 100000;

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
  std::optional<Twiddle> twiddle_;
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
