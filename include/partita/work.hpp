// Works: the local kernels of compute steps, as data with regions and places instead of pointers.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <partita/compute_type.hpp>
#include <partita/dtype.hpp>
#include <partita/extents.hpp>
#include <partita/index_set.hpp>
#include <partita/layout.hpp>
#include <partita/op.hpp>
#include <variant>
#include <vector>

namespace partita {

/// The memory of a region. In a buffer with an operand: the region's elements in the local part of `rank`. In
/// other scratch: packed from byte `offset`, without gaps except those of `pitch`, with the dimensions
/// ordered from slowest to fastest by `axis_order`.
struct Place {
  int buffer = 0;
  int rank = 0;  ///< owner of the memory; another rank only on the same node, for an operand on the heap or
                 ///< shared scratch
  std::int64_t offset = 0;
  Extents axis_order;
  /// For packed elements: the distance in elements between lines along the fastest axis; 0: the length of a
  /// line.
  std::int64_t pitch = 0;
};

/// An argument of a kernel: a region of the index space of its array, and its memory.
struct Part {
  Region region;
  Place place;
};

/// The use of beta in a multiply step.
enum class Beta : std::uint8_t {
  zero,   ///< `to` is overwritten and never read
  one,    ///< the product is added to `to`
  given,  ///< the beta of this execution; if it is 0, `to` is never read
};

/// to[.., i, j] = alpha sum_k a[.., i, k] b[.., k, j] + beta to[.., i, j], over the last two dimensions of
/// each; leading dimensions are batch dimensions, the same in all three or absent from `a` or `b`. The sets
/// of k in `a` and `b` contain the same indices; elements are matched by their position in the sets.
struct Multiply {
  Part a;   ///< [.., m, k], or [.., k, m] if transpose_a
  Part b;   ///< [.., k, n], or [.., n, k] if transpose_b
  Part to;  ///< [.., m, n]; in the compute dtype, which may be wider than that of a and b; on devices also in
            ///< theirs, with one rounding of each sum at the end
  bool conjugate_a = false;
  bool conjugate_b = false;
  bool transpose_a = false;
  bool transpose_b = false;
  bool scaled = true;  ///< multiply by the alpha of this execution; otherwise alpha is 1
  Beta beta = Beta::zero;
  ComputeType compute = ComputeType::automatic;  ///< minimum precision
  /// Dtype of b if its buffer does not determine it: in scratch that it shares with a.
  std::optional<Dtype> dtype_b = {};
};

/// Activation functions of epilogues.
enum class Activation : std::uint8_t { identity, relu, gelu, drelu, dgelu };

/// to = scale_d activation(scale_a scale_b scale from + beta c + bias), element by element, in one pass; the
/// last step of a result. For FP8 results, values beyond the largest number are clamped to it. `from` has the
/// compute dtype, `to` that of the result. relu: max(x, 0). gelu: the tanh form, x/2 (1 + tanh(sqrt(2/pi) (x
/// + 0.044715 x^3))) (Hendrycks and Gimpel 2016). drelu, dgelu: `x` times the derivative at the auxiliary
/// *input*.
struct ApplyEpilogue {
  Part from;
  Part to;
  Activation activation = Activation::identity;
  bool has_c = false;  ///< whether beta c is added
  Part c;
  Beta beta = Beta::given;  ///< factor of c: that of this execution, or one
  bool has_bias = false;
  Part bias;                    ///< one-dimensional: along dimension m or n of `from`
  bool bias_along_rows = true;  ///< bias[i] is added to to[.., i, :]; otherwise bias[j] to to[.., :, j]
  bool has_auxiliary = false;
  Part auxiliary;  ///< written by relu and gelu (the value before the activation), read by drelu, dgelu
  bool has_gradient = false;
  Part gradient;  ///< one-dimensional: the sum of `to` over the other dimension is added to it
  bool gradient_along_rows = true;
  bool has_scale_a = false;
  Part scale_a;  ///< without dimensions, or along the rows
  bool has_scale_b = false;
  Part scale_b;  ///< without dimensions, or along the columns
  bool has_scale_d = false;
  Part scale_d;  ///< without dimensions
  bool has_amax = false;
  Part amax;  ///< without dimensions: becomes the maximum of itself and of |to| before scale_d
};

/// to[i] += the sum of `from` over all other dimensions, conjugated if `conjugate`: the bias gradients of A
/// (over k: one number per row) and of B.
struct SumAlong {
  Part from;
  Part to;       ///< one-dimensional
  int axis = 0;  ///< the dimension of `from` that is kept
  bool conjugate = false;
};

/// One-dimensional transforms, the components of all others.
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

/// Transforms all lines of a region along the axes, unnormalised as FFTW, times the scale of this execution
/// if `scaled`. Both parts contain whole lines and have the same extents, except for real_to_complex and
/// complex_to_real: along the last of `axes` the real side has n and the complex side n/2+1 elements. In
/// place if both are the same part.
struct Transform {
  Part from;
  Part to;
  Extents axes;  ///< dimensions of the region, each once
  TransformKind kind = TransformKind::complex_forward;
  std::int64_t real_length = 0;  ///< n, for real_to_complex and complex_to_real
  bool scaled = false;
  bool overwrites = false;  ///< complex_to_real: may overwrite `from`; always true for several axes
  /// For cosine and sine transforms: weight the ends of lines such that the matrix is orthogonal up to a
  /// factor. dct1 multiplies the first and last element by sqrt(2) before and by 1/sqrt(2) after the
  /// transform; dct2 the first by 1/sqrt(2) after; dct3 the first by sqrt(2) before; dst2 the last by
  /// 1/sqrt(2) after; dst3 the last by sqrt(2) before. The other kinds are orthogonal without weights.
  bool orthogonal = false;
};

/// Transforms a region along one axis and writes each element of the result to its new owner: an exchange
/// fused with the preceding transform. The parts of `to` partition the region of `from` along any dimension;
/// their places may be on several ranks of the node. Complex kinds with a power of two from 2 to 2048
/// elements along the axis, unnormalised, times the scale of this execution if `scaled`. In place if the only
/// part of `to` is `from`; otherwise the parts do not overlap it. Devices only.
///
/// With `first`, lines along one other axis are transformed before, by a complex kind or real_to_complex,
/// unscaled; `from` contains part or all of its result. If the lines along both axes have the same length of
/// at most 512 (real ones at least 32), devices execute both in one launch.
struct TransformInto {
  static constexpr std::int64_t longest = 2048;
  static constexpr std::int64_t longest_of_first = 512;       ///< for one launch
  static constexpr std::int64_t shortest_of_real_first = 32;  ///< for one launch

  std::optional<Transform> first;
  Part from;
  std::vector<Part> to;
  int axis = 0;  ///< the transformed axis; `from` contains whole lines along it
  TransformKind kind = TransformKind::complex_forward;
  bool scaled = false;
};

/// Multiplies element (.., j, .., k, ..) of `part` by exp(sign 2 pi i j k / length), where j is the index
/// along `axis` and k along `other`: the middle step of a long transform (Bailey 1990, the four-step method).
struct Twiddle {
  Part part;
  int axis = 0;
  int other = 1;
  std::int64_t length = 0;
  int sign = -1;
};

/// The factorizations of panels.
enum class Factorization : std::uint8_t {
  cholesky,  ///< A = L L^H, of a Hermitian matrix whose lower triangle is given
  lu,        ///< P A = L U with partial pivoting, L with ones on its diagonal
  qr,        ///< A = Q R, Q as a product of Householder reflectors
};

/// Factorizes a panel in place, by LAPACK's potrf, getrf or geqrf. cholesky: the first n rows of the panel
/// [m, n] are the block on the diagonal, the other rows become those of L; what is above the diagonal is
/// neither read nor written. The matrices of this work and of the three that follow are stored by columns:
/// adjacent rows are adjacent in memory, and columns evenly spaced.
struct FactorPanel {
  Factorization kind = Factorization::lu;
  Part panel;  ///< [m, n]; cholesky: m >= n
  /// [min(m, n)]. lu: of i32; row i was exchanged with row pivots[i] of the panel, counted from 0. qr: of the
  /// panel's dtype, the factors tau of the reflectors. cholesky: not used, without dimensions.
  Part pivots;
  /// One number of i32, written. cholesky: 0, or the order of the first leading minor that is not positive
  /// definite; the panel is then unspecified. lu: 0, or i if U(i, i), counted from 1, is the first that is
  /// exactly 0; the factorization is complete. qr: 0.
  Part status;
};

/// Exchanges rows i and pivots[i] of `to` for i = 0, 1, ... (`backward`: from the last i to the first).
struct ExchangeRows {
  Part to;
  Part pivots;  ///< of a FactorPanel; rows are counted from the first of `to`
  bool backward = false;
};

/// to = op(T)^-1 to, or with `from_right` to op(T)^-1, for a triangular matrix T. No test for singularity.
struct TriangularSolve {
  Part triangle;  ///< [n, n]; only the triangle is read
  Part to;        ///< [n, k]; from_right: [k, n]
  Op op = Op::none;
  bool upper = false;
  bool unit_diagonal = false;  ///< the diagonal is not read, and is 1
  bool from_right = false;
  bool zero_as_one = false;  ///< 0 on the diagonal counts as 1, as where getrf computes L; host only
};

/// to = Q to (`adjoint`: Q^H to), where Q is the product of the reflectors of a FactorPanel.
struct ApplyReflectors {
  Part reflectors;  ///< [m, k]: below the diagonal of the panel
  Part factors;     ///< tau of each reflector, [k]
  Part to;          ///< [m, n]
  bool adjoint = false;
};

// The works of LU with tournament pivoting (Grigori, Demmel and Xiang 2011), on the host only. The number r
// of a row is kept in two columns of the matrix's dtype, as r / row_number_base and r % row_number_base.

inline constexpr std::int64_t row_number_base = std::int64_t{1} << 20;  ///< of the two columns

/// One match of a tournament: the rows that LU with partial pivoting of `from` moves to the front, as they
/// were, in that order.
struct ChooseRows {
  Part from;    ///< [m, n], or with `numbered` [m, n + 2]: the last two columns are the numbers of the rows
  Part chosen;  ///< [k, n + 2], k <= m and n: rows and their numbers
  bool numbered = false;  ///< otherwise the numbers are the indices of the rows in the region of `from`
};

/// Pivots whose exchanges bring rows with given numbers to the front, one after the other.
struct PivotsOfRows {
  Part numbers;  ///< [k, 2]
  /// [k], i32, as of a FactorPanel whose first row is the first index of this region.
  Part pivots;
};

/// Rows that the exchanges of a panel move from one set of rows to another. `packs`: rows of `matrix` that go
/// to rows in `others` are copied into `packed`, in the order of the rows that they go to. Otherwise rows of
/// `matrix` that come from rows in `others` are copied from `packed`.
struct MoveRows {
  Part matrix;  ///< [m, n]
  Part pivots;  ///< [k], i32: rows first + i and first + pivots[i] are exchanged, as by ExchangeRows, where
                ///< first is the first index of this region
  IndexSet others;
  Part packed;          ///< [k, n]: room for all; by columns of as many rows as are moved, without gaps
  Part bytes;           ///< one i64: the size of the rows in `packed`, written
  double expected = 0;  ///< rows, for prices
  bool packs = true;
};

/// The work of a compute step.
using Work = std::variant<Multiply, ApplyEpilogue, SumAlong, Transform, TransformInto, Twiddle, FactorPanel,
                          ExchangeRows, TriangularSolve, ApplyReflectors, ChooseRows, PivotsOfRows, MoveRows>;

/// Number of floating-point operations of a work: eight per complex multiply-add; 5 n log2 n for a complex
/// transform of n.
PARTITA_API double flops(const Work& work, bool is_complex);

/// Numbers that are passed to each execution and are not part of the plan. Real works use the real parts.
struct Parameters {
  std::complex<double> alpha{1, 0};
  std::complex<double> beta{0, 0};
  double scale = 1;
};

}  // namespace partita
