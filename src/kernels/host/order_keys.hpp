// Keys of elements of any dtype, whose order is that of the elements, and counts of keys in sorted elements.
#pragma once

#include <array>
#include <cstdint>
#include <partita/dtype.hpp>
#include <span>
#include <vector>

namespace partita::kernels {

/// Compared column by column. Real numbers have one; complex numbers one for what is NaN in them, and their
/// two parts. 0 and -0 have one key, and so have all NaNs, which have the largest one.
using OrderKey = std::array<std::uint64_t, 3>;

/// The keys of a dtype, but of FP8. In descending order each column is the largest one minus that of the
/// element.
struct OrderKeys {
  Dtype dtype = Dtype::f64;
  bool descending = false;

  std::vector<int> bits() const;                 ///< of each column in use
  std::uint64_t most(std::size_t column) const;  ///< the largest number in it
  /// Whether there is a larger one, which the key becomes.
  bool advance(OrderKey& key) const;
  /// The smallest (in descending order: largest) element of a real dtype whose key is not below this one: the
  /// element itself if it has this key. Of complex dtypes the element with this key.
  void write_element(OrderKey key, void* element) const;
};

/// found[i]: how many of the `count` elements, which are sorted, have keys below keys[i].
void count_below(const OrderKeys& order, const void* sorted, std::int64_t count,
                 std::span<const OrderKey> keys, std::int64_t* found);

}  // namespace partita::kernels
