// How the results of reductions over axes are laid out.
#pragma once

#include <partita/array_reductions.hpp>
#include <partita/layout.hpp>
#include <string_view>
#include <vector>

namespace partita::arithmetic {

/// What is reduced.
struct ReducedAxes {
  std::vector<int> axes;  ///< of the array, each once
  bool keep_dimensions = false;
  Reduction reduction = Reduction::sum;

  bool contains(int dimension) const;
  std::vector<int> kept(int dimensions) const;  ///< the others
  Shape shape(const Shape& whole) const;        ///< of the result
};

/// Axes of an array of this shape, each once. Throws ArgumentError.
void check_axes(std::string_view operation, const Shape& shape, const std::vector<int>& axes);

struct ReducedLayouts {
  /// Of what each rank reduces of its part: it holds the reduced part, as a whole value or as a
  /// contribution.
  Layout joined;
  /// Instead each rank that counts holds a contribution to the whole, the identity where it has nothing.
  bool whole = false;
  /// Of the result, by default.
  Layout left;
};

/// Whether every rank that has elements has whole lines of the axis.
bool has_whole_lines(const Layout& layout, int axis);

/// Pure. `layout` is not partial.
ReducedLayouts reduced_layouts(const Layout& layout, const ReducedAxes& reduced);

/// Of the result, which is `left` where the options do not say otherwise. Throws ArgumentError.
Layout wanted_layout(std::string_view operation, const ReduceAxesOptions& options, const Layout& left);

}  // namespace partita::arithmetic
