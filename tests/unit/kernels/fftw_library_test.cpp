#include "kernels/host/fftw_library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "kernels/host/fft_planning.hpp"
#include "kernels/host/transform.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

TEST(FftwLibrary, IsOpenedOnceForEachPrecision) {
  const kernels::FftwLibrary& doubles = kernels::fftw(kernels::FftwPrecision::f64);
  const kernels::FftwLibrary& singles = kernels::fftw(kernels::FftwPrecision::f32);
  EXPECT_EQ(&doubles, &kernels::fftw(kernels::FftwPrecision::f64));
  EXPECT_NE(&doubles, &singles);
  EXPECT_FALSE(doubles.path().empty());
  EXPECT_FALSE(doubles.version().empty());
  alignas(64) const std::array<double, 16> numbers{};
  EXPECT_EQ(doubles.alignment_of(numbers.data()), doubles.alignment_of(numbers.data() + 8));
}

/// The steps of a plan for one line.
std::string steps_of_line(kernels::FftwLibrary& library, std::int64_t n, int threads) {
  std::vector<std::complex<double>> line(static_cast<std::size_t>(n));
  const kernels::FftwLoop loop{n, 1, 1};
  auto* const tell = reinterpret_cast<char* (*)(void*)>(
      dlsym(dlopen(library.path().c_str(), RTLD_NOW | RTLD_NOLOAD), "fftw_sprint_plan"));
  if (tell == nullptr) return "";
  const std::lock_guard lock(kernels::fftw_planner_mutex());
  library.set_threads(threads);
  kernels::FftwLibrary::Plan const plan =
      library.plan_dft(1, &loop, 0, nullptr, line.data(), line.data(), -1, kernels::fftw_estimate);
  library.set_threads(1);
  const std::unique_ptr<char, decltype(&std::free)> text(tell(plan), &std::free);
  library.destroy(plan);
  return text.get();
}

// FFTW's threads that start after its planner would share no steps of one line: it then chooses plans of
// which one thread does most.
TEST(FftwLibrary, ThreadsShareTheStepsOfOneLine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process of its own, whose planner is new
  const auto body = [] {
    const auto held = kernels::hold_fft_threads(2);
    kernels::FftwLibrary& doubles = kernels::fftw(kernels::FftwPrecision::f64);
    const std::string steps = steps_of_line(doubles, 1 << 18, 2);
    const bool has_threads = contains(steps, "thr");
    std::fputs(steps.c_str(), stderr);
    std::_Exit((!has_threads || contains(steps, "thr-ct")) &&
                       !contains(steps_of_line(doubles, 1 << 18, 1), "thr")
                   ? 0
                   : 1);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "");
}

kernels::TransformShape line_of(std::int64_t n) {
  kernels::TransformShape shape;
  shape.lines = {{n, 1, 1}};
  return shape;
}

TEST(FftPlanning, KeepsWisdomInAFile) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() /
      ("partita-wisdom-" + std::to_string(std::hash<std::thread::id>{}(std::this_thread::get_id())));
  std::filesystem::remove(file);
  kernels::TransformShape shape = line_of(360);
  shape.measure = true;
  {
    const kernels::FftPlanning planning(true, file.string());
    EXPECT_EQ(kernels::FftPlanning::current(), &planning);
    const kernels::FftPlanning inner(false);
    EXPECT_FALSE(kernels::FftPlanning::current()->measure());
  }
  EXPECT_FALSE(std::filesystem::exists(file)) << "nothing was planned";
  {
    const kernels::FftPlanning planning(true, file.string());
    (void)kernels::plan_transform(shape, {});
  }
  EXPECT_EQ(kernels::FftPlanning::current(), nullptr);
  std::string first_word;
  std::ifstream(file) >> first_word;
  EXPECT_TRUE(contains(first_word, "fftw"));
  std::filesystem::remove(file);
  // A file that cannot be written does not cause an error.
  const kernels::FftPlanning planning(true, "/nowhere/wisdom");
  (void)kernels::plan_transform(line_of(361), {});
}

TEST(FftPlanning, TheFirstHolderOfThreadsCounts) {
  EXPECT_EQ(kernels::held_fft_threads(), 1);
  auto first = kernels::hold_fft_threads(3);
  auto second = kernels::hold_fft_threads(2);
  EXPECT_EQ(kernels::held_fft_threads(), 3);
  first.reset();
  EXPECT_EQ(kernels::held_fft_threads(), 3);
  second.reset();
  EXPECT_EQ(kernels::held_fft_threads(), 1);
}

TEST(FftPlanning, PlansFromManyThreads) {
  std::vector<std::thread> threads;
  std::array<std::complex<double>, 4> sums{};
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&sums, t] {
      for (std::int64_t n = 2; n < 40; ++n) {
        std::vector<std::complex<double>> from(static_cast<std::size_t>(n), 1.0), to(from.size());
        const kernels::TransformMemory memory =
            kernels::memory_of(kernels::fftw(kernels::FftwPrecision::f64), from.data(), to.data());
        kernels::plan_transform(line_of(n), memory)->run(from.data(), to.data());
        sums[t] += to[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::complex<double>& sum : sums) EXPECT_NEAR(sum.real(), 779.0, 1e-9);
}

}  // namespace
}  // namespace partita
