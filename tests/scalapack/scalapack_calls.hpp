// ScaLAPACK and BLACS as the tests call them: the names as linked (the drop-in's where it has them), and the
// original's, by the handle of its library.
#pragma once

#include <dlfcn.h>
#include <mpi.h>
#include <partita_scalapack.h>

#include <complex>
#include <cstdint>
#include <cstdlib>

// NOLINTBEGIN(readability-identifier-naming): BLACS's own names
extern "C" {
void Cblacs_pinfo(int* rank, int* processes);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridmap(int* context, int* ranks, int leading, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int go_on);
void Cigamx2d(int context, const char* scope, const char* topology, int rows, int columns, int* values,
              int leading, int* row_of, int* column_of, int rows_of, int to_row, int to_column);
}
// NOLINTEND(readability-identifier-naming)

namespace partita::testing {

template <class T>
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*,
                  const int*, const int*, const int*, const T*, const int*, const int*, const int*, const T*,
                  T*, const int*, const int*, const int*);
template <class T>
using Geadd = void(const char*, const int*, const int*, const T*, const T*, const int*, const int*,
                   const int*, const T*, T*, const int*, const int*, const int*);
template <class T>
using Tran = void(const int*, const int*, const T*, const T*, const int*, const int*, const int*, const T*,
                  T*, const int*, const int*, const int*);
template <class T>
using Gemr2d = void(const int*, const int*, const T*, const int*, const int*, const int*, T*, const int*,
                    const int*, const int*, const int*);
template <class T>
using Cgemr2d = void(int, int, const T*, int, int, const int*, T*, int, int, const int*, int);

/// The original library, which the test program is linked with too.
inline void* original() {
  static void* const handle = ::dlopen(PARTITA_SCALAPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

/// A routine in both forms.
template <class Function>
struct Both {
  Function* ours;
  Function* theirs;

  explicit Both(const char* name)
      : ours(reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name))),
        theirs(reinterpret_cast<Function*>(::dlsym(original(), name))) {}
  bool found() const { return ours != nullptr && theirs != nullptr && ours != theirs; }
};

}  // namespace partita::testing
