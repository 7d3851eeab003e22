#include "kernels/host/blas_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
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
constexpr auto no_library =
    "there is no OpenBLAS ({}); install the package libopenblas0-pthread, or scipy-openblas32 by pip";
// NumPy's first: a Python program has it in memory already.
constexpr std::array<const char*, 5> packaged_files{
    "numpy.libs/libscipy_openblas64_*.so*", "numpy.libs/libopenblas64_*.so*",
    "scipy_openblas32/lib/libscipy_openblas.so", "scipy_openblas64/lib/libscipy_openblas64_.so",
    "scipy.libs/lib*openblas*.so*"};

BlasNaming naming_of(void* handle) {
  for (const char* const prefix : {"", "scipy_"}) {
    for (const bool wide : {false, true}) {
      const BlasNaming naming{prefix, wide};
      if (dlsym(handle, naming.of_fortran("dgemm").c_str()) != nullptr) return naming;
    }
  }
  return {};
}

// Whether the kernels that the library reports use the vectors that the suitable ones use.
bool as_good_as(const std::string& core_type, const std::string& suitable) {
  const auto among = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), core_type) != names.end();
  };
  if (suitable.empty() || among({"SkylakeX", "Cooperlake", "SapphireRapids"})) return true;
  return suitable != "SKYLAKEX" && among({"Haswell", "Zen"});
}

// Null: it is not loaded.
std::unique_ptr<BlasLibrary> open_loaded(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : std::make_unique<BlasLibrary>(handle, "", true);
}

// Null: the loader cannot open it.
std::unique_ptr<BlasLibrary> open_file(const std::string& file) {
  if (auto loaded = open_loaded(file)) return loaded;
  std::string chosen;
  std::optional<DefaultVariable> variable;  // read while the library is loaded
  if (std::getenv(core_type_variable) == nullptr) chosen = suitable_core_type(ProcessorFeatures::detect());
  if (!chosen.empty()) variable.emplace(core_type_variable, chosen);
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  variable.reset();
  return handle == nullptr ? nullptr : std::make_unique<BlasLibrary>(handle, chosen, false);
}

std::unique_ptr<BlasLibrary> open() {
  if (auto installed = open_file(library_name)) return installed;
  const char* const why = dlerror();
  const std::string reason = why == nullptr ? library_name : why;
  if (auto packaged = open_packaged_blas()) return packaged;
  throw UnsupportedError(fmt::format(no_library, reason));
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
    : handle_(handle), naming_(naming_of(handle)), chosen_(std::move(chosen)) {
  path_ = path_of_library(symbol(naming_.of_c("openblas_get_config")), library_name);
  find_required<&BlasLibrary::sgemm>("sgemm");
  find_required<&BlasLibrary::dgemm>("dgemm");
  find_required<&BlasLibrary::cgemm>("cgemm");
  find_required<&BlasLibrary::zgemm>("zgemm");
  find_required<&BlasLibrary::sgemv>("sgemv");
  find_required<&BlasLibrary::dgemv>("dgemv");
  find_required<&BlasLibrary::cgemv>("cgemv");
  find_required<&BlasLibrary::zgemv>("zgemv");
  find_control("openblas_get_corename", core_type_);
  find_control("openblas_get_config", configuration_);
  find_control("openblas_get_num_threads", threads_);
  find_control("openblas_set_num_threads", set_threads_);
  note_ = note_on_kernels(core_type(), suitable_core_type(ProcessorFeatures::detect()),
                          std::getenv(core_type_variable), loaded_before);
}

void* BlasLibrary::symbol(const std::string& name) const {
  return dlsym(handle_, name.c_str());
}

template <auto member>
void BlasLibrary::find_required(const char* name) {
  find_function<member>(name, this->*member);
  check<UnsupportedError>(this->*member != nullptr, "{} has no {}", path_, naming_.of_fortran(name));
}

template <class Function>
void BlasLibrary::find_control(const char* name, Function& function) {
  find_symbol(handle_, path_.c_str(), naming_.of_c(name), function);
}

std::unique_ptr<BlasLibrary> open_packaged_blas() {
  for (const char* const file : packaged_files) {
    const std::string path = find_in_python_packages(file);
    if (path.empty()) continue;
    if (auto library = open_file(path)) return library;
  }
  return nullptr;
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
    if (!shared().library) shared().library = open_loaded(library_name);
    shared().apply();
  }
  return {&shared(), [](void*) {
            const std::lock_guard again(shared().mutex);
            if (--shared().holders == 0) shared().restore();
          }};
}

}  // namespace partita::kernels
