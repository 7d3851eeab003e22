// FFTW3, opened on first use and not linked: Partita works without it, and any library with the FFTW3
// interface (MKL's, say) can stand in. PARTITA_FFT_LIBRARY names another one.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace partita::kernels {

enum class FftwPrecision : std::uint8_t { f32, f64 };

/// One loop of a transform, as fftw_iodim64: extent and steps in elements of either side.
struct FftwLoop {
  std::int64_t count = 1;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  // clang-tidy 14 takes the 0 in a defaulted comparison for a pointer.
  friend auto operator<=>(const FftwLoop&, const FftwLoop&) = default;  // NOLINT(modernize-use-nullptr)
};

// FFTW's flags; the interface is fixed for as long as there is a libfftw3.so.3.
inline constexpr unsigned fftw_measure = 0;
inline constexpr unsigned fftw_destroy_input = 1U << 0;
inline constexpr unsigned fftw_unaligned = 1U << 1;
inline constexpr unsigned fftw_preserve_input = 1U << 4;
inline constexpr unsigned fftw_estimate = 1U << 6;

/// The functions of one precision. Addresses are untyped: those of complex or real numbers of the precision.
/// Executing is thread-safe; all else only under `planner_mutex`.
class FftwLibrary {
 public:
  using Plan = void*;
  template <class... More>
  using PlanMaker = Plan (*)(int rank, const FftwLoop* lines, int batch_rank, const FftwLoop* batch,
                             void* from, void* to, More... more);
  using Execute = void (*)(const Plan plan, void* from, void* to);

  PlanMaker<int, unsigned> plan_dft = nullptr;  ///< sign, flags
  PlanMaker<unsigned> plan_r2c = nullptr;       ///< flags
  PlanMaker<unsigned> plan_c2r = nullptr;
  PlanMaker<const int*, unsigned> plan_r2r = nullptr;  ///< kinds, flags
  Execute execute_dft = nullptr;
  Execute execute_r2c = nullptr;
  Execute execute_c2r = nullptr;
  Execute execute_r2r = nullptr;
  void (*destroy)(Plan plan) = nullptr;

  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }
  /// What two addresses must have in common for one plan to run on both.
  int alignment_of(const void* address) const;

  // Under `planner_mutex`.
  void set_threads(int threads);              ///< of the plans to come; 1 where it has none
  bool read_wisdom(const std::string& path);  ///< false: not there, or not wisdom of this precision
  std::string wisdom() const;                 ///< as a file of it holds. Throws UnsupportedError: has none

  FftwLibrary(void* handle, FftwPrecision precision);  ///< for fftw()

 private:
  void start_threads();

  void* handle_;
  std::string prefix_, path_, version_;
  int (*alignment_of_)(void*) = nullptr;
  void (*set_threads_)(int) = nullptr;
  bool looked_for_threads_ = false;
  int threads_ = 1;
};

/// Opens the library at the first call. Thread-safe. Throws UnsupportedError where there is none, and says
/// how to get it.
FftwLibrary& fftw(FftwPrecision precision);

/// Planning is not thread-safe in FFTW: one lock for the process, both precisions.
std::mutex& fftw_planner_mutex();

}  // namespace partita::kernels
