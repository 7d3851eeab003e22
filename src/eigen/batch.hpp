// Eigenvalues and singular values of many matrices.
#pragma once

#include <partita/eigen.hpp>

namespace partita::eigen {

/// [.., n] and [.., n, n], without vectors if they were not asked for.
EigenFactors eigen_of_batch(std::string_view operation, const Array& a, const EigenOptions& options,
                            bool vectors, SourcePlace where);
/// [.., m, k], [.., k] and [.., k, n].
SvdFactors svd_of_batch(std::string_view operation, const Array& a, const EigenOptions& options, bool vectors,
                        SourcePlace where);

}  // namespace partita::eigen
