#include "device/cuda_transforms.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "cuda/load_by_graph.hpp"

namespace partita::devices {
namespace {

constexpr std::size_t most_transforms = 256;  // but for those in use
constexpr std::int64_t apart = 256;

void check_memory(int status, const char* what) {
  constexpr int alloc_failed = 2;  // CUFFT_ALLOC_FAILED
  check<MemoryError>(status != alloc_failed, "cuFFT: {}: not enough device memory", what);
}

void check_cufft(int status, const char* what) {
  check_memory(status, what);
  check<Error>(status == 0, "cuFFT: {}: error {}", what, status);
}

CufftType type_of(const DeviceFft& what) {
  if (what.kind == TransformKind::real_to_complex) return what.single ? CufftType::r2c : CufftType::d2z;
  if (what.kind == TransformKind::complex_to_real) return what.single ? CufftType::c2r : CufftType::z2d;
  return what.single ? CufftType::c2c : CufftType::z2z;
}

/// At most: as if all were complex.
std::int64_t bytes_of(const DeviceFft& what, const DeviceFft::Side& side) {
  std::int64_t elements = side.stride;
  for (std::size_t i = 0; i < what.dimensions; ++i) elements *= std::max(side.embed.at(i), what.n.at(i));
  return (elements + side.apart * (what.batches - 1)) * (what.single ? 8 : 16);
}

class CufftPlan final : public PreparedFft {
 public:
  CufftPlan(const DeviceFft& fft, const CufftLibrary& library) : PreparedFft(fft), library_(library) {
    check_cufft(library.create(&handle_), "start");
    try {
      make();
    } catch (...) {
      library.destroy(handle_);
      throw;
    }
  }
  ~CufftPlan() override {
    const cuda::CudaBesideCaptures unharmed;
    library_.destroy(handle_);
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  std::int64_t workspace_bytes() const override { return static_cast<std::int64_t>(workspace_bytes_); }

  void start(void* from, void* to, void* workspace, Stream stream) const {
    check_cufft(library_.set_stream(handle_, cuda::native(stream)), "set a stream");
    if (workspace_bytes_ > 0) check_cufft(library_.set_work_area(handle_, workspace), "set the workspace");
    check_cufft(execute(from, to), "transform");
  }

 private:
  using Numbers = std::array<long long, DeviceFft::most_dimensions>;

  void make() {
    check_cufft(library_.set_auto_allocation(handle_, 0), "turn off automatic work areas");
    Numbers n{}, from{}, to{};
    std::ranges::copy(what.n, n.begin());
    std::ranges::copy(what.from.embed, from.begin());
    std::ranges::copy(what.to.embed, to.begin());
    const int status = library_.make_plan(handle_, static_cast<int>(what.dimensions), n.data(), from.data(),
                                          what.from.stride, what.from.apart, to.data(), what.to.stride,
                                          what.to.apart, type_of(what), what.batches, &workspace_bytes_);
    check_memory(status, "make a plan");
    check<UnsupportedError>(status == 0, "cuFFT: no plan for {} transforms of {} x {} x {}: error {}",
                            what.batches, n[0], n[1], n[2], status);
  }

  int execute(void* from, void* to) const {
    const int direction = what.kind == TransformKind::complex_backward ? 1 : -1;
    switch (type_of(what)) {
      case CufftType::r2c:
        return library_.execute_r2c(handle_, from, to);
      case CufftType::c2r:
        return library_.execute_c2r(handle_, from, to);
      case CufftType::c2c:
        return library_.execute_c2c(handle_, from, to, direction);
      case CufftType::d2z:
        return library_.execute_d2z(handle_, from, to);
      case CufftType::z2d:
        return library_.execute_z2d(handle_, from, to);
      case CufftType::z2z:
        return library_.execute_z2z(handle_, from, to, direction);
    }
    return 0;
  }

  const CufftLibrary& library_;
  CufftHandle handle_ = 0;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CudaTransforms> CudaTransforms::make(Accelerator& device) {
  const CufftLibrary& library = CufftLibrary::of_process();
  if (!library.why_none.empty()) return nullptr;
  return std::unique_ptr<CudaTransforms>(new CudaTransforms(device, library));
}

CudaTransforms::CudaTransforms(Accelerator& device, const CufftLibrary& library)
    : device_(device), library_(library), anywhere_(device, 2 * apart) {}

CudaTransforms::~CudaTransforms() {
  for (std::shared_ptr<PreparedFft>& one : prepared_) device_.physical().release(std::move(one));
}

std::string CudaTransforms::name() const {
  const int version = library_.version;
  return fmt::format("cuFFT {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::shared_ptr<PreparedFft> CudaTransforms::prepare(const DeviceFft& what) {
  for (const auto& known : prepared_) {
    if (known->what == what) return known;
  }
  if (prepared_.size() >= most_transforms)
    std::erase_if(prepared_, [](const auto& one) { return one.use_count() == 1; });
  device_.use();
  const cuda::CudaBesideCaptures unharmed;
  auto plan = std::make_shared<CufftPlan>(what, library_);
  load(*plan);
  prepared_.push_back(plan);
  return plan;
}

/// Most plans do not look at addresses. Those that do (of several dimensions and prime lengths, say) refuse
/// areas that overlap, and get memory for the moment; where there is none, the first execution loads.
void CudaTransforms::load(const PreparedFft& fft) {
  char* const one = static_cast<char*>(anywhere_.data());
  try {
    return load_with(fft, one, one + apart, one);
  } catch (const Error&) {  // it has looked
  }
  try {
    const std::int64_t bytes = std::max(bytes_of(fft.what, fft.what.from), bytes_of(fft.what, fft.what.to));
    const DeviceMemory from(device_, bytes), to(device_, bytes);
    const DeviceMemory workspace(device_, std::max(fft.workspace_bytes(), apart));
    load_with(fft, from.data(), to.data(), workspace.data());
  } catch (const MemoryError&) {  // the first execution loads
  }
}

void CudaTransforms::load_with(const PreparedFft& fft, void* one, void* other, void* workspace) const {
  const auto& plan = static_cast<const CufftPlan&>(fft);
  const bool may_stay = fft.what.from == fft.what.to;
  cuda::load_by_graph("load a transform", [&](Stream aside) {
    plan.start(one, other, workspace, aside);
    if (may_stay) plan.start(one, one, workspace, aside);
  });
}

void CudaTransforms::transform(const PreparedFft& fft, void* from, void* to, void* workspace, Stream stream) {
  constexpr int launches = 8;  // about: long lines take several passes
  device_.launching(stream, launches);
  static_cast<const CufftPlan&>(fft).start(from, to, workspace, stream);
}

void CudaTransforms::pass(const kernels::cuda::LinePass& pass, Stream stream) {
  device_.launching(stream);
  cuda::check_launch(kernels::cuda::launch_line_pass(pass, cuda::native(stream)), "pass over lines");
}

void CudaTransforms::twiddle(const kernels::cuda::TwiddlePass& pass, Stream stream) {
  device_.launching(stream);
  cuda::check_launch(kernels::cuda::launch_twiddle(pass, cuda::native(stream)), "multiply by roots of unity");
}

bool CudaTransforms::has_lines_of(std::int64_t length, bool single) const {
  device_.use();
  return kernels::cuda::has_line_transform(length, single);
}

void CudaTransforms::transform_lines(const kernels::cuda::LineTransform& what, Stream stream) {
  device_.launching(stream);
  cuda::check_launch(kernels::cuda::launch_line_transform(what, cuda::native(stream)), "transform lines");
}

bool CudaTransforms::has_planes_of(std::int64_t length, bool single, bool of_reals) const {
  device_.use();
  return kernels::cuda::has_plane_transform(length, single, of_reals);
}

void CudaTransforms::transform_planes(const kernels::cuda::PlaneTransform& what, Stream stream) {
  device_.launching(stream);
  cuda::check_launch(kernels::cuda::launch_plane_transform(what, cuda::native(stream)), "transform planes");
}

}  // namespace partita::devices
