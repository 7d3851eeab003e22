// Reductions of rows and columns, which have separate kernels.
#pragma once

#include "kernels/cuda/arithmetic_launch.hpp"

namespace partita::kernels::cuda {

/// Whether it is one loop, or batches of columns, reduced along another, one of them side by side.
bool folds_lines(const Fold& what);
/// Of such a fold, as launch_fold.
int launch_fold_lines(const Fold& what, void* scratch, void* stream);
int load_fold_lines();

}  // namespace partita::kernels::cuda
