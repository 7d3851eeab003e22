#include "kernels/host/fft_planning.hpp"

#include <mutex>
#include <partita/io.hpp>
#include <utility>

namespace partita::kernels {
namespace {

thread_local FftPlanning* innermost = nullptr;

std::string file_of(const std::string& wisdom_file, FftwPrecision precision) {
  return precision == FftwPrecision::f32 ? wisdom_file + "f" : wisdom_file;
}

// Under the planner's mutex.
std::set<std::string>& files_read() {
  static auto* const files = new std::set<std::string>;
  return *files;
}

void write_wisdom(const std::string& wisdom_file, FftwPrecision precision) {
  try {
    write_file(file_of(wisdom_file, precision), fftw(precision).wisdom());
  } catch (const std::exception&) {
    // It would only have saved time.
  }
}

struct Held {
  std::mutex mutex;
  int holders = 0;
  int threads = 1;
};

Held& held() {
  static auto* const instance = new Held;
  return *instance;
}

}  // namespace

FftPlanning::FftPlanning(bool measure, std::string wisdom_file)
    : measure_(measure), wisdom_file_(std::move(wisdom_file)), outer_(innermost) {
  innermost = this;
}

FftPlanning::~FftPlanning() {
  innermost = outer_;
  if (wisdom_file_.empty()) return;
  const std::lock_guard lock(fftw_planner_mutex());
  for (const FftwPrecision precision : planned_) write_wisdom(wisdom_file_, precision);
}

void FftPlanning::begin_plan(FftwPrecision precision) {
  planned_.insert(precision);
  if (wisdom_file_.empty()) return;
  const std::string path = file_of(wisdom_file_, precision);
  if (files_read().insert(path).second) fftw(precision).read_wisdom(path);
}

FftPlanning* FftPlanning::current() {
  return innermost;
}

std::shared_ptr<void> hold_fft_threads(int threads) {
  {
    const std::lock_guard lock(held().mutex);
    if (held().holders++ == 0) held().threads = threads;
  }
  return {&held(), [](void*) {
            const std::lock_guard again(held().mutex);
            if (--held().holders == 0) held().threads = 1;
          }};
}

int held_fft_threads() {
  const std::lock_guard lock(held().mutex);
  return held().threads;
}

}  // namespace partita::kernels
