// What a compute step does: local kernels as data. Regions and places, never pointers.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <partita/compute_type.hpp>
#include <partita/dtype.hpp>
#include <partita/extents.hpp>
#include <partita/layout.hpp>
#include <variant>
#include <vector>

namespace partita {

/// Where a region lies. In an array (an operand, or scratch that holds one): at its place in the local part
/// of `rank`. In other scratch: packed from byte `offset` on, without gaps but for those that a pitch leaves,
/// with the dimensions from slowest to fastest as `axis_order` says.
struct Place {
  int buffer = 0;
  int rank = 0;  ///< whose memory; another rank only on the same node, in an operand on the heap or in shared
                 ///< scratch
  std::int64_t offset = 0;
  Extents axis_order;
  /// Of packed elements: those from one line along the fastest axis to the next; 0: as many as a line has.
  std::int64_t pitch = 0;
};

/// What a kernel reads or writes: a region of the index space of the array that it is a part of, and where it
/// lies.
struct Part {
  Region region;
  Place place;
};

/// What the caller's beta is to a step that multiplies.
enum class Beta : std::uint8_t {
  zero,   ///< `to` is overwritten and never read
  one,    ///< `to` is added to
  given,  ///< the beta of this execution; where that is 0, `to` is never read
};

/// to[.., i, j] = alpha sum_k a[.., i, k] b[.., k, j] + beta to[.., i, j], over the last two dimensions of
/// each; the leading dimensions are batch, alike in all three or absent from `a` or `b`. The sets of k in `a`
/// and `b` are the same indices; what lies at the same position in two sets belongs together.
struct Multiply {
  Part a;   ///< [.., m, k]
  Part b;   ///< [.., k, n]
  Part to;  ///< [.., m, n]; of the compute dtype, which may be wider than that of a and b; on devices also of
            ///< theirs, to which each sum is rounded at last
  bool conjugate_a = false;
  bool conjugate_b = false;
  bool scaled = true;  ///< by the alpha of this execution; otherwise alpha is 1
  Beta beta = Beta::zero;
  ComputeType compute = ComputeType::automatic;  ///< at least so precisely
  /// Of the elements of b, where its place does not say it: in scratch that it shares with a.
  std::optional<Dtype> dtype_b = {};
};

/// What happens to elements once their sum is complete.
enum class Activation : std::uint8_t { identity, relu, gelu, drelu, dgelu };

/// to = scale_d activation(scale_a scale_b scale from + beta c + bias), element by element, in one pass; the
/// last pass over a result. Into f8 what is beyond the largest number becomes that. Dtypes may differ: `from`
/// is of the compute dtype, `to` of the result's. relu: max(x, 0). gelu: the tanh form, x/2 (1 +
/// tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016). drelu, dgelu: `x` times the derivative
/// at the auxiliary *input*.
struct ApplyEpilogue {
  Part from;
  Part to;
  Activation activation = Activation::identity;
  bool has_c = false;  ///< beta c is added
  Part c;
  Beta beta = Beta::given;  ///< of c: that of this execution, or one
  bool has_bias = false;
  Part bias;  ///< one-dimensional: along the rows (dimension m) or columns (dimension n) of `from`
  bool bias_along_rows = true;  ///< bias[i] belongs to to[.., i, :]; otherwise bias[j] to to[.., :, j]
  bool has_auxiliary = false;
  Part auxiliary;  ///< written by relu and gelu (the value before the activation), read by drelu, dgelu
  bool has_gradient = false;
  Part gradient;  ///< one-dimensional, added to: the sum of `to` over the other dimension
  bool gradient_along_rows = true;
  bool has_scale_a = false;
  Part scale_a;  ///< without dimensions, or along the rows
  bool has_scale_b = false;
  Part scale_b;  ///< without dimensions, or along the columns
  bool has_scale_d = false;
  Part scale_d;  ///< without dimensions
  bool has_amax = false;
  Part amax;  ///< without dimensions: the maximum of it and of |to| before scale_d
};

/// to[i] += sum over the other dimensions of from, conjugated if wanted: bias gradients of A (over k: one
/// number a row) and of B.
struct SumAlong {
  Part from;
  Part to;       ///< one-dimensional
  int axis = 0;  ///< the dimension of `from` that stays
  bool conjugate = false;
};

/// The one-dimensional transforms of which all others are made.
enum class TransformKind : std::uint8_t {
  complex_forward,   ///< exp(-2 pi i jk/n)
  complex_backward,  ///< exp(+2 pi i jk/n)
  real_to_complex,   ///< n real -> n/2+1 complex
  complex_to_real,   ///< n/2+1 complex -> n real
  dct1,
  dct2,
  dct3,
  dct4,
  dst1,
  dst2,
  dst3,
  dst4,  ///< FFTW's REDFT00, 10, 01, 11 and RODFT00, 10, 01, 11
};

/// Transforms a region along the axes, all lines of it, unnormalised as FFTW does, times the scale of this
/// execution if `scaled`. Both parts hold whole lines and have the same extents, but for real to complex and
/// back: there the last of `axes` has n on the real side and n/2+1 on the complex one. In place where both
/// are the same part.
struct Transform {
  Part from;
  Part to;
  Extents axes;  ///< dimensions of the region, each once
  TransformKind kind = TransformKind::complex_forward;
  std::int64_t real_length = 0;  ///< n, of real_to_complex and complex_to_real
  bool scaled = false;
  bool overwrites = false;  ///< of complex_to_real: may destroy what is in `from`; of several axes always
  /// Of cosine and sine transforms: the ends of lines are weighted such that the matrix is orthogonal up to a
  /// factor. dct1 multiplies the first and last element by sqrt(2) before and by 1/sqrt(2) after, dct2 the
  /// first by 1/sqrt(2) after, dct3 the first by sqrt(2) before, dst2 and dst3 the last likewise; the other
  /// kinds are orthogonal without weights.
  bool orthogonal = false;
};

/// Transforms a region along one axis and writes each element of the result where it belongs: an exchange
/// fused with the transform before it. `to` holds parts of the region of `from`, cut along any dimension,
/// that have no element in common and are it together; their places may be of several ranks of the node.
/// Complex kinds, a power of two from 2 to 2048 elements along the axis, unnormalised, times the scale of
/// this execution if `scaled`. In place where the one part of `to` is `from`; other parts share no memory
/// with it. On devices alone.
///
/// With `first`, lines along one other axis are transformed before, by a complex kind or real to complex and
/// not scaled; `from` is where a part of its result lies, or all of it. Where lines along both are of one
/// length of at most 512 (real ones of 32 at least), devices do both in one launch.
struct TransformInto {
  static constexpr std::int64_t longest = 2048;
  static constexpr std::int64_t longest_of_first = 512;       ///< in one launch
  static constexpr std::int64_t shortest_of_real_first = 32;  ///< likewise

  std::optional<Transform> first;
  Part from;
  std::vector<Part> to;
  int axis = 0;  ///< of which `from` holds whole lines
  TransformKind kind = TransformKind::complex_forward;
  bool scaled = false;
};

/// Multiplies element (.., j, .., k, ..) of `part` by exp(sign 2 pi i j k / length), j the index along
/// `axis`, k along `other`: between the two halves of a long transform (Bailey 1990, the four-step method).
struct Twiddle {
  Part part;
  int axis = 0;
  int other = 1;
  std::int64_t length = 0;
  int sign = -1;
};

/// What a compute step does: one of these.
using Work = std::variant<Multiply, ApplyEpilogue, SumAlong, Transform, TransformInto, Twiddle>;

/// Floating-point operations of a work, a complex multiply-add counted as eight; 5 n log2 n for a complex
/// transform of n.
PARTITA_API double flops(const Work& work, bool is_complex);

/// Numbers that are given at each execution and are no part of the plan. Real work reads the real part.
struct Parameters {
  std::complex<double> alpha{1, 0};
  std::complex<double> beta{0, 0};
  double scale = 1;
};

}  // namespace partita
