// Elementwise passes before and after transforms of lines on a device. Also plain C++: tests without a
// device run the same code.
//
// Cosine and sine transforms are computed by Fourier transforms, of length m (`length_of_transform`), with n
// the length of a line and w(t) = exp(i pi t):
//
//   types II and III (Makhoul 1980), m = n, real; v = x_0 x_2 x_4 .. x_5 x_3 x_1, V its half spectrum:
//     DCT-II:   y_k = 2 Re w(-k/2n) V_k
//     DCT-III:  V_k = w(k/2n) (x_k - i x_(n-k)), x_n = 0, and back: the inverse of that
//   type I, m = 2 (n - 1) or 2 (n + 1), real: the even or odd sequence that x is a part of
//   type IV, n even, m = n/2, complex: V the transform of (x_2p + i x_(n-1-2p)) w(-(4p + 1)/4n), then
//     c_p = w(-p/n) V_p,  y_2p = 2 Re c_p,  y_(n-1-2p) = -2 Im c_p
//   type IV, n odd, m = 2n, complex: V the transform of x_p w(-p/2n) with n zeros,
//     y_k = 2 Re w(-(2k + 1)/4n) V_k
//
// and sine transforms by cosine transforms: DST-II is DCT-II of x_j (-1)^j with the result reversed;
// DST-III and DST-IV are the cosine transforms of the reversed x, times (-1)^k.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/arithmetic_launch.hpp"
#include "kernels/cuda/everywhere.hpp"

namespace partita::kernels::cuda {

/// Which elements are written: `copy_*` all of the lines as they are, `widen` complex from real, `narrow` the
/// real parts, `half_spectrum` those of real lines of n elements, without imaginary parts where they have
/// none, `before_*` what is transformed, `after_*` the result.
enum class LineStep : std::uint8_t {
  copy_real,
  copy_complex,
  widen,
  narrow,
  half_spectrum,
  before_1,
  before_2,
  before_3,
  before_4,
  after_1,
  after_2,
  after_3,
  after_4,
};

/// Of each line: `to[position] = scale f(from, position)`. Strides and offsets in elements, of the dtype of
/// that side. Of the lines in `batch` (strides: from, to), `lines` from number `first` on.
struct LinePass {
  LineStep step = LineStep::copy_complex;
  bool single = false;         ///< numbers of 32 bits
  bool sine = false;           ///< of cosine and sine transforms
  std::int64_t n = 0;          ///< the length of a line: of them, and of half spectra
  std::int64_t positions = 0;  ///< that are written, of a line
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t from_offset = 0, to_offset = 0;
  std::int64_t from_stride = 1, to_stride = 1;  ///< along the lines
  ElementLoops batch;
  std::int64_t first = 0, lines = 1;
  bool along = true;  ///< neighbouring threads take neighbours of a line, not neighbouring lines
  double scale = 1;
  /// Of cosine and sine transforms: factors of the first and the last element of a line, of the input of
  /// `before_*` and of the result of `after_*`.
  double first_factor = 1, last_factor = 1;
};

/// Element (.., j, .., k, ..) times exp(sign 2 pi i j k / length). Loops' strides and offsets: of the
/// element, of j and of k.
struct TwiddlePass {
  bool single = false;
  void* data = nullptr;
  std::int64_t offset[3] = {};
  ElementLoops loops;
  std::int64_t length = 1;
  int sign = -1;
};

/// Each gives a cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_line_pass(const LinePass& pass, void* stream);
int launch_twiddle(const TwiddlePass& pass, void* stream);

/// As load_copy_kernels.
int load_line_kernels();

// --- one element

template <class Real>
struct alignas(2 * sizeof(Real)) LineNumber {
  Real real, imaginary;
};

/// exp(i pi t), to an ulp or two of double precision.
PARTITA_EVERYWHERE inline LineNumber<double> half_turns(double t) {
#ifdef __CUDA_ARCH__
  LineNumber<double> result;
  sincospi(t, &result.imaginary, &result.real);
  return result;
#else
  constexpr double pi = 3.14159265358979323846;
  return {std::cos(pi * t), std::sin(pi * t)};
#endif
}

/// exp(i pi numerator / denominator), -denominator <= numerator <= denominator.
template <class Real>
PARTITA_EVERYWHERE LineNumber<Real> root_of(std::int64_t numerator, std::int64_t denominator) {
  const LineNumber<double> root =
      half_turns(static_cast<double>(numerator) / static_cast<double>(denominator));
  return {static_cast<Real>(root.real), static_cast<Real>(root.imaginary)};
}

template <class Real>
PARTITA_EVERYWHERE LineNumber<Real> line_product(LineNumber<Real> a, LineNumber<Real> b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

/// A line of a pass, and what stands in it.
template <class Real>
class Line {
 public:
  using Number = LineNumber<Real>;

  PARTITA_EVERYWHERE Line(const LinePass& pass, std::int64_t from, std::int64_t to)
      : pass_(pass), from_(from), to_(to), n_(pass.n) {}

  PARTITA_EVERYWHERE void write(std::int64_t position) const {
    switch (pass_.step) {
      case LineStep::copy_real:
        return put(position, real(position));
      case LineStep::copy_complex:
        return put(position, number(position));
      case LineStep::widen:
        return put(position, Number{real(position), Real(0)});
      case LineStep::narrow:
        return put(position, number(position).real);
      case LineStep::half_spectrum:
        return put(position, of_half_spectrum(position, number(position)));
      case LineStep::before_1:
        return put(position, before_1(position));
      case LineStep::before_2:
        return put(position, before_2(position));
      case LineStep::before_3:
        return put(position, before_3(position));
      case LineStep::before_4:
        return put(position, before_4(position));
      case LineStep::after_1:
        return put(position,
                   end(position) * (pass_.sine ? -number(position + 1).imaginary : number(position).real));
      case LineStep::after_2:
        return put(position, end(position) * after_2(pass_.sine ? n_ - 1 - position : position));
      case LineStep::after_3:
        return put(position, sign(position) * real(position % 2 == 0 ? position / 2 : n_ - 1 - position / 2));
      case LineStep::after_4:
        return put(position, sign(position) * after_4(position));
    }
  }

 private:
  PARTITA_EVERYWHERE Real real(std::int64_t position) const {
    return static_cast<const Real*>(pass_.from)[from_ + position * pass_.from_stride];
  }
  PARTITA_EVERYWHERE Number number(std::int64_t position) const {
    return static_cast<const Number*>(pass_.from)[from_ + position * pass_.from_stride];
  }
  PARTITA_EVERYWHERE void put(std::int64_t position, Real value) const {
    static_cast<Real*>(pass_.to)[to_ + position * pass_.to_stride] = value * static_cast<Real>(pass_.scale);
  }
  PARTITA_EVERYWHERE void put(std::int64_t position, Number value) const {
    const auto scale = static_cast<Real>(pass_.scale);
    static_cast<Number*>(pass_.to)[to_ + position * pass_.to_stride] = {value.real * scale,
                                                                        value.imaginary * scale};
  }

  /// What an element of the line is multiplied by.
  PARTITA_EVERYWHERE Real end(std::int64_t position) const {
    Real factor = position == 0 ? static_cast<Real>(pass_.first_factor) : Real(1);
    if (position == n_ - 1) factor *= static_cast<Real>(pass_.last_factor);
    return factor;
  }
  PARTITA_EVERYWHERE Real given(std::int64_t position) const { return end(position) * real(position); }
  /// Of types III and IV: where sines are those of the line from its end to its beginning.
  PARTITA_EVERYWHERE Real turned(std::int64_t position) const {
    return given(pass_.sine ? n_ - 1 - position : position);
  }
  PARTITA_EVERYWHERE Real sign(std::int64_t position) const {
    return pass_.sine && position % 2 != 0 ? Real(-1) : Real(1);
  }

  PARTITA_EVERYWHERE Number of_half_spectrum(std::int64_t k, Number value) const {
    const bool own_conjugate = k == 0 || 2 * k == n_;
    return {value.real, own_conjugate ? Real(0) : value.imaginary};
  }
  PARTITA_EVERYWHERE Real before_1(std::int64_t p) const {
    if (!pass_.sine) return given(p < n_ ? p : 2 * (n_ - 1) - p);
    if (p % (n_ + 1) == 0) return Real(0);
    return p <= n_ ? real(p - 1) : -real(2 * n_ + 1 - p);
  }
  PARTITA_EVERYWHERE Real before_2(std::int64_t p) const {
    if (p < (n_ + 1) / 2) return real(2 * p);
    const Real value = real(2 * (n_ - p) - 1);
    return pass_.sine ? -value : value;
  }
  PARTITA_EVERYWHERE Number before_3(std::int64_t k) const {
    const Number value{turned(k), k == 0 ? Real(0) : -turned(n_ - k)};
    return of_half_spectrum(k, line_product(root_of<Real>(k, 2 * n_), value));
  }
  PARTITA_EVERYWHERE Number before_4(std::int64_t p) const {
    if (n_ % 2 == 0)
      return line_product(root_of<Real>(-(4 * p + 1), 4 * n_), Number{turned(2 * p), turned(n_ - 1 - 2 * p)});
    if (p >= n_) return {Real(0), Real(0)};
    return line_product(root_of<Real>(-p, 2 * n_), Number{turned(p), Real(0)});
  }

  PARTITA_EVERYWHERE Real after_2(std::int64_t k) const {
    const bool mirrored = k > n_ / 2;
    Number value = number(mirrored ? n_ - k : k);
    if (mirrored) value.imaginary = -value.imaginary;
    return Real(2) * line_product(root_of<Real>(-k, 2 * n_), value).real;
  }
  PARTITA_EVERYWHERE Real after_4(std::int64_t k) const {
    if (n_ % 2 != 0) return Real(2) * line_product(root_of<Real>(-(2 * k + 1), 4 * n_), number(k)).real;
    const bool even = k % 2 == 0;
    const std::int64_t p = even ? k / 2 : (n_ - 1 - k) / 2;
    const Number value = line_product(root_of<Real>(-p, n_), number(p));
    return Real(2) * (even ? value.real : -value.imaginary);
  }

  const LinePass& pass_;
  std::int64_t from_, to_, n_;
};

/// Element `number` of all that a pass writes, in the order of its threads.
template <class Real>
PARTITA_EVERYWHERE void write_element(const LinePass& pass, std::int64_t number) {
  const std::int64_t inner = pass.along ? pass.positions : pass.lines;
  const std::int64_t outer = number / inner, rest = number - outer * inner;
  std::int64_t line = pass.first + (pass.along ? outer : rest);
  std::int64_t from = pass.from_offset, to = pass.to_offset;
  for (int l = pass.batch.loops - 1; l >= 0; --l) {
    const std::int64_t whole = line / pass.batch.counts[l], here = line - whole * pass.batch.counts[l];
    from += here * pass.batch.strides[l][0];
    to += here * pass.batch.strides[l][1];
    line = whole;
  }
  Line<Real>(pass, from, to).write(pass.along ? rest : outer);
}

/// j k modulo the length, also where j k does not fit into 64 bits.
PARTITA_EVERYWHERE inline std::int64_t exponent_of(std::int64_t j, std::int64_t k, std::int64_t length) {
  constexpr std::int64_t small = std::int64_t{1} << 31;
  if (j < small && k < small) return j * k % length;
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(j) * k % length);
}

inline std::int64_t rows_of(const TwiddlePass& pass) {
  std::int64_t rows = 1;
  for (int l = 0; l + 1 < pass.loops.loops; ++l) rows *= pass.loops.counts[l];
  return rows;
}
/// Elements of a row, which is a turn of all loops but the innermost.
inline std::int64_t row_length(const TwiddlePass& pass) {
  return pass.loops.loops == 0 ? 1 : pass.loops.counts[pass.loops.loops - 1];
}

/// What a row's elements are multiplied by.
class RootsOfRow {
 public:
  PARTITA_EVERYWHERE RootsOfRow(const TwiddlePass& pass, std::int64_t row)
      : pass_(pass), inner_(pass.loops.loops - 1), at_{pass.offset[0], pass.offset[1], pass.offset[2]} {
    for (int l = inner_ - 1; l >= 0; --l) {
      const std::int64_t whole = row / pass.loops.counts[l], here = row - whole * pass.loops.counts[l];
      for (int x = 0; x < 3; ++x) at_[x] += here * pass.loops.strides[l][x];
      row = whole;
    }
  }

  /// The address of an element.
  PARTITA_EVERYWHERE std::int64_t place(std::int64_t i) const { return at_[0] + i * stride(0); }
  PARTITA_EVERYWHERE LineNumber<double> root(std::int64_t i) const {
    return at_exponent(exponent_of(at_[1] + i * stride(1), at_[2] + i * stride(2), pass_.length));
  }
  /// The quotient of the roots of two elements `step` apart, if it is constant: only one of j and k changes
  /// along a row.
  PARTITA_EVERYWHERE LineNumber<double> turn(std::int64_t step) const {
    return at_exponent(exponent_of(step, at_[2] * stride(1) + at_[1] * stride(2), pass_.length));
  }
  PARTITA_EVERYWHERE bool turns_alike() const { return stride(1) == 0 || stride(2) == 0; }

 private:
  PARTITA_EVERYWHERE std::int64_t stride(int x) const {
    return inner_ < 0 ? 0 : pass_.loops.strides[inner_][x];
  }
  PARTITA_EVERYWHERE LineNumber<double> at_exponent(std::int64_t exponent) const {
    if (2 * exponent > pass_.length) exponent -= pass_.length;  // small angles keep their bits
    return root_of<double>(pass_.sign * 2 * exponent, pass_.length);
  }

  const TwiddlePass& pass_;
  int inner_;
  std::int64_t at_[3];
};

/// Elements that a thread reads at the same time.
constexpr int twiddled_together = 8;

/// Elements first, first + step, .. below `end` of a row. Roots for numbers of 32 bits follow from each other
/// within a few of them, in 64 bits.
template <class Real>
PARTITA_EVERYWHERE void twiddle_row(const TwiddlePass& pass, std::int64_t row, std::int64_t first,
                                    std::int64_t end, std::int64_t step) {
  constexpr int together = twiddled_together;
  const RootsOfRow roots(pass, row);
  const bool follow = sizeof(Real) < sizeof(double) && roots.turns_alike();
  const LineNumber<double> turn = follow ? roots.turn(step) : LineNumber<double>{1, 0};
  auto* const data = static_cast<LineNumber<Real>*>(pass.data);
  for (std::int64_t i = first; i < end; i += together * step) {
    LineNumber<Real> values[together];
    PARTITA_UNROLLED
    for (int e = 0; e < together; ++e) {
      if (i + e * step < end) values[e] = data[roots.place(i + e * step)];
    }
    LineNumber<double> root = roots.root(i);
    PARTITA_UNROLLED
    for (int e = 0; e < together; ++e) {
      const std::int64_t at = i + e * step;
      if (at >= end) break;
      if (e > 0) root = follow ? line_product(root, turn) : roots.root(at);
      data[roots.place(at)] =
          line_product(values[e], {static_cast<Real>(root.real), static_cast<Real>(root.imaginary)});
    }
  }
}

}  // namespace partita::kernels::cuda
