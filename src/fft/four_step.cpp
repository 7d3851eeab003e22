#include "fft/four_step.hpp"

#include <cmath>
#include <tuple>

#include "fft/layouts.hpp"
#include "fft/local_transforms.hpp"
#include "fft/through_cache.hpp"

namespace partita::fourier {
namespace {

class FourStep {
 public:
  FourStep(Steps& steps, const Problem& problem, const Factors& factors, int from, int to)
      : steps_(steps), problem_(problem), factors_(factors), input_(from), output_(to) {}

  void run() {
    const int source = in_rows();
    const int target = out_rows();
    const int from = steps_.add_view(source, matrix(Slab(0), {0, 1}));
    // Element (k1, k2) of the result is at k1 + R k2: the second dimension is the slower one.
    const int to = steps_.add_view(target, matrix(Slab(1), {1, 0}));
    const int middle = is_operand(source) ? steps_.add_array(cut(0), problem_.dtype, {0, 1}) : from;
    transform(0, false, cut(1), from, middle);
    transform(1, true, cut(0), middle, to);
    if (target != output_) steps_.redistribute(target, output_);
  }

 private:
  int ranks() const { return problem_.topology.ranks(); }
  Layout cut(int axis) const { return Layout(Slab(axis), {factors_.rows, factors_.columns}, ranks()); }
  Operand matrix(const Slab& slab, const Extents& axis_order) const {
    Operand result = Operand::of(cut(slab.axis), problem_.dtype, Order::row_major, Residency::heap);
    result.axis_order = axis_order;
    return result;
  }
  /// Whether the operand's memory can be seen as a matrix that peers read or write.
  bool serves(int buffer, const Layout& rows) const {
    const Operand& operand = steps_.operand(buffer);
    return operand.dense && same(operand.layout, rows) && operand.residency == Residency::heap;
  }

  bool is_operand(int buffer) const { return steps_.buffer(buffer).kind == BufferKind::operand; }

  bool is_callers(int buffer) const {
    const int viewed = steps_.buffer(buffer).view_of;
    return is_operand(viewed < 0 ? buffer : viewed);
  }

  int in_rows() {
    const Layout rows = rows_layout(factors_.rows, factors_.columns, ranks());
    if (serves(input_, rows)) return input_;
    const int array = steps_.add_array(rows, problem_.dtype, {0});
    steps_.redistribute(input_, array);
    return array;
  }
  int out_rows() {
    const Layout rows = rows_layout(factors_.columns, factors_.rows, ranks());
    return serves(output_, rows) ? output_ : steps_.add_array(rows, problem_.dtype, {0});
  }

  /// The transforms along one axis of the matrix, the first of them with its roots of unity.
  void transform(int axis, bool last, const Layout& lines, int from, int to) {
    const Stage stage{lines, lines, {axis}};
    std::optional<Twiddle> twiddle;
    if (!last) {
      const int sign = problem_.kind == TransformKind::complex_forward ? -1 : 1;
      twiddle = Twiddle{{}, 0, 1, factors_.rows * factors_.columns, sign};
    }
    if (through_peers(problem_) && fits_through_cache(steps_.operand(from), stage)) {
      return transform_through_cache(steps_, problem_, stage, last, from, to, twiddle);
    }
    int here = from;  // where it is transformed in place
    if (!same(steps_.operand(from).layout, lines) || (steps_.on_device() && is_callers(from))) {
      here = steps_.add_array(lines, problem_.dtype, matrix_order(problem_, axis));
      steps_.redistribute(from, here);
    }
    const redistribution::Parts parts =
        parts_of_matrix(problem_, lines, problem_.dtype, axis, steps_.operand(to).layout);
    const bool in_parts = steps_.on_device() || parts.count > 1;
    if (!in_parts) transform_through_cache(steps_, problem_, stage, last, here, here, twiddle);
    const auto make = [&](const Region& part) {
      if (in_parts) transform_owned(steps_, problem_, stage, last, part, here, here, twiddle);
    };
    steps_.redistribute(here, to, parts, make);
  }

  Steps& steps_;
  const Problem& problem_;
  const Factors& factors_;
  int input_;
  int output_;
};

}  // namespace

Extents matrix_order(const Problem& problem, int axis) {
  return problem.on_device() && axis == 0 ? Extents{1, 0} : Extents{0, 1};
}

redistribution::Parts parts_of_matrix(const Problem& problem, const Layout& lines, Dtype dtype, int axis,
                                      const Layout& to) {
  if (!problem.on_device()) return parts_of(problem, lines, dtype, {axis}, to);
  Problem matrix = problem;
  matrix.input.axis_order = matrix_order(problem, axis);
  return parts_of(matrix, lines, dtype, {axis}, to);
}

std::optional<Factors> factors_of(std::int64_t length, int ranks) {
  std::optional<Factors> best;
  const auto score = [&](const Factors& factors) {
    const bool even = factors.rows % ranks == 0 && factors.columns % ranks == 0;
    return std::tuple(even ? 0 : 1, std::max(factors.rows, factors.columns));
  };
  for (std::int64_t rows = 2; rows * rows <= length; ++rows) {
    if (length % rows != 0) continue;
    const Factors factors{rows, length / rows};
    if (!best || score(factors) < score(*best)) best = factors;
  }
  return best;
}

Layout rows_layout(std::int64_t rows, std::int64_t length, int ranks) {
  const Shape shape{rows * length};
  if (rows % ranks == 0) return Layout(Slab(0), shape, ranks);
  const Layout dealt(Slab(0), {rows}, ranks);
  std::vector<Box::Bounds> boxes;
  for (int rank = 0; rank < ranks; ++rank) {
    const IndexSet set = dealt.region(rank).sets[0];
    const std::int64_t first = set.empty() ? 0 : set.front();
    boxes.push_back({{first * length}, {(first + set.size()) * length}});
  }
  return Layout(Box(std::move(boxes)), shape, ranks);
}

void walk_four_step(Steps& steps, const Problem& problem, const Factors& factors, int from, int to) {
  FourStep(steps, problem, factors, from, to).run();
}

// --- real numbers

namespace {

constexpr int input = 0;
constexpr int output = 1;

// The same problem between complex numbers.
Problem widened(const Problem& problem) {
  Problem result = problem;
  result.dtype = problem.halves ? problem.dtype : problem.input.dtype;
  result.input.dtype = result.dtype;
  result.halves = result.doubles = false;
  return result;
}

// A line as an array of lines of one element, which a transform of length one turns from real to complex.
Layout as_column(const Layout& line) {
  std::vector<Box::Bounds> boxes;
  for (int rank = 0; rank < line.ranks(); ++rank) {
    const IndexSet set = line.region(rank).sets[0];
    const std::int64_t first = set.empty() ? 0 : set.front();
    boxes.push_back({{first, 0}, {first + set.size(), set.empty() ? 0 : 1}});
  }
  return Layout(Box(std::move(boxes)), {line.shape()[0], 1}, line.ranks());
}

class RealLine {
 public:
  RealLine(Steps& steps, const Problem& problem, const Factors& factors)
      : steps_(steps), problem_(problem), complex_(widened(problem)), factors_(factors) {}

  void forward() {
    const int real = held_in(rows(), input);
    const int line = steps_.add_array(rows(), complex_.dtype, {0});
    turn(real, line, TransformKind::real_to_complex);
    const int whole = transformed(line);
    const Layout half = steps_.operand(whole).layout.window({0}, problem_.shape);
    steps_.redistribute(steps_.add_view(whole, Operand::of(half, complex_.dtype)), output);
  }

  void backward() {
    const Layout half = rows().window({0}, problem_.input.layout.shape());
    const int given = held_in(half, input);
    const int line = steps_.add_array(rows(), complex_.dtype, {0});
    extend(given, line);
    const int whole = transformed(line);
    steps_.resolve();  // peers have stored there
    const Layout layout = steps_.operand(whole).layout;
    const Operand target = steps_.operand(output);
    const bool fits = target.dense && same(target.layout, layout);
    const int real = fits ? output : steps_.add_array(layout, problem_.dtype, {0});
    turn(whole, real, TransformKind::complex_to_real);
    if (!fits) steps_.redistribute(real, output);
  }

 private:
  int ranks() const { return problem_.topology.ranks(); }
  Layout rows() const { return rows_layout(factors_.rows, factors_.columns, ranks()); }

  int held_in(const Layout& layout, int buffer) {
    const Operand given = steps_.operand(buffer);
    if (given.dense && same(given.layout, layout)) return buffer;
    const int array = steps_.add_array(layout, given.dtype, {0});
    steps_.redistribute(buffer, array);
    return array;
  }

  int transformed(int line) {
    const Layout layout = rows_layout(factors_.columns, factors_.rows, ranks());
    const int whole = steps_.add_array(layout, complex_.dtype, {0});
    walk_four_step(steps_, complex_, factors_, line, whole);
    return whole;
  }

  /// This rank's elements from one dtype to the other.
  void turn(int from, int to, TransformKind kind) {
    const Layout column = as_column(steps_.operand(from).layout);
    const Region own = column.region(steps_.rank());
    const Dtype dtypes[] = {steps_.operand(from).dtype, steps_.operand(to).dtype};
    const int views[] = {steps_.add_view(from, Operand::of(column, dtypes[0])),
                         steps_.add_view(to, Operand::of(column, dtypes[1]))};
    if (own.empty()) return;
    const auto part = [&](int view) { return Part{own, {view, steps_.rank(), 0, {}}}; };
    steps_.compute(Transform{part(views[0]), part(views[1]), {1}, kind, 1, false});
  }

  /// c_k X[k] in the first half of the line, zeros behind it.
  void extend(int half, int line) {
    const IndexSet own = rows().region(steps_.rank()).sets[0];
    const auto within = [&](std::int64_t first, std::int64_t last) {
      return Region{{intersect(own, IndexSet::range(first, last))}};
    };
    const Place from{half, steps_.rank(), 0, {}}, to{line, steps_.rank(), 0, {}};
    const std::int64_t n = problem_.real_length;
    const int rank = steps_.rank();
    const Region first = within(0, n / 2 + 1), doubled = within(1, (n + 1) / 2), rest = within(n / 2 + 1, n);
    if (!first.empty()) steps_.copy(rank, first, from, to);
    if (!doubled.empty()) steps_.accumulate(rank, Reduction::sum, doubled, from, to);
    if (!rest.empty()) steps_.fill(Reduction::sum, rest, to);
  }

  Steps& steps_;
  const Problem& problem_;
  const Problem complex_;
  const Factors& factors_;
};

}  // namespace

void walk_real_line(Steps& steps, const Problem& problem, const Factors& factors) {
  RealLine line(steps, problem, factors);
  if (problem.halves) {
    line.forward();
  } else {
    line.backward();
  }
}

}  // namespace partita::fourier
