// Local Fourier, cosine and sine transforms of strided lines, through FFTW's guru interface.
#pragma once

#include <compare>
#include <memory>
#include <partita/work.hpp>
#include <vector>

#include "kernels/host/fftw_library.hpp"

namespace partita::kernels {

/// Which transform: all that FFTW plans for, but the addresses themselves. Lines are the transformed
/// dimensions, counts on the real side for real to complex and back; batch loops over lines.
struct TransformShape {
  TransformKind kind = TransformKind::complex_forward;
  FftwPrecision precision = FftwPrecision::f64;
  bool measure = false;     ///< timed on private memory, or estimated
  bool overwrites = false;  ///< may destroy its input
  int threads = 1;
  std::vector<FftwLoop> lines;
  std::vector<FftwLoop> batch;
  // clang-tidy 14 takes the 0 in a defaulted comparison for a pointer.
  friend auto operator<=>(const TransformShape&,
                          const TransformShape&) = default;  // NOLINT(modernize-use-nullptr)
};

/// What a plan asks of the addresses that it runs on.
struct TransformMemory {
  bool in_place = false;
  int from_alignment = 0;
  int to_alignment = 0;
  // clang-tidy 14 takes the 0 in a defaulted comparison for a pointer.
  friend auto operator<=>(const TransformMemory&,
                          const TransformMemory&) = default;  // NOLINT(modernize-use-nullptr)
};
TransformMemory memory_of(const FftwLibrary& library, const void* from, const void* to);

/// Bytes of an element on the two sides of a kind.
struct TransformItems {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
TransformItems items_of(TransformKind kind, FftwPrecision precision);

/// One FFTW plan. Immutable; `run` is thread-safe, allocates nothing and keeps the input's values unless it
/// is in place or may destroy them.
class LocalTransform {
 public:
  LocalTransform(const TransformShape& shape, const TransformMemory& memory);  ///< under the planner's mutex
  ~LocalTransform();
  LocalTransform(const LocalTransform&) = delete;
  LocalTransform& operator=(const LocalTransform&) = delete;

  void run(void* from, void* to) const { execute_(plan_, from, to); }

 private:
  FftwLibrary& library_;
  FftwLibrary::Plan plan_ = nullptr;
  FftwLibrary::Execute execute_ = nullptr;
};

/// The plan, shared by all users in the process while it is in use. Thread-safe; may take long if measured.
/// Throws ArgumentError for an invalid transform (a DCT-I of one point), UnsupportedError if there is no FFTW
/// or if it has no plan.
std::shared_ptr<const LocalTransform> plan_transform(const TransformShape& shape,
                                                     const TransformMemory& memory);

}  // namespace partita::kernels
