// The local passes of the additions: both parts hold the same indices.
#pragma once

#include <complex>
#include <partita/view.hpp>

namespace partita::scalapack {

/// to = beta to. Where beta is 0, `to` is not read. Both views are two-dimensional, columns first in memory.
template <class T>
void scale(T beta, const View& to);

/// to = beta to + alpha from, or alpha conj(from). Where beta is 0, `to` is not read.
template <class T>
void combine(T alpha, const View& from, bool conjugate, T beta, const View& to);

}  // namespace partita::scalapack
