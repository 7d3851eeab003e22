// One transform, checked: what every part of the planner reads.
#pragma once

#include <algorithm>
#include <partita/fft.hpp>
#include <vector>

namespace partita::fourier {

/// A transform, with kinds distinguished by their effect on the array: the direction is part of `kind`, the
/// halved axis is last.
struct Problem {
  Operand input;
  Topology topology;
  FftOptions options;
  Machine machine;
  TransformKind kind = TransformKind::complex_forward;  ///< along the axes, the halved one excepted
  bool halves = false;                                  ///< real to complex along the last of `axes`
  bool doubles = false;                                 ///< complex to real
  std::vector<int> axes = {};                           ///< none named twice
  std::int64_t real_length = 0;
  Shape shape = {};  ///< of the result
  Dtype dtype = Dtype::c128;
  bool grouped = false;          ///< messages between nodes go in groups (Plan::grouped)
  bool reachable_output = true;  ///< peers may write into the result

  bool orthogonal() const;  ///< cosine or sine transforms with weighted ends of lines
  int halved_axis() const { return halves || doubles ? axes.back() : -1; }
  bool transforms(int axis) const;
  bool on_device() const { return input.space == MemorySpace::device; }
};

/// Whether the axis is one of them.
inline bool contains(const std::vector<int>& axes, std::int64_t axis) {
  return std::ranges::find(axes, static_cast<int>(axis)) != axes.end();
}

/// Throws ArgumentError, the same text on every rank.
Problem make_problem(const Operand& input, const Topology& topology, const FftOptions& options,
                     const Machine& machine);

/// What every element is multiplied by.
double norm_factor(const Problem& problem);

/// The options of the opposite transform, from the result back.
FftOptions opposite(const FftOptions& options, const Shape& input);

/// "c2c axes 0,1,2 inverse ortho ...": equal options and no others have the same text.
std::string to_string(const FftOptions& options);

/// Calls `visit(name, value)` with each option that a plan depends on.
template <class Visit>
void for_each_option(const FftOptions& options, Visit&& visit) {
  visit("kind", options.kind);
  visit("axes", options.axes);
  visit("inverse", options.inverse);
  visit("norm", options.norm);
  visit("orthogonal", options.orthogonalize.value_or(options.norm == Norm::ortho));
  visit("length", options.last_length);
  visit("output", options.output);
  visit("distribution", options.distribution);
  visit("order", options.order);
  visit("residency", options.residency);
  visit("method", options.method);
  visit("grid", options.grid);
  visit("exchange", options.exchange);
  visit("scratch", options.scratch_bytes);
  visit("overwrite", options.overwrite_input);
  visit("measure", options.measure);
}

}  // namespace partita::fourier
