// Spectra times symbols on a GPU, against the host's kernel.
#include "kernels/host/symbol.hpp"

#include <cuda_runtime.h>

#include "cuda/device_case.hpp"
#include "device/device_memory.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using kernels::Symbol;
using kernels::SymbolPass;

class CudaSymbolTest : public CudaDeviceTest {
 protected:
  /// In device memory.
  template <class T>
  devices::DeviceMemory there(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    devices::DeviceMemory memory(*device_, static_cast<std::int64_t>(bytes));
    EXPECT_EQ(cudaMemcpy(memory.data(), values.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    return memory;
  }

  /// 5 x 3 x `last` modes stored by columns, read by rows, the second dimension not transformed.
  template <class Real>
  void expect_products(Symbol symbol, Dtype dtype, std::int64_t last) {
    using Number = std::complex<Real>;
    std::uniform_real_distribution<Real> any(-1, 1);
    const std::int64_t elements = 5 * 3 * last;
    std::vector<Number> from(static_cast<std::size_t>(elements)), expected(from), found(from);
    for (Number& value : from) value = {any(random_), any(random_)};
    std::vector<double> first(5), third(static_cast<std::size_t>(last));
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<double>(i * i);
    for (std::size_t i = 0; i < third.size(); ++i) third[i] = 0.5 * static_cast<double>(i);
    SymbolPass pass;
    pass.symbol = symbol;
    pass.dtype = dtype;
    pass.data = {expected.data(), from.data()};
    pass.loops = {{5, {1, 3 * last}, first.data()}, {3, {5, last}, nullptr}, {last, {15, 1}, third.data()}};
    kernels::multiply(pass);
    const devices::DeviceMemory source = there(from), target = there(found), a = there(first),
                                c = there(third);
    pass.data = {target.data(), source.data()};
    pass.loops[0].terms = static_cast<const double*>(a.data());
    pass.loops[2].terms = static_cast<const double*>(c.data());
    device_->multiply(pass, device_->stream());
    ASSERT_EQ(cudaStreamSynchronize(static_cast<cudaStream_t>(device_->stream().handle)), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(found.data(), target.data(), found.size() * sizeof(Number), cudaMemcpyDefault),
              cudaSuccess);
    constexpr Real rounding = 4 * std::numeric_limits<Real>::epsilon();
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_LE(std::abs(found[i] - expected[i]), rounding * std::abs(expected[i])) << "element " << i;
  }

  std::mt19937_64 random_{1};
};

TEST_F(CudaSymbolTest, ProductsAreThoseOfTheHost) {
  for (const Symbol symbol : {Symbol::inverse_laplacian, Symbol::derivative}) {
    for (const std::int64_t last : {1, 7, 1000, 300'000}) {
      expect_products<float>(symbol, Dtype::c64, last);
      expect_products<double>(symbol, Dtype::c128, last);
    }
  }
}

}  // namespace
}  // namespace partita::testing
