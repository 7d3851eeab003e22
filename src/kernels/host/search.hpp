// Places of elements in the order of others: searches in sorted elements, and counts of elements in bins.
#pragma once

#include "base/sequence_passes.hpp"

namespace partita::kernels {

/// Of elements whose dtype is_sorted_here. Thread-safe.
void search(const SearchPass& pass);

/// Of elements whose dtype is_sorted_here. Thread-safe.
void count(const CountPass& pass);

}  // namespace partita::kernels
