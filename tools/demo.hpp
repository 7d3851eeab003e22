// The pieces of the demo: its volume, its way, and its picture.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <string>
#include <vector>

#include "tools/image.hpp"

namespace partita::tools {

/// Where the demo's volume comes from.
struct Volume {
  std::optional<std::string> path;  ///< an .npy file; nothing: made up by `fill_phantom`
  Shape shape;
  Dtype dtype = Dtype::f32;
};

/// INPUT, or data/mni152.npy where it is there, or a generated one. Throws FileError, and ArgumentError for
/// anything but two or three dimensions. Local.
Volume choose_volume(const std::string& input);

/// Reads or generates it. Collective.
Array load(const Context& context, const Volume& volume, const Distribution& distribution);

/// The distributions that the demo goes through on so many ranks: block-cyclic, a slab along each axis,
/// pencils along each axis, and block-cyclic again.
std::vector<Distribution> way(const Shape& shape, int ranks);

/// One slice of the volume in grey, blended with the colours of the owners in each of the distributions, side
/// by side. Collective; the image is whole on rank 0 and empty elsewhere.
Image picture_of(const Context& context, const Array& volume, const std::vector<Distribution>& distributions);

}  // namespace partita::tools
