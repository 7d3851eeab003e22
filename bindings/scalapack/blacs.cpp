#include "blacs.hpp"

#include <dlfcn.h>
#include <partita_scalapack.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <partita/error.hpp>
#include <partita/export.hpp>
#include <string>

#include "call.hpp"

namespace partita::scalapack {
namespace {

/// Of partita_scalapack_use. Null: the loader's order decides.
std::atomic<void*> given{nullptr};

/// The program's: its own before any library's.
void* find(const char* name) {
  void* const handle = given.load();
  void* found = ::dlsym(RTLD_DEFAULT, name);
  if (found == nullptr && handle != nullptr) found = ::dlsym(handle, name);
  return found;
}

template <class Function>
void require(const char* name, Function& function) {
  function = reinterpret_cast<Function>(find(name));
  if (function == nullptr) {
    throw UnsupportedError(std::string(name) +
                           " is not in the program: link ScaLAPACK after libpartita_scalapack");
  }
}

Blacs find_blacs() {
  Blacs found;
  require("Cblacs_gridinfo", found.gridinfo);
  require("Cblacs_get", found.get);
  require("Cblacs2sys_handle", found.to_communicator);
  require("Cblacs_abort", found.abort);
  require("Cigamx2d", found.largest);
  return found;
}

}  // namespace

Calls calls;

const Blacs& blacs() {
  static const Blacs found = find_blacs();
  return found;
}

void* next_symbol(const char* name) {
  void* const handle = given.load();
  return handle != nullptr ? ::dlsym(handle, name) : ::dlsym(RTLD_NEXT, name);
}

void report_argument(int blacs_context, const char* routine, int position) {
  // SUBROUTINE PXERBLA(ICTXT, SRNAME, INFO), and the length that Fortran adds for SRNAME
  using Pxerbla = void(const int*, const char*, const int*, std::size_t);
  if (auto* const pxerbla = reinterpret_cast<Pxerbla*>(find("pxerbla_"))) {
    pxerbla(&blacs_context, routine, &position, std::strlen(routine));
    return;
  }
  std::fprintf(stderr, "On entry to %s parameter number %d had an illegal value\n", routine, position);
}

void report_pblas_argument(int blacs_context, const char* routine, int position) {
  using Abort = void(int, const char*, int);
  if (auto* const abort = reinterpret_cast<Abort*>(find("PB_Cabort")))
    return abort(blacs_context, routine, -position);
  report_argument(blacs_context, routine, position);
}

void stop(int blacs_context, const char* routine, const char* why) noexcept {
  std::fprintf(stderr, "%s (Partita): %s\n", routine, why);
  std::fflush(stderr);
  try {
    blacs().abort(blacs_context, 1);
  } catch (...) {
    // No BLACS: the process ends all the same.
  }
  std::abort();
}

}  // namespace partita::scalapack

PARTITA_API void partita_scalapack_use(void* handle) {
  partita::scalapack::given = handle;
}

PARTITA_API long partita_scalapack_calls() {
  return partita::scalapack::calls.computed;
}
PARTITA_API long partita_scalapack_calls_on_devices() {
  return partita::scalapack::calls.on_devices;
}
PARTITA_API long partita_scalapack_calls_handed_on() {
  return partita::scalapack::calls.handed_on;
}
