// What every function of several arrays, or of a plan and arrays, checks of them.
#pragma once

#include <partita/array.hpp>
#include <string_view>

#include "array/array_state.hpp"
#include "array/overlap.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::arrays {

/// Throws ArgumentError, with the same text on every rank, where `array` was made in another context than
/// `context`, that of `whose`: of a plan or of another array. An offset in the heap or a rank's number means
/// something else there. Local.
void check_context(std::string_view operation, const ContextState& context, std::string_view whose,
                   const Array& array, std::string_view what);

/// The same of two arrays of one call.
void check_same_context(std::string_view operation, const Array& a, std::string_view what_a, const Array& b,
                        std::string_view what_b);

/// Dense, on the symmetric heap: of it every rank knows where it is stored on all ranks.
bool is_dense_on_heap(const Array& array);

/// Both are: whether they overlap on any rank, every rank knows.
bool known_on_all_ranks(const Array& a, const Array& b);

/// Whether two arrays of one context share memory: on any rank, if `known_on_all_ranks`; else on this one.
bool overlap(const Array& a, const Array& b);

/// Windows of one array, of which a rank knows no more than where its own parts are: they may overlap on some
/// ranks only. The same on every rank.
bool are_windows_of_one(const Array& a, const Array& b);

/// Runs `check`, of an array that is read and one that is written. What it throws on one rank all throw. Only
/// windows of one array are compared at every call, since they may overlap on some of the ranks; of others
/// the ranks communicate only where it throws. Collective.
template <class Check>
void check_pair(ContextState& context, std::string_view operation, const Array& read, const Array& written,
                Check&& check) {
  if (are_windows_of_one(read, written)) {
    runtime::collectively(context, operation, check);
  } else {
    runtime::check_or_tell_all(context, operation, check);
  }
}

}  // namespace partita::arrays
