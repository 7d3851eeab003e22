// Keys of elements of a real dtype together with where the elements are, for stable orders.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <span>

namespace partita::kernels {

/// The key of an element (sort_keys.hpp; one for 0 and -0), and its place in a sequence.
struct PlacedKey {
  std::uint64_t key;
  std::int64_t place;
};

/// Which elements, and how they are ordered. The first one is at the place `first`.
struct PlacedElements {
  Dtype dtype = Dtype::f64;
  bool descending = false;  ///< keys of larger elements are smaller
  const void* elements = nullptr;
  std::int64_t count = 0;
  std::int64_t first = 0;
};

/// Words that have the keys in their upper and the places in their lower halves. Of dtypes of 4 bytes at
/// most, and places below 2^32.
void write_words(const PlacedElements& from, std::uint64_t* words);

/// In the order of the keys, equal ones by place. `scratch`: of the same size.
void sort_placed(const PlacedElements& from, PlacedKey* sorted, PlacedKey* scratch);

/// found[i]: how many of the sorted ones have keys below keys[i].
void count_below(std::span<const PlacedKey> sorted, std::span<const std::uint64_t> keys, std::int64_t* found);

/// The places of consecutive sorted runs in the order of the keys, equal ones in the order of the runs.
/// `scratch`: as large as all runs, which lose their contents.
void merge_places(PlacedKey* runs, std::span<const std::int64_t> counts, PlacedKey* scratch,
                  std::int64_t* places);

}  // namespace partita::kernels
