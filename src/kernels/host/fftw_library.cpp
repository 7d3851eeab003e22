#include "kernels/host/fftw_library.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/check.hpp"
#include "base/environment_variable.hpp"
#include "base/opened_library.hpp"
#include "kernels/host/fft_planning.hpp"

namespace partita::kernels {
namespace {

constexpr const char* library_variable = "PARTITA_FFT_LIBRARY";
constexpr double planning_seconds = 60;  // a bound on the timing of one plan: peers wait for this rank

struct Names {
  const char* library;
  const char* threads_library;
  const char* prefix;
  const char* package;
  std::array<const char*, 2> packaged_files;  // of pyFFTW, whose folder has changed its name
  const char* packaged_threads;               // in the same folder
};

const Names& names(FftwPrecision precision) {
  static constexpr Names doubles{"libfftw3.so.3",
                                 "libfftw3_threads.so.3",
                                 "fftw_",
                                 "libfftw3-double3",
                                 {"pyfftw.libs/libfftw3-*.so*", "pyFFTW.libs/libfftw3-*.so*"},
                                 "libfftw3_omp-*.so*"};
  static constexpr Names singles{"libfftw3f.so.3",
                                 "libfftw3f_threads.so.3",
                                 "fftwf_",
                                 "libfftw3-single3",
                                 {"pyfftw.libs/libfftw3f-*.so*", "pyFFTW.libs/libfftw3f-*.so*"},
                                 "libfftw3f_omp-*.so*"};
  return precision == FftwPrecision::f64 ? doubles : singles;
}

template <class Function>
Function find_optional(void* handle, const std::string& name) {
  return reinterpret_cast<Function>(dlsym(handle, name.c_str()));
}

bool has_interface(void* handle, FftwPrecision precision) {
  return dlsym(handle, (std::string(names(precision).prefix) + "plan_guru64_dft").c_str()) != nullptr;
}

/// The library that the user names, if it has this precision; FFTW has a separate library for each.
void* open_named(FftwPrecision precision) {
  const std::string named(environment_variable(library_variable));
  if (named.empty()) return nullptr;
  void* const handle = open_library(named, fmt::format("{} names no library: {{}}", library_variable));
  if (has_interface(handle, precision)) return handle;
  const auto other = precision == FftwPrecision::f64 ? FftwPrecision::f32 : FftwPrecision::f64;
  check<UnsupportedError>(has_interface(handle, other), "{}: {} does not have the FFTW3 interface",
                          library_variable, named);
  dlclose(handle);
  return nullptr;
}

/// pyFFTW's library for threads needs its OpenMP, which it does not find by itself.
void* open_packaged_threads(const std::string& folder, const Names& names) {
  void* handle = nullptr;
  for (const char* const pattern : {"libgomp-*.so*", names.packaged_threads}) {
    const std::string file = find_in_folder(folder, pattern);
    handle = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return handle;
}

std::unique_ptr<FftwLibrary> open(FftwPrecision precision) {
  void* handle = open_named(precision);
  if (handle == nullptr) {
    handle = open_library_or_file(
        names(precision).library, names(precision).packaged_files,
        fmt::format(
            "there is no FFTW ({{}}); install the package {}, or pyfftw by pip, or name a library with "
            "the FFTW3 interface in {}",
            names(precision).package, library_variable));
  }
  return std::make_unique<FftwLibrary>(handle, precision);
}

}  // namespace

FftwLibrary::FftwLibrary(void* handle, FftwPrecision precision)
    : handle_(handle), prefix_(names(precision).prefix) {
  find_symbol(handle, "the FFT library", prefix_ + "plan_guru64_dft", plan_dft);
  find_symbol(handle, "the FFT library", prefix_ + "plan_guru64_dft_r2c", plan_r2c);
  find_symbol(handle, "the FFT library", prefix_ + "plan_guru64_dft_c2r", plan_c2r);
  find_symbol(handle, "the FFT library", prefix_ + "plan_guru64_r2r", plan_r2r);
  find_symbol(handle, "the FFT library", prefix_ + "execute_dft", execute_dft);
  find_symbol(handle, "the FFT library", prefix_ + "execute_dft_r2c", execute_r2c);
  find_symbol(handle, "the FFT library", prefix_ + "execute_dft_c2r", execute_c2r);
  find_symbol(handle, "the FFT library", prefix_ + "execute_r2r", execute_r2r);
  find_symbol(handle, "the FFT library", prefix_ + "destroy_plan", destroy);
  path_ = path_of_library(dlsym(handle, (prefix_ + "plan_guru64_dft").c_str()), names(precision).library);
  const auto* const version = find_optional<const char*>(handle, prefix_ + "version");
  version_ = version == nullptr ? "an FFTW3 interface without a version" : version;
  // Not every library with the interface has these.
  alignment_of_ = find_optional<int (*)(void*)>(handle, prefix_ + "alignment_of");
  if (held_fft_threads() > 1) start_threads();
  if (auto* const limit = find_optional<void (*)(double)>(handle, prefix_ + "set_timelimit")) {
    limit(planning_seconds);
  }
}

int FftwLibrary::alignment_of(const void* address) const {
  if (alignment_of_ != nullptr) return alignment_of_(const_cast<void*>(address));
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % 64);
}

void FftwLibrary::set_threads(int threads) {
  if (threads > 1) start_threads();
  if (threads == threads_ || set_threads_ == nullptr) return;
  set_threads_(threads);
  threads_ = threads;
}

/// FFTW shares the steps of one line only if this is done before the first call that makes its planner. Where
/// one thread is all that is used, no library of threads comes into the process.
void FftwLibrary::start_threads() {
  if (std::exchange(looked_for_threads_, true)) return;
  const auto precision = prefix_ == "fftw_" ? FftwPrecision::f64 : FftwPrecision::f32;
  const std::string init = prefix_ + "init_threads";
  void* handle = handle_;
  if (dlsym(handle, init.c_str()) == nullptr) {
    handle = folder_of_packages(path_).empty()
                 ? dlopen(names(precision).threads_library, RTLD_NOW | RTLD_LOCAL)
                 : open_packaged_threads(std::filesystem::path(path_).parent_path(), names(precision));
  }
  auto* const initialize = handle == nullptr ? nullptr : find_optional<int (*)()>(handle, init);
  if (initialize != nullptr && initialize() != 0) {
    set_threads_ = find_optional<void (*)(int)>(handle, prefix_ + "plan_with_nthreads");
  }
}

bool FftwLibrary::read_wisdom(const std::string& path) {
  auto* const read = find_optional<int (*)(const char*)>(handle_, prefix_ + "import_wisdom_from_filename");
  return read != nullptr && read(path.c_str()) != 0;
}

std::string FftwLibrary::wisdom() const {
  auto* const tell = find_optional<char* (*)()>(handle_, prefix_ + "export_wisdom_to_string");
  check<UnsupportedError>(tell != nullptr, "{} has no wisdom", version_);
  const std::unique_ptr<char, decltype(&std::free)> text(tell(), &std::free);
  return text ? text.get() : "";
}

FftwLibrary& fftw(FftwPrecision precision) {
  // Never destroyed: plans may go in static destructors.
  static auto* const mutex = new std::mutex;
  static auto* const libraries = new std::array<std::unique_ptr<FftwLibrary>, 2>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<FftwLibrary>& library = (*libraries)[static_cast<std::size_t>(precision)];
  if (!library) library = open(precision);
  return *library;
}

std::mutex& fftw_planner_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

}  // namespace partita::kernels
