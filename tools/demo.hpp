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

/// The distributions that the demo uses on so many ranks: block-cyclic, a slab along each axis,
/// pencils along each axis, and block-cyclic again.
std::vector<Distribution> way(const Shape& shape, int ranks);

/// The same elements as f64, complex ones by their real part, in the same distribution and row-major. Throws
/// UnsupportedError for half precision. Collective.
Array numbers_of(const Array& array);

/// The middle slice of a volume of numbers in grey, blended with the colours of the owners in each of the
/// distributions over so many ranks, side by side. `whole` is on this rank.
Image picture_of(const Array& whole, const std::vector<Distribution>& distributions, int ranks);

/// The middle slices of volumes of one shape in grey, side by side; all are whole on this rank.
Image grey_pictures(const std::vector<Array>& wholes);

/// Makes the folder, and in it the picture. Returns its path.
std::string draw(const std::string& folder, const std::string& name, const Image& image);

/// Calls `visit(global index, offset)` for every element of this rank's part, row by row; offsets count from
/// the first local element.
template <class Visit>
void for_each_element(const Array& array, const Visit& visit) {
  const Region region = array.layout().region(array.context().rank());
  const View& local = array.local();
  if (volume(local.extents) == 0) return;
  const int dimensions = local.extents.size();
  Index at = Extents::filled(dimensions, 0), global = at;
  const auto place = [&](int d) { global[d] = region.sets[static_cast<std::size_t>(d)].at(at[d]); };
  for (int d = 0; d < dimensions; ++d) place(d);
  for (bool more = true; more;) {
    std::int64_t offset = 0;
    for (int d = 0; d < dimensions; ++d) offset += at[d] * local.strides[d];
    visit(global, offset);
    more = false;
    for (int d = dimensions - 1; d >= 0 && !more; --d) {
      more = ++at[d] < local.extents[d];
      if (!more) at[d] = 0;
      place(d);
    }
  }
}

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
