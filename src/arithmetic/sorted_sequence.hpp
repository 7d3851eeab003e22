// One sequence that ranks divide, sorted: each rank gets the elements between two positions.
#pragma once

#include <partita/array.hpp>
#include <string_view>

#include "arithmetic/lines.hpp"

namespace partita::arithmetic {

/// What is made of a sequence.
struct SequenceSort {
  std::string_view operation;
  bool order = false;  ///< not the elements, but the positions of i64 that sort them, equal ones in order
  bool descending = false;
};

inline constexpr std::int64_t few_elements = 1 << 12;

/// A sequence in host memory. The parts of the ranks are dense.
struct DividedSequence {
  Dtype dtype = Dtype::f64;
  const void* mine = nullptr;
  SequenceCuts given;   ///< positions of the ranks' elements; of any order where these are sorted themselves
  SequenceCuts wanted;  ///< positions of the ranks' results
  void* result = nullptr;  ///< of this rank
  /// So many elements are copied to all ranks: that takes less time than a few exchanges of counts.
  std::int64_t few = few_elements;
};

/// Of any dtype but FP8. Scratch on the symmetric heap. Collective, blocking.
void sort_sequence(const Context& context, const SequenceSort& what, const DividedSequence& sequence);

/// The same where each rank has sorted its elements, which may be in the memory of the result.
void exchange_sorted_parts(const Context& context, const SequenceSort& what, const DividedSequence& sequence);

/// One in device memory, of elements that are sorted there; not their order. `mine`: an array of one
/// dimension, whose part is dense, of `given`; `result`: the same of `wanted`. Collective, blocking.
void sort_sequence_there(const SequenceSort& what, const Array& mine, const SequenceCuts& given,
                         Array& result, const SequenceCuts& wanted);

}  // namespace partita::arithmetic
