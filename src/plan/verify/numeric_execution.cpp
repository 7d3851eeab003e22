#include "plan/verify/numeric_execution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/check.hpp"
#include "plan/moves.hpp"
#include "plan/verify/slots.hpp"
#include "plan/work.hpp"

namespace partita::verification {
namespace {

// --- transforms and activations by their definitions

using std::numbers::pi;

/// 2 cos, then 2 sin, of pi (j + x) (k + y) / (n + longer): FFTW's cosine and sine transforms I to IV.
struct Angle {
  double x, y, longer;
};
constexpr std::array<Angle, 8> angles{{{0, 0, -1},
                                       {0.5, 0, 0},
                                       {0, 0.5, 0},
                                       {0.5, 0.5, 0},
                                       {1, 1, 1},
                                       {0.5, 1, 0},
                                       {1, 0.5, 0},
                                       {0.5, 0.5, 0}}};

/// The weight of input j in output k of a transform of n.
Number weight(TransformKind kind, std::int64_t n, std::int64_t j, std::int64_t k) {
  if (kind < TransformKind::dct1) {
    const bool backward = kind == TransformKind::complex_backward || kind == TransformKind::complex_to_real;
    const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
    return std::polar(1.0, (backward ? 2 : -2) * pi * turns);
  }
  const auto number = static_cast<std::size_t>(kind) - static_cast<std::size_t>(TransformKind::dct1);
  const Angle& of = angles.at(number);
  const double angle = pi * (static_cast<double>(j) + of.x) * (static_cast<double>(k) + of.y) /
                       (static_cast<double>(n) + of.longer);
  const bool first = j == 0 && (kind == TransformKind::dct1 || kind == TransformKind::dct3);
  const bool last = j == n - 1 && (kind == TransformKind::dct1 || kind == TransformKind::dst3);
  return (first || last ? 1 : 2) * (kind < TransformKind::dst1 ? std::cos(angle) : std::sin(angle));
}

/// Half a spectrum gets its other half, which is not stored; imaginary parts that a real result cannot have
/// are ignored.
void mirror(Numbers& line, std::size_t n) {
  line.resize(n);
  line[0] = line[0].real();
  if (n % 2 == 0) line[n / 2] = line[n / 2].real();
  for (std::size_t j = n / 2 + 1; j < n; ++j) line[j] = std::conj(line[n - j]);
}

/// Numbers of a row-major array, transformed along one axis, unnormalised; `shape` becomes that of the
/// result. `n`: the length on the real side of real_to_complex and complex_to_real.
Numbers transformed(TransformKind kind, std::int64_t n, int axis, Shape& shape, const Numbers& numbers) {
  const auto length = static_cast<std::size_t>(n), before = static_cast<std::size_t>(shape[axis]);
  if (kind == TransformKind::real_to_complex) shape[axis] = n / 2 + 1;
  if (kind == TransformKind::complex_to_real) shape[axis] = n;
  const auto after = static_cast<std::size_t>(shape[axis]);
  Numbers weights;
  for (std::int64_t k = 0; k < shape[axis]; ++k) {
    for (std::int64_t j = 0; j < n; ++j) weights.push_back(weight(kind, n, j, k));
  }
  std::size_t inner = 1;
  for (int d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  Numbers result(numbers.size() / before * after), line;
  for (std::size_t first = 0; first < numbers.size() / before; ++first) {  // the number of a line
    const std::size_t outer = first / inner, within = first % inner;
    line.resize(before);
    for (std::size_t j = 0; j < before; ++j) line[j] = numbers[(outer * before + j) * inner + within];
    if (kind == TransformKind::complex_to_real) mirror(line, length);
    for (std::size_t k = 0; k < after; ++k) {
      result[(outer * after + k) * inner + within] = std::inner_product(
          line.begin(), line.end(), weights.begin() + static_cast<std::ptrdiff_t>(k * length), Number());
    }
  }
  return result;
}

/// Of each line of a row-major array along an axis.
void multiply_ends(const planning::LineEnds& ends, int axis, const Shape& shape, Numbers& numbers) {
  std::size_t inner = 1;
  for (int d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  const auto length = static_cast<std::size_t>(shape[axis]);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t position = i / inner % length;
    if (position == 0) numbers[i] *= ends.first;
    if (position + 1 == length) numbers[i] *= ends.last;
  }
}

/// What an activation makes of x.
double activated(Activation activation, double x, double auxiliary) {
  const double root = std::sqrt(2 / pi), cubic = 0.044715, y = auxiliary;
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x / 2 * (1 + std::tanh(root * (x + cubic * x * x * x)));
    case Activation::drelu:
      return y > 0 ? x : 0;
    case Activation::dgelu: {
      const double t = std::tanh(root * (y + cubic * y * y * y));
      return x * (0.5 * (1 + t) + y / 2 * (1 - t * t) * root * (1 + 3 * cubic * y * y));
    }
  }
  return x;
}

// --- parts

std::size_t extent(const Part& part, std::size_t back) {
  const std::vector<IndexSet>& sets = part.region.sets;
  return static_cast<std::size_t>(sets[sets.size() - back].size());
}

/// Where the elements of `part`, row-major, stand among those of `whole`.
template <class Visit>
void for_each_position(const Region& part, const Region& whole, const Visit& visit) {
  for (std::int64_t i = 0; i < part.size(); ++i) {
    std::int64_t rest = i, position = 0, step = 1;
    for (std::size_t d = part.sets.size(); d-- > 0;) {
      const std::int64_t index = part.sets[d].at(rest % part.sets[d].size());
      check<Fault>(whole.sets[d].contains(index), "a part is outside of what it is a part of");
      position += step * whole.sets[d].position(index);
      step *= whole.sets[d].size();
      rest /= part.sets[d].size();
    }
    visit(position);
  }
}

Number joined(Reduction reduction, Number a, Number b) {
  if (reduction == Reduction::sum) return a + b;
  if (reduction == Reduction::product) return a * b;
  check<Fault>(reduction == Reduction::min || reduction == Reduction::max,
               "the {} of numbers is not verified", name(reduction));
  return reduction == Reduction::min ? std::min(a.real(), b.real()) : std::max(a.real(), b.real());
}

Number identity_of(Reduction reduction) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (reduction == Reduction::min) return infinity;
  if (reduction == Reduction::max) return -infinity;
  return reduction == Reduction::product ? 1 : 0;
}

}  // namespace

// --- memory

std::vector<std::int64_t> NumericExecution::slots(const Part& part, std::int64_t item) const {
  if (item == 0) item = size_of(planning::dtype_at(plans_.plan(0), part.place));
  return memory().slots(part.place, part.region, item);
}

Numbers NumericExecution::load(const Part& part, std::int64_t item) const {
  const Cells<NumberCell>& held = cells(part.place.rank, planning::memory_of(plans_.plan(0), part.place));
  Numbers numbers;
  for (const std::int64_t slot : slots(part, item)) {
    numbers.push_back(held.read(slot).value);
  }
  return numbers;
}

void NumericExecution::store(const Part& part, const Numbers& numbers, std::int64_t item) {
  Cells<NumberCell>& held = cells(part.place.rank, planning::memory_of(plans_.plan(0), part.place));
  std::size_t i = 0;
  for (const std::int64_t slot : slots(part, item)) held.at(slot).value = numbers[i++];
}

Numbers NumericExecution::read(const Part& part, std::int64_t item) const {
  if (part.region.empty()) return {};
  check_access(rank_, part.place);
  memory().check_quiet(part.place, slots(part, item), false);
  return load(part, item);
}

void NumericExecution::write(const Part& part, const Numbers& numbers, std::int64_t item) {
  if (part.region.empty()) return;
  check_access(rank_, part.place);
  memory().check_quiet(part.place, slots(part, item), true);
  store(part, numbers, item);
}

// --- steps

void NumericExecution::run_local(int rank, const Step& step) {
  rank_ = rank;
  if (step.kind != StepKind::compute) return move(step);
  std::visit([this](const auto& work) { compute(work); }, planning::work_of(plans_.plan(rank), step));
}

void NumericExecution::move(const Step& step) {
  const Part to{step.region, step.to};
  const std::int64_t item = planning::item_bytes(plans_.plan(0), step);
  if (step.kind == StepKind::fill) {
    return write(to, Numbers(static_cast<std::size_t>(step.region.size()), identity_of(step.reduction)),
                 item);
  }
  Numbers numbers = read({step.region, step.from}, item);
  if (step.kind == StepKind::accumulate) {
    const Numbers before = read(to, item);
    std::ranges::transform(before, numbers, numbers.begin(),
                           [&](Number a, Number b) { return joined(step.reduction, a, b); });
  }
  write(to, numbers, item);
}

// --- works

void NumericExecution::compute(const Multiply& work) {
  const auto set = [](const Part& part, std::size_t back) -> const IndexSet& {
    return part.region.sets[part.region.sets.size() - back];
  };
  const std::size_t ka = work.transpose_a ? 2 : 1, kb = work.transpose_b ? 1 : 2;
  check<Fault>(set(work.a, ka) == set(work.b, kb) && set(work.a, 3 - ka) == set(work.to, 2) &&
                   set(work.b, 3 - kb) == set(work.to, 1),
               "the parts of a multiply do not fit each other");
  const std::size_t m = extent(work.to, 2), n = extent(work.to, 1), k = extent(work.a, ka);
  const Number alpha = work.scaled ? parameters_.alpha : 1;
  const Number beta = planning::beta_of(work.beta, parameters_);
  const Numbers a = read(work.a), b = read(work.b);
  Numbers to(static_cast<std::size_t>(work.to.region.size()), 0);
  if (beta != Number(0)) to = read(work.to);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t batch = i / (m * n), row = i / n % m, column = i % n;
    const std::size_t in_a = a.size() == m * k ? 0 : batch * m * k,
                      in_b = b.size() == k * n ? 0 : batch * k * n;
    Number sum = 0;
    for (std::size_t l = 0; l < k; ++l) {
      const Number x = a[in_a + (work.transpose_a ? l * m + row : row * k + l)];
      const Number y = b[in_b + (work.transpose_b ? column * k + l : l * n + column)];
      sum += (work.conjugate_a ? std::conj(x) : x) * (work.conjugate_b ? std::conj(y) : y);
    }
    to[i] = alpha * sum + (beta == Number(0) ? Number(0) : beta * to[i]);
  }
  write(work.to, to);
}

void NumericExecution::compute(const ApplyEpilogue& work) {
  const bool backward = work.activation == Activation::drelu || work.activation == Activation::dgelu;
  Numbers to = read(work.from);
  const Number beta = planning::beta_of(work.beta, parameters_);
  const Numbers c = work.has_c && beta != Number(0) ? read(work.c) : Numbers();
  const Numbers bias = work.has_bias ? read(work.bias) : Numbers();
  Numbers auxiliary = work.has_auxiliary && backward ? read(work.auxiliary) : Numbers();
  Numbers gradient = work.has_gradient ? read(work.gradient) : Numbers();
  const auto scales = [&](bool has, const Part& part) { return has ? read(part) : Numbers{1}; };
  const Numbers scale_a = scales(work.has_scale_a, work.scale_a),
                scale_b = scales(work.has_scale_b, work.scale_b),
                scale_d = scales(work.has_scale_d, work.scale_d);
  Numbers amax = work.has_amax ? read(work.amax) : Numbers();
  const bool writes = work.has_auxiliary && !backward;
  const auto along = [&](std::size_t i, bool rows) {
    const std::size_t n = extent(work.to, 1);
    return rows ? i / n % extent(work.to, 2) : i % n;
  };
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] *= parameters_.scale * scale_a[scale_a.size() > 1 ? along(i, true) : 0] *
             scale_b[scale_b.size() > 1 ? along(i, false) : 0];
    if (!c.empty()) to[i] += beta * c[i];
    if (work.has_bias) to[i] += bias[along(i, work.bias_along_rows)];
    if (writes) auxiliary.push_back(to[i]);
    if (work.activation != Activation::identity) {
      to[i] = activated(work.activation, to[i].real(), backward ? auxiliary[i].real() : 0);
    }
    if (work.has_gradient) gradient[along(i, work.gradient_along_rows)] += to[i];
    if (work.has_amax) amax[0] = std::max(amax[0].real(), std::abs(to[i]));
    to[i] *= scale_d[0];
  }
  write(work.to, to);
  if (writes) write(work.auxiliary, auxiliary);
  if (work.has_gradient) write(work.gradient, gradient);
  if (work.has_amax) write(work.amax, amax);
}

void NumericExecution::compute(const SumAlong& work) {
  const Numbers from = read(work.from);
  Numbers to = read(work.to);
  const Shape shape = work.from.region.shape();
  std::size_t inner = 1;
  for (int d = work.axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  for (std::size_t i = 0; i < from.size(); ++i)
    to[i / inner % to.size()] += work.conjugate ? std::conj(from[i]) : from[i];
  write(work.to, to);
}

// The halved axis is the first from real numbers, and the last to them.
void NumericExecution::compute(const Transform& work) {
  const bool halves = work.kind == TransformKind::real_to_complex;
  const bool doubles = work.kind == TransformKind::complex_to_real;
  const TransformKind others = halves    ? TransformKind::complex_forward
                               : doubles ? TransformKind::complex_backward
                                         : work.kind;
  std::vector<int> axes(work.axes.begin(), work.axes.end());
  const int last = axes.back();
  if (halves) std::rotate(axes.begin(), axes.end() - 1, axes.end());
  Shape shape = work.from.region.shape();
  Numbers numbers = read(work.from);
  for (const int axis : axes) {
    const bool halved = (halves || doubles) && axis == last;
    const std::int64_t n = halved ? work.real_length : shape[axis];
    if (numbers.empty()) continue;
    if (work.orthogonal) multiply_ends(planning::ends_before(work.kind), axis, shape, numbers);
    numbers = transformed(halved ? work.kind : others, n, axis, shape, numbers);
    if (work.orthogonal) multiply_ends(planning::ends_after(work.kind), axis, shape, numbers);
  }
  if (work.scaled)
    std::ranges::transform(numbers, numbers.begin(), [&](Number x) { return x * parameters_.scale; });
  check<Fault>(numbers.empty() || shape == work.to.region.shape(), "the parts of a transform do not fit");
  write(work.to, numbers);
}

void NumericExecution::compute(const TransformInto& work) {
  if (work.first) compute(*work.first);
  const Region& region = work.from.region;
  Shape shape = region.shape();
  Numbers numbers = read(work.from);
  if (!numbers.empty()) numbers = transformed(work.kind, shape[work.axis], work.axis, shape, numbers);
  std::int64_t parts = 0;
  for (const Part& part : work.to) {
    Numbers some;
    for_each_position(part.region, region, [&](std::int64_t position) {
      some.push_back(numbers[static_cast<std::size_t>(position)] * (work.scaled ? parameters_.scale : 1.0));
    });
    parts += part.region.size();
    write(part, some);
  }
  check<Fault>(parts == region.size(), "the parts that a transform writes differ from its input");
}

void NumericExecution::compute(const Twiddle& work) {
  Numbers numbers = read(work.part);
  const Region& region = work.part.region;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), power = 1;
    for (int d = static_cast<int>(region.sets.size()) - 1; d >= 0; --d) {
      const IndexSet& set = region.sets[static_cast<std::size_t>(d)];
      if (d == work.axis || d == work.other) power *= set.at(rest % set.size());
      rest /= set.size();
    }
    const double turns = static_cast<double>(power % work.length) / static_cast<double>(work.length);
    numbers[i] *= std::polar(1.0, work.sign * 2 * pi * turns);
  }
  write(work.part, numbers);
}

}  // namespace partita::verification
