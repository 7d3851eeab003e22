// Underdetermined systems, by the QR factorization of the transposed matrix.
#include "linalg/conjugate.hpp"
#include "linalg/factors.hpp"

namespace partita::linear {

// A^T = Q R without conjugation, so conj(A) = (Q R)^H: A X = B becomes conj(A) conj(X) = conj(B).
Array least_norm(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const Factors factors(Factorization::qr, a.permuted({1, 0}), {.memory_limit = options.memory_limit}, where);
  const Factors::Job job = factors.checked_job(Op::conjugate_transpose);
  if (!is_complex(a.dtype())) return factors.apply(job, b, options, where);
  factors.check_sides_together(job, b);
  Array conjugated = clone(b, {}, where);
  conjugate(conjugated);
  Array x = factors.apply(job, conjugated, options, where);
  conjugate(x);
  return x;
}

}  // namespace partita::linear
