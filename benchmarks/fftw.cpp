#include "benchmarks/fftw.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <partita/error.hpp>

#include "benchmarks/apart.hpp"
#include "benchmarks/peer_symbol.hpp"

namespace partita::benchmarks {
namespace {

using Plan = void*;
constexpr unsigned measure_flag = 0, estimate_flag = 1U << 6;
constexpr int forward = -1;

struct Library {
  int (*init_threads)() = nullptr;
  void (*plan_with_nthreads)(int) = nullptr;
  Plan (*plan_dft_3d)(int, int, int, void*, void*, int, unsigned) = nullptr;
  Plan (*plan_dft_r2c_3d)(int, int, int, double*, void*, unsigned) = nullptr;
  void (*execute)(Plan) = nullptr;
  void (*destroy_plan)(Plan) = nullptr;
};

Library open() {
  void* const serial = ::dlopen("libfftw3.so.3", RTLD_NOW | RTLD_LOCAL);
  void* const threads = ::dlopen("libfftw3_threads.so.3", RTLD_NOW | RTLD_LOCAL);
  if (serial == nullptr || threads == nullptr) {
    throw UnsupportedError("there is no FFTW with threads; install the package libfftw3-double3");
  }
  Library library;
  find_symbol(threads, "FFTW", "fftw_init_threads", library.init_threads);
  find_symbol(threads, "FFTW", "fftw_plan_with_nthreads", library.plan_with_nthreads);
  find_symbol(serial, "FFTW", "fftw_plan_dft_3d", library.plan_dft_3d);
  find_symbol(serial, "FFTW", "fftw_plan_dft_r2c_3d", library.plan_dft_r2c_3d);
  find_symbol(serial, "FFTW", "fftw_execute", library.execute);
  find_symbol(serial, "FFTW", "fftw_destroy_plan", library.destroy_plan);
  library.init_threads();
  return library;
}

const Library& library() {
  static const Library opened = open();
  return opened;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

/// Of the same page size as the symmetric heap.
Memory allocate(std::int64_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t size = (static_cast<std::size_t>(bytes) + huge_page - 1) / huge_page * huge_page;
  Memory memory(std::aligned_alloc(huge_page, size));
  if (!memory) throw MemoryError("no memory for FFTW's arrays");
  ::madvise(memory.get(), size, MADV_HUGEPAGE);
  std::memset(memory.get(), 0, size);
  return memory;
}

}  // namespace

struct Fftw::State {
  Memory input, output;
  Plan plan = nullptr;
};

Fftw::Fftw(const Shape& shape, bool real, int threads, bool measure) : state_(std::make_unique<State>()) {
  constexpr std::int64_t number = sizeof(std::complex<double>);
  const std::int64_t lines = shape[0] * shape[1];
  state_->input = allocate(real ? lines * shape[2] * number / 2 : lines * shape[2] * number);
  state_->output = allocate(lines * (real ? shape[2] / 2 + 1 : shape[2]) * number);
  const unsigned effort = measure ? measure_flag : estimate_flag;
  const int n0 = static_cast<int>(shape[0]), n1 = static_cast<int>(shape[1]), n2 = static_cast<int>(shape[2]);
  library().plan_with_nthreads(threads);
  state_->plan = real ? library().plan_dft_r2c_3d(n0, n1, n2, input(), output(), effort)
                      : library().plan_dft_3d(n0, n1, n2, input(), output(), forward, effort);
  library().plan_with_nthreads(1);
  if (state_->plan == nullptr) throw UnsupportedError("FFTW has no plan");
}

Fftw::~Fftw() {
  library().destroy_plan(state_->plan);
}

double* Fftw::input() const {
  return static_cast<double*>(state_->input.get());
}

std::complex<double>* Fftw::output() const {
  return static_cast<std::complex<double>*>(state_->output.get());
}

void Fftw::run() const {
  library().execute(state_->plan);
}

void serve_fftw(const std::string& what) {
  std::array<char, 4> kind{};
  std::array<int, 3> n{};
  if (std::sscanf(what.c_str(), "fftw:%3[c2r]:%dx%dx%d", kind.data(), &n[0], &n[1], &n[2]) != 4)
    throw ArgumentError(fmt::format("\"{}\" is not fftw:c2c:N0xN1xN2 or fftw:r2c:...", what));
  const bool real = std::string(kind.data()) == "r2c";
  const Fftw transform({n[0], n[1], n[2]}, real, usable_cores(), true);
  const std::int64_t numbers = std::int64_t{n[0]} * n[1] * n[2] * (real ? 1 : 2);
  for (std::int64_t i = 0; i < numbers; ++i) {
    transform.input()[i] = static_cast<double>(i % 1021) / 1021.0 - 0.5;
  }
  serve_work([] {}, [&] { transform.run(); });
}

}  // namespace partita::benchmarks
