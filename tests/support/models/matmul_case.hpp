// Random multiplies: any distributions, ops, types, epilogues, and what should come out.
#pragma once

#include <partita/matmul.hpp>
#include <partita/verify_numbers.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "matmul/plan.hpp"
#include "matmul/problem.hpp"
#include "support/models/random_layouts.hpp"

namespace partita::testing {

struct MatmulCase {
  using Number = OperandNumbers::Number;

  MatmulOperands operands{any(), any(), {}, any()};
  MatmulOptions options;
  Topology topology = Topology::regular(1);
  bool in_place = false;
  Shape batch;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Parameters parameters;
  Machine machine;
  std::optional<multiplication::Groups> groups;

  static Operand any() { return Operand::of(Layout(Slab(0), {1}, 1), Dtype::f64); }

  Plan plan(int rank) const {
    return multiplication::plan_product(operands, topology, rank, options, machine, in_place, groups).plan;
  }

  std::string to_string() const {
    std::ostringstream text;
    text << "A " << operands.a.to_string() << "\nB " << operands.b.to_string();
    if (operands.c) text << "\nC " << operands.c->to_string() << (in_place ? " in place" : "");
    text << "\nD " << operands.d.to_string() << "\nops " << static_cast<int>(options.op_a)
         << static_cast<int>(options.op_b) << " epilogue " << static_cast<int>(options.epilogue) << " method "
         << static_cast<int>(options.method) << " limit " << options.memory_limit << " nodes";
    for (int rank = 0; rank < topology.ranks(); ++rank) text << " " << topology.node(rank);
    if (groups)
      text << "\ngroups of " << groups->turn_bytes << " bytes a turn, " << groups->round_bytes << " a round";
    return text.str();
  }

  // Small integers, so that sums are exact whatever their order.
  static std::int64_t hash(const Index& at, std::int64_t salt) {
    std::uint64_t result = 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(salt);
    for (const std::int64_t i : at)
      result = (result ^ static_cast<std::uint64_t>(i + 1)) * 0xff51afd7ed558ccd;
    return static_cast<std::int64_t>((result >> 40) % 7) - 3;
  }
  /// Of one contribution of an array (of op(A), op(B) for those).
  Number value(int array, const Index& at, int contribution) const {
    const bool complex_items = is_complex(operands.a.dtype);
    return {static_cast<double>(hash(at, 10 * array + 100 * contribution)),
            complex_items ? static_cast<double>(hash(at, 10 * array + 100 * contribution + 5)) : 0.0};
  }
};

/// Which contribution the rank holds of an element, and how many there are.
inline std::pair<int, int> contribution_of(const Layout& layout, const Index& at, int rank) {
  Region one;
  for (const std::int64_t i : at) one.sets.push_back(IndexSet::range(i, i + 1));
  const auto cells = layout.cells(one);
  const auto& contributions = cells.at(0).contributions;
  for (std::size_t c = 0; c < contributions.size(); ++c) {
    for (const int holder : contributions[c]) {
      if (holder == rank) return {static_cast<int>(c), static_cast<int>(contributions.size())};
    }
  }
  return {-1, static_cast<int>(contributions.size())};
}

inline void lay_on_devices(MatmulCase& test) {
  MatmulOperands& all = test.operands;
  for (Operand* const one : {&all.a, &all.b, &all.d}) one->space = MemorySpace::device;
  EpilogueOperands& of = all.epilogue;
  for (auto* const one :
       {&all.c, &of.bias, &of.auxiliary, &of.gradient, &of.scale_a, &of.scale_b, &of.scale_d, &of.amax_d}) {
    if (*one) (*one)->space = MemorySpace::device;
  }
}

inline MatmulCase square(std::int64_t extent, const Distribution& distribution, const Topology& topology) {
  MatmulCase test;
  test.m = test.n = test.k = extent;
  test.topology = topology;
  const Layout layout(distribution, {extent, extent}, topology.ranks());
  const Operand operand = Operand::of(layout, Dtype::f64, Order::row_major, Residency::heap);
  test.operands = {operand, operand, {}, operand};
  return test;
}

/// A and B cut along k, in memory of devices of one node of 8 GPUs.
inline MatmulCase large_cut_along_k(Dtype dtype, int ranks, const Distribution& result) {
  constexpr std::int64_t extent = 8192;
  MatmulCase test = square(extent, Slab(0), Topology::regular(ranks));
  test.operands.a.layout = Layout(Slab(1), {extent, extent}, ranks);
  test.operands.d.layout = Layout(result, {extent, extent}, ranks);
  for (Operand* const one : {&test.operands.a, &test.operands.b, &test.operands.d}) one->dtype = dtype;
  lay_on_devices(test);
  test.machine = Machine::find("node-8-gpu");
  return test;
}

}  // namespace partita::testing
