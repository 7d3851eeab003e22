// Underdetermined systems, by the QR factorization of the transposed matrix.
#include <complex>
#include <vector>

#include "array/transfer.hpp"
#include "linalg/factors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {
namespace {

template <class T>
void conjugate_dense(const View& view) {
  auto* const data = static_cast<std::complex<T>*>(view.data);
  const std::int64_t size = volume(view.extents);
  for (std::int64_t i = 0; i < size; ++i) data[i] = std::conj(data[i]);
}

/// Of right-hand sides, which are small beside the matrix: through the host.
void conjugate(const Array& array) {
  ContextState& context = *array.context_state();
  runtime::check_or_tell_all(context, "lstsq", [&] {
    std::vector<char> memory(static_cast<std::size_t>(arrays::bytes_of(array.local())));
    const View host = arrays::dense_at(memory.data(), array.local(), MemorySpace::host);
    arrays::copy_view(context, array.local(), host);
    array.dtype() == Dtype::c64 ? conjugate_dense<float>(host) : conjugate_dense<double>(host);
    arrays::copy_view(context, host, array.local());
  });
}

}  // namespace

// A^T = Q R without conjugation, so conj(A) = (Q R)^H: with A X = B goes conj(A) conj(X) = conj(B).
Array least_norm(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const Factors factors(Factorization::qr, a.permuted({1, 0}), {}, where);
  const Factors::Job job = factors.checked_job(Op::conjugate_transpose);
  if (!is_complex(a.dtype())) return factors.apply(job, b, options, where);
  factors.check_sides_together(job, b);
  const Array conjugated = clone(b, {}, where);
  conjugate(conjugated);
  const Array x = factors.apply(job, conjugated, options, where);
  conjugate(x);
  return x;
}

}  // namespace partita::linear
