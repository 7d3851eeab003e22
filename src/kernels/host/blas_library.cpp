#include "kernels/host/blas_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/default_variable.hpp"
#include "base/opened_library.hpp"

namespace partita::kernels {

namespace {

constexpr const char* library_name = "libopenblas.so.0";
constexpr const char* core_type_variable = "OPENBLAS_CORETYPE";

template <class Function>
Function find(void* handle, const char* name) {
  return symbol_of<Function>(handle, library_name, name);
}

// Whether the kernels that the library reports use the vectors that the suitable ones use.
bool as_good_as(const std::string& core_type, const std::string& suitable) {
  const auto among = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), core_type) != names.end();
  };
  if (suitable.empty() || among({"SkylakeX", "Cooperlake", "SapphireRapids"})) return true;
  return suitable != "SKYLAKEX" && among({"Haswell", "Zen"});
}

std::unique_ptr<BlasLibrary> open_loaded() {
  void* const handle = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : std::make_unique<BlasLibrary>(handle, "", true);
}

std::unique_ptr<BlasLibrary> open() {
  if (auto loaded = open_loaded()) return loaded;
  std::string chosen;
  std::optional<DefaultVariable> variable;  // read while the library loads
  if (std::getenv(core_type_variable) == nullptr) chosen = suitable_core_type(ProcessorFeatures::detect());
  if (!chosen.empty()) variable.emplace(core_type_variable, chosen);
  void* const handle =
      open_library(library_name, "there is no OpenBLAS ({}); install the package libopenblas0-pthread");
  variable.reset();
  return std::make_unique<BlasLibrary>(handle, chosen, false);
}

// The library, and the threads that holders want of it.
struct Shared {
  std::mutex mutex;
  std::unique_ptr<BlasLibrary> library;
  int holders = 0;
  int wanted = 0;
  std::optional<int> before;

  void apply() {
    if (holders == 0 || !library || before) return;
    before = library->threads();
    library->set_threads(wanted);
  }
  void restore() {
    if (library && before) library->set_threads(*before);
    before.reset();
  }
};

// Never destroyed: contexts may go in static destructors.
Shared& shared() {
  static auto* const instance = new Shared;
  return *instance;
}

}  // namespace

ProcessorFeatures ProcessorFeatures::detect() {
  ProcessorFeatures features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features.avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                    __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  features.avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  features.amd = __builtin_cpu_is("amd") != 0;
#endif
  return features;
}

std::string suitable_core_type(const ProcessorFeatures& features) {
  if (features.avx512) return "SKYLAKEX";
  if (features.avx2) return features.amd ? "ZEN" : "HASWELL";
  return "";
}

std::string note_on_kernels(const std::string& core_type, const std::string& suitable, const char* by_user,
                            bool loaded_before) {
  if (as_good_as(core_type, suitable)) return "";
  if (by_user != nullptr) {
    return fmt::format(
        "OPENBLAS_CORETYPE={} in the environment forces OpenBLAS's {} kernels, which are slower than the {} "
        "ones that suit this processor; unset OPENBLAS_CORETYPE",
        by_user, core_type, suitable);
  }
  if (!loaded_before) return "";
  return fmt::format(
      "OpenBLAS was loaded before Partita and keeps its {} kernels; for {} ones, set {}={} in the "
      "environment of the program",
      core_type, suitable, core_type_variable, suitable);
}

BlasLibrary::BlasLibrary(void* handle, std::string chosen, bool loaded_before)
    : sgemm(find<Gemm<float>>(handle, "sgemm_")),
      dgemm(find<Gemm<double>>(handle, "dgemm_")),
      cgemm(find<Gemm<std::complex<float>>>(handle, "cgemm_")),
      zgemm(find<Gemm<std::complex<double>>>(handle, "zgemm_")),
      sgemv(find<Gemv<float>>(handle, "sgemv_")),
      dgemv(find<Gemv<double>>(handle, "dgemv_")),
      cgemv(find<Gemv<std::complex<float>>>(handle, "cgemv_")),
      zgemv(find<Gemv<std::complex<double>>>(handle, "zgemv_")),
      handle_(handle),
      path_(path_of_library(dlsym(handle, "openblas_get_config"), library_name)),
      chosen_(std::move(chosen)),
      note_(note_on_kernels(core_type(), suitable_core_type(ProcessorFeatures::detect()),
                            std::getenv(core_type_variable), loaded_before)) {}

std::string BlasLibrary::core_type() const {
  return find<char* (*)()>(handle_, "openblas_get_corename")();
}

std::string BlasLibrary::configuration() const {
  return find<char* (*)()>(handle_, "openblas_get_config")();
}

int BlasLibrary::threads() const {
  return find<int (*)()>(handle_, "openblas_get_num_threads")();
}

void BlasLibrary::set_threads(int threads) const {
  find<void (*)(int)>(handle_, "openblas_set_num_threads")(threads);
}

void* BlasLibrary::find_function(const char* name) const {
  return dlsym(handle_, name);
}

BlasLibrary& blas() {
  const std::lock_guard lock(shared().mutex);
  if (!shared().library) {
    shared().library = open();
    shared().apply();
  }
  return *shared().library;
}

std::shared_ptr<void> hold_blas_threads(int threads) {
  {
    const std::lock_guard lock(shared().mutex);
    if (shared().holders++ == 0) shared().wanted = threads;
    if (!shared().library) shared().library = open_loaded();
    shared().apply();
  }
  return {&shared(), [](void*) {
            const std::lock_guard again(shared().mutex);
            if (--shared().holders == 0) shared().restore();
          }};
}

}  // namespace partita::kernels
