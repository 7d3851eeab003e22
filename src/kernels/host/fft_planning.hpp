// How this thread plans local transforms.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "kernels/host/fftw_library.hpp"

namespace partita::kernels {

/// While it exists, local transforms that this thread plans are timed (`measure`) or estimated, and wisdom is
/// read from `wisdom_file` before the first plan and written at the end if anything was planned (single
/// precision: the name with the suffix `f`, as in FFTW). The innermost object applies. Cheap if nothing is
/// planned, so that every execution can use one. A missing or unwritable wisdom file is not an error: wisdom
/// only saves time.
class FftPlanning {
 public:
  explicit FftPlanning(bool measure, std::string wisdom_file = "");
  ~FftPlanning();
  FftPlanning(const FftPlanning&) = delete;
  FftPlanning& operator=(const FftPlanning&) = delete;

  bool measure() const { return measure_; }
  /// Around each making of a plan, under the planner's mutex; of this precision.
  void begin_plan(FftwPrecision precision);

  /// The innermost of this thread; null: none.
  static FftPlanning* current();

 private:
  bool measure_;
  std::string wisdom_file_;
  std::set<FftwPrecision> planned_;
  FftPlanning* outer_;
};

/// Keeps the threads of the local transforms that are planned from now on at `threads`, for as long as the
/// result lives. The process has one setting: with several holders the first one's counts. Thread-safe.
std::shared_ptr<void> hold_fft_threads(int threads);
int held_fft_threads();  ///< 1 without a holder

}  // namespace partita::kernels
