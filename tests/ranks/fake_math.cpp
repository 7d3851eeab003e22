#include "ranks/fake_math.hpp"

#include <atomic>
#include <type_traits>

#include "base/check.hpp"
#include "kernels/host/epilogue.hpp"
#include "kernels/host/gemm.hpp"
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
    default:
      throw UnsupportedError("fake devices do not compute in " + std::string(name(computed)));
  }
}

template <class T>
T factor_as(std::complex<double> value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(value);
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
        kernels::load_run(bytes, dtype, line * leading, 1, length, memory.data() + line * length);
      bytes = reinterpret_cast<const std::byte*>(memory.data());
      leading = length;
    }
    matrix = {reinterpret_cast<const T*>(bytes), rows, columns, plain ? 1 : leading, plain ? leading : 1};
  }
};

/// The result of a batch in the type that computes, and back where it lies.
template <class T>
class WideResult {
 public:
  WideResult(const devices::DeviceGemm& what, void* c, std::int64_t number)
      : what_(what), bytes_(static_cast<std::byte*>(c) + number * what.stride * size_of(what.result)) {
    if (size_of(what.result) == sizeof(T)) {
      matrix = {reinterpret_cast<T*>(bytes_), what.m, what.n, 1, what.leading};
      return;
    }
    memory_.resize(static_cast<std::size_t>(what.m * what.n));
    for (std::int64_t j = 0; j < what.n; ++j)
      kernels::load_run(bytes_, what.result, j * what.leading, 1, what.m, memory_.data() + j * what.m);
    matrix = {memory_.data(), what.m, what.n, 1, what.m};
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

/// What comes after the sums of a column.
template <class T>
void finish_column(const devices::DeviceGemm& what, const void* bias, T* column) {
  if (what.bias) {
    std::vector<T> addends(static_cast<std::size_t>(what.m));
    kernels::load_run(static_cast<const std::byte*>(bias), *what.bias, 0, 1, what.m, addends.data());
    for (std::int64_t i = 0; i < what.m; ++i) column[i] += addends[static_cast<std::size_t>(i)];
  }
  if constexpr (std::is_floating_point_v<T>) kernels::activate(what.activation, column, column, what.m);
}

template <class T>
void multiply(const devices::DeviceGemm& what, const void* a, const void* b, void* c, const void* bias,
              T alpha, T beta) {
  for (std::int64_t number = 0; number < what.batches; ++number) {
    const Wide<T> left(what.a, what.factors, a, number, what.m, what.k);
    const Wide<T> right(what.b, what.factors, b, number, what.k, what.n);
    const WideResult<T> to(what, c, number);
    kernels::gemm(alpha, left.matrix, what.a.op == devices::BlasOp::conjugate_transpose, right.matrix,
                  what.b.op == devices::BlasOp::conjugate_transpose, beta, to.matrix);
    if (!what.ends_with_sums()) {
      for (std::int64_t j = 0; j < what.n; ++j)
        finish_column(what, bias, &to.matrix.data[j * to.matrix.column_stride]);
    }
    to.store();
  }
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
  if (what.data[devices::ElementPass::c] != nullptr && what.beta != std::complex<double>(0))
    value += factor_as<T>(what.beta) * load(devices::ElementPass::c);
  if (what.data[devices::ElementPass::bias] != nullptr) value += load(devices::ElementPass::bias);
  if (what.data[devices::ElementPass::auxiliary] != nullptr && !backward)
    store(devices::ElementPass::auxiliary, value);
  if constexpr (std::is_floating_point_v<T>) {
    const T input = backward ? load(devices::ElementPass::auxiliary) : value;
    kernels::activate(what.activation, &value, &input, 1);
  }
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

/// As cuBLAS.
bool FakeMath::multiplies(Dtype factors, Dtype result) const {
  if (factors == Dtype::f16 || factors == Dtype::bf16) return result == Dtype::f32 || result == factors;
  return result == factors && (factors == Dtype::f32 || factors == Dtype::f64 || is_complex(factors));
}

int FakeMath::ended_products() {
  return ended.load();
}

/// As cuBLASLt, which wants what it knows of addresses to hold.
bool FakeMath::makes(const devices::DeviceProduct& product, const void* a, const void* b,
                     const void* c) const {
  const auto bits = reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) |
                    reinterpret_cast<std::uintptr_t>(c);
  const bool aligned = bits % static_cast<std::uintptr_t>(product.what.alignment) == 0;
  return product.what.ends_with_sums() || (aligned && !is_complex(product.what.result));
}

void FakeMath::gemm(const devices::DeviceProduct& product, const void* a, const void* b, void* c,
                    const void* bias, std::complex<double> alpha, std::complex<double> beta, Stream stream) {
  const devices::DeviceGemm what = product.what;
  if (!what.ends_with_sums()) ++ended;
  check(what.m > 0 && what.n > 0 && what.k > 0, "a product of {} x {} x {}", what.m, what.n, what.k);
  put_(stream, [=] {
    with_type(devices::wide(what.result), [&](auto type) {
      using T = decltype(type);
      multiply(what, a, b, c, bias, factor_as<T>(alpha), factor_as<T>(beta));
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
