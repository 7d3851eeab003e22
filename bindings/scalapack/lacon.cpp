// p?lacon, which estimates norms for ScaLAPACK's condition numbers and error bounds (p?pocon, p?porfs, ...).
// ScaLAPACK 2.2.2 and earlier read the estimate at entry, which their own callers leave undefined, so that
// the processes may go on differently and wait for each other without end. Here it is 0, as in later ones.
#include "call.hpp"

namespace partita::scalapack {
namespace {

template <class Estimate, class... Arguments>
void lacon(const char* symbol, int blacs_context, Estimate* estimate, Arguments... arguments) noexcept {
  const Routine routine{symbol, symbol};
  run(blacs_context, routine, [&] {
    *estimate = 0;
    auto* const function = next<void(Arguments...)>(symbol);
    if (function == nullptr) throw UnsupportedError("ScaLAPACK is not in the program");
    function(arguments...);
  });
}

}  // namespace
}  // namespace partita::scalapack

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_LACON(symbol, T)                                                                         \
  extern "C" PARTITA_API void symbol(const int* n, T* v, const int* iv, const int* jv, const int* descv, \
                                     T* x, const int* ix, const int* jx, const int* descx, int* isgn,    \
                                     T* est, int* kase) {                                                \
    partita::scalapack::lacon(#symbol, descx[1], est, n, v, iv, jv, descv, x, ix, jx, descx, isgn, est,  \
                              kase);                                                                     \
  }
#define PARTITA_COMPLEX_LACON(symbol, Real)                                                                 \
  extern "C" PARTITA_API void symbol(const int* n, std::complex<Real>* v, const int* iv, const int* jv,     \
                                     const int* descv, std::complex<Real>* x, const int* ix, const int* jx, \
                                     const int* descx, Real* est, int* kase) {                              \
    partita::scalapack::lacon(#symbol, descx[1], est, n, v, iv, jv, descv, x, ix, jx, descx, est, kase);    \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_LACON(pslacon_, float)
PARTITA_LACON(pdlacon_, double)
PARTITA_COMPLEX_LACON(pclacon_, float)
PARTITA_COMPLEX_LACON(pzlacon_, double)
