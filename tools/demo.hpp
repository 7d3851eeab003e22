// The pieces of the demo: its volume, its way, and its picture.
#pragma once

#include <functional>
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

/// The middle slices of volumes of one shape in grey, side by side. Collective; as above.
Image grey_pictures(const Context& context, const std::vector<Array>& volumes);

/// One element as a number; complex ones by their real part. Throws UnsupportedError for half precision.
double value_at(const View& view, std::int64_t offset);

/// Of all ranks together. Collective.
double seconds_of(const Context& context, const std::function<void()>& work);

/// The slices of the volume's two halves as two matrices, written to files and read and multiplied in several
/// distributions; each product is compared with a serial one, and an error thrown where they differ.
/// Collective.
void demonstrate_matmul(const Context& context, const std::string& folder, const Volume& volume);

/// The volume smoothed in Fourier space, before and after as a picture, and a Poisson problem with a known
/// solution; an error is thrown where either is wrong. Collective.
void demonstrate_fourier(const Context& context, const std::string& folder, const Volume& volume);

}  // namespace partita::tools
