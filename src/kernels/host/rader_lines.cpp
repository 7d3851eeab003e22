#include "kernels/host/rader_lines.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <type_traits>

#include "base/check.hpp"
#include "base/pages.hpp"
#include "base/round.hpp"
#include "kernels/host/known.hpp"
#include "kernels/host/number_arithmetic.hpp"
#include "kernels/host/rader.hpp"
#include "kernels/host/transform.hpp"

namespace partita::kernels {
namespace {

template <class Real>
struct Number {
  Real real = 0;
  Real imaginary = 0;
};

/// The transform of the convolution's kernel, divided by its length.
template <class Real>
std::vector<Number<Real>> kernel_of(const Rader& rader, FftwPrecision precision, int sign) {
  const auto length = static_cast<long double>(rader.convolution);
  std::vector<Number<Real>> roots, kernel(static_cast<std::size_t>(rader.convolution));
  for (const std::int64_t exponent : rader.exponents) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(exponent) /
                              static_cast<long double>(rader.prime);
    const bool zero = exponent < 0;
    roots.push_back({zero ? 0 : static_cast<Real>(std::cos(angle) / length),
                     zero ? 0 : static_cast<Real>(sign * std::sin(angle) / length)});
  }
  TransformShape shape;
  shape.precision = precision;
  shape.lines = {{rader.convolution, 1, 1}};
  const TransformMemory memory = memory_of(fftw(precision), roots.data(), kernel.data());
  plan_transform(shape, memory)->run(roots.data(), kernel.data());
  return kernel;
}

/// What transforms of one length share: indices, kernel and plans. Buffers: a line is `rows` rows of the
/// convolution's length and a place for one more number, which is the row's x[0] at first and its X[0] at the
/// end.
template <class Real>
class RaderTransform {
 public:
  using Item = Number<Real>;
  static constexpr FftwPrecision precision =
      std::is_same_v<Real, double> ? FftwPrecision::f64 : FftwPrecision::f32;
  static constexpr std::int64_t width = 64 / sizeof(Item);  // lines at a time: a cache line of neighbours

  RaderTransform(TransformKind kind, std::int64_t length, bool measure)
      : rader_(*rader(length)),
        kernel_(kernel_of<Real>(rader_, precision, kind == TransformKind::complex_forward ? -1 : 1)) {
    step_ = round_up(rader_.rows * row(), width);
    if (step_ * item % page_bytes == 0) step_ += width;  // lines would evict each other
    TransformShape shape;
    shape.precision = precision;
    shape.measure = measure;
    shape.lines = {{rader_.convolution, 1, 1}};
    shape.batch = {{width, step_, step_}, {rader_.rows, row(), row()}};
    forward_ = plan_transform(shape, {});
    shape.kind = TransformKind::complex_backward;
    backward_ = plan_transform(shape, {});
    if (rader_.rows == 1) return;
    shape.kind = kind;
    shape.lines = {{rader_.rows, row(), row()}};
    shape.batch = {{width, step_, step_}, {rader_.prime, 1, 1}};
    across_ = plan_transform(shape, {});
  }

  std::int64_t buffer_items() const { return width * step_; }

  /// Elements of a line are `stride` apart, lines `along`.
  template <class Count>
  void gather(const Item* from, std::int64_t stride, std::int64_t along, Item* lines, Count count) const {
    const std::int64_t others = rader_.prime - 1;
    const std::int64_t* place = rader_.convolved.data();
    for (std::int64_t r = 0; r < rader_.rows; ++r, lines += row()) {
      for (std::int64_t j = 0; j < others; ++j, ++place) {
        for (std::int64_t w = 0; w < count; ++w) lines[w * step_ + j] = from[*place * stride + w * along];
      }
      const Item* const first = from + rader_.first[static_cast<std::size_t>(r)] * stride;
      for (std::int64_t w = 0; w < count; ++w) {
        Item* const line = lines + w * step_;
        for (std::int64_t j = others; j < rader_.convolution; ++j) line[j] = {};
        line[rader_.convolution] = first[w * along];
      }
    }
  }

  /// Returns where the results are, in `lines` or in `others`, both buffers.
  Item* run(Item* lines, Item* others) const {
    forward_->run(lines, others);
    multiply(lines, others);
    backward_->run(others, lines);
    if (rader_.convolution >= rader_.prime) move_first(lines);
    if (!across_) return lines;
    across_->run(lines, others);
    return others;
  }

  template <class Count>
  void scatter(const Item* lines, Item* to, std::int64_t stride, std::int64_t along, Count count) const {
    const std::int64_t* place = rader_.results.data();
    for (std::int64_t r = 0; r < rader_.rows; ++r, lines += row()) {
      for (std::int64_t j = 0; j < rader_.prime; ++j, ++place) {
        for (std::int64_t w = 0; w < count; ++w) to[*place * stride + w * along] = lines[w * step_ + j];
      }
    }
  }

 private:
  static constexpr std::int64_t item = sizeof(Item);

  /// Even, so that every row is aligned for vectors.
  std::int64_t row() const { return (rader_.convolution + 2) / 2 * 2; }

  template <class Visit>
  void for_each_row(const Visit& visit) const {
    for (std::int64_t w = 0; w < width; ++w) {
      for (std::int64_t r = 0; r < rader_.rows; ++r) visit(w * step_ + r * row());
    }
  }

  /// The sum of a row is at frequency 0; what x[0] adds to all of them is added there, too.
  void multiply(Item* lines, Item* others) const {
    const std::int64_t length = rader_.convolution;
    const Item* const kernel = kernel_.data();
    for_each_row([=](std::int64_t at) {
      Item* const x = others + at;
      Item& first = lines[at + length];
      const Item before = first;
      first = {before.real + x->real, before.imaginary + x->imaginary};
      multiply_complex(&x->real, &kernel->real, length);
      *x = {x->real + before.real, x->imaginary + before.imaginary};
    });
  }

  /// Behind the results, where the convolution had zeros.
  void move_first(Item* lines) const {
    for_each_row([&](std::int64_t at) { lines[at + rader_.prime - 1] = lines[at + rader_.convolution]; });
  }

  Rader rader_;
  std::vector<Item> kernel_;
  std::int64_t step_ = 0;  // elements from line to line of a buffer
  std::shared_ptr<const LocalTransform> forward_, backward_;
  std::shared_ptr<const LocalTransform> across_;  // rows; none where there is only one
};

/// One for all nests of the same lines: the chunks of a loop are many.
template <class Real>
std::shared_ptr<const RaderTransform<Real>> rader_transform(TransformKind kind, std::int64_t length,
                                                            bool measure) {
  using Key = std::tuple<TransformKind, std::int64_t, bool>;
  static auto* const known = new Known<Key, RaderTransform<Real>>;
  return known->find_or_make({kind, length, measure}, [&] {
    return std::make_shared<const RaderTransform<Real>>(kind, length, measure);
  });
}

template <class Real>
class RaderLines final : public Lines {
 public:
  RaderLines(TransformKind kind, const FftwLoop& line, std::vector<FftwLoop> batch, bool measure)
      : line_(line),
        blocks_(std::move(batch)),
        in_place_(line.from_stride == line.to_stride && blocks_.stays()),
        transform_(rader_transform<Real>(kind, line.count, measure)) {}

  std::int64_t workspace_bytes() const override {
    return 2 * transform_->buffer_items() * static_cast<std::int64_t>(sizeof(Item));
  }

  void run_part(const char* from, char* to, char* workspace, double factor, LinePart part) const override {
    check<UnsupportedError>(from != to || in_place_, "a local transform in place cannot move lines");
    const auto* const inputs = reinterpret_cast<const Item*>(from);
    auto* const outputs = reinterpret_cast<Item*>(to);
    auto* const lines = reinterpret_cast<Item*>(workspace);
    blocks_.for_each(width, part, [&](std::int64_t from_first, std::int64_t to_first, std::int64_t count) {
      // The compiler unrolls whole blocks.
      if (count == width) {
        run_block(inputs + from_first, outputs + to_first, lines, factor, WholeBlock{});
      } else {
        run_block(inputs + from_first, outputs + to_first, lines, factor, count);
      }
    });
  }

 private:
  using Item = Number<Real>;
  static constexpr std::int64_t width = RaderTransform<Real>::width;
  using WholeBlock = std::integral_constant<std::int64_t, width>;

  /// In a block that is not full the other lines are those of the block before: their results are not read.
  template <class Count>
  void run_block(const Item* from, Item* to, Item* lines, double factor, Count count) const {
    const std::int64_t items = transform_->buffer_items();
    transform_->gather(from, line_.from_stride, blocks_.along().from_stride, lines, count);
    Item* const results = transform_->run(lines, lines + items);
    if (factor != 1) {
      const std::array<ScaleLoop, 1> all{{{items * 2, 1}}};
      scale(all, 1, static_cast<Real>(factor), &results->real);
    }
    transform_->scatter(results, to, line_.to_stride, blocks_.along().to_stride, count);
  }

  FftwLoop line_;
  LineBlocks blocks_;
  bool in_place_;
  std::shared_ptr<const RaderTransform<Real>> transform_;
};

}  // namespace

std::shared_ptr<const Lines> rader_lines(TransformKind kind, FftwPrecision precision, const FftwLoop& line,
                                         std::vector<FftwLoop> batch, bool measure) {
  invariant(has_rader(line.count), "a transform of {} points as a convolution", line.count);
  if (precision == FftwPrecision::f32) {
    return std::make_shared<const RaderLines<float>>(kind, line, std::move(batch), measure);
  }
  return std::make_shared<const RaderLines<double>>(kind, line, std::move(batch), measure);
}

}  // namespace partita::kernels
