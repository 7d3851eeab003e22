#include "kernels/host/fft_planning.hpp"

#include <mutex>
#include <partita/io.hpp>
#include <set>
#include <utility>

#include "kernels/host/fftw_library.hpp"

namespace partita {
namespace {

thread_local FftPlanning* innermost = nullptr;

FftwPrecision precision_of(bool single) {
  return single ? FftwPrecision::f32 : FftwPrecision::f64;
}

std::string file_of(const std::string& wisdom_file, bool single) {
  return single ? wisdom_file + "f" : wisdom_file;
}

// Under the planner's mutex.
std::set<std::string>& files_read() {
  static auto* const files = new std::set<std::string>;
  return *files;
}

void write_wisdom(const std::string& path, bool single) {
  try {
    write_file(path, fftw(precision_of(single)).wisdom());
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
  for (const bool single : {false, true}) {
    if (planned_[single ? 1 : 0]) write_wisdom(file_of(wisdom_file_, single), single);
  }
}

void FftPlanning::begin_plan(bool single) {
  planned_[single ? 1 : 0] = true;
  if (wisdom_file_.empty()) return;
  const std::string path = file_of(wisdom_file_, single);
  if (files_read().insert(path).second) fftw(precision_of(single)).read_wisdom(path);
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

}  // namespace partita
