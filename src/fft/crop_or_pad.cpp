// An array with other extents: what there is of it in both is moved between two windows, and the rest is
// zero.
#include <algorithm>
#include <array>
#include <partita/fft.hpp>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "fft/layouts.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {
namespace {

/// The rule of the array with the new extents. Throws ArgumentError.
Layout cropped_or_padded(const Array& array, const Shape& shape) {
  Layout layout = array.layout();
  check(shape.size() == layout.dimensions(),
        "crop_or_pad: the array has {} dimensions, but the shape {} has {}", layout.dimensions(),
        to_string(shape), shape.size());
  check(!layout.partial(), "crop_or_pad: the array ({}) is partial; redistribute it first",
        layout.to_string());
  for (int d = 0; d < shape.size(); ++d) {
    check(shape[d] > 0, "crop_or_pad: the new length of axis {} is {}, but a length is at least 1", d,
          shape[d]);
    layout = fourier::with_extent(layout, d, shape[d]);
  }
  return layout;
}

void fill_with_zeros(Array array, std::optional<Stream> stream) {
  constexpr std::array<char, 16> zeros{};
  fill(array, static_cast<const void*>(zeros.data()), stream);
}

/// What of the result is beyond `kept` along each axis, each element once.
void pad(const Array& result, const Shape& kept, std::optional<Stream> stream) {
  Shape extents = result.shape();
  for (int d = 0; d < kept.size(); ++d) {
    if (kept[d] < extents[d]) {
      Index lower = Extents::filled(kept.size(), 0);
      Shape beyond = extents;
      lower[d] = kept[d];
      beyond[d] -= kept[d];
      fill_with_zeros(result.window(lower, beyond), stream);
    }
    extents[d] = kept[d];
  }
}

Array with_shape(const Array& array, const Shape& shape, std::optional<Stream> stream, SourcePlace where) {
  check(array.valid(), "crop_or_pad: the array is an empty Array");
  ContextState& context = *array.context_state();
  context.require_usable("crop_or_pad");
  std::optional<Layout> layout;
  runtime::collectively(context, "crop_or_pad", [&]() -> std::vector<Fact> {
    if (stream)
      arrays::require_stream_of_device("crop_or_pad", array.local().space == MemorySpace::device, *stream);
    layout = cropped_or_padded(array, shape);
    return {{"array", array.operand().to_string()}, {"shape", to_string(shape)}};
  });
  if (shape == array.shape()) return array;
  Array result = empty(array.context(), *layout, array.dtype(), {.space = array.local().space}, where);
  Shape kept = shape;
  for (int d = 0; d < shape.size(); ++d) kept[d] = std::min(shape[d], array.shape()[d]);
  pad(result, kept, stream);
  if (volume(kept) == 0) return result;
  const Index first = Extents::filled(shape.size(), 0);
  Array to = result.window(first, kept);
  const Array from = array.window(first, kept);
  redistribute_into(from, to, {.stream = stream});
  return result;
}

}  // namespace

Array crop_or_pad(const Array& array, const Shape& shape, std::optional<Stream> stream, SourcePlace where) {
  return with_shape(array, shape, stream, where);
}

}  // namespace partita
