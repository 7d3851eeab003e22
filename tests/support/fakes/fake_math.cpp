#include "support/fakes/fake_math.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "base/check.hpp"
#include "kernels/host/epilogue.hpp"
#include "kernels/host/gemm.hpp"
#include "kernels/host/number_rules.hpp"
#include "kernels/host/number_runs.hpp"

namespace partita::testing {
namespace {

std::atomic<int> ended{0};

/// Calls body(T()) with the type that computes.
template <class Body>
void with_type(Dtype computed, const Body& body) {
  switch (computed) {
    case Dtype::f32:
      return body(0.0F);
    case Dtype::f64:
      return body(0.0);
    case Dtype::c64:
      return body(std::complex<float>());
    case Dtype::c128:
      return body(std::complex<double>());
    case Dtype::i32:
      return body(std::int32_t{0});
    default:
      throw UnsupportedError("fake devices do not compute in " + std::string(name(computed)));
  }
}

template <class T>
T factor_as(std::complex<double> value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(value);
  }
}

template <class T>
void load_line(const std::byte* from, Dtype dtype, std::int64_t offset, std::int64_t count, T* to) {
  if constexpr (std::is_integral_v<T>) {
    const auto* const bytes = reinterpret_cast<const std::int8_t*>(from) + offset;
    std::copy(bytes, bytes + count, to);
  } else {
    kernels::load_run(from, dtype, offset, 1, count, to);
  }
}

/// One matrix of a batch, of which op is rows x columns, in the type that computes.
template <class T>
struct Wide {
  std::vector<T> memory;  // of what had to be widened
  kernels::Matrix<const T> matrix;

  Wide(const devices::DeviceGemm::Factor& how, Dtype dtype, const void* data, std::int64_t number,
       std::int64_t rows, std::int64_t columns) {
    const auto* bytes = static_cast<const std::byte*>(data) + number * how.stride * size_of(dtype);
    const bool plain = how.op == devices::BlasOp::none;
    const std::int64_t length = plain ? rows : columns, lines = plain ? columns : rows;
    std::int64_t leading = how.leading;
    if (size_of(dtype) != sizeof(T)) {
      memory.resize(static_cast<std::size_t>(length * lines));
      for (std::int64_t line = 0; line < lines; ++line)
        load_line(bytes, dtype, line * leading, length, memory.data() + line * length);
      bytes = reinterpret_cast<const std::byte*>(memory.data());
      leading = length;
    }
    matrix = {reinterpret_cast<const T*>(bytes), rows, columns, plain ? 1 : leading, plain ? leading : 1};
  }
};

/// The result of a batch in the type of the computation, and back in its place. It begins with what beta
/// multiplies, if anything is read.
template <class T>
class WideResult {
 public:
  WideResult(const devices::DeviceGemm& what, const devices::GemmPlaces& places, std::int64_t number,
             bool reads)
      : what_(what), bytes_(static_cast<std::byte*>(places.c) + number * what.stride * size_of(what.result)) {
    const bool apart = what.addend.has_value();
    if (size_of(what.result) == sizeof(T) && !apart) {
      matrix = {reinterpret_cast<T*>(bytes_), what.m, what.n, 1, what.leading};
      return;
    }
    memory_.resize(static_cast<std::size_t>(what.m * what.n));
    matrix = {memory_.data(), what.m, what.n, 1, what.m};
    if (!reads) return;
    const devices::DeviceGemm::Beside lies = what.addend.value_or(devices::DeviceGemm::Beside{what.leading});
    const std::byte* const from =
        apart ? static_cast<const std::byte*>(places.addend) + number * lies.stride * size_of(what.result)
              : bytes_;
    for (std::int64_t j = 0; j < what.n; ++j)
      kernels::load_run(from, what.result, j * lies.leading, 1, what.m, memory_.data() + j * what.m);
  }
  void store() const {
    if (memory_.empty()) return;
    for (std::int64_t j = 0; j < what_.n; ++j)
      kernels::store_run(memory_.data() + j * what_.m, what_.m, bytes_, what_.result, j * what_.leading, 1);
  }

  kernels::Matrix<T> matrix;

 private:
  const devices::DeviceGemm& what_;
  std::byte* bytes_;
  std::vector<T> memory_;
};

/// What comes after the sums of column j of a matrix of a batch.
template <class T>
void finish_column(const devices::DeviceGemm& what, const devices::GemmPlaces& places, std::int64_t number,
                   std::int64_t j, T* column) {
  std::vector<T> other(static_cast<std::size_t>(what.m));
  if (what.bias) {
    kernels::load_run(static_cast<const std::byte*>(places.bias), *what.bias, 0, 1, what.m, other.data());
    for (std::int64_t i = 0; i < what.m; ++i) column[i] += other[static_cast<std::size_t>(i)];
  }
  if (what.auxiliary) {
    auto* const bytes = static_cast<std::byte*>(places.auxiliary);
    const std::int64_t first = number * what.auxiliary->stride + j * what.auxiliary->leading;
    if (what.activation == Activation::dgelu) {
      kernels::load_run(bytes, what.result, first, 1, what.m, other.data());
    } else {
      kernels::store_run(column, what.m, bytes, what.result, first, 1);
    }
  }
  if constexpr (std::is_floating_point_v<T>) kernels::activate(what.activation, column, other.data(), what.m);
}

/// Modulo 2^32.
void multiply_integers(std::int32_t alpha, const kernels::Matrix<const std::int32_t>& a,
                       const kernels::Matrix<const std::int32_t>& b, std::int32_t beta,
                       const kernels::Matrix<std::int32_t>& c) {
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      std::uint32_t sum = 0;
      for (std::int64_t l = 0; l < a.columns; ++l) {
        sum += static_cast<std::uint32_t>(a.data[i * a.row_stride + l * a.column_stride]) *
               static_cast<std::uint32_t>(b.data[l * b.row_stride + j * b.column_stride]);
      }
      std::int32_t& to = c.data[i * c.row_stride + j * c.column_stride];
      sum *= static_cast<std::uint32_t>(alpha);
      if (beta != 0) sum += static_cast<std::uint32_t>(beta) * static_cast<std::uint32_t>(to);
      to = static_cast<std::int32_t>(sum);
    }
  }
}

template <class T>
void multiply(const devices::DeviceGemm& what, const devices::GemmPlaces& places, T alpha, T beta) {
  for (std::int64_t number = 0; number < what.batches; ++number) {
    const Wide<T> left(what.a, what.a.dtype, places.a, number, what.m, what.k);
    const Wide<T> right(what.b, what.b.dtype, places.b, number, what.k, what.n);
    const WideResult<T> to(what, places, number, beta != T(0));
    if constexpr (std::is_integral_v<T>) {
      multiply_integers(alpha, left.matrix, right.matrix, beta, to.matrix);
    } else {
      kernels::gemm(alpha, left.matrix, what.a.op == devices::BlasOp::conjugate_transpose, right.matrix,
                    what.b.op == devices::BlasOp::conjugate_transpose, beta, to.matrix);
    }
    if (!what.ends_with_sums()) {
      for (std::int64_t j = 0; j < what.n; ++j)
        finish_column(what, places, number, j, &to.matrix.data[j * to.matrix.column_stride]);
    }
    to.store();
  }
}

/// Numbers of 8 bits go as far as they go.
float scaled_and_cut(const devices::ElementPass& what, float value) {
  if (what.amax != nullptr) {
    auto* const amax = static_cast<float*>(what.amax);
    *amax = kernels::most_of(*amax, std::abs(value));
  }
  if (what.scale_d != nullptr) value *= *static_cast<const float*>(what.scale_d);
  const Dtype dtype = what.dtypes[devices::ElementPass::to];
  const float most = dtype == Dtype::f8e4m3 ? 448 : 57344;
  return is_float8(dtype) ? std::clamp(value, -most, most) : value;
}

template <class T>
void pass_element(const devices::ElementPass& what,
                  const std::array<std::int64_t, devices::ElementNest::parts>& at) {
  const auto load = [&](devices::ElementPass::Part part) {
    T value;
    kernels::load_run(static_cast<const std::byte*>(what.data[part]), what.dtypes[part], at[part], 1, 1,
                      &value);
    return value;
  };
  const auto store = [&](devices::ElementPass::Part part, T value) {
    kernels::store_run(&value, 1, static_cast<std::byte*>(what.data[part]), what.dtypes[part], at[part], 1);
  };
  const bool backward = what.activation == Activation::drelu || what.activation == Activation::dgelu;
  T value(0);
  if (what.data[devices::ElementPass::from] != nullptr)
    value = load(devices::ElementPass::from) * factor_as<T>(what.scale);
  for (const auto scale : {devices::ElementPass::scale_a, devices::ElementPass::scale_b}) {
    if (what.data[scale] != nullptr) value *= load(scale);
  }
  if (what.data[devices::ElementPass::c] != nullptr && what.beta != std::complex<double>(0))
    value =
        kernels::sum_of(value, kernels::product_of(factor_as<T>(what.beta), load(devices::ElementPass::c)));
  if (what.data[devices::ElementPass::bias] != nullptr) value += load(devices::ElementPass::bias);
  if (what.data[devices::ElementPass::auxiliary] != nullptr && !backward)
    store(devices::ElementPass::auxiliary, value);
  if constexpr (std::is_floating_point_v<T>) {
    const T input = backward ? load(devices::ElementPass::auxiliary) : value;
    kernels::activate(what.activation, &value, &input, 1);
  }
  if constexpr (std::is_same_v<T, float>) value = scaled_and_cut(what, value);
  store(devices::ElementPass::to, value);
}

template <class T>
void pass_loops(const devices::ElementPass& what, const devices::ElementNest& nest, std::size_t loop,
                std::array<std::int64_t, devices::ElementNest::parts> at) {
  if (loop == nest.loops.size()) return pass_element<T>(what, at);
  for (std::int64_t i = 0; i < nest.loops[loop].count; ++i) {
    pass_loops<T>(what, nest, loop + 1, at);
    for (std::size_t x = 0; x < at.size(); ++x) at[x] += nest.loops[loop].strides[x];
  }
}

}  // namespace

/// As cuBLAS and cuBLASLt.
bool FakeMath::multiplies(Dtype a, Dtype b, Dtype result) const {
  if (is_float8(a) && is_float8(b))
    return devices::wide(result) == Dtype::f32 && (a == Dtype::f8e4m3 || b == Dtype::f8e4m3);
  if (a != b) return false;
  if (a == Dtype::i8) return result == Dtype::i32;
  if (a == Dtype::f16 || a == Dtype::bf16) return result == Dtype::f32 || result == a;
  return result == a && (a == Dtype::f32 || a == Dtype::f64 || is_complex(a));
}

namespace {

template <class... Address>
std::uintptr_t bits_of(Address... addresses) {
  return (reinterpret_cast<std::uintptr_t>(addresses) | ...);
}

/// As cuBLASLt, which makes no other products of bytes.
void check_narrow(const devices::DeviceGemm& what, const devices::GemmPlaces& places) {
  const std::int64_t of_c = size_of(what.result);
  const std::int64_t bits = what.m | what.n | what.k | what.a.leading | what.a.stride | what.b.leading |
                            what.b.stride | what.leading * of_c | what.stride * of_c |
                            static_cast<std::int64_t>(bits_of(places.a, places.b, places.c));
  check(bits % devices::narrow_alignment == 0 && what.a.op == devices::BlasOp::transpose &&
            what.b.op == devices::BlasOp::none,
        "a product of {} that no BLAS makes", name(what.a.dtype));
}

}  // namespace

int FakeMath::ended_products() {
  return ended.load();
}

/// As cuBLASLt, which wants what it knows of addresses to hold.
bool FakeMath::makes(const devices::DeviceProduct& product, const devices::GemmPlaces& places) const {
  const devices::DeviceGemm& what = product.what;
  const bool aligned =
      bits_of(places.a, places.b, places.c, places.addend) % static_cast<std::uintptr_t>(what.alignment) ==
          0 &&
      bits_of(places.bias, places.auxiliary) % devices::bias_alignment == 0;
  const bool adds_alone = what.activation == Activation::identity && !what.bias;
  return what.ends_with_sums() || (aligned && (adds_alone || !is_complex(what.result)));
}

void FakeMath::gemm(const devices::DeviceProduct& product, const devices::GemmPlaces& places,
                    std::complex<double> alpha, std::complex<double> beta, Stream stream) {
  const devices::DeviceGemm what = product.what;
  if (!what.ends_with_sums()) ++ended;
  check(!what.addend || places.addend != places.c || what.addend->leading == what.leading,
        "an addend in the result's place that lies otherwise");
  check(what.m > 0 && what.n > 0 && what.k > 0, "a product of {} x {} x {}", what.m, what.n, what.k);
  if (what.auxiliary) {
    check((what.auxiliary->leading | what.auxiliary->stride) % devices::auxiliary_elements == 0,
          "an auxiliary matrix that no BLAS takes");
  }
  if (what.is_narrow()) check_narrow(what, places);
  put_(stream, [=] {
    with_type(devices::wide(what.result), [&](auto type) {
      using T = decltype(type);
      multiply(what, places, factor_as<T>(alpha), factor_as<T>(beta));
    });
  });
}

void FakeMath::pass(const devices::ElementPass& what, const devices::ElementNest& nest, Stream stream) {
  check(nest.loops.size() <= devices::ElementNest::most_loops, "a pass of {} loops", nest.loops.size());
  put_(stream, [what, nest] {
    with_type(what.computed, [&](auto type) { pass_loops<decltype(type)>(what, nest, 0, nest.offset); });
  });
}

}  // namespace partita::testing
