#include "kernels/host/elementwise.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/number_rules.hpp"
#include "kernels/host/number_runs.hpp"

namespace partita::kernels {
namespace {

// Stretches stay in the nearest cache, where what is strided, half as wide or always the same is made dense.
constexpr std::int64_t stretch = 512;

struct Boolean {
  std::uint8_t value;
};

// Found by Sum and Product in addition to those of numbers.
Boolean sum_of(Boolean a, Boolean b) {
  return {static_cast<std::uint8_t>(a.value != 0 || b.value != 0)};
}
Boolean product_of(Boolean a, Boolean b) {
  return {static_cast<std::uint8_t>(a.value != 0 && b.value != 0)};
}

// Found by Equal, as above.
bool operator==(Boolean a, Boolean b) {
  return (a.value != 0) == (b.value != 0);
}

// Numbers that are compared or given to functions of the standard library.
template <class T>
constexpr bool is_ordered = std::is_integral_v<T> || std::is_floating_point_v<T>;
template <class T>
constexpr bool is_continuous = !std::is_integral_v<T> && !std::is_same_v<T, Boolean>;

/// How an element is stored, and in what is computed.
template <class S>
struct ComputedAs {
  using type = std::conditional_t<is_small_float_type<S>, float, S>;
};

/// A stretch of one operand, dense: its own memory where it is so already, else copied to `dense`.
template <class S, class T>
const T* dense_stretch(const S* from, std::int64_t stride, std::int64_t count, T* dense) {
  if constexpr (is_small_float_type<S>) {
    if (stride == 1) {
      widen(reinterpret_cast<const std::byte*>(from), dense, count, S{});
    } else {
      for (std::int64_t i = 0; i < count; ++i) dense[i] = to_float(from[i * stride]);
    }
  } else {
    if (stride == 1) return from;
    for (std::int64_t i = 0; i < count; ++i) dense[i] = from[i * stride];
  }
  return dense;
}

template <class S, class T>
void spread_stretch(const T* dense, S* to, std::int64_t stride, std::int64_t count) {
  if constexpr (std::is_same_v<S, Boolean> && !std::is_same_v<T, Boolean>) {
    for (std::int64_t i = 0; i < count; ++i) to[i * stride] = {static_cast<std::uint8_t>(dense[i])};
  } else if constexpr (is_small_float_type<S>) {
    if (stride == 1) return narrow(dense, reinterpret_cast<std::byte*>(to), count, S{});
    for (std::int64_t i = 0; i < count; ++i) to[i * stride] = from_float<S>(dense[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * stride] = dense[i];
  }
}

/// One operand along the innermost loop. What does not move is loaded once.
template <class S, class T>
class Source {
 public:
  Source(const S* first, std::int64_t stride, std::int64_t count) : first_(first), stride_(stride) {
    if (stride_ == 0) (void)dense_stretch<S, T>(first_, 0, std::min(count, stretch), dense_.data());
  }
  const T* at(std::int64_t position, std::int64_t count) {
    if (stride_ == 0) return dense_.data();
    return dense_stretch<S, T>(first_ + position * stride_, stride_, count, dense_.data());
  }

 private:
  const S* first_;
  std::int64_t stride_;
  std::array<T, stretch> dense_;
};

// An operand may be the destination, element by element, which compilers cannot know.
#if defined(__clang__)
#define EACH_BY_ITSELF _Pragma("clang loop vectorize(assume_safety)")
#else
#define EACH_BY_ITSELF _Pragma("GCC ivdep")
#endif

/// A stretch of results. It is compiled once for each operation and each type that is computed in; all around
/// it, once for each type that is stored. `number`: the pass's.
template <class T, class Result>
using Kernel = void (*)(const T* a, const T* b, Result* to, std::int64_t count, T number);

/// Operation: without members; called with (a, b), or with (a, b, number).
template <class T, class Result, class Operation>
void join(const T* a, const T* b, Result* to, std::int64_t count, [[maybe_unused]] T number) {
  constexpr Operation operation{};
  EACH_BY_ITSELF
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_invocable_v<const Operation&, T, T, T>) {
      to[i] = operation(a[i], b[i], number);
    } else {
      to[i] = static_cast<Result>(operation(a[i], b[i]));
    }
  }
}

/// Along one loop. To: as S, or Boolean for comparisons.
template <class S, class To, class T, class Result>
void join_row(const ElementwiseLoop& loop, To* to, const S* a, const S* b, Kernel<T, Result> kernel,
              T number) {
  Source<S, T> from_a(a, loop.strides[ElementwisePass::a], loop.count);
  Source<S, T> from_b(b, loop.strides[ElementwisePass::b], loop.count);
  const std::int64_t step = loop.strides[ElementwisePass::to];
  std::array<Result, stretch> dense;
  for (std::int64_t i = 0; i < loop.count; i += stretch) {
    const std::int64_t count = std::min(stretch, loop.count - i);
    const T* const left = from_a.at(i, count);
    const T* const right = from_b.at(i, count);
    if constexpr (std::is_same_v<To, Result>) {
      if (step == 1) {
        kernel(left, right, to + i, count, number);
        continue;
      }
    }
    kernel(left, right, dense.data(), count, number);
    spread_stretch<To, Result>(dense.data(), to + i * step, step, count);
  }
}

template <class S, class To, class T, class Result>
void join_nest(std::span<const ElementwiseLoop> loops, To* to, const S* a, const S* b,
               Kernel<T, Result> kernel, T number) {
  if (loops.empty()) return join_row({}, to, a, b, kernel, number);
  const ElementwiseLoop& loop = loops.front();
  if (loops.size() == 1) return join_row(loop, to, a, b, kernel, number);
  for (std::int64_t i = 0; i < loop.count; ++i) {
    join_nest(loops.subspan(1), to + i * loop.strides[ElementwisePass::to],
              a + i * loop.strides[ElementwisePass::a], b + i * loop.strides[ElementwisePass::b], kernel,
              number);
  }
}

/// Without a branch.
template <class S>
void select_row(const ElementwiseLoop& loop, S* to, const Boolean* condition, const S* b) {
  const auto [step, condition_step, b_step] = loop.strides;
  if (step == 1 && condition_step == 1 && b_step == 1) {
    for (std::int64_t i = 0; i < loop.count; ++i) to[i] = condition[i].value != 0 ? b[i] : to[i];
    return;
  }
  for (std::int64_t i = 0; i < loop.count; ++i)
    to[i * step] = condition[i * condition_step].value != 0 ? b[i * b_step] : to[i * step];
}

template <class S>
void select_nest(std::span<const ElementwiseLoop> loops, S* to, const Boolean* condition, const S* b) {
  if (loops.size() <= 1)
    return select_row(loops.empty() ? ElementwiseLoop{} : loops.front(), to, condition, b);
  const ElementwiseLoop& loop = loops.front();
  for (std::int64_t i = 0; i < loop.count; ++i) {
    select_nest(loops.subspan(1), to + i * loop.strides[ElementwisePass::to],
                condition + i * loop.strides[ElementwisePass::a], b + i * loop.strides[ElementwisePass::b]);
  }
}

template <class T>
auto computed(T element) {
  if constexpr (is_small_float_type<T>) {
    return to_float(element);
  } else {
    return element;
  }
}

template <class T, class Result = T, class Operation>
constexpr Kernel<T, Result> with(const Operation& /*operation*/) {
  return join<T, Result, Operation>;
}

#define PARTITA_KERNEL(name, function) \
  case Arithmetic::name:               \
    return with<T>([](T a, T /*b*/) { return std::function(a); });

/// As `kernel_of`, of real numbers.
template <class T>
Kernel<T, T> real_kernel_of(Arithmetic operation) {
  switch (operation) {
    PARTITA_REAL_FUNCTIONS(PARTITA_KERNEL)
    case Arithmetic::hypotenuse:
      return with<T>([](T a, T b) { return std::hypot(a, b); });
    default:
      return with<T>([](T a, T b) { return std::atan2(a, b); });
  }
}

template <class T>
Kernel<T, T> continuous_kernel_of(Arithmetic operation) {
  switch (operation) {
    PARTITA_CONTINUOUS_FUNCTIONS(PARTITA_KERNEL)
    case Arithmetic::power:
      return with<T>([](T a, T b) { return static_cast<T>(std::pow(a, b)); });
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) return real_kernel_of<T>(operation);
  return nullptr;
}
#undef PARTITA_KERNEL

/// Of (a, b). Only what `is_defined`.
template <class T>
Kernel<T, T> kernel_of(Arithmetic operation) {
  switch (operation) {
    case Arithmetic::add:
      return with<T>(Sum{});
    case Arithmetic::multiply:
      return with<T>(Product{});
    case Arithmetic::axpy:
      return with<T>([](T x, T y, T number) { return Sum{}(Product{}(number, x), y); });
    case Arithmetic::copy:
      return with<T>([](T a, T /*b*/) { return a; });
    default:
      break;
  }
  if constexpr (!std::is_same_v<T, Boolean>) {
    if (operation == Arithmetic::subtract) return with<T>([](T a, T b) { return difference_of(a, b); });
    if (operation == Arithmetic::divide) return with<T>([](T a, T b) { return quotient_of(a, b); });
    if (operation == Arithmetic::negative) return with<T>([](T a, T /*b*/) { return negative_of(a); });
  }
  if constexpr (is_ordered<T>) {
    if (operation == Arithmetic::minimum) return with<T>(Min{});
    if (operation == Arithmetic::maximum) return with<T>(Max{});
    if (operation == Arithmetic::absolute) return with<T>([](T a, T /*b*/) { return absolute_of(a); });
    if (operation == Arithmetic::remainder) return with<T>([](T a, T b) { return remainder_of(a, b); });
    if (operation == Arithmetic::floored_divide)
      return with<T>([](T a, T b) { return floored_quotient_of(a, b); });
  }
  if constexpr (is_continuous<T>) return continuous_kernel_of<T>(operation);
  return with<T>([](T a, T /*b*/) { return a; });  // integers rounded in whatever direction
}

template <class T>
Kernel<T, bool> comparison_of(Arithmetic operation) {
  if (operation == Arithmetic::equal) return with<T, bool>([](T a, T b) { return a == b; });
  if (operation == Arithmetic::not_equal) return with<T, bool>([](T a, T b) { return !(a == b); });
  if constexpr (is_ordered<T>) {
    if (operation == Arithmetic::less) return with<T, bool>([](T a, T b) { return a < b; });
    if (operation == Arithmetic::less_equal) return with<T, bool>([](T a, T b) { return a <= b; });
  }
  return nullptr;
}

template <class S>
void compute_as(const ElementwisePass& pass) {
  using T = typename ComputedAs<S>::type;
  S number;
  std::memcpy(&number, pass.number.data(), sizeof number);
  void* const to = pass.data[ElementwisePass::to];
  const auto* a = static_cast<const S*>(pass.data[ElementwisePass::a]);
  const auto* b = static_cast<const S*>(pass.data[ElementwisePass::b]);
  if (b == nullptr) b = &number;  // its strides are 0
  if (pass.operation == Arithmetic::select) {
    return select_nest<S>(pass.loops, static_cast<S*>(to),
                          static_cast<const Boolean*>(pass.data[ElementwisePass::a]), b);
  }
  if (a == nullptr) a = &number;
  if (is_comparison(pass.operation)) {
    return join_nest<S>(pass.loops, static_cast<Boolean*>(to), a, b, comparison_of<T>(pass.operation),
                        computed(number));
  }
  join_nest<S>(pass.loops, static_cast<S*>(to), a, b, kernel_of<T>(pass.operation), computed(number));
}

/// Whether `outer` continues where `inner` ends, in all parts.
bool continues(const ElementwiseLoop& outer, const ElementwiseLoop& inner) {
  for (std::size_t x = 0; x < inner.strides.size(); ++x) {
    if (outer.strides[x] != inner.count * inner.strides[x]) return false;
  }
  return true;
}

}  // namespace

bool is_defined(Arithmetic operation, Dtype dtype) {
  if (is_float8(dtype)) return false;
  const bool is_real = dtype != Dtype::boolean && !is_complex(dtype) && !is_integer(dtype);
  switch (operation) {
    case Arithmetic::add:
    case Arithmetic::multiply:
    case Arithmetic::axpy:
    case Arithmetic::copy:
    case Arithmetic::equal:
    case Arithmetic::not_equal:
    case Arithmetic::select:
      return true;
    case Arithmetic::subtract:
    case Arithmetic::divide:
    case Arithmetic::negative:
      return dtype != Dtype::boolean;
    case Arithmetic::minimum:
    case Arithmetic::maximum:
    case Arithmetic::absolute:
    case Arithmetic::remainder:
    case Arithmetic::floored_divide:
    case Arithmetic::floor:
    case Arithmetic::ceiling:
    case Arithmetic::rounding:
    case Arithmetic::less:
    case Arithmetic::less_equal:
      return dtype != Dtype::boolean && !is_complex(dtype);
    case Arithmetic::hypotenuse:
    case Arithmetic::arc_tangent_of:
      return is_real;
    default:
      return is_real || (is_complex(dtype) && operation <= Arithmetic::hyperbolic_tangent);
  }
}

bool is_on_devices(Arithmetic operation, Dtype dtype) {
  const bool is_series = operation == Arithmetic::power || (operation >= Arithmetic::square_root &&
                                                            operation <= Arithmetic::hyperbolic_tangent);
  return !is_series || !is_complex(dtype);
}

std::vector<ElementwiseLoop> simplified(std::vector<ElementwiseLoop> loops, std::size_t part) {
  std::erase_if(loops, [](const ElementwiseLoop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, std::ranges::greater(),
                           [&](const ElementwiseLoop& loop) { return std::abs(loop.strides[part]); });
  for (std::size_t i = loops.size(); i-- > 1;) {
    if (!continues(loops[i - 1], loops[i])) continue;
    loops[i].count *= loops[i - 1].count;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
  return loops;
}

void compute(const ElementwisePass& pass) {
  invariant(is_defined(pass.operation, pass.dtype), "elementwise operation {} of {}",
            static_cast<int>(pass.operation), name(pass.dtype));
  visit_dtype(pass.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    compute_as<std::conditional_t<std::is_same_v<T, bool>, Boolean, T>>(pass);
  });
}

}  // namespace partita::kernels
