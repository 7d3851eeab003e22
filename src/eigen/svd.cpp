// Singular values: of R of a QR factorization, by one rank, or from the polar decomposition.
#include <algorithm>
#include <partita/elementwise.hpp>

#include "eigen/batch.hpp"
#include "eigen/direct.hpp"
#include "eigen/eigh.hpp"
#include "eigen/polar.hpp"
#include "linalg/batches.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita::eigen {
namespace {

/// In the distribution of factorizations; without vectors if they were not asked for.
struct Singular {
  std::vector<double> values;
  Array u, vh;
};

/// Of a square matrix: A = U H, and H = V diag(s) V^H.
Singular by_polar(const Matrices& matrices, const Array& a, std::int64_t base, bool vectors) {
  const Array unitary = unitary_factor(matrices, a);
  Array h = matrices.hermitian_part(
      matrices.product(unitary, Op::conjugate_transpose, matrices.copied(a), Op::none));
  scale(h, -1);  // ascending eigenvalues are then descending singular values
  Spectrum found = spectrum(matrices, h, base, vectors);
  Singular result;
  for (const double value : found.values) result.values.push_back(std::max(0.0, -value));
  if (!vectors) return result;
  // Singular values that are 0 have no columns yet.
  result.u = matrices.completed(matrices.product(unitary, Op::none, found.vectors, Op::none));
  result.vh = matrices.adjoint(found.vectors);
  return result;
}

/// Of m >= n.
Singular tall(const Matrices& matrices, const Array& a, const EigenOptions& options, bool vectors) {
  const std::int64_t n = a.shape()[1], base = base_rows(matrices, options);
  const bool divides = n > base_rows_of_svd(matrices, options);
  if (a.shape()[0] == n && divides) return by_polar(matrices, a, base, vectors);
  const QrFactors factors = vectors ? qr(a) : QrFactors{{}, Qr(a).r()};
  const Array r = matrices.copied(factors.r);
  Singular result;
  if (divides) {
    result = by_polar(matrices, r, base, vectors);
  } else {
    result.values = direct_svd(matrices, r, vectors ? &result.u : nullptr, vectors ? &result.vh : nullptr);
  }
  if (vectors) result.u = matrices.product(factors.q, Op::none, result.u, Op::none);
  return result;
}

Singular checked_svd(std::string_view operation, const Array& a, const EigenOptions& options, bool vectors) {
  check_argument(operation, a, false, options);
  check_finite(operation, a);
  const Matrices matrices(a);
  if (a.shape()[0] >= a.shape()[1]) return tall(matrices, a, options, vectors);
  Singular result = tall(matrices, a.permuted({1, 0}), options, vectors);
  if (!vectors) return result;
  // A^T = U S V^H, so A = conj(V) S U^T.
  const Array u = result.vh.permuted({1, 0}), vh = result.u.permuted({1, 0});
  result.u = matrices.copied(u);
  result.vh = matrices.copied(vh);
  return result;
}

}  // namespace
}  // namespace partita::eigen

namespace partita {

SvdFactors svd(const Array& a, const EigenOptions& options, SourcePlace where) {
  const runtime::PublicCall call("svd");
  if (linear::is_batch(a)) return eigen::svd_of_batch("svd", a, options, true, where);
  const eigen::Singular found = eigen::checked_svd("svd", a, options, true);
  const eigen::Matrices matrices(a);
  return {matrices.result(found.u, a, where), matrices.replicated(found.values),
          matrices.result(found.vh, a, where)};
}

Array svdvals(const Array& a, const EigenOptions& options, SourcePlace where) {
  const runtime::PublicCall call("svdvals");
  if (linear::is_batch(a)) return eigen::svd_of_batch("svdvals", a, options, false, where).values;
  const eigen::Singular found = eigen::checked_svd("svdvals", a, options, false);
  return eigen::Matrices(a).replicated(found.values);
}

}  // namespace partita
