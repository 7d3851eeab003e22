// BLACS and ScaLAPACK as the program has loaded them: found at run time, so that no particular one is linked.
#pragma once

#include <mpi.h>

namespace partita::scalapack {

/// The routines of BLACS that the drop-in calls, with its C interface.
struct Blacs {
  void (*gridinfo)(int context, int* rows, int* columns, int* row, int* column) = nullptr;
  void (*get)(int context, int what, int* value) = nullptr;
  MPI_Comm (*to_communicator)(int system_handle) = nullptr;  ///< Cblacs2sys_handle
  void (*abort)(int context, int error) = nullptr;
  /// Cigamx2d: numbers of the largest absolute value, element by element, over the processes of the scope.
  void (*largest)(int context, const char* scope, const char* topology, int rows, int columns, int* values,
                  int leading, int* row_of, int* column_of, int leading_of, int to_row,
                  int to_column) = nullptr;
};

/// Throws UnsupportedError where the program has no BLACS.
const Blacs& blacs();

/// What a program may call instead of ours: the routine of this name that the loader finds after ours (or in
/// the handle of partita_scalapack_use). Null: there is none.
void* next_symbol(const char* name);
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(next_symbol(name));
}

/// ScaLAPACK's report of a wrong argument, pxerbla_: the program's own if it has one. `position` is 100 i + j
/// for entry j of argument i, i for a scalar. Returns, as pxerbla_ does.
void report_argument(int blacs_context, const char* routine, int position);

/// As above, of a routine of the PBLAS: its PB_Cabort, which ends the program unless the program has its own.
void report_pblas_argument(int blacs_context, const char* routine, int position);

/// For what no argument is to blame for (a lost process, no memory). Fortran's callers know no exceptions:
/// the text is written to the standard error stream and BLACS ends the program, as after its own errors.
[[noreturn]] void stop(int blacs_context, const char* routine, const char* why) noexcept;

}  // namespace partita::scalapack
