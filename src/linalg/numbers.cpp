#include "linalg/numbers.hpp"

#include <cstring>
#include <limits>

#include "context/context_state.hpp"
#include "kernels/host/lapack_library.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

double epsilon_of(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::c64
             ? static_cast<double>(std::numeric_limits<float>::epsilon())
             : std::numeric_limits<double>::epsilon();
}

std::complex<double> number_at(Dtype dtype, const std::vector<char>& bytes, std::size_t i) {
  return kernels::visit_lapack_dtype(dtype, "number", [&]<class T>(TypeTag<T> /*tag*/) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    const std::complex<kernels::RealType<T>> number = value;
    return std::complex<double>(static_cast<double>(number.real()), static_cast<double>(number.imag()));
  });
}

Numbers numbers_of(const Array& array) {
  const auto count = static_cast<std::size_t>(volume(array.shape()));
  Numbers result;
  runtime::check_or_tell_all(*array.context_state(), "numbers of an array", [&] {
    std::vector<char> bytes(count * static_cast<std::size_t>(size_of(array.dtype())));
    copy(array, View::dense(bytes.data(), array.dtype(), array.shape()));
    result.resize(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = number_at(array.dtype(), bytes, i);
  });
  return result;
}

void write_numbers(const Numbers& numbers, Array& array) {
  kernels::visit_lapack_dtype(array.dtype(), "number", [&]<class T>(TypeTag<T> /*tag*/) {
    using Real = kernels::RealType<T>;
    std::vector<T> values;
    for (const std::complex<double> number : numbers) {
      if constexpr (std::is_same_v<T, Real>) {
        values.push_back(static_cast<Real>(number.real()));
      } else {
        values.push_back({static_cast<Real>(number.real()), static_cast<Real>(number.imag())});
      }
    }
    runtime::check_or_tell_all(*array.context_state(), "numbers of an array", [&] {
      copy(View::dense(values.data(), array.dtype(), array.shape()), array);
    });
  });
}

Array replicated_numbers(const Array& like, const Shape& shape, const Numbers& numbers) {
  Array result = empty(like.context(), shape, Replicated(), like.dtype(), {.space = like.local().space});
  write_numbers(numbers, result);
  return result;
}

}  // namespace partita::linear
