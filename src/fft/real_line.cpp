#include "fft/four_step.hpp"
#include "fft/layouts.hpp"

namespace partita::fourier {
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
    steps_.settle();  // peers have stored there
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
