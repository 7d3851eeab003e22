// What the spectral helpers share.
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <partita/array.hpp>
#include <partita/spectral.hpp>
#include <vector>

#include "context/context_state.hpp"
#include "kernels/host/elementwise.hpp"
#include "kernels/host/symbol.hpp"

namespace partita::spectral {

/// The named axes, or all; throws ArgumentError for one that is not there.
std::vector<int> all_or(const std::vector<int>& axes, int dimensions);

/// Calls `body(position, element)` for every element of a local part, `position` its local index. The last
/// dimension runs fastest.
template <class T, class Body>
void for_each_local(const View& local, Body&& body) {
  const int dimensions = local.extents.size();
  if (volume(local.extents) == 0) return;
  auto* const base = static_cast<T*>(local.data);
  Index at = Extents::filled(dimensions, 0);
  for (bool more = true; more;) {
    std::int64_t offset = 0;
    for (int d = 0; d < dimensions; ++d) offset += at[d] * local.strides[d];
    body(at, base[offset]);
    more = false;
    for (int d = dimensions - 1; d >= 0 && !more; --d) {
      more = ++at[d] < local.extents[d];
      if (!more) at[d] = 0;
    }
  }
}

/// `body(zero)`, a zero of the complex dtype.
template <class Body>
void with_number(Dtype dtype, Body&& body) {
  if (dtype == Dtype::c64) {
    body(std::complex<float>());
  } else {
    body(std::complex<double>());
  }
}

/// The modes of local indices along one dimension.
struct AxisModes {
  std::vector<double> k;
  std::vector<bool> at_nyquist;
};

/// Of a whole spectrum: the samples that it has along each dimension, and the axis of which half is there
/// (-1: none).
struct Samples {
  Shape lengths;
  int halved_axis = -1;
};

/// Of this rank's part by dimension; empty along those that are not transformed, and where it has no part.
/// Throws ArgumentError: a spectrum or periods that do not fit.
std::vector<AxisModes> local_modes(const Array& spectrum, const Samples& samples,
                                   const SpectralOptions& options);

/// to = the symbol of every mode times from: two spectra of one layout in the same memory space, or the same
/// one. `axis`: that of a derivative. Local; in device memory it is enqueued on the stream and does not wait.
void multiply_by(kernels::Symbol symbol, std::optional<int> axis, const Array& from, Array& to,
                 const Samples& samples, const SpectralOptions& options, Stream stream = {});

/// local = local op other, element by element: complex local parts of the same extents in the same memory
/// space. Local; in device memory it is enqueued on the stream and does not wait.
void join_local(ContextState& context, kernels::Arithmetic operation, const View& local, const View& other,
                Stream stream = {});

/// Multiplies a complex local part, in whatever memory, by what `scale` multiplies the elements of a part of
/// the same extents in host memory by. Local, done when it returns.
void scale_local(ContextState& context, const View& local, const std::function<void(const View&)>& scale);

/// The call site and the stream of a function call. Without a stream it blocks, and work on a device uses the
/// context's own stream; with one it does not wait.
struct Caller {
  SourcePlace where = SourcePlace::current();
  std::optional<Stream> stream = {};
};

}  // namespace partita::spectral
