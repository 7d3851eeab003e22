// Reductions of a GPU against the host's kernels: sums of rows and columns, which have special kernels.
#include "kernels/host/fold.hpp"

#include <cuda_runtime.h>

#include "cuda/device_case.hpp"
#include "device/device_memory.hpp"
#include "kernels/host/number_runs.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

class CudaFoldTest : public CudaDeviceTest {
 protected:
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  /// Of `lines` lines of that length, side by side (columns) or one behind the other, `more` elements apart
  /// than they need be, from element `first` on.
  void expect_sums(Dtype dtype, std::int64_t lines, std::int64_t length, bool columns, std::int64_t more,
                   std::int64_t first, kernels::Folded folded = kernels::Folded::value) {
    const std::int64_t apart = (columns ? lines : length) + more;
    const std::int64_t elements = std::max<std::int64_t>(first + apart * (columns ? length : lines), 1);
    const Dtype part = dtype == Dtype::c64 ? Dtype::f32 : dtype == Dtype::c128 ? Dtype::f64 : dtype;
    const std::int64_t parts = elements * (is_complex(dtype) ? 2 : 1);
    std::vector<double> values(static_cast<std::size_t>(parts));
    std::uniform_real_distribution<double> any(-1, 1);
    for (double& value : values) value = any(random_);
    std::vector<char> numbers(static_cast<std::size_t>(elements * size_of(dtype)));
    kernels::store_run(values.data(), parts, reinterpret_cast<std::byte*>(numbers.data()), part, 0, 1);
    std::vector<double> here(static_cast<std::size_t>(lines)), there(here), again(here);
    const std::int64_t bytes = lines * size_of(Dtype::f64);
    const devices::DeviceMemory from(*device_, elements * size_of(dtype)), to(*device_, bytes),
        scratch(*device_, devices::DeviceArithmetic::fold_scratch_bytes);
    ASSERT_EQ(cudaMemcpy(from.data(), numbers.data(), numbers.size(), cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    kernels::FoldPass pass;
    pass.dtype = dtype;
    pass.folded = folded;
    if (folded == kernels::Folded::square && part == Dtype::f64) pass.factor = 0.5;
    if (lines > 1) pass.kept = {{lines, {1, columns ? 1 : apart, 0}}};
    if (length != 1) pass.over = {{length, {0, columns ? apart : 1, 0}}};
    pass.data = {here.data(), numbers.data() + first * size_of(dtype), nullptr};
    kernels::fold(pass);
    pass.data = {to.data(), static_cast<char*>(from.data()) + first * size_of(dtype), nullptr};
    for (std::vector<double>* const one : {&there, &again}) {
      device_->fold(pass, scratch.data(), device_->stream());
      ASSERT_EQ(cudaStreamSynchronize(static_cast<cudaStream_t>(device_->stream().handle)), cudaSuccess);
      ASSERT_EQ(cudaMemcpy(one->data(), to.data(), static_cast<std::size_t>(bytes), cudaMemcpyDefault),
                cudaSuccess);
    }
    EXPECT_EQ(there, again);
    for (std::int64_t i = 0; i < lines; ++i) {
      const auto line = static_cast<std::size_t>(i);
      ASSERT_NEAR(there[line], here[line], 0x1p-50 * static_cast<double>(length))
          << name(dtype) << ", " << (columns ? "column " : "row ") << i << " of " << lines << " x " << length
          << ", " << more << " more, from " << first << " on";
    }
  }

  std::mt19937_64 random_{1};
};

TEST_F(CudaFoldTest, SumsOfRowsAndColumnsAreThoseOfTheHost) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64}) {
    for (const bool columns : {false, true}) {
      for (int round = 0; round < 20; ++round) {
        const std::int64_t side = number(0, 1) == 0 ? number(1, 40) : 8 * number(4, 150);
        const std::int64_t other = number(0, 1) == 0 ? number(1, 70) : number(1, 3000);
        const std::int64_t step = number(0, 1) == 0 ? 8 : 1;
        expect_sums(dtype, columns ? side : other, columns ? other : side, columns, step * number(0, 2),
                    step * number(0, 2));
      }
    }
    expect_sums(dtype, 1, 300000, false, 0, 0);   // one, in many parts
    expect_sums(dtype, 40, 50000, true, 0, 0);    // few long columns
    expect_sums(dtype, 600000, 3, true, 0, 0);    // more sums than partial ones have room for
    expect_sums(dtype, 300000, 40, false, 0, 0);  // and of rows
    expect_sums(dtype, 64, 0, true, 0, 0);
  }
}

TEST_F(CudaFoldTest, SumsOfSquaresAreThoseOfTheHost) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    for (const bool columns : {false, true}) {
      for (int round = 0; round < 10; ++round)
        expect_sums(dtype, number(1, 200), number(1, 3000), columns, number(0, 2), number(0, 2),
                    kernels::Folded::square);
    }
    expect_sums(dtype, 1, 300000, false, 0, 0, kernels::Folded::square);
  }
}

}  // namespace
}  // namespace partita::testing
