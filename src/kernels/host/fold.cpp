#include "kernels/host/fold.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>

#include "base/check.hpp"
#include "base/element_at.hpp"
#include "base/round.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/number_rules.hpp"

namespace partita::kernels {
namespace {

enum Part : std::size_t { to, a, b };

constexpr std::int64_t row_stretch = 512;      // elements that become one number
constexpr std::int64_t column_stretch = 2048;  // numbers that are reduced side by side: some pages of memory
constexpr std::int64_t least_columns = 16;
constexpr std::int64_t in_turn = 16;  // stretches that are reduced one after the other; more are halved

/// Elements of a and b that are evenly apart.
struct Run {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::int64_t step_a = 0, step_b = 0;  // in elements
  std::int64_t count = 0;
  double factor = 1;
};

template <class J, class S>
J joined_as(S value) {
  if constexpr (is_small_float_type<S>) {
    return static_cast<J>(to_float(value));
  } else {
    return static_cast<J>(value);
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

template <class J>
J conjugate(J value) {
  return value;
}
template <class T>
std::complex<T> conjugate(std::complex<T> value) {
  return std::conj(value);
}

/// S: the type in which elements are stored. J: the type in which they are reduced.
template <class S, class J, Folded folded>
void load(const Run& run, J* dense) {
  const auto* const first = reinterpret_cast<const S*>(run.a);
  const auto each = [&](const auto& number) {
    if (run.step_a == 1) {
      for (std::int64_t i = 0; i < run.count; ++i) dense[i] = number(element_at(first + i));
    } else {
      for (std::int64_t i = 0; i < run.count; ++i) dense[i] = number(element_at(first + i * run.step_a));
    }
  };
  if constexpr (folded == Folded::value) {
    each([](S x) { return joined_as<J>(x); });
  } else if constexpr (folded == Folded::truth) {
    each([](S x) { return static_cast<J>(is_true(x)); });
  } else if constexpr (folded == Folded::square) {
    if constexpr (std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>) {
      each([factor = run.factor](S x) { return std::norm(factor * std::complex<double>(x)); });
    } else if constexpr (std::is_same_v<S, double>) {
      each([factor = run.factor](S x) { return (factor * x) * (factor * x); });
    } else {
      each([](S x) { return joined_as<J>(x) * joined_as<J>(x); });
    }
  } else {
    const auto* const second = reinterpret_cast<const S*>(run.b);
    for (std::int64_t i = 0; i < run.count; ++i) {
      const J x = joined_as<J>(element_at(first + i * run.step_a)),
              y = joined_as<J>(element_at(second + i * run.step_b));
      dense[i] = product_of(folded == Folded::product ? x : conjugate(x), y);
    }
  }
}

template <class J>
using Load = void (*)(const Run& run, J* dense);

/// Null: such elements are not reduced so.
template <class S, class J>
Load<J> load_of(Folded folded) {
  constexpr bool complex_numbers = std::is_same_v<J, std::complex<double>>;
  constexpr bool complex_elements =
      std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>;
  constexpr bool real_numbers = std::is_same_v<J, double>;
  constexpr bool whole_elements = std::is_integral_v<S>;
  if constexpr (std::is_same_v<J, std::uint64_t>) {
    if (folded == Folded::truth) return load<S, J, Folded::truth>;
  }
  if constexpr (real_numbers) {
    if (folded == Folded::square) return load<S, J, Folded::square>;
  }
  if constexpr (complex_numbers == complex_elements && (real_numbers || complex_numbers || whole_elements)) {
    if (folded == Folded::value) return load<S, J, Folded::value>;
    if (folded == Folded::product) return load<S, J, Folded::product>;
    if constexpr (complex_numbers) {
      if (folded == Folded::conjugate_product) return load<S, J, Folded::conjugate_product>;
    }
  }
  return nullptr;
}

template <class J>
Load<J> load_of(Dtype dtype, Folded folded) {
  if (!is_complex(dtype) && folded == Folded::conjugate_product) folded = Folded::product;
  return visit_dtype(dtype, [&](auto tag) { return load_of<typename decltype(tag)::type, J>(folded); });
}

template <class J, class Join>
class Folding {
 public:
  Folding(const FoldPass& pass, Load<J> load) : pass_(pass), load_(load), kept_(pass.kept), over_(pass.over) {
    write_identity(pass.reduction, pass.joined, &identity_);
    if (over_.empty()) over_.push_back({});
    columns_ = goes_by_columns();
    std::vector<ElementwiseLoop>& loops = columns_ ? kept_ : over_;
    inner_ = loops.back();
    loops.pop_back();
    chunks_ = columns_ ? 1 : ceil_divide(inner_.count, row_stretch);
    units_ = chunks_;
    for (const ElementwiseLoop& loop : over_) units_ *= loop.count;
    width_ = columns_ ? std::min(column_stretch, inner_.count) : 1;
    std::int64_t levels = 1;
    for (std::int64_t units = units_; units > in_turn; units -= units / 2) ++levels;
    sums_.resize(static_cast<std::size_t>(levels * width_));
  }

  void run() { walk(kept_, {}); }

 private:
  using Offsets = std::array<std::int64_t, 3>;

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
    auto* const result = static_cast<J*>(pass_.data[to]);
    const std::int64_t count = columns_ ? inner_.count : 1, step = columns_ ? inner_.strides[to] : 0;
    for (std::int64_t first = 0; first < count; first += width_) {
      const std::int64_t width = std::min(width_, count - first);
      const Offsets here = columns_ ? moved(at, inner_, first) : at;
      pairwise(here, 0, units_, sums_.data(), width);
      for (std::int64_t j = 0; j < width; ++j)
        result[here[to] + j * step] = sums_[static_cast<std::size_t>(j)];
    }
  }

  /// Both halves are reduced separately: the rounding error grows with the logarithm of their number.
  /// Behind `sums` there is room for those of all halves within.
  void pairwise(const Offsets& at, std::int64_t first, std::int64_t units, J* sums, std::int64_t width) {
    if (units <= in_turn) {
      std::fill(sums, sums + width, identity_);
      for (std::int64_t unit = first; unit < first + units; ++unit) join_unit(at, unit, sums, width);
      return;
    }
    J* const others = sums + width_;
    pairwise(at, first, units / 2, sums, width);
    pairwise(at, first + units / 2, units - units / 2, others, width);
    for (std::int64_t j = 0; j < width; ++j) sums[j] = join_(sums[j], others[j]);
  }

  void join_unit(const Offsets& at, std::int64_t unit, J* sums, std::int64_t width) {
    Offsets here = at;
    const std::int64_t chunk = unit % chunks_;
    std::int64_t rest = unit / chunks_;
    for (std::size_t l = over_.size(); l-- > 0;) {
      here = moved(here, over_[l], rest % over_[l].count);
      rest /= over_[l].count;
    }
    if (!columns_) {
      const std::int64_t first = chunk * row_stretch;
      with_numbers(
          moved(here, inner_, first), std::min(row_stretch, inner_.count - first),
          [&](const auto& number, std::int64_t count) { sums[0] = join_(sums[0], total(number, count)); });
      return;
    }
    for (std::int64_t first = 0; first < width; first += row_stretch) {
      J* const to_these = sums + first;
      with_numbers(moved(here, inner_, first), std::min(row_stretch, width - first),
                   [&](const auto& number, std::int64_t count) {
                     for (std::int64_t j = 0; j < count; ++j) to_these[j] = join_(to_these[j], number(j));
                   });
    }
  }

  /// body(number, count), where number(i) is the i-th along the innermost loop, in the type in which they are
  /// reduced. What is dense, and wide or widened at once, is not copied.
  template <class Body>
  void with_numbers(const Offsets& at, std::int64_t count, const Body& body) {
    const std::int64_t bytes = size_of(pass_.dtype);
    Run run{static_cast<const std::byte*>(pass_.data[a]) + at[a] * bytes,
            nullptr,
            inner_.strides[a],
            inner_.strides[b],
            count,
            pass_.factor};
    if (run.step_a == 1 && pass_.folded == Folded::value && pass_.dtype == pass_.joined) {
      return body([numbers = reinterpret_cast<const J*>(run.a)](std::int64_t i) { return numbers[i]; },
                  count);
    }
    if constexpr (std::is_same_v<J, double>) {
      if (run.step_a == 1 && pass_.dtype == Dtype::f32) {
        const auto* const floats = reinterpret_cast<const float*>(run.a);
        const auto wide = [floats](std::int64_t i) { return static_cast<double>(floats[i]); };
        if (pass_.folded == Folded::value) return body(wide, count);
        if (pass_.folded == Folded::square)
          return body([wide](std::int64_t i) { return wide(i) * wide(i); }, count);
      }
    }
    if (pass_.data[b] != nullptr) run.b = static_cast<const std::byte*>(pass_.data[b]) + at[b] * bytes;
    load_(run, dense_.data());
    body([numbers = dense_.data()](std::int64_t i) { return numbers[i]; }, count);
  }

  /// Eight sums side by side: the machine adds them at once, and the order does not depend on it.
  template <class Number>
  J total(const Number& number, std::int64_t count) const {
    std::array<J, 8> lanes;
    lanes.fill(identity_);
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) {
        lanes[lane] = join_(lanes[lane], number(i + static_cast<std::int64_t>(lane)));
      }
    }
    for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] = join_(lanes[lane], number(i));
    for (std::size_t half = 4; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] = join_(lanes[lane], lanes[lane + half]);
    }
    return lanes[0];
  }

  const FoldPass& pass_;
  Load<J> load_;
  Join join_;
  J identity_{};
  bool columns_ = false;
  std::vector<ElementwiseLoop> kept_, over_;  // but for the innermost one
  ElementwiseLoop inner_;
  std::int64_t chunks_ = 1;  // of a row
  std::int64_t units_ = 1;   // that are reduced to one result, or to `width_` side by side
  std::int64_t width_ = 1;
  std::vector<J> sums_;  // of `width_`, a level of halves each
  std::array<J, row_stretch> dense_;
};

template <class J>
void fold_in(const FoldPass& pass) {
  const Load<J> load = load_of<J>(pass.dtype, pass.folded);
  invariant(load != nullptr, "{} reduced in {}", name(pass.dtype), name(pass.joined));
  if constexpr (!std::is_same_v<J, std::complex<double>>) {
    if (pass.reduction == Reduction::min) return Folding<J, Min>(pass, load).run();
    if (pass.reduction == Reduction::max) return Folding<J, Max>(pass, load).run();
  }
  if (pass.reduction == Reduction::product) return Folding<J, Product>(pass, load).run();
  invariant(pass.reduction == Reduction::sum, "{} of {}", name(pass.reduction), name(pass.joined));
  Folding<J, Sum>(pass, load).run();
}

/// body(J()) with the type of the reduction.
template <class Body>
void with_joined(Dtype joined, const Body& body) {
  if (joined == Dtype::i64) return body(std::int64_t());
  if (joined == Dtype::u64) return body(std::uint64_t());
  if (joined == Dtype::f64) return body(double());
  invariant(joined == Dtype::c128, "elements reduced in {}", name(joined));
  body(std::complex<double>());
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
  with_joined(pass.joined, [&](auto zero) { fold_in<decltype(zero)>(pass); });
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
