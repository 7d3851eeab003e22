// Writes steps, and keeps account of signals and buffers.
#pragma once

#include <functional>
#include <map>
#include <partita/plan.hpp>
#include <utility>
#include <vector>

#include "plan/channels.hpp"
#include "redistribute/parts.hpp"

namespace partita::fourier {

using enum Channel;

class Steps {
 public:
  explicit Steps(Plan& plan) : plan_(plan) {}

  Plan& plan() const { return plan_; }
  int rank() const { return plan_.rank; }
  const Operand& operand(int buffer) const;

  /// Shared scratch that holds a whole array, with the dimensions in memory as `axis_order` says.
  int add_array(const Layout& layout, Dtype dtype, const Extents& axis_order);
  /// Another buffer on the same memory.
  int add_view(int buffer, const Operand& operand);
  /// Scratch of this rank alone, of at least so many bytes: the same buffer for the same name and dtype.
  int scratch(const char* name, Dtype dtype, std::int64_t bytes);

  void copy(int owner, Region region, const Place& from, const Place& to);
  /// A copy, accumulate (a sum) or fill (zeros) inside this rank's memory; nothing of an empty region.
  void move(StepKind kind, Region region, const Place& from, const Place& to);
  void compute(Work work);
  void signal(int peer, Channel channel);
  void wait(int peer, Channel channel);
  /// A signal that has to be waited for before what comes next can rely on it: at the latest by `settle`.
  void expect(int peer, Channel channel) { expected_.emplace_back(peer, channel); }
  void settle();

  /// The array in `from` into `to`, whatever their distributions; settles before.
  void redistribute(int from, int to, std::int64_t staging_bytes);
  /// The same, part by part: `make(region)` writes the steps that put this rank's next part into `from`. They
  /// neither signal nor wait.
  void redistribute(int from, int to, std::int64_t staging_bytes, const redistribution::Parts& parts,
                    const std::function<void(const Region&)>& make);

 private:
  Plan& plan_;
  std::map<std::pair<int, int>, std::int64_t> waited_;  // by peer and channel
  std::vector<std::pair<int, Channel>> expected_;
};

}  // namespace partita::fourier
