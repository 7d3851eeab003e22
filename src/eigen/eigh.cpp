#include "eigen/eigh.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <partita/array_reductions.hpp>
#include <partita/elementwise.hpp>
#include <partita/redistribute.hpp>

#include "eigen/batch.hpp"
#include "eigen/direct.hpp"
#include "eigen/polar.hpp"
#include "linalg/batches.hpp"
#include "linalg/conjugate.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita::eigen {
namespace {

/// An orthonormal basis whose first `above` columns span the eigenvectors above sigma.
struct Split {
  Array basis;
  std::int64_t above = 0;
};

/// A - sigma I
Array shifted(const Matrices& matrices, const Array& a, double sigma) {
  Array result = matrices.unit(a.shape()[0], a.shape()[1]);
  scale(result, -sigma);
  const Array own = matrices.copied(a);
  result += own;
  return result;
}

/// The basis of the range of a projector of that rank, and of its complement. Random columns of the range,
/// and once more their images, which makes them exact (subspace iteration).
Array basis_of(const Matrices& matrices, const Array& projector, std::int64_t rank) {
  const std::int64_t n = projector.shape()[0];
  Array random = matrices.empty(n, rank);
  fill_normal(random, 1);
  const Array near = Qr(matrices.product(projector, Op::none, random, Op::none), {.overwrite = true}).q();
  const Qr factors(matrices.product(projector, Op::none, near, Op::none), {.overwrite = true});
  return matrices.copied(factors.multiply_q(matrices.unit(n, n)));
}

Split split_at(const Matrices& matrices, const Array& a, double sigma) {
  const std::int64_t n = a.shape()[0];
  Array projector = unitary_factor(matrices, shifted(matrices, a, sigma));  // the sign of A - sigma I
  projector += matrices.unit(n, n);
  scale(projector, 0.5);
  const std::vector<double> diagonal = matrices.diagonal(projector);
  const double trace = std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
  Split split;
  split.above = std::clamp<std::int64_t>(std::llround(trace), 0, n);
  if (split.above > 0 && split.above < n) split.basis = basis_of(matrices, projector, split.above);
  return split;
}

/// Where it is worth to split: near the middle of the spectrum, which the diagonal tells, or at the mean of
/// all eigenvalues.
std::vector<double> candidates(std::vector<double> diagonal) {
  const double mean =
      std::accumulate(diagonal.begin(), diagonal.end(), 0.0) / static_cast<double>(diagonal.size());
  const auto middle = diagonal.begin() + static_cast<std::ptrdiff_t>(diagonal.size() / 2);
  std::nth_element(diagonal.begin(), middle, diagonal.end());
  return {*middle, mean};
}

Spectrum direct(const Matrices& matrices, const Array& a, EigenRange range, bool vectors) {
  Spectrum result;
  result.values = direct_eigen(matrices, a, range, vectors ? &result.vectors : nullptr);
  return result;
}

/// Whether the basis separates the matrix, which it then is seen from.
bool separates(const Array& seen, std::int64_t above, double size, double epsilon) {
  const std::int64_t n = seen.shape()[0];
  const double coupling = norm<double>(part(seen, above, n - above, 0, above));
  return coupling <= 100 * epsilon * std::sqrt(static_cast<double>(n)) * size;
}

/// Of what is on both sides of sigma; a side of which nothing is asked for has no values.
Spectrum joined(const Matrices& matrices, const Split& split, const Spectrum& above, const Spectrum& below,
                bool vectors) {
  Spectrum result;
  result.values = below.values;
  result.values.insert(result.values.end(), above.values.begin(), above.values.end());
  if (!vectors) return result;
  const std::int64_t n = split.basis.shape()[0], k = split.above;
  const auto of_below = static_cast<std::int64_t>(below.values.size());
  result.vectors = matrices.empty(n, static_cast<std::int64_t>(result.values.size()));
  const auto store = [&](std::int64_t from, std::int64_t columns, const Spectrum& inner, std::int64_t to) {
    if (inner.values.empty()) return;
    const Array outer =
        matrices.product(part(split.basis, 0, n, from, columns), Op::none, inner.vectors, Op::none);
    Array place = part(result.vectors, 0, n, to, static_cast<std::int64_t>(inner.values.size()));
    redistribute_into(outer, place);
  };
  store(k, n - k, below, 0);
  store(0, k, above, of_below);
  return result;
}

}  // namespace

EigenRange range_of(const EigenOptions& options, std::int64_t n) {
  return {options.first, options.count < 0 ? n : options.first + options.count};
}

EigenRange EigenRange::within(std::int64_t begin, std::int64_t end) const {
  const std::int64_t from = std::clamp(first, begin, end) - begin;
  return {from, std::max(std::clamp(behind, begin, end) - begin, from)};
}

Spectrum spectrum(const Matrices& matrices, const Array& a, EigenRange range, std::int64_t base,
                  bool vectors) {
  const std::int64_t n = a.shape()[0];
  if (n <= std::max<std::int64_t>(base, 1)) return direct(matrices, a, range, vectors);
  const double size = norm<double>(a);
  for (const double sigma : candidates(matrices.diagonal(a))) {
    const Split split = split_at(matrices, a, sigma);
    if (!split.basis.valid()) continue;
    const Array image = matrices.product(a, Op::none, split.basis, Op::none);
    const Array seen = matrices.product(split.basis, Op::conjugate_transpose, image, Op::none);
    if (!separates(seen, split.above, size, matrices.epsilon())) continue;
    const std::int64_t k = split.above;
    const auto side = [&](std::int64_t from, std::int64_t rows, EigenRange some) {
      if (some.count() == 0) return Spectrum();
      return spectrum(matrices, matrices.hermitian_part(part(seen, from, rows, from, rows)), some, base,
                      vectors);
    };
    const Spectrum above = side(0, k, range.within(n - k, n)), below = side(k, n - k, range.within(0, n - k));
    return joined(matrices, split, above, below, vectors);
  }
  return direct(matrices, a, range, vectors);  // all eigenvalues are close to one another
}

Spectrum spectrum(const Matrices& matrices, const Array& a, std::int64_t base, bool vectors) {
  return spectrum(matrices, a, {0, a.shape()[0]}, base, vectors);
}

namespace {

Spectrum checked_spectrum(std::string_view operation, const Array& a, const EigenOptions& options,
                          bool vectors) {
  check_argument(operation, a, true, options);
  const Matrices matrices(a);
  Array whole = matrices.from_lower(options.upper ? a.permuted({1, 0}) : a);
  check_finite(operation, whole);
  if (options.upper) linear::conjugate(whole);  // it is the transpose
  return spectrum(matrices, whole, range_of(options, a.shape()[0]), base_rows(matrices, options), vectors);
}

}  // namespace
}  // namespace partita::eigen

namespace partita {

EigenFactors eigh(const Array& a, const EigenOptions& options, SourcePlace where) {
  const runtime::PublicCall call("eigh");
  if (linear::is_batch(a)) return eigen::eigen_of_batch("eigh", a, options, true, where);
  const auto [values, vectors] = eigen::checked_spectrum("eigh", a, options, true);
  const eigen::Matrices matrices(a);
  return {matrices.replicated(values), matrices.result(vectors, a, where)};
}

Array eigvalsh(const Array& a, const EigenOptions& options, SourcePlace where) {
  const runtime::PublicCall call("eigvalsh");
  if (linear::is_batch(a)) return eigen::eigen_of_batch("eigvalsh", a, options, false, where).values;
  const auto found = eigen::checked_spectrum("eigvalsh", a, options, false);
  return eigen::Matrices(a).replicated(found.values);
}

}  // namespace partita
