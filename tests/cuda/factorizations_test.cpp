// The works of factorizations on a GPU, by calls and by graphs.
#include <cuda_runtime.h>

#include "device/device_factorizations.hpp"
#include "support/models/device_job.hpp"
#include "support/models/factorization_works.hpp"

namespace partita::testing::factorization_works {
namespace {

/// Cheap to have, but not to make: one for all tests.
class OnGpu {
 public:
  static std::string why_not() {
    devices::Accelerators& devices = devices::Accelerators::built_in();
    if (devices.count() == 0) return "no GPU: " + devices.why_none();
    if (!opened) opened = devices.device(0)->open({}, 1);
    return opened->factorizations() == nullptr ? opened->why_no_factorizations() : "";
  }
  static void run(const Job& job) {
    run_on_device(device(), job, [](const auto& put) { put(device().stream()); });
  }
  static void end() { opened.reset(); }
  static devices::Accelerator& device() { return *opened; }

 private:
  inline static std::unique_ptr<devices::Accelerator> opened;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, FactorizationWorks, OnGpu);

struct InGraphs {
  static std::string why_not() { return OnGpu::why_not(); }
  static void end() { OnGpu::end(); }
  static void run(const Job& job) {
    run_on_device(OnGpu::device(), job, [](const auto& put) { run_captured(put); });
  }

 private:
  template <class Put>
  static void run_captured(const Put& put) {
    const Stream stream = OnGpu::device().stream();
    auto* const native = static_cast<cudaStream_t>(stream.handle);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t program = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeGlobal), cudaSuccess);
    try {
      put(stream);
    } catch (...) {
      (void)cudaStreamEndCapture(native, &graph);
      throw;
    }
    ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(program, native), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(native), cudaSuccess);
    cudaGraphExecDestroy(program);
    cudaGraphDestroy(graph);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(GpuGraphs, FactorizationWorks, InGraphs);

class CountLaunches final : public devices::LaunchGate {
 public:
  void launching(Stream /*stream*/, int launches) override { count += launches; }
  int count = 0;
};

/// A factorization of many kernels, at two places in turn: a program of one launch, whose addresses change.
TEST(GpuFactorizations, LongPanelsAreOneLaunch) {
  if (const std::string why = OnGpu::why_not(); !why.empty()) GTEST_SKIP() << why;
  devices::Accelerator& device = OnGpu::device();
  constexpr std::int64_t m = 8192, n = 512, bytes = m * n * 8;
  std::vector<double> a(m * n);
  std::mt19937_64 random(11);
  for (double& x : a) x = std::uniform_real_distribution<double>(-1, 1)(random);
  const auto event = device.event();
  const auto finish = [&] {
    event->record(device.stream());
    while (!event->reached()) std::this_thread::yield();
  };
  for (const Factorization kind : {Factorization::qr, Factorization::lu}) {
    const auto call =
        device.factorizations()->prepare(devices::DeviceFactorization{kind, Dtype::f64, m, n, m});
    const devices::DeviceMemory workspace(device, call->workspace_bytes());
    const std::array<devices::DeviceMemory, 2> panels{devices::DeviceMemory(device, bytes),
                                                      devices::DeviceMemory(device, bytes)};
    const devices::DeviceMemory pivots(device, n * 8), status(device, 256);
    std::vector<std::vector<double>> found;
    for (const std::size_t place : {0U, 1U, 1U, 0U}) {
      void* const panel = panels.at(place).data();
      device.copy_bytes(a.data(), panel, bytes, device.stream());
      finish();
      CountLaunches gate;
      device.set_gate(&gate);
      device.factorizations()->factor(*call, panel, pivots.data(), status.data(), workspace.data(),
                                      device.stream());
      device.set_gate(nullptr);
      EXPECT_EQ(gate.count, 1) << place;
      found.emplace_back(a.size());
      device.copy_bytes(panel, found.back().data(), bytes, device.stream());
      finish();
      EXPECT_TRUE(found.back() != a) << place;
      EXPECT_TRUE(found.back() == found.front()) << place;
    }
  }
  OnGpu::end();
}

}  // namespace
}  // namespace partita::testing::factorization_works
