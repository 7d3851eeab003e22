// ScaLAPACK's names. The lengths that Fortran adds for characters come last and are not looked at.
#include <partita/export.hpp>

#include "add.hpp"
#include "gemm.hpp"
#include "gemr2d.hpp"

namespace ours = partita::scalapack;
using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_GEMM(symbol, NAME, T)                                                                       \
  extern "C" PARTITA_API void symbol(                                                                       \
      const char* transa, const char* transb, const int* m, const int* n, const int* k, const T* alpha,     \
      const T* a, const int* ia, const int* ja, const int* desca, const T* b, const int* ib, const int* jb, \
      const int* descb, const T* beta, T* c, const int* ic, const int* jc, const int* descc) {              \
    ours::gemm<T>({NAME, #symbol}, {transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb,     \
                                    beta, c, ic, jc, descc});                                               \
  }

#define PARTITA_GEADD(symbol, NAME, T)                                                                      \
  extern "C" PARTITA_API void symbol(const char* trans, const int* m, const int* n, const T* alpha,         \
                                     const T* a, const int* ia, const int* ja, const int* desca,            \
                                     const T* beta, T* c, const int* ic, const int* jc, const int* descc) { \
    ours::geadd<T>({NAME, #symbol}, trans, {m, n, alpha, a, ia, ja, desca, beta, c, ic, jc, descc});        \
  }

#define PARTITA_TRAN(symbol, NAME, T, op)                                                                   \
  extern "C" PARTITA_API void symbol(const int* m, const int* n, const T* alpha, const T* a, const int* ia, \
                                     const int* ja, const int* desca, const T* beta, T* c, const int* ic,   \
                                     const int* jc, const int* descc) {                                     \
    ours::tran<T>({NAME, #symbol}, op, {m, n, alpha, a, ia, ja, desca, beta, c, ic, jc, descc});            \
  }

// Both forms hand on to the C form: ScaLAPACK's Fortran form calls the C one by its name, which may be ours.
#define PARTITA_GEMR2D(letter, NAME, T)                                                                      \
  static bool hand_on_##letter##gemr2d(const ours::Gemr2dCall& call) {                                       \
    return ours::hand_on({NAME, "Cp" #letter "gemr2d"}, call.m, call.n, static_cast<const T*>(call.a),       \
                         call.ia, call.ja, call.desca, static_cast<T*>(call.b), call.ib, call.jb,            \
                         call.descb, call.context);                                                          \
  }                                                                                                          \
  extern "C" PARTITA_API void Cp##letter##gemr2d(int m, int n, const T* a, int ia, int ja, const int* desca, \
                                                 T* b, int ib, int jb, const int* descb, int context) {      \
    ours::gemr2d({NAME, "Cp" #letter "gemr2d"}, partita::dtype_of<T>(),                                      \
                 {m, n, a, ia, ja, desca, b, ib, jb, descb, context}, hand_on_##letter##gemr2d);             \
  }                                                                                                          \
  extern "C" PARTITA_API void p##letter##gemr2d_(const int* m, const int* n, const T* a, const int* ia,      \
                                                 const int* ja, const int* desca, T* b, const int* ib,       \
                                                 const int* jb, const int* descb, const int* context) {      \
    ours::gemr2d({NAME, "Cp" #letter "gemr2d"}, partita::dtype_of<T>(),                                      \
                 {*m, *n, a, *ia, *ja, desca, b, *ib, *jb, descb, *context}, hand_on_##letter##gemr2d);      \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_GEMM(psgemm_, "PSGEMM", float)
PARTITA_GEMM(pdgemm_, "PDGEMM", double)
PARTITA_GEMM(pcgemm_, "PCGEMM", Complex64)
PARTITA_GEMM(pzgemm_, "PZGEMM", Complex128)

PARTITA_GEADD(psgeadd_, "PSGEADD", float)
PARTITA_GEADD(pdgeadd_, "PDGEADD", double)
PARTITA_GEADD(pcgeadd_, "PCGEADD", Complex64)
PARTITA_GEADD(pzgeadd_, "PZGEADD", Complex128)

PARTITA_TRAN(pstran_, "PSTRAN", float, partita::Op::transpose)
PARTITA_TRAN(pdtran_, "PDTRAN", double, partita::Op::transpose)
PARTITA_TRAN(pctranu_, "PCTRANU", Complex64, partita::Op::transpose)
PARTITA_TRAN(pztranu_, "PZTRANU", Complex128, partita::Op::transpose)
PARTITA_TRAN(pctranc_, "PCTRANC", Complex64, partita::Op::conjugate_transpose)
PARTITA_TRAN(pztranc_, "PZTRANC", Complex128, partita::Op::conjugate_transpose)

PARTITA_GEMR2D(s, "PSGEMR2D", float)
PARTITA_GEMR2D(d, "PDGEMR2D", double)
PARTITA_GEMR2D(c, "PCGEMR2D", Complex64)
PARTITA_GEMR2D(z, "PZGEMR2D", Complex128)
PARTITA_GEMR2D(i, "PIGEMR2D", std::int32_t)
