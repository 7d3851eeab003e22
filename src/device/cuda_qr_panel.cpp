#include "device/cuda_qr_panel.hpp"

#include "base/round.hpp"
#include "cuda/stream.hpp"
#include "kernels/cuda/qr_panel.hpp"

namespace partita::devices {
namespace {

constexpr std::int64_t most_panel_columns = 1024, least_leaf_columns = 4;
constexpr std::int64_t panel_alignment = 256;

std::int64_t sums_bytes(const DeviceFactorization& what) {
  return round_up(what.n * what.n * size_of(what.dtype), panel_alignment);
}

class QrPanel {
 public:
  QrPanel(const CudaFactorHandles& handles, const DeviceFactorization& what, const QrPanelPlaces& places,
          Stream stream)
      : handles_(handles),
        what_(what),
        places_(places),
        stream_(stream),
        leaf_(kernels::cuda::most_qr_columns(what.dtype, what.m)),
        small_(kernels::cuda::most_in_qr_application(what.dtype)),
        sums_(static_cast<char*>(places.workspace)),
        top_(sums_ + sums_bytes(what)) {}

  void factor(std::int64_t first, std::int64_t count) const {
    if (count <= leaf_)
      return cuda::check_launch(
          kernels::cuda::launch_qr_columns(columns(first, count), cuda::native(stream_)),
          "factorize columns");
    std::int64_t left = leaf_;
    while (2 * left < count) left *= 2;
    factor(first, left);
    apply(first, left, count - left);
    factor(first + left, count - left);
  }

 private:
  char* at(std::int64_t i, std::int64_t j) const {
    return static_cast<char*>(places_.panel) + (i + j * what_.leading) * item();
  }
  std::int64_t item() const { return size_of(what_.dtype); }

  kernels::cuda::QrColumns columns(std::int64_t first, std::int64_t count) const {
    return {what_.dtype,     at(first, first),        what_.leading,
            what_.m - first, static_cast<int>(count), static_cast<char*>(places_.factors) + first * item()};
  }

  /// Of `count` columns onto the adjacent ones.
  void apply(std::int64_t first, std::int64_t k, std::int64_t count) const {
    const std::int64_t below = what_.m - first - k, next = first + k, lead = what_.leading;
    void* const stream = cuda::native(stream_);
    const kernels::cuda::QrApplication what{columns(first, k), static_cast<int>(count), sums_, top_};
    char* const of_rest = sums_ + k * k * item();
    if (below > 0) {
      handles_.multiply({what_.dtype, true, k, k + count, below, lead, lead, k}, 1, at(next, first),
                        at(next, first), 0, sums_);
    } else {
      cuda::check_cuda(cudaMemsetAsync(sums_, 0, static_cast<std::size_t>(k * (k + count) * item()),
                                       cuda::native(stream_)),
                       "apply reflectors");
    }
    if (k <= small_ && count <= small_) {
      cuda::check_launch(kernels::cuda::launch_qr_application(what, stream), "apply reflectors");
    } else {
      cuda::check_launch(kernels::cuda::launch_qr_top(what, stream), "copy reflectors");
      handles_.multiply({what_.dtype, true, k, k + count, k, k, k, k}, 1, top_, top_, 1, sums_);
      cuda::check_launch(kernels::cuda::launch_qr_diagonal(what, stream), "complete a triangle");
      handles_.solve({what_.dtype, Op::conjugate_transpose, true, false, false, k, count, k, k}, sums_,
                     of_rest);
      handles_.multiply({what_.dtype, false, k, count, k, k, k, lead}, -1, top_, of_rest, 1, at(first, next));
    }
    if (below > 0)
      handles_.multiply({what_.dtype, false, below, count, k, lead, k, lead}, -1, at(next, first), of_rest, 1,
                        at(next, next));
  }

  const CudaFactorHandles& handles_;
  const DeviceFactorization& what_;
  const QrPanelPlaces& places_;
  Stream stream_;
  std::int64_t leaf_, small_;
  char *sums_, *top_;
};

}  // namespace

bool has_qr_panel(const DeviceFactorization& what) {
  return what.kind == Factorization::qr && what.m >= what.n && what.n <= most_panel_columns &&
         kernels::cuda::most_qr_columns(what.dtype, what.m) >= least_leaf_columns &&
         kernels::cuda::has_qr_columns();
}

std::int64_t qr_panel_workspace_bytes(const DeviceFactorization& what) {
  return 2 * sums_bytes(what);
}

void factor_qr_panel(const CudaFactorHandles& handles, const DeviceFactorization& what,
                     const QrPanelPlaces& places, Stream stream) {
  cuda::check_cuda(cudaMemsetAsync(places.status, 0, sizeof(std::int32_t), cuda::native(stream)),
                   "factorize columns");
  QrPanel(handles, what, places, stream).factor(0, what.n);
}

}  // namespace partita::devices
