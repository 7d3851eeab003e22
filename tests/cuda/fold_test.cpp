// Reductions of a GPU, and the places of extremes, against the host's kernels.
#include "kernels/host/fold.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <limits>
#include <partita/scalar.hpp>

#include "cuda/device_case.hpp"
#include "device/device_memory.hpp"
#include "device/device_sorting.hpp"
#include "kernels/host/number_runs.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

class CudaFoldTest : public CudaDeviceTest {
 protected:
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

/// Elements of any kind, with few values; of floating-point numbers some are NaN.
class CudaExtremesTest : public CudaFoldTest {
 protected:
  std::vector<char> numbers_of(Dtype dtype, std::int64_t count, bool with_nan) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values)
      value = is_complex(dtype) || with_nan ? static_cast<double>(number(-3, 3))
                                            : static_cast<double>(number(0, 99));
    if (with_nan && count > 0)
      values[static_cast<std::size_t>(number(0, count - 1))] = std::numeric_limits<double>::quiet_NaN();
    std::vector<char> numbers(static_cast<std::size_t>(count * size_of(dtype)));
    auto* const bytes = reinterpret_cast<std::byte*>(numbers.data());
    if (dtype == Dtype::boolean) {
      for (char& byte : numbers) byte = static_cast<char>(number(0, 1));
    } else if (is_integer(dtype)) {
      for (std::int64_t i = 0; i < count; ++i) Scalar(number(0, 99)).write(dtype, bytes + i * size_of(dtype));
    } else {
      kernels::store_run(values.data(), count, bytes, dtype, 0, 1);
    }
    return numbers;
  }

  static double read(Dtype joined, const char* at) { return Scalar::of(joined, at).as<double>(); }

  /// `batches` of `lines` lines, each side by side if there are several.
  void expect_reduced(const kernels::FoldPass& of, std::int64_t batches, std::int64_t lines,
                      std::int64_t length, bool columns, std::int64_t first, bool with_nan) {
    const std::int64_t results = batches * lines, elements = first + results * length;
    const std::vector<char> numbers = numbers_of(of.dtype, elements, with_nan);
    std::vector<char> here(static_cast<std::size_t>(results * 16)), there(here);
    const devices::DeviceMemory from(*device_, std::max<std::int64_t>(elements * size_of(of.dtype), 1)),
        to(*device_, results * 16), scratch(*device_, devices::DeviceArithmetic::fold_scratch_bytes);
    ASSERT_EQ(cudaMemcpy(from.data(), numbers.data(), numbers.size(), cudaMemcpyDefault), cudaSuccess);
    kernels::FoldPass pass = of;
    const std::int64_t batch = lines * length;
    if (batches > 1) pass.kept.push_back({batches, {lines, batch, 0}});
    if (lines > 1) pass.kept.push_back({lines, {1, columns ? 1 : length, 0}});
    pass.over = {{length, {0, columns ? lines : 1, 0}}};
    const std::int64_t offset = first * size_of(of.dtype);
    pass.data = {here.data(), const_cast<char*>(numbers.data()) + offset, nullptr};
    kernels::fold(pass);
    pass.data = {to.data(), static_cast<char*>(from.data()) + offset, nullptr};
    device_->fold(pass, scratch.data(), device_->stream());
    ASSERT_EQ(cudaStreamSynchronize(static_cast<cudaStream_t>(device_->stream().handle)), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(there.data(), to.data(), there.size(), cudaMemcpyDefault), cudaSuccess);
    for (std::int64_t i = 0; i < results; ++i) {
      const std::int64_t at = i * size_of(of.joined);
      const double mine = read(of.joined, here.data() + at), other = read(of.joined, there.data() + at);
      const bool near =
          std::abs(mine - other) <= 1e-12 * std::abs(mine) || (std::isnan(mine) && std::isnan(other));
      ASSERT_TRUE(near || mine == other)
          << name(of.reduction) << " of " << name(of.dtype) << ": " << other << ", not " << mine << ": "
          << (columns ? "column " : "row ") << i << " of " << batches << " x " << lines << " x " << length
          << " from " << first;
    }
  }

  void expect_all_shapes(const kernels::FoldPass& pass, bool with_nan) {
    for (const bool columns : {false, true}) {
      for (int round = 0; round < 6; ++round)
        expect_reduced(pass, columns ? number(1, 5) : 1, number(32, 200), number(32, 900), columns,
                       number(0, 2), with_nan);
    }
    expect_reduced(pass, 1, 1, 300001, false, 3, with_nan);  // not whole accesses at either end
    expect_reduced(pass, 1, 1, 1000000, false, 0, with_nan);
    expect_reduced(pass, 1, 3, 100000, false, 0, with_nan);
    expect_reduced(pass, 1, 20000, 64, false, 0, with_nan);
  }
};

TEST_F(CudaExtremesTest, OfAllDtypesAreThoseOfTheHost) {
  for (int d = 0; d <= static_cast<int>(Dtype::f64); ++d) {
    const auto dtype = static_cast<Dtype>(d);
    const bool real = !is_integer(dtype) && dtype != Dtype::boolean;
    const Dtype joined = real                                          ? Dtype::f64
                         : is_signed(dtype) || dtype == Dtype::boolean ? Dtype::i64
                                                                       : Dtype::u64;
    for (const Reduction reduction : {Reduction::min, Reduction::max, Reduction::sum}) {
      kernels::FoldPass pass;
      pass.reduction = reduction;
      pass.dtype = dtype;
      pass.joined = joined;
      expect_all_shapes(pass, false);
      if (real) expect_all_shapes(pass, true);
    }
  }
}

TEST_F(CudaExtremesTest, TruthsAndMeansAndProducts) {
  for (int d = 0; d <= static_cast<int>(Dtype::c128); ++d) {
    const auto dtype = static_cast<Dtype>(d);
    if (dtype == Dtype::f16 || dtype == Dtype::bf16) continue;
    for (const Reduction reduction : {Reduction::min, Reduction::max}) {
      kernels::FoldPass pass;
      pass.reduction = reduction;
      pass.folded = kernels::Folded::truth;
      pass.dtype = dtype;
      pass.joined = Dtype::u64;
      if (!is_complex(dtype)) expect_all_shapes(pass, false);
    }
  }
  for (const Dtype dtype : {Dtype::i32, Dtype::u64}) {
    kernels::FoldPass pass;
    pass.dtype = dtype;
    pass.joined = Dtype::f64;
    expect_all_shapes(pass, false);
    pass.reduction = Reduction::product;
    pass.joined = is_signed(dtype) ? Dtype::i64 : Dtype::u64;
    expect_all_shapes(pass, false);
  }
}

TEST_F(CudaExtremesTest, PlacesAreThoseOfTheHost) {
  auto& device = dynamic_cast<devices::DeviceSorting&>(*device_);
  const devices::DeviceMemory scratch(*device_, devices::DeviceArithmetic::fold_scratch_bytes);
  for (int d = 0; d <= static_cast<int>(Dtype::f64); ++d) {
    for (int round = 0; round < 24; ++round) {
      const auto dtype = static_cast<Dtype>(d);
      const bool real = !is_integer(dtype) && dtype != Dtype::boolean, columns = round % 2 == 0;
      const std::int64_t lines = round < 4 ? 1 : number(1, 300),
                         length = round < 4 ? 200000 : number(1, 2000);
      const std::vector<char> numbers = numbers_of(dtype, lines * length, real && round % 3 == 0);
      std::vector<std::int64_t> here(static_cast<std::size_t>(lines)), there(here);
      const devices::DeviceMemory from(*device_, static_cast<std::int64_t>(numbers.size())),
          to(*device_, lines * 8);
      ASSERT_EQ(cudaMemcpy(from.data(), numbers.data(), numbers.size(), cudaMemcpyDefault), cudaSuccess);
      kernels::PlacePass pass;
      pass.dtype = dtype;
      pass.smallest = round % 4 < 2;
      pass.kept = {{lines, {1, columns ? 1 : length, 0}}};
      pass.over = {{length, {0, columns ? lines : 1, 0}}};
      pass.data = {here.data(), const_cast<char*>(numbers.data())};
      kernels::find_places(simplify(pass));
      pass.data = {to.data(), from.data()};
      device.find_places(simplify(pass), scratch.data(), device_->stream());
      ASSERT_EQ(cudaStreamSynchronize(static_cast<cudaStream_t>(device_->stream().handle)), cudaSuccess);
      ASSERT_EQ(cudaMemcpy(there.data(), to.data(), there.size() * 8, cudaMemcpyDefault), cudaSuccess);
      ASSERT_EQ(here, there) << name(dtype) << ", " << lines << " x " << length
                             << (columns ? ", columns" : "");
    }
  }
}

}  // namespace
}  // namespace partita::testing
