#include "fft/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.hpp"
#include "base/option_text.hpp"

namespace partita {
namespace fourier {
namespace {

bool is_real(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64;
}

// The opposite of r2c is c2r; of DCT-II and DST-II it is III; I and IV are their own.
FftKind opposite(FftKind kind) {
  using enum FftKind;
  constexpr std::array opposites{c2c, c2r, r2c, dct1, dct3, dct2, dct4, dst1, dst3, dst2, dst4};
  return opposites.at(static_cast<std::size_t>(kind));
}

TransformKind along_axes(FftKind kind, bool inverse) {
  if (kind == FftKind::c2c) {
    return inverse ? TransformKind::complex_backward : TransformKind::complex_forward;
  }
  if (kind == FftKind::r2c) return TransformKind::complex_forward;
  if (kind == FftKind::c2r) return TransformKind::complex_backward;
  const int first = static_cast<int>(FftKind::dct1);
  return static_cast<TransformKind>(static_cast<int>(TransformKind::dct1) + static_cast<int>(kind) - first);
}

std::vector<int> checked_axes(const std::vector<int>& axes, int dimensions) {
  check(dimensions > 0, "a scalar has no axis to transform");
  std::vector<int> result = axes;
  if (result.empty()) {
    for (int i = 0; i < dimensions; ++i) result.push_back(i);
  }
  std::vector<bool> named(static_cast<std::size_t>(dimensions), false);
  for (const int axis : result) {
    check(axis >= 0 && axis < dimensions, "axis {} of axes ({}) is not one of the {} dimensions", axis,
          fmt::join(result, ","), dimensions);
    check(!named[static_cast<std::size_t>(axis)], "axes ({}) name axis {} twice", fmt::join(result, ","),
          axis);
    named[static_cast<std::size_t>(axis)] = true;
  }
  return result;
}

/// The function for an array of the other sort of numbers.
std::string_view advice(Dtype dtype, FftKind kind) {
  if (kind == FftKind::c2c && is_real(dtype)) return "; for real data there is rfft (r2c)";
  if (kind == FftKind::r2c && is_complex(dtype)) return "; for complex data there is fft (c2c)";
  if (kind == FftKind::c2r && is_real(dtype)) return "; its input is the half spectrum that rfft returns";
  return "";
}

void check_dtype(Dtype dtype, FftKind kind) {
  const bool wants_complex = kind == FftKind::c2c || kind == FftKind::c2r;
  check(wants_complex ? is_complex(dtype) : is_real(dtype), "{} transforms {}, but the array is {}{}",
        name(kind), wants_complex ? "complex numbers (c64 or c128)" : "real numbers (f32 or f64)",
        name(dtype), advice(dtype, kind));
}

bool is_fourier(FftKind kind) {
  return kind < FftKind::dct1;
}

/// What would be ignored without another option is refused.
void check_options(const FftOptions& options) {
  check(!options.orthogonalize.value_or(false) || !is_fourier(options.kind),
        "orthogonalize is for cosine and sine transforms, but this one is {}", name(options.kind));
  check(options.last_length >= 0, "last_length is {}, but a line has at least one element",
        options.last_length);
  check(!options.distribution || options.output != Output::cheapest,
        "a distribution is given for the result ({}), but also output \"cheapest\"",
        options.distribution ? options.distribution->to_string() : "");
  const bool uses_grid = options.method == FftMethod::pencil || options.method == FftMethod::automatic;
  check(options.grid.empty() || uses_grid, "a process grid ({}) is for the pencil method",
        fmt::join(options.grid, "x"));
}

// c2r: n of the real side, whose half spectrum has n/2 + 1 elements.
std::int64_t real_length(std::int64_t half, std::int64_t asked) {
  const std::int64_t length = asked > 0 ? asked : std::max<std::int64_t>(2 * (half - 1), 1);
  check(length / 2 + 1 == half,
        "c2r to {} elements along its last axis needs a half spectrum of {}, but the array has {}", length,
        length / 2 + 1, half);
  return length;
}

void check_extents(const Problem& problem) {
  const bool first_kind = problem.kind == TransformKind::dct1;
  for (const int axis : problem.axes) {
    const std::int64_t extent = problem.input.layout.shape()[axis];
    check(extent >= (first_kind ? 2 : 1), "axis {} has {} elements: there is nothing to transform", axis,
          extent);
  }
}

void set_shape(Problem& problem, FftKind kind) {
  problem.shape = problem.input.layout.shape();
  const int last = problem.axes.back();
  if (kind == FftKind::r2c) {
    problem.real_length = problem.shape[last];
    problem.shape[last] = problem.real_length / 2 + 1;
  } else if (kind == FftKind::c2r) {
    problem.real_length = real_length(problem.shape[last], problem.options.last_length);
    problem.shape[last] = problem.real_length;
  }
}

// The logical length of the periodic sequence that FFTW's transform is a part of.
std::int64_t logical_length(TransformKind kind, std::int64_t n) {
  if (kind == TransformKind::complex_forward || kind == TransformKind::complex_backward) return n;
  if (kind == TransformKind::dct1) return 2 * (n - 1);
  if (kind == TransformKind::dst1) return 2 * (n + 1);
  return 2 * n;
}

}  // namespace

bool Problem::transforms(int axis) const {
  return contains(axes, axis);
}

bool Problem::orthogonal() const {
  return !is_fourier(options.kind) && options.orthogonalize.value_or(options.norm == Norm::ortho);
}

Problem make_problem(const Operand& input, const Topology& topology, const FftOptions& options,
                     const Machine& machine) {
  const FftKind kind = options.inverse ? opposite(options.kind) : options.kind;
  check(input.layout.ranks() == topology.ranks(), "fft: the input is laid out over {} ranks, not over the {}",
        input.layout.ranks(), topology.ranks());
  check_dtype(input.dtype, kind);
  check_options(options);
  Problem problem{input, topology, options, machine};
  if (!options.grid.empty()) problem.options.method = FftMethod::pencil;
  problem.kind = along_axes(kind, options.inverse);
  problem.halves = kind == FftKind::r2c;
  problem.doubles = kind == FftKind::c2r;
  problem.axes = checked_axes(options.axes, input.layout.dimensions());
  problem.dtype = result_dtype(input.dtype, kind);
  check_extents(problem);
  set_shape(problem, kind);
  return problem;
}

double norm_factor(const Problem& problem) {
  double length = 1;
  for (const int axis : problem.axes) {
    const bool halved = axis == problem.halved_axis();
    const std::int64_t n = halved ? problem.real_length : problem.shape[axis];
    length *= static_cast<double>(halved ? n : logical_length(problem.kind, n));
  }
  // `inverse` turns the direction round; c2r is itself the backward one.
  const bool backward = (problem.options.kind == FftKind::c2r) != problem.options.inverse;
  if (problem.options.norm == Norm::ortho) return 1 / std::sqrt(length);
  return (problem.options.norm == Norm::backward) == backward ? 1 / length : 1;
}

FftOptions opposite(const FftOptions& options, const Shape& input) {
  FftOptions result = options;
  result.output = Output::given;
  result.distribution.reset();
  if (options.kind == FftKind::r2c || options.kind == FftKind::c2r) {
    result.kind = opposite(options.kind);
    const int last = options.axes.empty() ? input.size() - 1 : options.axes.back();
    const bool comes_back = (result.kind == FftKind::c2r) != options.inverse;
    result.last_length = comes_back ? input[last] : 0;
  } else {
    result.inverse = !options.inverse;
  }
  return result;
}

std::string to_string(const FftOptions& options) {
  OptionText text;
  for_each_option(options, text);
  return text.text();
}

}  // namespace fourier

Dtype result_dtype(Dtype input, FftKind kind) {
  if (kind == FftKind::r2c) return input == Dtype::f32 ? Dtype::c64 : Dtype::c128;
  if (kind == FftKind::c2r) return input == Dtype::c64 ? Dtype::f32 : Dtype::f64;
  return input;
}

}  // namespace partita
