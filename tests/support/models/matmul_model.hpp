// Random multiplies, and what they must give, summed element by element in wider numbers.
#pragma once

#include "array/array_state.hpp"
#include "base/visit_dtype.hpp"
#include "support/models/random_layouts.hpp"
#include "support/models/wide.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {

/// A whole array on every rank, row-major. Collective; sums partial arrays.
class Whole {
 public:
  Whole() = default;
  explicit Whole(const Array& array) : shape_(array.shape()) { take(redistribute(array, Replicated())); }

  /// The array after fill_random(array, seed). Local where the array is not partial.
  static Whole random(const Array& array, std::uint64_t seed) {
    if (array.layout().partial()) return Whole(array);
    std::vector<char> memory(static_cast<std::size_t>(volume(array.shape()) * size_of(array.dtype()) + 16));
    const Layout everywhere(Replicated(), array.shape(), array.layout().ranks());
    const View view = View::dense(memory.data(), array.dtype(), array.shape());
    Array whole(std::make_shared<Array::State>(
        Array::State{array.context_state(), Operand::of(everywhere, array.dtype()), view, nullptr, -1}));
    fill_random(whole, seed);
    Whole result;
    result.shape_ = array.shape();
    result.take(whole);
    return result;
  }
  const Shape& shape() const { return shape_; }
  /// Element (i, j) of a matrix of the stack; an array without leading dimensions has one for all.
  Wide at(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    const std::int64_t rows = shape_[shape_.size() - 2];
    const std::int64_t columns = shape_[shape_.size() - 1];
    const std::int64_t stack = shape_.size() > 2 ? matrix : 0;
    return values_[static_cast<std::size_t>((stack * rows + i) * columns + j)];
  }
  Wide operator[](std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }

 private:
  void take(const Array& everywhere) {
    values_.resize(static_cast<std::size_t>(volume(shape_)));
    each_element(everywhere, [&](std::int64_t number, auto& element) {
      values_[static_cast<std::size_t>(number)] = widened(element);
    });
  }

  Shape shape_;
  std::vector<Wide> values_;
};

inline bool transposing(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

inline Wide through(Op op, const Whole& whole, std::int64_t matrix, std::int64_t i, std::int64_t j) {
  const Wide value = transposing(op) ? whole.at(matrix, j, i) : whole.at(matrix, i, j);
  return op == Op::conjugate || op == Op::conjugate_transpose ? std::conj(value) : value;
}

/// Half the distance from 1 to the next number.
inline long double rounding(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return 0x1p-11L;
    case Dtype::bf16:
      return 0x1p-8L;
    case Dtype::f8e4m3:
      return 0x1p-4L;
    case Dtype::f8e5m2:
      return 0x1p-3L;
    case Dtype::f32:
    case Dtype::c64:
      return 0x1p-24L;
    default:
      return 0x1p-53L;
  }
}

/// Half the distance between the numbers next to 0, or more.
inline long double underflow(Dtype dtype) {
  if (dtype == Dtype::f8e4m3) return 0x1p-10L;
  if (dtype == Dtype::f8e5m2) return 0x1p-17L;
  return is_small_float(dtype) ? 0x1p-25L : 0;
}

/// alpha op(A) op(B) + beta C, and with absolute values instead of values: the scale of its rounding errors.
struct Product {
  const Whole* a;
  const Whole* b;
  const Whole* c;  ///< null where it is not read
  MatmulOptions options;
  std::int64_t k;
  /// Of its terms, by which their sum may be off in addition to the roundings of its dtype: `cut_of_sums`.
  long double cut = 0;

  Wide value(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    Wide sum = 0;
    for (std::int64_t l = 0; l < depth(); ++l) {
      sum += through(options.op_a, *a, matrix, i, l) * through(options.op_b, *b, matrix, l, j);
    }
    sum *= widened(options.alpha);
    return c == nullptr ? sum : sum + widened(options.beta) * c->at(matrix, i, j);
  }
  long double magnitude(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    long double sum = 0;
    for (std::int64_t l = 0; l < depth(); ++l) {
      sum += std::abs(through(options.op_a, *a, matrix, i, l)) *
             std::abs(through(options.op_b, *b, matrix, l, j));
    }
    sum *= static_cast<long double>(std::abs(options.alpha));
    return c == nullptr
               ? sum
               : sum + static_cast<long double>(std::abs(options.beta)) * std::abs(c->at(matrix, i, j));
  }

 private:
  std::int64_t depth() const { return options.alpha == std::complex<double>(0) ? 0 : k; }
};

/// Tensor cores of Hopper add up to 32 products of f8 at once, each with 13 bits behind the first of the
/// largest; a few of them may be small compared with it.
inline long double cut_of_sums(Dtype factors) {
  return is_float8(factors) && has_devices() && !tests_fake_devices() ? 4 * 0x1p-13L : 0;
}

/// Relative error in the Frobenius norm over the rows i with i mod ranks == rank, against a bound of the
/// rounding errors: sqrt(k) in the precision that is summed in, one in that of the result.
inline void expect_product(const Product& product, const Whole& d, Dtype dtype, int rank, int ranks,
                           const std::string& text) {
  const Shape& shape = d.shape();
  const std::int64_t m = shape[shape.size() - 2];
  const std::int64_t n = shape[shape.size() - 1];
  std::int64_t stack = 1;
  for (int i = 0; i < shape.size() - 2; ++i) stack *= shape[i];
  long double error = 0;
  long double scale = 0;
  long double size = 0;
  for (std::int64_t matrix = 0; matrix < stack; ++matrix) {
    for (std::int64_t i = rank; i < m; i += ranks) {
      for (std::int64_t j = 0; j < n; ++j) {
        const Wide expected = product.value(matrix, i, j);
        error += std::norm(d.at(matrix, i, j) - expected);
        size += std::norm(expected);
        const long double magnitude = product.magnitude(matrix, i, j);
        scale += magnitude * magnitude;
      }
    }
  }
  const long double summed = rounding(is_small_float(dtype) ? Dtype::f32 : dtype);
  const auto terms = std::sqrt(static_cast<long double>(product.k)) + 3;
  const auto elements = static_cast<long double>(volume(shape));
  // A device may cut both factors to ten bits behind the first.
  const long double cut = product.cut + (product.options.compute == ComputeType::tf32 ? 2 * 0x1p-10L : 0);
  const long double bound = (4 * terms * summed + cut) * std::sqrt(scale) +
                            1.5L * rounding(dtype) * std::sqrt(size) + underflow(dtype) * std::sqrt(elements);
  EXPECT_LE(std::sqrt(error), bound) << text;
}

/// Memory of a test's own behind a wrapped array.
struct Held {
  std::vector<char> memory;
  SymmetricMemory symmetric;
  Array array;
};

/// The layout of an array of a test: heap or ordinary memory, row- or column-major, or with gaps.
enum class Lies { heap, heap_columns, ordinary, ordinary_columns, gaps };

inline Held make_held(const Context& context, const Layout& layout, Dtype dtype, Lies lies) {
  if (lies != Lies::gaps) {
    const bool heap = lies == Lies::heap || lies == Lies::heap_columns;
    const bool columns = lies == Lies::heap_columns || lies == Lies::ordinary_columns;
    return {{},
            {},
            empty(context, layout, dtype,
                  {.residency = heap ? Residency::heap : Residency::ordinary,
                   .order = columns ? Order::column_major : Order::row_major})};
  }
  Held result;
  if (context.state()->default_space() == MemorySpace::device) {
    WrappedSymmetric spaced = spread(context, layout, dtype, 2);
    return {{}, std::move(spaced.memory), std::move(spaced.array)};
  }
  const Shape extents = layout.local_shape(context.rank());
  Strides strides = dense_strides(extents);
  for (std::int64_t& stride : strides) stride *= 2;
  result.memory.resize(static_cast<std::size_t>(2 * volume(extents) * size_of(dtype) + 16));
  result.array = wrap(context, {result.memory.data(), dtype, extents, strides, MemorySpace::host}, layout);
  return result;
}

/// What must not show; of integers, which have no NaN, -77.
inline void fill_nan(Array& array) {
  const double value = is_integer(array.dtype()) ? -77 : std::numeric_limits<double>::quiet_NaN();
  write_constant(array, value);
}

/// [.., m, k] or [.., k, m], as op(X) wants it.
inline Shape stored_shape(const Shape& batch, std::int64_t rows, std::int64_t columns, Op op) {
  Shape shape = batch;
  shape.push_back(transposing(op) ? columns : rows);
  shape.push_back(transposing(op) ? rows : columns);
  return shape;
}

}  // namespace partita::testing
