// Layouts of arrays with a dimension more, or with some less.
#pragma once

#include <optional>
#include <partita/layout.hpp>
#include <span>

namespace partita::distribution {

Extents with_dimension(const Extents& extents, int position, std::int64_t value);
/// The extents without those of `axes`; with `kept` there, if it is given.
Extents without_dimensions(const Extents& extents, std::span<const int> axes,
                           std::optional<std::int64_t> kept = {});

/// The same elements with a dimension of extent 1 at `position`.
Layout with_dimension(const Layout& layout, int position);

/// The rule without the dimensions `axes` (each named once), of the shape without them, or with extent 1
/// there where they are `kept`: each rank has what it had, at its indices along the other dimensions, as
/// whole values, replicas or contributions as before. Nothing where the rule cuts one of the axes, be it at a
/// place where this shape has no element, or cannot say it: boxes of nothing, or of a scalar.
std::optional<Layout> without_dimensions(const Layout& layout, std::span<const int> axes, bool kept = false);

}  // namespace partita::distribution
