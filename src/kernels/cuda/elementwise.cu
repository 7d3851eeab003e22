// to = a op b on a device, a thread an element, with the rules of kernels/host/elementwise.cpp.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/reduce.cuh"

namespace partita::kernels::cuda {
namespace {

enum Part { to, a, b };

template <class S>
struct ComputedAs {
  using type = S;
};
template <>
struct ComputedAs<__half> {
  using type = float;
};
template <>
struct ComputedAs<__nv_bfloat16> {
  using type = float;
};

template <class S>
__device__ auto widened(S value) {
  if constexpr (std::is_same_v<S, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<S, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else {
    return value;
  }
}

template <class S>
__device__ S rounded(typename ComputedAs<S>::type value) {
  if constexpr (std::is_same_v<S, __half>) {
    return __float2half_rn(value);
  } else if constexpr (std::is_same_v<S, __nv_bfloat16>) {
    return __float2bfloat16_rn(value);
  } else {
    return value;
  }
}

/// What takes no notice of an integer's sign, so that it may wrap around.
template <class T>
__device__ auto without_sign(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return value;
  }
}

template <class T>
__device__ T sum(T x, T y) {
  return static_cast<T>(without_sign(x) + without_sign(y));
}
__device__ Boolean sum(Boolean x, Boolean y) {
  return reduce<Reduction::logical_or>(x, y);
}
template <class Real>
__device__ Complex<Real> sum(Complex<Real> x, Complex<Real> y) {
  return reduce<Reduction::sum>(x, y);
}

template <class T>
__device__ T product(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return rounded_product(x, y);
  } else {
    return static_cast<T>(without_sign(x) * without_sign(y));
  }
}
__device__ Boolean product(Boolean x, Boolean y) {
  return reduce<Reduction::logical_and>(x, y);
}
template <class Real>
__device__ Complex<Real> product(Complex<Real> x, Complex<Real> y) {
  return reduce<Reduction::product>(x, y);
}

template <class T>
__device__ T difference(T x, T y) {
  return static_cast<T>(without_sign(x) - without_sign(y));
}
template <class Real>
__device__ Complex<Real> difference(Complex<Real> x, Complex<Real> y) {
  return {x.real - y.real, x.imaginary - y.imaginary};
}

template <class T>
__device__ T quotient(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return difference(T(0), x);
    }
  }
  return static_cast<T>(x / y);
}
template <class Real>
__device__ Complex<Real> quotient(Complex<Real> x, Complex<Real> y) {
  if (fabs(y.real) >= fabs(y.imaginary)) {
    const Real ratio = y.imaginary / y.real, scale = y.real + y.imaginary * ratio;
    return {(x.real + x.imaginary * ratio) / scale, (x.imaginary - x.real * ratio) / scale};
  }
  const Real ratio = y.real / y.imaginary, scale = y.real * ratio + y.imaginary;
  return {(x.real * ratio + x.imaginary) / scale, (x.imaginary * ratio - x.real) / scale};
}

template <class T>
__device__ T negative(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return -x;
  } else {
    return difference(T(0), x);
  }
}
template <class Real>
__device__ Complex<Real> negative(Complex<Real> x) {
  return {-x.real, -x.imaginary};
}

template <class T>
__device__ T absolute(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return fabs(x);
  } else if constexpr (std::is_signed_v<T>) {
    return x < 0 ? negative(x) : x;
  } else {
    return x;
  }
}

/// Functions of real numbers.
template <class Real>
__device__ Real real_function(Arithmetic operation, Real x, Real y) {
  switch (operation) {
    case Arithmetic::power:
      return pow(x, y);
    case Arithmetic::hypotenuse:
      return hypot(x, y);
    case Arithmetic::square_root:
      return sqrt(x);
    case Arithmetic::exponential:
      return exp(x);
    case Arithmetic::logarithm:
      return log(x);
    case Arithmetic::sine:
      return sin(x);
    case Arithmetic::cosine:
      return cos(x);
    case Arithmetic::hyperbolic_tangent:
      return tanh(x);
    case Arithmetic::floor:
      return floor(x);
    default:
      return ceil(x);
  }
}

template <class T>
constexpr bool is_ordered = std::is_integral_v<T> || std::is_floating_point_v<T>;

template <class T>
__device__ T joined_by(Arithmetic operation, T number, T x, T y) {
  switch (operation) {
    case Arithmetic::add:
      return sum(x, y);
    case Arithmetic::multiply:
      return product(x, y);
    case Arithmetic::axpy:
      return sum(product(number, x), y);
    case Arithmetic::copy:
      return x;
    default:
      break;
  }
  if constexpr (!std::is_same_v<T, Boolean>) {
    if (operation == Arithmetic::divide) return quotient(x, y);
    if (operation == Arithmetic::subtract) return difference(x, y);
    if (operation == Arithmetic::negative) return negative(x);
  }
  if constexpr (is_ordered<T>) {
    if (operation == Arithmetic::minimum) return reduce<Reduction::min>(x, y);
    if (operation == Arithmetic::maximum) return reduce<Reduction::max>(x, y);
    if (operation == Arithmetic::absolute) return absolute(x);
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
__device__ bool compared_by(Arithmetic operation, T x, T y) {
  if (operation == Arithmetic::equal) return is_equal(x, y);
  if constexpr (is_ordered<T>) {
    if (operation == Arithmetic::less) return x < y;
    if (operation == Arithmetic::less_equal) return x <= y;
  }
  return !is_equal(x, y);
}

template <class S>
__device__ void compute_element(const Elementwise& what, const std::int64_t* at) {
  using T = typename ComputedAs<S>::type;
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

using Kernel = void (*)(Elementwise, std::int64_t);

constexpr Kernel of_dtypes[] = {
    join_elements<Boolean>,       join_elements<std::int8_t>,    join_elements<std::uint8_t>,
    join_elements<std::int16_t>,  join_elements<std::uint16_t>,  join_elements<std::int32_t>,
    join_elements<std::uint32_t>, join_elements<std::int64_t>,   join_elements<std::uint64_t>,
    join_elements<__half>,        join_elements<__nv_bfloat16>,  join_elements<float>,
    join_elements<double>,        join_elements<Complex<float>>, join_elements<Complex<double>>};

}  // namespace

int launch_elementwise(const Elementwise& what, void* stream) {
  const std::int64_t elements = elements_of(what.loops);
  const Kernel kernel = of_dtypes[static_cast<int>(what.dtype)];
  kernel<<<blocks_for(elements), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(what, elements);
  return cudaGetLastError();
}

int load_elementwise_kernels() {
  return load_each(of_dtypes);
}

}  // namespace partita::kernels::cuda
