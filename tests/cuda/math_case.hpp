// Results of a GPU compared with the host's kernels.
#pragma once

#include <cuda_runtime.h>

#include "cuda/device_case.hpp"
#include "device/device_memory.hpp"
#include "kernels/host/number_runs.hpp"
#include "support/fakes/fake_math.hpp"
#include "support/test.hpp"

namespace partita::testing {

using Precise = std::complex<double>;
using Memory = std::vector<char>;

inline constexpr std::array dtypes{Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};

inline bool is_half(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16;
}

/// Half the distance from 1 to the next number.
inline double rounding(Dtype dtype) {
  if (dtype == Dtype::f16) return 0x1p-11;
  if (dtype == Dtype::bf16) return 0x1p-8;
  if (is_float8(dtype)) return dtype == Dtype::f8e4m3 ? 0x1p-4 : 0x1p-3;
  return dtype == Dtype::f32 || dtype == Dtype::c64 ? 0x1p-24 : 0x1p-53;
}

class CudaMathTest : public CudaDeviceTest {
 protected:
  CudaMathTest() { random_.seed(std::random_device()()); }

  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (!device_) return;
    if (device_->math() == nullptr) GTEST_SKIP() << "no cuBLAS: " << device_->why_no_math();
  }

  /// Random ones, compared with the host's. `in_packs`: with layouts that allow four numbers at a time.
  void check_passes(bool in_packs);

  /// Numbers between -1 and 1.
  Memory random_numbers(std::int64_t count, Dtype dtype) {
    std::uniform_real_distribution<double> any(-1, 1);
    Memory memory(static_cast<std::size_t>(count * size_of(dtype)));
    auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const Precise value(any(random_), any(random_));
      const double real = value.real();
      if (is_complex(dtype)) {
        kernels::store_run(&value, 1, bytes, dtype, i, 1);
      } else {
        kernels::store_run(&real, 1, bytes, dtype, i, 1);
      }
    }
    return memory;
  }

  /// Of i8 any; of numbers of 8 bits those between -1 and 1.
  Memory random_bytes(std::int64_t count, Dtype dtype) {
    if (dtype != Dtype::i8) return random_numbers(count, dtype);
    Memory memory(static_cast<std::size_t>(count));
    for (char& byte : memory) byte = static_cast<char>(number(-128, 127));
    return memory;
  }

  static std::vector<Precise> widened(const Memory& memory, Dtype dtype) {
    const std::int64_t count = static_cast<std::int64_t>(memory.size()) / size_of(dtype);
    const auto* const bytes = reinterpret_cast<const std::byte*>(memory.data());
    std::vector<Precise> result(static_cast<std::size_t>(count));
    std::vector<double> real(result.size());
    if (is_complex(dtype)) {
      kernels::load_run(bytes, dtype, 0, 1, count, result.data());
    } else {
      kernels::load_run(bytes, dtype, 0, 1, count, real.data());
      std::ranges::copy(real, result.begin());
    }
    return result;
  }

  /// Whether the device has them as the host, each to `bound`.
  void expect_near(const Memory& there, const Memory& here, Dtype dtype, double bound, const char* what) {
    const std::vector<Precise> a = widened(there, dtype), b = widened(here, dtype);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i].real()) && std::isnan(b[i].real())) continue;
      ASSERT_LE(std::abs(a[i] - b[i]), bound) << what << " " << name(dtype) << " element " << i;
    }
  }

  struct Uploaded {
    devices::DeviceMemory memory;
    std::size_t bytes;
  };
  Uploaded upload(const Memory& memory) {
    Uploaded result{devices::DeviceMemory(*device_, static_cast<std::int64_t>(memory.size()) + 16),
                    memory.size()};
    put(memory, result);
    return result;
  }
  /// From ordinary host memory cudaMemcpy may return while the device still copies.
  void put(const Memory& memory, const Uploaded& to) const {
    ASSERT_EQ(cudaMemcpy(to.memory.data(), memory.data(), to.bytes, cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  Memory download(const Uploaded& from) const {
    Memory result(from.bytes);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(result.data(), from.memory.data(), from.bytes, cudaMemcpyDefault), cudaSuccess);
    return result;
  }

  FakeMath host_{[](Stream, const std::function<void()>& work) { work(); }};
};

}  // namespace partita::testing
