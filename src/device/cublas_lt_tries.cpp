#include "device/cublas_lt_tries.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "device/cublas_types.hpp"

namespace partita::devices {
namespace {

constexpr int usual_runs = 4;
/// One run of a longer one is enough.
constexpr double long_seconds = 5e-3;
/// Of one product, about: a large one is run less often, and its last ways not at all.
constexpr double most_seconds = 1.2;
/// Clocks change while ways are tried, by more than these differ: what is nearly as fast as the fastest runs
/// again, in turn, so many times.
constexpr double nearly = 1.1;
constexpr int rounds = 3;
constexpr std::size_t most_in_turn = 4;
/// Products this long are as fast as the device's power lets them, and are compared when it has worked so
/// long.
constexpr double draws_power = 1e-3, settled = 0.2;
/// So much faster, or the one counts that the library prefers.
constexpr double faster = 0.99, faster_by_power = 0.98;
/// To wait for the device; it may have to do with other work.
constexpr std::chrono::seconds most_patience{5};

/// Whether the device comes there in time.
bool reaches(cudaEvent_t event) {
  const auto end = std::chrono::steady_clock::now() + most_patience;
  while (true) {
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaSuccess) return true;
    if (state != cudaErrorNotReady) cuda::check_cuda(state, "try a product");
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
}

/// Random bits of the mantissa and the sign behind an exponent of 1/2: what a device computes with draws the
/// power that decides how fast it may, and constants draw less.
std::vector<std::uint64_t> random_numbers(Dtype dtype) {
  struct Mask {
    std::uint64_t random, exponent;
  };
  const Mask mask = dtype == Dtype::f16      ? Mask{0x83ff83ff83ff83ff, 0x3800380038003800}
                    : dtype == Dtype::bf16   ? Mask{0x807f807f807f807f, 0x3f003f003f003f00}
                    : dtype == Dtype::f8e4m3 ? Mask{0x8787878787878787, 0x3030303030303030}
                    : dtype == Dtype::f8e5m2 ? Mask{0x8383838383838383, 0x3838383838383838}
                    : dtype == Dtype::i8     ? Mask{~std::uint64_t{0}, 0}
                    : is_double(dtype)       ? Mask{0x800fffffffffffff, 0x3fe0000000000000}
                                             : Mask{0x807fffff807fffff, 0x3f0000003f000000};
  std::vector<std::uint64_t> numbers(std::size_t{1} << 17);
  std::mt19937_64 random;
  for (std::uint64_t& number : numbers) number = (random() & mask.random) | mask.exponent;
  return numbers;
}

int runs_of(double seconds) {
  return seconds > long_seconds ? 1 : usual_runs;
}

}  // namespace

DeviceMemory Tries::memory(Accelerator& device, std::int64_t bytes, Dtype dtype) const {
  DeviceMemory memory(device, bytes);
  const std::vector<std::uint64_t> numbers = random_numbers(dtype);
  const auto put = [&](std::int64_t to, const void* from, std::int64_t count) {
    cuda::check_cuda(cudaMemcpyAsync(static_cast<char*>(memory.data()) + to, from,
                                     static_cast<std::size_t>(count), cudaMemcpyDefault, stream_.get()),
                     "try a product");
  };
  std::int64_t filled = std::min(bytes, static_cast<std::int64_t>(numbers.size() * sizeof(numbers[0])));
  put(0, numbers.data(), filled);
  for (; filled < bytes; filled = std::min(bytes, 2 * filled)) {
    put(filled, memory.data(), std::min(filled, bytes - filled));
  }
  return memory;
}

/// Seconds of one of so many runs; nothing: it cannot be done, or not now.
std::optional<double> Tries::time(int runs, const Run& run) {
  cuda::check_cuda(cudaEventRecord(before_.get(), stream_.get()), "try a product");
  for (int i = 0; i < runs; ++i) {
    if (run(Stream(stream_.get())) != 0) return std::nullopt;
  }
  cuda::check_cuda(cudaEventRecord(after_.get(), stream_.get()), "try a product");
  if (!reaches(after_.get())) return std::nullopt;
  float milliseconds = 0;
  cuda::check_cuda(cudaEventElapsedTime(&milliseconds, before_.get(), after_.get()), "try a product");
  const double seconds = static_cast<double>(milliseconds) / 1e3;
  spent_ += seconds;
  return seconds / runs;
}

/// The run that loads the kernel counts if it is long: loading is short compared with it.
std::optional<double> Tries::seconds_of_one(const Run& run) {
  const std::optional<double> first = time(1, run);
  return !first || *first > long_seconds ? first : time(usual_runs, run);
}

void Tries::keep_nearly_fastest(std::vector<Tried>& tried) {
  if (tried.empty()) return;
  const double least = std::ranges::min_element(tried, {}, &Tried::first)->first;
  std::erase_if(tried, [&](const Tried& one) { return one.first > nearly * least; });
  if (tried.size() <= most_in_turn) return;
  std::ranges::sort(tried, {}, &Tried::first);
  tried.resize(most_in_turn);
  std::ranges::sort(tried, {}, &Tried::way);
}

/// Of ways that have had equally many turns, in the order of the library.
std::optional<std::size_t> Tries::fastest_of(const std::vector<Tried>& tried) {
  const Tried* best = nullptr;
  for (const Tried& one : tried) {
    const double wanted = one.first > draws_power ? faster_by_power : faster;
    if (best == nullptr || one.in_turns < wanted * best->in_turns) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(best->way);
}

/// As long as there is time.
void Tries::try_in_turn(std::vector<Tried>& tried, const Take& take, const Run& run) {
  if (tried.size() < 2) return;
  const auto time_of = [&](const Tried& one) {
    return take(one.way) ? time(runs_of(one.first), run).value_or(one.first) : one.first;
  };
  const double needed = std::accumulate(tried.begin(), tried.end(), 0.0, [](double sum, const Tried& one) {
    return sum + runs_of(one.first) * one.first;
  });
  while (tried.front().first > draws_power && spent_ < settled) {
    const double before = spent_;
    (void)time_of(tried.front());
    if (spent_ == before) return;
  }
  for (int round = 0; round < rounds && spent_ + needed < most_seconds; ++round) {
    for (Tried& one : tried) one.in_turns = time_of(one) + (round == 0 ? 0 : one.in_turns);
  }
}

std::optional<std::size_t> Tries::fastest(std::size_t ways, const Take& take, const Run& run) {
  std::vector<Tried> tried;
  for (std::size_t way = 0; way < ways && (tried.empty() || spent_ < most_seconds); ++way) {
    if (!take(way)) continue;
    if (tried.empty()) (void)time(1, run);  // a device that was idle is slow at first
    const std::optional<double> seconds = seconds_of_one(run);
    if (seconds) tried.push_back({way, *seconds, *seconds});
  }
  keep_nearly_fastest(tried);
  try_in_turn(tried, take, run);
  return fastest_of(tried);
}

}  // namespace partita::devices
