// to = a op b on a device, with the rules of kernels/host/elementwise.cpp: a thread an element, or, of dense
// parts, 16 bytes.
#include "base/number_rules.hpp"
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/joining.cuh"
#include "kernels/cuda/stored.cuh"

namespace partita::kernels::cuda {
namespace {

enum Part { to, a, b };

using partita::difference_of, partita::negative_of, partita::product_of, partita::quotient_of,
    partita::sum_of;

__device__ Boolean sum_of(Boolean x, Boolean y) {
  return reduce<Reduction::logical_or>(x, y);
}
__device__ Boolean product_of(Boolean x, Boolean y) {
  return reduce<Reduction::logical_and>(x, y);
}
/// Never fused with the addition behind it.
__device__ float product_of(float x, float y) {
  return rounded_product(x, y);
}
__device__ double product_of(double x, double y) {
  return rounded_product(x, y);
}

template <class Real>
__device__ Complex<Real> sum_of(Complex<Real> x, Complex<Real> y) {
  return reduce<Reduction::sum>(x, y);
}
template <class Real>
__device__ Complex<Real> product_of(Complex<Real> x, Complex<Real> y) {
  return reduce<Reduction::product>(x, y);
}
template <class Real>
__device__ Complex<Real> difference_of(Complex<Real> x, Complex<Real> y) {
  return {x.real - y.real, x.imaginary - y.imaginary};
}
template <class Real>
__device__ Complex<Real> quotient_of(Complex<Real> x, Complex<Real> y) {
  if (fabs(y.real) >= fabs(y.imaginary)) {
    const Real ratio = y.imaginary / y.real, scale = y.real + y.imaginary * ratio;
    return {(x.real + x.imaginary * ratio) / scale, (x.imaginary - x.real * ratio) / scale};
  }
  const Real ratio = y.real / y.imaginary, scale = y.real * ratio + y.imaginary;
  return {(x.real * ratio + x.imaginary) / scale, (x.imaginary * ratio - x.real) / scale};
}
template <class Real>
__device__ Complex<Real> negative_of(Complex<Real> x) {
  return {-x.real, -x.imaginary};
}

// Inlined, so that nothing is left of the choice where the operation is a constant.

/// Functions of real numbers.
template <class Real>
__device__ __forceinline__ Real real_function(Arithmetic operation, Real x, Real y) {
#define CASE(name, function) \
  case Arithmetic::name:     \
    return function(x);
  switch (operation) {
    PARTITA_CONTINUOUS_FUNCTIONS(CASE)
    PARTITA_REAL_FUNCTIONS(CASE)
    case Arithmetic::power:
      return pow(x, y);
    case Arithmetic::hypotenuse:
      return hypot(x, y);
    default:
      return atan2(x, y);
  }
#undef CASE
}

template <class T>
constexpr bool is_ordered = std::is_integral_v<T> || std::is_floating_point_v<T>;

template <class T>
__device__ __forceinline__ T joined_by(Arithmetic operation, T number, T x, T y) {
  switch (operation) {
    case Arithmetic::add:
      return sum_of(x, y);
    case Arithmetic::multiply:
      return product_of(x, y);
    case Arithmetic::axpy:
      return sum_of(product_of(number, x), y);
    case Arithmetic::copy:
      return x;
    default:
      break;
  }
  if constexpr (!std::is_same_v<T, Boolean>) {
    if (operation == Arithmetic::divide) return quotient_of(x, y);
    if (operation == Arithmetic::subtract) return difference_of(x, y);
    if (operation == Arithmetic::negative) return negative_of(x);
  }
  if constexpr (is_ordered<T>) {
    if (operation == Arithmetic::minimum) return reduce<Reduction::min>(x, y);
    if (operation == Arithmetic::maximum) return reduce<Reduction::max>(x, y);
    if (operation == Arithmetic::absolute) return absolute_of(x);
    if (operation == Arithmetic::remainder) return remainder_of(x, y);
    if (operation == Arithmetic::floored_divide) return floored_quotient_of(x, y);
  }
  if constexpr (std::is_floating_point_v<T>) {
    return real_function(operation, x, y);
  } else {
    return x;
  }
}

__device__ bool is_equal(Boolean x, Boolean y) {
  return (x.byte != 0) == (y.byte != 0);
}
template <class Real>
__device__ bool is_equal(Complex<Real> x, Complex<Real> y) {
  return x.real == y.real && x.imaginary == y.imaginary;
}
template <class T>
__device__ bool is_equal(T x, T y) {
  return x == y;
}

template <class T>
__device__ __forceinline__ bool compared_by(Arithmetic operation, T x, T y) {
  if (operation == Arithmetic::equal) return is_equal(x, y);
  if constexpr (is_ordered<T>) {
    if (operation == Arithmetic::less) return x < y;
    if (operation == Arithmetic::less_equal) return x <= y;
  }
  return !is_equal(x, y);
}

template <class S>
__device__ void compute_element(const Elementwise& what, const std::int64_t* at) {
  using T = Widened<S>;
  const auto stored = [&](int part) {
    return what.data[part] == nullptr ? *reinterpret_cast<const S*>(what.number)
                                      : static_cast<const S*>(what.data[part])[at[part]];
  };
  if (what.operation == Arithmetic::select) {
    if (static_cast<const Boolean*>(what.data[a])[at[a]].byte != 0)
      static_cast<S*>(what.data[to])[at[to]] = stored(b);
    return;
  }
  const T x = widened(stored(a)), y = widened(stored(b));
  if (what.operation >= Arithmetic::equal) {
    static_cast<Boolean*>(what.data[to])[at[to]] = {
        static_cast<std::uint8_t>(compared_by<T>(what.operation, x, y))};
    return;
  }
  const T number = widened(*reinterpret_cast<const S*>(what.number));
  static_cast<S*>(what.data[to])[at[to]] = rounded<S>(joined_by<T>(what.operation, number, x, y));
}

template <class S>
__global__ void join_elements(const __grid_constant__ Elementwise what, std::int64_t elements) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
    std::int64_t at[3] = {};
    move_to(what.loops, elements <= narrow_numbers, i, at);
    compute_element<S>(what, at);
  }
}

// --- dense parts

/// Which kernel has an operation: they differ in the registers that they want. `brief`: functions of a few
/// dozen instructions.
enum class Effort : std::uint8_t { quick, brief, long_ };

__host__ __device__ constexpr Effort effort_of(Arithmetic operation) {
  if (operation <= Arithmetic::square_root || operation >= Arithmetic::equal) return Effort::quick;
  const bool long_one = operation == Arithmetic::sine || operation == Arithmetic::cosine ||
                        (operation >= Arithmetic::tangent && operation <= Arithmetic::hyperbolic_cosine);
  return long_one ? Effort::long_ : Effort::brief;
}

template <Arithmetic operation, class T>
__device__ auto joined_quickly(T number, T x, T y) {
  if constexpr (operation >= Arithmetic::equal) {
    return Boolean{static_cast<std::uint8_t>(compared_by<T>(operation, x, y))};
  } else {
    return joined_by<T>(operation, number, x, y);
  }
}

#define CASE(name)                         \
  case Arithmetic::name:                   \
    body.template run<Arithmetic::name>(); \
    return;

/// body.run<operation>() of what takes less time than its operands' way through memory: order and roots only
/// of real numbers.
template <class T, class Body>
__device__ void quickly(Arithmetic operation, const Body& body) {
  switch (operation) {
    CASE(add)
    CASE(multiply)
    CASE(axpy)
    CASE(copy)
    CASE(equal)
    CASE(not_equal)
    default:
      break;
  }
  if constexpr (!std::is_same_v<T, Boolean>) {
    switch (operation) {
      CASE(subtract)
      CASE(divide)
      CASE(negative)
      default:
        break;
    }
  }
  if constexpr (is_ordered<T>) {
    switch (operation) {
      CASE(minimum)
      CASE(maximum)
      CASE(absolute)
      CASE(less)
      CASE(less_equal)
      default:
        break;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (operation) {
      CASE(square_root)
      default:
        break;
    }
  }
}

#undef CASE

/// Of the functions that want this effort.
template <Effort effort, class Body>
__device__ void with_effort(Arithmetic operation, const Body& body) {
#define CASE(name, function)                                                                    \
  case Arithmetic::name:                                                                        \
    if constexpr (effort_of(Arithmetic::name) == effort) body.template run<Arithmetic::name>(); \
    return;
  switch (operation) {
    PARTITA_CONTINUOUS_FUNCTIONS(CASE)
    PARTITA_REAL_FUNCTIONS(CASE)
    default:
      break;
  }
#undef CASE
}

constexpr int unit_bytes = 16;

bool is_in_units(Arithmetic operation) {
  return operation <= Arithmetic::maximum || operation >= Arithmetic::copy;
}

template <class S>
struct JoinUnit {
  static constexpr int many = unit_bytes / sizeof(S);
  using Unit = Together<S, unit_bytes>;
  const Elementwise& what;
  std::int64_t unit;

  /// A part that does not move is one element.
  __device__ Unit loaded(int part) const {
    if (what.data[part] != nullptr && what.loops.strides[0][part] != 0)
      return static_cast<const Unit*>(what.data[part])[unit];
    const S one = what.data[part] == nullptr ? *reinterpret_cast<const S*>(what.number)
                                             : *static_cast<const S*>(what.data[part]);
    Unit all;
#pragma unroll
    for (int e = 0; e < many; ++e) all.elements[e] = one;
    return all;
  }

  /// `a` moves.
  __device__ void select() const {
    const auto mask = static_cast<const Together<Boolean, many>*>(what.data[a])[unit];
    const Unit y = loaded(b);
    Unit results = static_cast<const Unit*>(what.data[to])[unit];
#pragma unroll
    for (int e = 0; e < many; ++e) {
      if (mask.elements[e].byte != 0) results.elements[e] = y.elements[e];
    }
    static_cast<Unit*>(what.data[to])[unit] = results;
  }

  template <Arithmetic operation>
  __device__ void run() const {
    using T = Widened<S>;
    const Unit x = loaded(a), y = loaded(b);
    const T number = widened(*reinterpret_cast<const S*>(what.number));
    if constexpr (operation >= Arithmetic::equal) {
      Together<Boolean, many> results;
#pragma unroll
      for (int e = 0; e < many; ++e)
        results.elements[e] =
            joined_quickly<operation, T>(number, widened(x.elements[e]), widened(y.elements[e]));
      static_cast<Together<Boolean, many>*>(what.data[to])[unit] = results;
    } else {
      Unit results;
#pragma unroll
      for (int e = 0; e < many; ++e)
        results.elements[e] =
            rounded<S>(joined_quickly<operation, T>(number, widened(x.elements[e]), widened(y.elements[e])));
      static_cast<Unit*>(what.data[to])[unit] = results;
    }
  }
};

template <class S, Effort effort>
__global__ void join_units(const __grid_constant__ Elementwise what, std::int64_t elements) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const auto first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t units = elements / JoinUnit<S>::many;
  for (auto i = first; i < units; i += step) {
    const JoinUnit<S> body{what, i};
    if constexpr (effort == Effort::quick) {
      if (what.operation == Arithmetic::select) {
        body.select();
        continue;
      }
      quickly<Widened<S>>(what.operation, body);
    } else {
      with_effort<effort>(what.operation, body);
    }
  }
  const std::int64_t i = units * JoinUnit<S>::many + first;
  if (i >= elements) return;
  const std::int64_t at[3] = {i, what.loops.strides[0][a] * i, what.loops.strides[0][b] * i};
  compute_element<S>(what, at);
}

/// One loop over parts that are dense, or one element; at addresses of whole units.
bool is_dense(const Elementwise& what) {
  if (!is_in_units(what.operation) || what.loops.loops != 1 || what.loops.strides[0][to] != 1) return false;
  for (const int part : {to, a, b}) {
    if (what.data[part] == nullptr) continue;
    const std::int64_t stride = what.loops.strides[0][part];
    if (stride == 1 && reinterpret_cast<std::uintptr_t>(what.data[part]) % unit_bytes != 0) return false;
    if (stride != 0 && stride != 1) return false;
  }
  return what.operation != Arithmetic::select || what.loops.strides[0][a] == 1;
}

using Kernel = void (*)(Elementwise, std::int64_t);

constexpr Kernel of_dtypes[] = {
    join_elements<Boolean>,       join_elements<std::int8_t>,    join_elements<std::uint8_t>,
    join_elements<std::int16_t>,  join_elements<std::uint16_t>,  join_elements<std::int32_t>,
    join_elements<std::uint32_t>, join_elements<std::int64_t>,   join_elements<std::uint64_t>,
    join_elements<__half>,        join_elements<__nv_bfloat16>,  join_elements<float>,
    join_elements<double>,        join_elements<Complex<float>>, join_elements<Complex<double>>};

template <class S>
constexpr Kernel quick = join_units<S, Effort::quick>;

constexpr Kernel of_dense_parts[] = {quick<Boolean>,       quick<std::int8_t>,    quick<std::uint8_t>,
                                     quick<std::int16_t>,  quick<std::uint16_t>,  quick<std::int32_t>,
                                     quick<std::uint32_t>, quick<std::int64_t>,   quick<std::uint64_t>,
                                     quick<__half>,        quick<__nv_bfloat16>,  quick<float>,
                                     quick<double>,        quick<Complex<float>>, quick<Complex<double>>};

/// Of f16, bf16, f32 and f64.
constexpr Kernel of_short_functions[] = {join_units<__half, Effort::brief>,
                                         join_units<__nv_bfloat16, Effort::brief>,
                                         join_units<float, Effort::brief>, join_units<double, Effort::brief>};
constexpr Kernel of_long_functions[] = {join_units<__half, Effort::long_>,
                                        join_units<__nv_bfloat16, Effort::long_>,
                                        join_units<float, Effort::long_>, join_units<double, Effort::long_>};

/// Null: it has none.
Kernel kernel_of_units(const Elementwise& what) {
  const int dtype = static_cast<int>(what.dtype), real = dtype - static_cast<int>(Dtype::f16);
  const Effort effort = effort_of(what.operation);
  if (effort == Effort::quick) return of_dense_parts[dtype];
  if (real < 0 || what.dtype > Dtype::f64) return nullptr;
  return effort == Effort::brief ? of_short_functions[real] : of_long_functions[real];
}

}  // namespace

int launch_elementwise(const Elementwise& what, void* stream) {
  const std::int64_t elements = elements_of(what.loops);
  const int dtype = static_cast<int>(what.dtype);
  const Kernel of_units = is_dense(what) ? kernel_of_units(what) : nullptr;
  const Kernel kernel = of_units != nullptr ? of_units : of_dtypes[dtype];
  const std::int64_t threads = of_units != nullptr ? elements * size_of(what.dtype) / unit_bytes : elements;
  kernel<<<blocks_for(threads), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(what, elements);
  return cudaGetLastError();
}

int load_elementwise_kernels() {
  for (const int error : {load_each(of_dtypes), load_each(of_dense_parts), load_each(of_short_functions),
                          load_each(of_long_functions)}) {
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace partita::kernels::cuda
