// Spectral methods: wavenumbers, multipliers, derivatives, Poisson problems, convolutions, resampling.
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

// --- wavenumbers: the frequency of each index. Pure functions.

/// The signed frequency of index `k` of a transform of length n: k in the lower half, k - n in the upper
/// half. For even n the middle index, the Nyquist frequency, gives -n/2.
PARTITA_API std::int64_t signed_frequency(std::int64_t k, std::int64_t n);

/// The frequencies of all n indices in cycles per unit, for samples `spacing` apart, as NumPy's fftfreq.
/// Multiply by 2 pi to get wavenumbers.
PARTITA_API std::vector<double> fftfreq(std::int64_t n, double spacing = 1);
/// The frequencies of the n/2+1 indices of the half spectrum of n real samples, all non-negative, as NumPy's
/// rfftfreq.
PARTITA_API std::vector<double> rfftfreq(std::int64_t n, double spacing = 1);

/// As above, for the local part of `rank` of a distributed spectrum: element i is the frequency of local
/// index i along `axis`, for any distribution. Empty if the rank owns nothing.
PARTITA_API std::vector<double> fftfreq(const Layout& spectrum, int axis, int rank, double spacing = 1);
/// `length`: the number of real samples n; the spectrum has n/2+1 indices along the axis.
PARTITA_API std::vector<double> rfftfreq(const Layout& spectrum, int axis, int rank, std::int64_t length,
                                         double spacing = 1);

// --- operations on fields through their spectra. Fields in device memory are transformed and multiplied by
// their device. Poisson problems and derivatives use wavenumbers stored there; other multipliers are
// evaluated by the host at each call, and their values are copied to the device.

/// The wavevector of one mode, the argument of multipliers.
struct WaveVector {
  std::array<double, max_dimensions> k{};  ///< radians per unit, one per dimension of the array; 0 along
                                           ///< dimensions that are not transformed
  std::array<bool, max_dimensions> at_nyquist{};  ///< whether n is even and the frequency is n/2, which has
                                                  ///< no sign: odd functions of k must be 0 there
  int dimensions = 0;                             ///< number of dimensions of the array

  /// Radians per unit along a dimension of the array.
  double operator[](int axis) const { return k[static_cast<std::size_t>(axis)]; }
  double squared() const {  ///< |k|^2
    double sum = 0;
    for (const double component : k) sum += component * component;
    return sum;
  }
};

/// A function of the wavevector. For real fields it must be Hermitian, multiplier(-k) = conj(multiplier(k)),
/// and is evaluated for half of the modes only. Called from one thread.
using Multiplier = std::function<std::complex<double>(const WaveVector&)>;

/// Geometry and execution of spectral operations.
struct SpectralOptions {
  /// For fields in device memory (<partita/stream.hpp>): the functions below run after all work that was
  /// enqueued on the stream before. The host waits for calls with a multiplier, which it evaluates; other
  /// calls return before they are complete if the results are in device memory and the operands of `convolve`
  /// have the same distribution. UnsupportedError: host memory, or a stream that is being captured.
  std::optional<Stream> stream = {};
  std::vector<int> axes = {};        ///< axes along which the field is periodic and transformed; empty: all
  std::vector<double> lengths = {};  ///< the period along each of `axes`, in units; empty: 2 pi each, so that
                                     ///< wavenumbers are integers
  bool measure = false;              ///< plan local transforms by timing (FFTW_MEASURE)
  Residency residency = Residency::heap;  ///< of results
};

/// Multiplies every mode of a spectrum in place. `lengths`: the number of samples along each dimension;
/// forward transform with any norm. `halved_axis`: the axis of the half spectrum, or -1 for a full one.
/// Local, blocking. Throws ArgumentError: an array that is not complex, lengths or axes that do not match it.
PARTITA_API void multiply_spectrum(Array& spectrum, const Shape& lengths, int halved_axis,
                                   const Multiplier& multiplier, const SpectralOptions& options = {});

/// inverse(multiplier * forward(field)), for filters, derivatives and integrals. Dtypes: f32, f64, c64, c128;
/// real fields use half spectra. The spectrum has the distribution that is cheapest for the transforms.
/// Returns a new array on the symmetric heap, distributed as the field, which is unchanged. Collective;
/// blocks until this rank's part is complete. Errors, the same on every rank, as for `fft`; UnsupportedError
/// for layouts that no distribution describes (windows, embedded layouts).
PARTITA_API Array spectral_apply(const Array& field, const Multiplier& multiplier,
                                 const SpectralOptions& options = {},
                                 SourcePlace where = SourcePlace::current());

/// Solves laplacian(u) = right_side for the u of mean zero, periodic along the axes; the mean of the right
/// side is ignored. Along other axes the problems are independent. Collective, as `spectral_apply`.
PARTITA_API Array solve_poisson(const Array& right_side, const SpectralOptions& options = {},
                                SourcePlace where = SourcePlace::current());

/// The derivatives of the field along each of the axes, in their order: one forward transform, and one
/// inverse transform per derivative. Collective, as `spectral_apply`.
PARTITA_API std::vector<Array> gradient(const Array& field, const SpectralOptions& options = {},
                                        SourcePlace where = SourcePlace::current());

/// Circular convolution along the axes: result[i] = sum over j of a[j] b[i - j], indices modulo the extents
/// (`options.lengths` is not used). Both arrays must have the same shape and dtype; the result is distributed
/// as `a`. Collective, as `spectral_apply`.
PARTITA_API Array convolve(const Array& a, const Array& b, const SpectralOptions& options = {},
                           SourcePlace where = SourcePlace::current());

/// As above, into given arrays of the field's shape and dtype, in any distributions; a result may be the
/// field itself. `gradient_into`: one array per axis. Additional ArgumentErrors: a result of another shape,
/// dtype or context, or that partly overlaps the field.
PARTITA_API void spectral_apply_into(const Array& field, Array& result, const Multiplier& multiplier,
                                     const SpectralOptions& options = {});
PARTITA_API void solve_poisson_into(const Array& right_side, Array& result,
                                    const SpectralOptions& options = {});
PARTITA_API void gradient_into(const Array& field, std::span<Array> results,
                               const SpectralOptions& options = {});
PARTITA_API void convolve_into(const Array& a, const Array& b, Array& result,
                               const SpectralOptions& options = {});

// --- resampling

/// Three halves of each length (along `axes`; empty: all), rounded up: on so many points a product of two
/// fields of n modes has no aliases (Orszag 1971).
PARTITA_API Shape three_halves(const Shape& lengths, const std::vector<int>& axes = {});

/// Properties of a spectrum, and the distribution and memory of the result.
struct ResizeOptions {
  /// For a spectrum in device memory: it is resized after all work that was enqueued on the stream before.
  /// The host waits.
  std::optional<Stream> stream = {};
  int halved_axis = -1;        ///< axis of the half spectrum; -1: a full spectrum
  Norm norm = Norm::backward;  ///< norm of the forward transform, such that the values of the field are kept
  std::optional<Distribution> distribution =
      {};                                 ///< of the result; if unset: the same rule for the new extents
  Residency residency = Residency::heap;  ///< of the result
};

/// The spectrum of the same field on another number of points. `from` and `to`: the numbers of real-space
/// samples along each dimension. Additional high modes are zero (trigonometric interpolation); missing ones
/// are dropped. The Nyquist mode of an even length is divided evenly between its two signs on refinement, and
/// the two are added on coarsening, so real fields stay real and refining and coarsening again changes
/// nothing. c64 or c128 in any distribution without replicas; returns a new array on the symmetric heap. Each
/// mode is transferred once, directly to its owner. Collective, blocking. Errors, the same on every rank:
/// ArgumentError, DisagreementError, MemoryError.
PARTITA_API Array resize_spectrum(const Array& spectrum, const Shape& from, const Shape& to,
                                  const ResizeOptions& options = {},
                                  SourcePlace where = SourcePlace::current());
/// As above, into a given array that does not overlap the spectrum, in any distribution without replicas. A
/// distribution in the options must be that of the result.
PARTITA_API void resize_spectrum_into(const Array& spectrum, Array& result, const Shape& from,
                                      const Shape& to, const ResizeOptions& options = {});

}  // namespace partita
