// p?gemm: sub(C) = alpha op(sub(A)) op(sub(B)) + beta sub(C).
#pragma once

#include "call.hpp"

namespace partita::scalapack {

/// The arguments as Fortran passes them.
template <class T>
struct GemmCall {
  const char* transa;
  const char* transb;
  const int* m;
  const int* n;
  const int* k;
  const T* alpha;
  const T* a;
  const int* ia;
  const int* ja;
  const int* desca;
  const T* b;
  const int* ib;
  const int* jb;
  const int* descb;
  const T* beta;
  T* c;
  const int* ic;
  const int* jc;
  const int* descc;
};

/// Collective over the grid, blocking. Small products and what no layout of ours describes go to the next
/// routine.
template <class T>
void gemm(const Routine& routine, const GemmCall<T>& call) noexcept;

}  // namespace partita::scalapack
