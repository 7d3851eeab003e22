// p?geadd and p?tran: sub(C) = beta sub(C) + alpha op(sub(A)).
#pragma once

#include "call.hpp"

namespace partita::scalapack {

/// The arguments that the two families have in common, as Fortran passes them.
template <class T>
struct AddCall {
  const int* m;
  const int* n;
  const T* alpha;
  const T* a;
  const int* ia;
  const int* ja;
  const int* desca;
  const T* beta;
  T* c;
  const int* ic;
  const int* jc;
  const int* descc;
};

/// Collective over the grid, blocking.
template <class T>
void geadd(const Routine& routine, const char* trans, const AddCall<T>& call) noexcept;
/// `op`: transpose, or conjugate_transpose.
template <class T>
void tran(const Routine& routine, Op op, const AddCall<T>& call) noexcept;

}  // namespace partita::scalapack
