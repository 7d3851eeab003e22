// Work in Fourier space: wavenumbers, multipliers, derivatives, Poisson problems, convolutions, padding.
#pragma once

#include <array>
#include <complex>
#include <functional>
#include <optional>
#include <partita/array.hpp>
#include <partita/fft.hpp>
#include <partita/stream.hpp>
#include <span>
#include <vector>

namespace partita {

// --- wavenumbers: which frequency an index stands for. Pure functions.

/// The signed frequency of index `k` of a transform of n: k below the middle, k - n from there on (at an even
/// length the middle itself, the Nyquist frequency, is -n/2).
PARTITA_API std::int64_t signed_frequency(std::int64_t k, std::int64_t n);

/// Frequencies of all n indices in cycles per unit, samples `spacing` apart: NumPy's fftfreq. Times 2 pi they
/// are wavenumbers.
PARTITA_API std::vector<double> fftfreq(std::int64_t n, double spacing = 1);
/// Of the n/2+1 indices of the half spectrum of n real samples; none is negative: NumPy's rfftfreq.
PARTITA_API std::vector<double> rfftfreq(std::int64_t n, double spacing = 1);

/// The same for `rank`'s part of a spectrum, in the order of its local indices along `axis`: whatever the
/// distribution, local index i has frequency fftfreq(...)[i]. Empty where the rank owns nothing.
PARTITA_API std::vector<double> fftfreq(const Layout& spectrum, int axis, int rank, double spacing = 1);
/// `length` is the number of real samples n; the spectrum has n/2+1 indices along the axis.
PARTITA_API std::vector<double> rfftfreq(const Layout& spectrum, int axis, int rank, std::int64_t length,
                                         double spacing = 1);

// --- from a field to a field through its spectrum. Fields in device memory are transformed and multiplied by
// their device, for Poisson problems and derivatives from wavenumbers that lie there; other multipliers are
// asked by the host, which sends all their numbers there at each call.

/// One mode of a field: what a multiplier depends on.
struct WaveVector {
  std::array<double, max_dimensions> k{};  ///< radians per unit, one a dimension of the array; 0 along those
                                           ///< that are not transformed
  std::array<bool, max_dimensions> at_nyquist{};  ///< n even and the frequency n/2, which has no sign: odd
                                                  ///< functions of k must be 0 there
  int dimensions = 0;                             ///< of the array

  /// Radians per unit along a dimension of the array.
  double operator[](int axis) const { return k[static_cast<std::size_t>(axis)]; }
  double squared() const {  ///< |k|^2
    double sum = 0;
    for (const double component : k) sum += component * component;
    return sum;
  }
};

/// Of a real field the multiplier must be Hermitian, multiplier(-k) = conj(multiplier(k)): only half of its
/// modes are asked for. Called from one thread.
using Multiplier = std::function<std::complex<double>(const WaveVector&)>;

/// Along what a field is periodic.
struct SpectralOptions {
  /// Of fields in device memory (<partita/stream.hpp>): the functions below run after all work that was
  /// enqueued on it before. The host waits for those with a multiplier, which it is asked for; the others
  /// return before they are done, if results are in device memory and convolve's operands distributed alike.
  /// Errors, too: UnsupportedError (host memory; a stream that is being captured).
  std::optional<Stream> stream = {};
  std::vector<int> axes = {};        ///< along which the field is periodic and transformed; empty: all
  std::vector<double> lengths = {};  ///< the period along each of `axes`, in units; empty: 2 pi each, so that
                                     ///< wavenumbers are integers
  bool measure = false;              ///< local transforms are timed when planned, not estimated
  Residency residency = Residency::heap;  ///< of results
};

/// Multiplies every mode of a spectrum (of `lengths` samples along each dimension, forward transform with any
/// norm) in place. `halved_axis`: that of a half spectrum, -1 for a full one. Local, done when it returns.
/// Throws ArgumentError: an
/// array that is not complex, lengths or axes that do not fit it.
PARTITA_API void multiply_spectrum(Array& spectrum, const Shape& lengths, int halved_axis,
                                   const Multiplier& multiplier, const SpectralOptions& options = {});

/// inverse(multiplier * forward(field)): filters, derivatives, integrals. f32, f64, c64 or c128; real fields
/// go through half spectra. The spectrum stays in the distribution in which the forward transform leaves it
/// cheapest. The result is a new array on the symmetric heap, distributed as the field. Collective; blocks
/// until this rank's part is complete; the field keeps its values. Errors, the same on every rank, as of
/// `fft`; UnsupportedError for layouts that no distribution says (windows, embedded ones).
PARTITA_API Array spectral_apply(const Array& field, const Multiplier& multiplier,
                                 const SpectralOptions& options = {},
                                 SourcePlace where = SourcePlace::current());

/// The u of mean zero with laplacian(u) = right_side, periodic along the axes; the mean of the right side,
/// which such a u cannot have, is taken as zero. Along the axes that are not transformed the problems are
/// independent. Collective, as `spectral_apply`.
PARTITA_API Array solve_poisson(const Array& right_side, const SpectralOptions& options = {},
                                SourcePlace where = SourcePlace::current());

/// The derivatives of the field along each of the axes, in their order: one forward transform and one
/// inverse a derivative. Collective, as `spectral_apply`.
PARTITA_API std::vector<Array> gradient(const Array& field, const SpectralOptions& options = {},
                                        SourcePlace where = SourcePlace::current());

/// Circular convolution along the axes: result[i] = sum over j of a[j] b[i - j], indices modulo the extents
/// (`options.lengths` plays no part). Both of the same shape and dtype; the result is distributed as `a`.
/// Collective, as `spectral_apply`.
PARTITA_API Array convolve(const Array& a, const Array& b, const SpectralOptions& options = {},
                           SourcePlace where = SourcePlace::current());

/// The same into arrays of the caller's, in any distributions, of the field's shape and dtype; a result may
/// be the field itself. `gradient_into`: one array for each of the axes. Errors, too: ArgumentError (a result
/// of another shape, dtype or context, or that shares memory with the field without being the same array).
PARTITA_API void spectral_apply_into(const Array& field, Array& result, const Multiplier& multiplier,
                                     const SpectralOptions& options = {});
PARTITA_API void solve_poisson_into(const Array& right_side, Array& result,
                                    const SpectralOptions& options = {});
PARTITA_API void gradient_into(const Array& field, std::span<Array> results,
                               const SpectralOptions& options = {});
PARTITA_API void convolve_into(const Array& a, const Array& b, Array& result,
                               const SpectralOptions& options = {});

// --- more or fewer modes

/// Three halves of each length (of `axes`; empty: all), rounded up: a product of two fields of n modes has no
/// aliases on so many points (Orszag 1971).
PARTITA_API Shape three_halves(const Shape& lengths, const std::vector<int>& axes = {});

/// What the spectrum is, and where the result lies.
struct ResizeOptions {
  /// Of a spectrum in device memory: it is resized after all work that was enqueued on it before. The host
  /// waits.
  std::optional<Stream> stream = {};
  int halved_axis = -1;        ///< of a half spectrum; -1: none
  Norm norm = Norm::backward;  ///< of the forward transform: values are scaled so that the field keeps its
  std::optional<Distribution> distribution =
      {};                                 ///< of the result; nothing: the same rule, with the new extents
  Residency residency = Residency::heap;  ///< of the result
};

/// The spectrum of the same field on another number of points: `from` and `to` are the numbers of samples
/// along each dimension, on the real side. Where there are more, high modes are zero (trigonometric
/// interpolation); where fewer, they are dropped. The Nyquist mode of an even length is shared evenly between
/// its two signs on the way up, and they are added on the way down, so that real fields stay real and a way
/// up and back changes nothing. c64 or c128 in any distribution without replicas; a new array on the
/// symmetric heap. Collective, blocking; each mode moves once, straight to its place. Errors, the same on
/// every rank: ArgumentError, MemoryError, ...
PARTITA_API Array resize_spectrum(const Array& spectrum, const Shape& from, const Shape& to,
                                  const ResizeOptions& options = {},
                                  SourcePlace where = SourcePlace::current());
/// The same into an array of the caller's, apart from the spectrum's memory, in any distribution without
/// replicas. A distribution in the options must be that of the result.
PARTITA_API void resize_spectrum_into(const Array& spectrum, Array& result, const Shape& from,
                                      const Shape& to, const ResizeOptions& options = {});

}  // namespace partita
