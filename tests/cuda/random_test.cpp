// Random elements made on a GPU have the bits of the host's.
#include "kernels/host/random.hpp"

#include <cuda_runtime.h>

#include "cuda/device_case.hpp"
#include "device/device_memory.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using kernels::Randomness;
using kernels::RandomPass;

class CudaRandomTest : public CudaDeviceTest {
 protected:
  void expect_bits_of_host(RandomPass pass, std::int64_t elements) {
    const std::int64_t bytes = elements * size_of(pass.dtype);
    std::vector<char> expected(static_cast<std::size_t>(bytes)), found(expected);
    pass.data = expected.data();
    kernels::generate(pass);
    const devices::DeviceMemory there(*device_, bytes);
    ASSERT_EQ(cudaMemset(there.data(), 0, expected.size()), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // which the device's stream does not follow
    pass.data = there.data();
    device_->generate(pass, device_->stream());
    ASSERT_EQ(cudaStreamSynchronize(static_cast<cudaStream_t>(device_->stream().handle)), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(found.data(), there.data(), found.size(), cudaMemcpyDefault), cudaSuccess);
    EXPECT_TRUE(found == expected) << name(pass.dtype) << ", " << static_cast<int>(pass.kind);
  }
};

TEST_F(CudaRandomTest, OfEveryDtype) {
  for (int number = 0; number < dtype_count; ++number) {
    RandomPass pass;
    pass.dtype = static_cast<Dtype>(number);
    pass.seed = 17;
    pass.first = std::int64_t{1} << 40;
    pass.loops = {{101, {1, 977}}, {103, {202, 1}}};  // every second column
    expect_bits_of_host(pass, 101 * 2 * 103);
    if (pass.dtype == Dtype::boolean || is_integer(pass.dtype)) continue;
    pass.kind = Randomness::normal;
    expect_bits_of_host(pass, 101 * 2 * 103);
  }
}

TEST_F(CudaRandomTest, OfManyNormalNumbers) {
  constexpr std::int64_t elements = std::int64_t{1} << 24;
  RandomPass pass;
  pass.kind = Randomness::normal;
  pass.loops = {{elements, {1, 1}}};
  expect_bits_of_host(pass, elements);
}

}  // namespace
}  // namespace partita::testing
