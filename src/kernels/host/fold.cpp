#include "kernels/host/fold.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>

#include "base/check.hpp"
#include "base/element_at.hpp"
#include "base/round.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/fold_runs.hpp"
#include "kernels/host/number_rules.hpp"
#include "kernels/host/number_runs.hpp"

namespace partita::kernels {
namespace {

enum Part : std::size_t { to, a, b };

// Elements that become one number: few where the order of additions matters to the rounding error.
template <class E, class Join>
constexpr std::int64_t row_stretch = std::is_integral_v<E> || !std::is_same_v<Join, Sum> ? 8192 : 2048;
constexpr std::int64_t column_stretch = 2048;  // numbers that are reduced side by side: some pages of memory
constexpr std::int64_t least_columns = 16;
// Stretches, and rows of numbers side by side, that are reduced one after the other; more are halved.
constexpr std::int64_t stretches_in_turn = 16, rows_in_turn = 128;

/// Elements of a and b that are evenly apart.
struct Run {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::int64_t step_a = 0, step_b = 0;  // in elements
  std::int64_t count = 0;
  double factor = 1;
};

/// E: the type in which elements are reduced.
template <class E, class S>
E reduced_as(S value) {
  if constexpr (is_small_float_type<S>) {
    return static_cast<E>(to_float(value));
  } else {
    return static_cast<E>(value);
  }
}

template <class S>
bool is_true(S value) {
  if constexpr (is_small_float_type<S>) {
    return to_float(value) != 0;
  } else {
    return value != S(0);
  }
}

template <class E>
E conjugate(E value) {
  return value;
}
template <class T>
std::complex<T> conjugate(std::complex<T> value) {
  return std::conj(value);
}

/// Blocks of small floats are widened by vectors.
template <class S, class E>
void load_widened(const Run& run, E* dense) {
  std::array<float, 512> wide;
  for (std::int64_t first = 0; first < run.count; first += std::ssize(wide)) {
    const std::int64_t count = std::min(std::ssize(wide), run.count - first);
    widen(run.a + first * std::int64_t{sizeof(S)}, wide.data(), count, S{});
    std::copy_n(wide.data(), count, dense + first);
  }
}

/// S: the type in which elements are stored.
template <class S, class E, Folded folded>
void load(const Run& run, E* dense) {
  const auto* const first = reinterpret_cast<const S*>(run.a);
  const auto each = [&](const auto& number) {
    if (run.step_a == 1) {
      for (std::int64_t i = 0; i < run.count; ++i) dense[i] = number(element_at(first + i));
    } else {
      for (std::int64_t i = 0; i < run.count; ++i) dense[i] = number(element_at(first + i * run.step_a));
    }
  };
  if constexpr (folded == Folded::value) {
    if constexpr (is_small_float_type<S>) {
      if (run.step_a == 1) return load_widened<S>(run, dense);
    }
    each([](S x) { return reduced_as<E>(x); });
  } else if constexpr (folded == Folded::truth) {
    each([](S x) { return static_cast<E>(is_true(x)); });
  } else if constexpr (folded == Folded::square) {
    if constexpr (std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>) {
      each([factor = run.factor](S x) { return std::norm(factor * std::complex<double>(x)); });
    } else if constexpr (std::is_same_v<S, double>) {
      each([factor = run.factor](S x) { return (factor * x) * (factor * x); });
    } else {
      each([](S x) { return reduced_as<E>(x) * reduced_as<E>(x); });
    }
  } else {
    const auto* const second = reinterpret_cast<const S*>(run.b);
    for (std::int64_t i = 0; i < run.count; ++i) {
      const E x = reduced_as<E>(element_at(first + i * run.step_a)),
              y = reduced_as<E>(element_at(second + i * run.step_b));
      dense[i] = product_of(folded == Folded::product ? x : conjugate(x), y);
    }
  }
}

template <class E>
using Load = void (*)(const Run& run, E* dense);

/// Null: such elements are not reduced so.
template <class S, class E>
Load<E> load_of(Folded folded) {
  constexpr bool complex_numbers = std::is_same_v<E, std::complex<double>>;
  constexpr bool complex_elements =
      std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>;
  constexpr bool real_numbers = std::is_same_v<E, double>;
  constexpr bool floating_elements = is_small_float_type<S> || std::is_floating_point_v<S>;
  constexpr bool wide_integers = std::is_integral_v<E> && sizeof(E) == 8;
  if constexpr (std::is_same_v<E, std::uint8_t>) {
    if (folded == Folded::truth) return load<S, E, Folded::truth>;
  }
  if constexpr (real_numbers) {
    if (folded == Folded::square) return load<S, E, Folded::square>;
  }
  if constexpr (complex_numbers == complex_elements &&
                (real_numbers || complex_numbers || (wide_integers && std::is_integral_v<S>) ||
                 std::is_same_v<S, E> || (std::is_same_v<E, float> && floating_elements) ||
                 (std::is_same_v<E, std::uint8_t> && std::is_same_v<S, bool>))) {
    if (folded == Folded::value) return load<S, E, Folded::value>;
    if constexpr (real_numbers || complex_numbers || wide_integers) {
      if (folded == Folded::product) return load<S, E, Folded::product>;
    }
    if constexpr (complex_numbers) {
      if (folded == Folded::conjugate_product) return load<S, E, Folded::conjugate_product>;
    }
  }
  return nullptr;
}

template <class E>
Load<E> load_of(Dtype dtype, Folded folded) {
  if (!is_complex(dtype) && folded == Folded::conjugate_product) folded = Folded::product;
  return visit_dtype(dtype, [&](auto tag) { return load_of<typename decltype(tag)::type, E>(folded); });
}

/// body(J()) with the type of the result.
template <class Body>
void with_joined(Dtype joined, const Body& body) {
  if (joined == Dtype::i64) return body(std::int64_t());
  if (joined == Dtype::u64) return body(std::uint64_t());
  if (joined == Dtype::f64) return body(double());
  invariant(joined == Dtype::c128, "elements reduced in {}", name(joined));
  body(std::complex<double>());
}

template <class E, class J>
constexpr bool is_widened_to = std::is_same_v<E, J> || (std::is_integral_v<E> && std::is_integral_v<J>) ||
                               (std::is_same_v<E, float> && std::is_same_v<J, double>);

/// E: the type in which elements are reduced, that of the result or a narrower one.
template <class E>
class Folding {
 public:
  /// `join`: of two results.
  template <class Join>
  Folding(const FoldPass& pass, Join /*join*/)
      : pass_(pass),
        join_([](E one, E other) -> E { return Join{}(one, other); }),
        stretch_(row_stretch<E, Join>),
        load_(load_of<E>(pass.dtype, pass.folded)),
        loaded_(run_fold<E>(dtype_of<E>(), pass.reduction, RunOf::values)),
        identity_(identity_of(pass.reduction)),
        kept_(pass.kept),
        over_(pass.over) {
    invariant(load_ != nullptr && loaded_.total != nullptr, "{} reduced in {}", name(pass.dtype),
              name(pass.joined));
    stored_ = fold_of_stored();
    if (over_.empty()) over_.push_back({});
    columns_ = goes_by_columns();
    std::vector<ElementwiseLoop>& loops = columns_ ? kept_ : over_;
    inner_ = loops.back();
    loops.pop_back();
    chunks_ = columns_ ? 1 : ceil_divide(inner_.count, stretch_);
    units_ = chunks_;
    for (const ElementwiseLoop& loop : over_) units_ *= loop.count;
    width_ = columns_ ? std::min(column_stretch, inner_.count) : 1;
    in_turn_ = columns_ ? rows_in_turn : stretches_in_turn;
    std::int64_t levels = 1;
    for (std::int64_t units = units_; units > in_turn_; units -= units / 2) ++levels;
    sums_.resize(static_cast<std::size_t>(levels * width_));
    if (stored_.total == nullptr || inner_.strides[a] != 1)
      dense_.resize(static_cast<std::size_t>(std::min(stretch_, inner_.count)));
  }

  void run() { walk(kept_, {}); }

 private:
  using Offsets = std::array<std::int64_t, 3>;

  static E identity_of(Reduction reduction) {
    E identity;
    write_identity(reduction, dtype_of<E>(), &identity);
    return identity;
  }

  RunFold<E> fold_of_stored() const {
    if (pass_.folded == Folded::truth || (pass_.dtype == Dtype::boolean && pass_.folded == Folded::value))
      return run_fold<E>(pass_.dtype, pass_.reduction, RunOf::truths);
    if (pass_.folded == Folded::value) return run_fold<E>(pass_.dtype, pass_.reduction, RunOf::values);
    if (pass_.folded == Folded::square && pass_.factor == 1)
      return run_fold<E>(pass_.dtype, pass_.reduction, RunOf::squares);
    return {};
  }

  /// Whether neighbours in memory are kept, and are enough for a vector.
  bool goes_by_columns() const {
    if (kept_.empty()) return false;
    const ElementwiseLoop &kept = kept_.back(), &over = over_.back();
    return std::abs(kept.strides[a]) < std::abs(over.strides[a]) &&
           kept.count >= std::min(least_columns, over.count);
  }

  static Offsets moved(Offsets at, const ElementwiseLoop& loop, std::int64_t by) {
    for (std::size_t x = 0; x < at.size(); ++x) at[x] += by * loop.strides[x];
    return at;
  }

  void walk(std::span<const ElementwiseLoop> loops, const Offsets& at) {
    if (loops.empty()) return fold_at(at);
    for (std::int64_t i = 0; i < loops.front().count; ++i)
      walk(loops.subspan(1), moved(at, loops.front(), i));
  }

  void fold_at(const Offsets& at) {
    if (units_ == 1 && !columns_) {
      const E number = total(at, inner_.count);
      return write(at[to], &number, 1, 0);
    }
    const std::int64_t count = columns_ ? inner_.count : 1, step = columns_ ? inner_.strides[to] : 0;
    for (std::int64_t first = 0; first < count; first += width_) {
      const std::int64_t width = std::min(width_, count - first);
      const Offsets here = columns_ ? moved(at, inner_, first) : at;
      pairwise(here, 0, units_, sums_.data(), width);
      write(here[to], sums_.data(), width, step);
    }
  }

  /// The results at offset, offset + step, ...; of no elements the identity.
  void write(std::int64_t offset, const E* numbers, std::int64_t count, std::int64_t step) const {
    with_joined(pass_.joined, [&](auto zero) {
      using J = decltype(zero);
      auto* const result = static_cast<J*>(pass_.data[to]) + offset;
      if constexpr (is_widened_to<E, J>) {
        J identity;
        if (units_ == 0) write_identity(pass_.reduction, pass_.joined, &identity);
        for (std::int64_t j = 0; j < count; ++j)
          result[j * step] = units_ == 0 ? identity : static_cast<J>(numbers[j]);
      }
    });
  }

  /// Both halves are reduced separately: the rounding error grows with the logarithm of their number.
  /// Behind `sums` there is room for those of all halves within.
  void pairwise(const Offsets& at, std::int64_t first, std::int64_t units, E* sums, std::int64_t width) {
    if (units <= in_turn_) {
      std::fill_n(sums, width, identity_);
      for (std::int64_t unit = first; unit < first + units;)
        unit += join_units(at, unit, first + units, sums, width);
      return;
    }
    E* const others = sums + width_;
    pairwise(at, first, units / 2, sums, width);
    pairwise(at, first + units / 2, units - units / 2, others, width);
    loaded_.join(sums, {others, width});
  }

  /// This unit and those after it that are evenly apart in memory, below `last`. Returns how many.
  std::int64_t join_units(const Offsets& at, std::int64_t unit, std::int64_t last, E* sums,
                          std::int64_t width) {
    Offsets here = at;
    const std::int64_t chunk = unit % chunks_;
    std::int64_t rest = unit / chunks_;
    for (std::size_t l = over_.size(); l-- > 0;) {
      here = moved(here, over_[l], rest % over_[l].count);
      rest /= over_[l].count;
    }
    if (!columns_) {
      const std::int64_t begin = chunk * stretch_;
      sums[0] = join_(sums[0], total(moved(here, inner_, begin), std::min(stretch_, inner_.count - begin)));
      return 1;
    }
    const Run run = elements_at(here, width);
    if (stored_.total == nullptr || run.step_a != 1) {
      load_(run, dense_.data());
      loaded_.join(sums, {dense_.data(), width});
      return 1;
    }
    const ElementwiseLoop& rows = over_.back();
    const std::int64_t count = std::min(last - unit, rows.count - unit % rows.count);
    stored_.join(sums, {run.a, width, count, rows.strides[a] * size_of(pass_.dtype)});
    return count;
  }

  E total(const Offsets& at, std::int64_t count) {
    const Run run = elements_at(at, count);
    if (stored_.total != nullptr && run.step_a == 1) return stored_.total(run.a, count);
    load_(run, dense_.data());
    return loaded_.total(dense_.data(), count);
  }

  Run elements_at(const Offsets& at, std::int64_t count) const {
    const std::int64_t bytes = size_of(pass_.dtype);
    const auto place = [&](Part part) {
      const auto* const data = static_cast<const std::byte*>(pass_.data[part]);
      return data == nullptr ? nullptr : data + at[part] * bytes;
    };
    return {place(a), place(b), inner_.strides[a], inner_.strides[b], count, pass_.factor};
  }

  const FoldPass& pass_;
  E (*join_)(E, E);
  std::int64_t stretch_;  // of a row
  Load<E> load_;
  RunFold<E> stored_;  // of elements as they are; null: there is none
  RunFold<E> loaded_;
  E identity_;
  bool columns_ = false;
  std::vector<ElementwiseLoop> kept_, over_;  // but for the innermost one
  ElementwiseLoop inner_;
  std::int64_t chunks_ = 1;  // of a row
  std::int64_t units_ = 1;   // that are reduced to one result, or to `width_` side by side
  std::int64_t in_turn_ = 1;
  std::int64_t width_ = 1;
  std::vector<E> sums_;  // of `width_`, a level of halves each
  std::vector<E> dense_;
};

template <class S>
constexpr bool is_ordered =
    !std::is_same_v<S, std::complex<float>> && !std::is_same_v<S, std::complex<double>>;
/// The type in which the extrema of a storage type are found.
template <class S>
using Compared = std::conditional_t<std::is_same_v<S, bool>, std::uint8_t,
                                    std::conditional_t<is_small_float_type<S>, float, S>>;

template <class E>
void fold_extremes(const FoldPass& pass) {
  if (pass.reduction == Reduction::min) return Folding<E>(pass, Min{}).run();
  invariant(pass.reduction == Reduction::max, "{} of {}", name(pass.reduction), name(pass.joined));
  Folding<E>(pass, Max{}).run();
}

template <class J>
void fold_in(const FoldPass& pass) {
  if (pass.reduction == Reduction::product) return Folding<J>(pass, Product{}).run();
  invariant(pass.reduction == Reduction::sum, "{} of {}", name(pass.reduction), name(pass.joined));
  Folding<J>(pass, Sum{}).run();
}

template <class S, class J>
S finished(const FinishPass& pass, J value) {
  if constexpr (std::is_integral_v<J>) {
    return static_cast<S>(value);
  } else {
    if constexpr (std::is_same_v<J, double>) {
      if (pass.root) value = std::sqrt(value);
    }
    if (pass.divisor != 1) value /= pass.divisor;
    if constexpr (is_small_float_type<S>) {
      return from_float<S>(static_cast<float>(value));
    } else {
      return static_cast<S>(value);
    }
  }
}

template <class S, class J>
inline constexpr bool fits =
    std::is_integral_v<J>       ? std::is_integral_v<S>
    : std::is_same_v<J, double> ? is_small_float_type<S> || std::is_floating_point_v<S>
                                : !is_small_float_type<S> && !std::is_arithmetic_v<S>;

template <class S, class J>
void finish_nest(const FinishPass& pass, std::span<const ElementwiseLoop> loops, S* result, const J* from) {
  if (loops.empty()) {
    if constexpr (std::is_same_v<S, double>) {
      if (pass.replaced && !pass.replaced->contains(*result)) return;
    }
    *result = finished<S>(pass, *from);
    return;
  }
  const ElementwiseLoop& loop = loops.front();
  if (loops.size() == 1 && loop.strides[to] == 1 && loop.strides[a] == 1 && !pass.replaced) {
    for (std::int64_t i = 0; i < loop.count; ++i) result[i] = finished<S>(pass, from[i]);
    return;
  }
  for (std::int64_t i = 0; i < loop.count; ++i) {
    finish_nest(pass, loops.subspan(1), result + i * loop.strides[to], from + i * loop.strides[a]);
  }
}

}  // namespace

FoldPass simplify(FoldPass pass) {
  pass.kept = simplified(std::move(pass.kept), to);
  pass.over = simplified(std::move(pass.over), a);
  return pass;
}

void fold(const FoldPass& pass) {
  if (pass.folded == Folded::truth) return fold_extremes<std::uint8_t>(pass);
  if (pass.reduction == Reduction::sum || pass.reduction == Reduction::product)
    return with_joined(pass.joined, [&](auto zero) { fold_in<decltype(zero)>(pass); });
  visit_dtype(pass.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (is_ordered<S>) return fold_extremes<Compared<S>>(pass);
    invariant(false, "{} of {}", name(pass.reduction), name(pass.dtype));
  });
}

void finish(const FinishPass& pass) {
  with_joined(pass.joined, [&](auto zero) {
    using J = decltype(zero);
    visit_dtype(pass.result, [&](auto tag) {
      using S = typename decltype(tag)::type;
      if constexpr (fits<S, J>) {
        finish_nest(pass, pass.loops, static_cast<S*>(pass.data[0]), static_cast<const J*>(pass.data[1]));
      } else {
        invariant(false, "{} reduced in {}", name(pass.result), name(pass.joined));
      }
    });
  });
}

}  // namespace partita::kernels
