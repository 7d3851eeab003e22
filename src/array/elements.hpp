// Walking over the elements of a local part, or of a piece of it.
#pragma once

#include <cstdint>
#include <functional>
#include <partita/array.hpp>
#include <span>

namespace partita::arrays {

/// Elements along the last dimension of a piece.
struct ElementRow {
  std::int64_t number = 0;                ///< what all their numbers have in common
  std::span<const std::int64_t> numbers;  ///< what each one adds to it
  char* first = nullptr;
  std::int64_t stride = 0;  ///< in bytes

  /// Calls `body(number, element)` for each.
  template <class T, class Body>
  void visit(Body&& body) const {
    char* at = first;
    for (const std::int64_t more : numbers) {
      body(number + more, *reinterpret_cast<T*>(at));
      at += stride;
    }
  }
};

using RowBody = std::function<void(const ElementRow&)>;

/// Calls `body` for the rows of a piece of the rank's part. Numbers are row-major in the whole array; `lower`
/// is where the piece begins in the part. What differs between dtypes is only the body, so that little is
/// compiled for each.
void for_each_row(const View& piece, const Extents& lower, const Layout& layout, int rank,
                  const RowBody& body);

/// For all of the part.
void for_each_row(const View& local, const Layout& layout, int rank, const RowBody& body);

/// For all of the array's part. What is in device memory is made on the host, piece by piece, and copied
/// over; done when it returns. Local.
void fill_rows(Array& array, const RowBody& body);

/// Whether the rank is the first of the ranks that hold its part: so that a sum over ranks counts each
/// element once.
bool is_first_holder(const Layout& layout, int rank);

}  // namespace partita::arrays
