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

}  // namespace
}  // namespace partita::testing::factorization_works
