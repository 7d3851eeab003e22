// Plans of transforms: that they end, and that they compute what the definition says.
#pragma once

#include "fft/plan.hpp"
#include "plan/work.hpp"
#include "support/models/consistent_plans.hpp"
#include "support/models/fft_model.hpp"
#include "support/models/indices.hpp"
#include "support/test.hpp"

namespace partita::testing {

inline Operand on_heap(const Layout& layout, Dtype dtype = Dtype::c128) {
  return Operand::of(layout, dtype, Order::row_major, Residency::heap);
}

inline Planner planner_of(const Operand& input, const Operand& output, const Topology& topology,
                          const FftOptions& options = {}) {
  return [=](int rank) { return plan_fft(input, output, topology, rank, options); };
}

/// What stands at an index: small, and not symmetric.
inline Number number_at(const Index& at, bool is_complex) {
  std::int64_t mixed = 7;
  for (const std::int64_t i : at) mixed = (mixed * 31 + 5 * i + 3) % 101;
  return {static_cast<long double>(mixed % 13 - 6), is_complex ? static_cast<long double>(mixed % 7 - 3) : 0};
}

/// The unnormalised transform of those numbers.
inline Numbers by_definition(FftOptions options, const std::vector<int>& axes, const Operand& input,
                             const Shape& result) {
  const Shape& shape = input.layout.shape();
  Numbers numbers{shape, {}};
  Region all;
  for (const std::int64_t extent : shape) all.sets.push_back(IndexSet::range(0, extent));
  for_each_index(all,
                 [&](const Index& at) { numbers.values.push_back(number_at(at, is_complex(input.dtype))); });
  const bool backward = options.inverse || options.kind == FftKind::c2r;
  options.axes = axes;
  options.norm = backward ? Norm::forward : Norm::backward;
  if (options.kind == FftKind::c2r) options.last_length = result[axes.back()];
  return transformed(numbers, options);
}

inline void expect_transforms(const Operand& input, const Operand& output, const Topology& topology,
                              const FftOptions& options, bool in_place = false, bool grouped = false,
                              const Machine& machine = {}) {
  SCOPED_TRACE(input.to_string() + " -> " + output.to_string() + (grouped ? " in groups" : ""));
  std::vector<int> axes = options.axes;
  for (int d = 0; options.axes.empty() && d < input.layout.dimensions(); ++d) axes.push_back(d);
  const Numbers wanted = by_definition(options, axes, input, output.layout.shape());
  const auto given = [&](const Index& at, int contribution) {  // but for one, contributions are 0
    const Number number = contribution == 0 ? number_at(at, is_complex(input.dtype)) : Number();
    return std::complex<double>(number);
  };
  const auto result = [&](const Index& at) {
    std::int64_t place = 0;
    for (int d = 0; d < at.size(); ++d) place = place * wanted.shape[d] + at[d];
    return std::complex<double>(wanted.values[static_cast<std::size_t>(place)]);
  };
  const Planner planner = [&](int rank) {
    return fourier::plan_transform(input, output, topology, rank, options, machine, in_place, grouped).plan;
  };
  const Verdict verdict = in_place ? verify_numbers(planner, {{1, given, result, 0}})
                                   : verify_numbers(planner, {{0, given}, {1, {}, result}});
  EXPECT_TRUE(verdict.ok()) << planner(0).method << ": " << verdict.faults.front();
}

/// A machine whose devices store so fast that copies are never chosen.
inline Machine that_stores() {
  Machine machine;
  machine.store_bandwidth = 1e18;
  machine.copy_latency = machine.signal_latency = 0;  // groups of lines cost nothing
  return machine;
}

/// One whose devices copy what is exchanged, in groups that cost nothing.
inline Machine that_copies_in_groups() {
  Machine machine;
  machine.copy_latency = machine.signal_latency = 0;
  return machine;
}

}  // namespace partita::testing
