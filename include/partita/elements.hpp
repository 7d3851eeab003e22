// Access to elements by global indices.
//
// All functions block. For arrays in device memory they run after all work that was enqueued on `stream` (if
// unset, on the context's own). A stream for host memory is an UnsupportedError.
#pragma once

#include <functional>
#include <optional>
#include <partita/array.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// The global indices of the local part along `axis`: see <partita/layout.hpp>.
PARTITA_API std::vector<std::int64_t> local_indices(const Array& array, int axis);

namespace detail {
/// One loop per dimension over the local part; the innermost has the smallest stride.
struct LocalLoops {
  struct Loop {
    int dimension = 0;
    std::int64_t stride = 0;
    std::vector<std::int64_t> indices;  // global, by local index
  };
  std::vector<Loop> loops;  // outermost first
  bool empty = false;       // the local part is empty
};
/// Throws UnsupportedError: device memory.
PARTITA_API LocalLoops local_loops(const Array& array);

/// The array itself if it is in host memory, otherwise an array of the same layout there with undefined
/// contents. Local.
PARTITA_API Array host_mirror(const Array& array, std::optional<Stream> stream = {});

template <class T, class Body>
void loop_over(const std::vector<LocalLoops::Loop>& loops, std::size_t depth, Index& index, T* at,
               Body& body) {
  if (depth == loops.size()) return static_cast<void>(body(std::as_const(index), *at));
  const LocalLoops::Loop& loop = loops[depth];
  std::int64_t& global = index[loop.dimension];
  const bool innermost = depth + 1 == loops.size();
  for (const std::int64_t i : loop.indices) {
    global = i;
    if (innermost) {
      body(std::as_const(index), *at);
    } else {
      loop_over(loops, depth + 1, index, at, body);
    }
    at += loop.stride;
  }
}

/// The number of indices, 1 to max_dimensions, that f is called with; 0: it takes none.
template <class F, class... Indices>
constexpr int index_count() {
  if constexpr (sizeof...(Indices) > 0 && std::is_invocable_v<F&, Indices...>) {
    return static_cast<int>(sizeof...(Indices));
  } else if constexpr (sizeof...(Indices) < max_dimensions) {
    return index_count<F, Indices..., std::int64_t>();
  } else {
    return 0;
  }
}
template <class F, std::size_t... axes>
decltype(auto) call_with(F& f, const Index& index, std::index_sequence<axes...> /*dimensions*/) {
  return std::invoke(f, index[static_cast<int>(axes)]...);
}
PARTITA_API void require_index_count(const Array& array, int indices);
/// Writes all elements in row-major order, converted to no other dtype. Collective.
PARTITA_API void read_all(const Array& array, void* elements);

PARTITA_API void write_element(Array& array, const Index& index, const void* value,
                               std::optional<Stream> stream);
}  // namespace detail

/// Calls `body(index, value)` for every local element: its global index (const Index&) and the element (T&),
/// in memory order. Replicas are visited on each rank that holds one; for a partial array the elements are
/// contributions. Local. Throws ArgumentError if T is not the dtype, and UnsupportedError for device memory:
/// use fill(array, f), or `copy` to an array in host memory and back.
template <class T, class Body>
void for_each_local(const Array& array, Body&& body) {
  T* const data = array.data<T>();
  const detail::LocalLoops walk = detail::local_loops(array);
  Index index = Extents::filled(array.shape().size(), 0);
  if (!walk.empty) detail::loop_over(walk.loops, 0, index, data, body);
}

/// Sets every element to f(global index): `fill(array, [](const Index& i) { return 10.0 * i[0]; })`. The
/// result of f must have the array's dtype, otherwise ArgumentError. Local; f is called on this thread, once
/// per local element. Device memory is filled on the host and copied to the device.
template <class F>
requires std::is_invocable_v<F&, const Index&>
void fill(Array& array, F f, std::optional<Stream> stream = {}) {
  using T = std::remove_cvref_t<std::invoke_result_t<F&, const Index&>>;
  (void)array.data<T>();
  const Array part = detail::host_mirror(array, stream);
  for_each_local<T>(part, [&](const Index& index, T& value) { value = f(index); });
  if (part.state() != array.state()) copy(part, array, stream.value_or(Stream{}));
}

/// As above, with one integer argument per dimension: `fill(matrix, [](int i, int j) { return 1.0 * i * j;
/// })`. Throws ArgumentError if their number is not the array's number of dimensions.
template <class F>
requires(!std::is_invocable_v<F&, const Index&> &&
         detail::index_count<F>() > 0) void fill(Array& array, F f, std::optional<Stream> stream = {}) {
  constexpr int indices = detail::index_count<F>();
  detail::require_index_count(array, indices);
  fill(
      array,
      [&](const Index& index) {
        return detail::call_with(f, index, std::make_index_sequence<static_cast<std::size_t>(indices)>());
      },
      stream);
}

/// All elements in row-major order, on every rank. Collective, blocking. Errors, the same on every rank:
/// ArgumentError (T is not the dtype), DisagreementError, MemoryError. A partial array is reduced.
template <class T>
requires(!std::is_same_v<T, bool>) std::vector<T> to_vector(const Array& array) {
  (void)array.data<T>();
  std::vector<T> elements(static_cast<std::size_t>(array.size()));
  detail::read_all(array, elements.data());
  return elements;
}

/// The element at a global index, on every rank: `at<double>(array, {3, 4})`. Collective, blocking; each call
/// is a small exchange, so do not call it in loops. Errors, the same on every rank: ArgumentError (T is not
/// the dtype, an index out of range, a partial array: redistribute it first), DisagreementError.
template <class T>
T at(const Array& array, const Index& index, std::optional<Stream> stream = {}) {
  (void)array.data<T>();
  T value{};
  detail::read_element(array, index, &value, stream);
  return value;
}

/// Sets an element on the ranks that own it; call it alike on all ranks. Local. Throws ArgumentError (T is
/// not the dtype, an index out of range, a partial array).
template <class T>
void set_at(Array& array, const Index& index, T value, std::optional<Stream> stream = {}) {
  (void)array.data<T>();
  detail::write_element(array, index, &value, stream);
}

}  // namespace partita
