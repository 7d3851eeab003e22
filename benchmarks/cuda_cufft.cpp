#include "benchmarks/cuda_cufft.hpp"

#include <dlfcn.h>

#include <partita/device_report.hpp>
#include <partita/error.hpp>
#include <string>

#include "benchmarks/peer_symbol.hpp"

namespace partita::benchmarks {
namespace {

constexpr int type_c2c = 0x29, forward = -1;

struct CufftFunctions {
  void* handle = nullptr;
  int (*plan_many)(int*, int, int*, int*, int, int, int*, int, int, int, int) = nullptr;
  int (*set_stream)(int, void*) = nullptr;
  int (*execute)(int, void*, void*, int) = nullptr;
  int (*destroy)(int) = nullptr;

  CufftFunctions() {
    const LibraryReport report = report_cufft();
    if (!report.why_none.empty()) return;
    handle = dlopen(report.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    find_symbol(handle, "cuFFT", "cufftPlanMany", plan_many);
    find_symbol(handle, "cuFFT", "cufftSetStream", set_stream);
    find_symbol(handle, "cuFFT", "cufftExecC2C", execute);
    find_symbol(handle, "cuFFT", "cufftDestroy", destroy);
  }
};

void require_cufft(int status) {
  if (status != 0) throw Error("cuFFT: error " + std::to_string(status));
}

class OpenedCufft final : public Cufft {
 public:
  OpenedCufft(const CufftFunctions& library, const CufftShape& shape) : library_(library) {
    std::array<int, 3> n{};
    for (std::size_t i = 0; i < n.size(); ++i) n.at(i) = static_cast<int>(shape.n.at(i));
    const int stride = static_cast<int>(shape.stride), apart = static_cast<int>(shape.apart);
    require_cufft(library.plan_many(&plan_, shape.dimensions, n.data(), n.data(), stride, apart, n.data(),
                                    stride, apart, type_c2c, static_cast<int>(shape.batches)));
  }
  ~OpenedCufft() override { library_.destroy(plan_); }
  OpenedCufft(const OpenedCufft&) = delete;
  OpenedCufft& operator=(const OpenedCufft&) = delete;

  void run(void* data, void* stream) override {
    require_cufft(library_.set_stream(plan_, stream));
    require_cufft(library_.execute(plan_, data, data, forward));
  }

 private:
  const CufftFunctions& library_;
  int plan_ = 0;
};

}  // namespace

std::unique_ptr<Cufft> make_cufft(const CufftShape& shape) {
  static const CufftFunctions library;
  if (library.handle == nullptr) return nullptr;
  return std::make_unique<OpenedCufft>(library, shape);
}

}  // namespace partita::benchmarks
