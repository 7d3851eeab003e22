// p?gemr2d: sub(B) = sub(A), between grids that may overlap in part or not at all.
#pragma once

#include "call.hpp"

namespace partita::scalapack {

/// The arguments, indices counted from 1. On a process outside the grid of A (or B), all of A's (or B's) but
/// the context in its descriptor, -1, are never looked at.
struct Gemr2dCall {
  int m;
  int n;
  const void* a;
  int ia;
  int ja;
  const int* desca;
  void* b;
  int ib;
  int jb;
  const int* descb;
  int context;  ///< of a grid that holds all processes of A's and B's
};

/// Collective over the grid of `call.context`, blocking. `hand_on` calls the next routine: false where there
/// is none.
void gemr2d(const Routine& routine, Dtype dtype, const Gemr2dCall& call,
            bool (*hand_on)(const Gemr2dCall&)) noexcept;

}  // namespace partita::scalapack
