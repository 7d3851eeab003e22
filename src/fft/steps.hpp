// Writes the steps of a transform.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "plan/plan_builder.hpp"
#include "plan/small_exchange.hpp"
#include "redistribute/parts.hpp"

namespace partita::fourier {

using enum planning::Channel;

class Steps : public planning::PlanBuilder {
 public:
  /// `staging_bytes`: a bound on what one rank stages; 0: chosen by the planner of redistributions.
  Steps(Plan& plan, std::int64_t staging_bytes)
      : planning::PlanBuilder(plan), staging_bytes_(staging_bytes) {}

  /// Shared scratch for a whole array in the memory space of the operands, with its dimensions ordered by
  /// `axis_order`.
  int add_array(const Layout& layout, Dtype dtype, const Extents& axis_order);
  /// Another array on the same memory.
  int add_view(int buffer, Operand view);
  /// Whether the operands are in device memory.
  bool on_device() const { return operand(0).space == MemorySpace::device; }
  /// Scratch of this rank alone, of at least so many bytes: the same buffer for the same name and dtype.
  int scratch(const char* name, Dtype dtype, std::int64_t bytes);

  /// The other ranks that own parts of a region, in the order of ranks.
  std::vector<int> owners(const Layout& layout, const Region& region) const;

  /// A signal that has to be waited for before what comes next can rely on it: at the latest by `resolve`.
  void expect(int peer, planning::Channel channel) { expected_.emplace_back(peer, channel); }
  void resolve();

  /// The array in `from` into `to`, whatever their distributions; settles before. Part by part:
  /// `make(region)` writes the steps that put this rank's next part into `from`. They neither signal nor
  /// wait. What is little and in one part is noted in `packets` as well, where these are allowed.
  void redistribute(
      int from, int to, const redistribution::Parts& parts = {},
      const std::function<void(const Region&)>& make = [](const Region&) {});

  /// Devices may carry what is small in packets.
  void allow_packets() { in_packets_ = true; }
  std::vector<planning::PacketSteps>& packets() { return packets_; }

 private:
  std::int64_t staging_bytes_;
  bool in_packets_ = false;
  std::vector<planning::PacketSteps> packets_;
  std::vector<std::pair<int, planning::Channel>> expected_;
};

}  // namespace partita::fourier
