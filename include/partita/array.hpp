// Distributed arrays: each rank stores a local part; the layout says which elements it owns.
#pragma once

#include <memory>
#include <optional>
#include <partita/context.hpp>
#include <partita/error.hpp>
#include <partita/half.hpp>
#include <partita/operand.hpp>
#include <partita/scalar.hpp>
#include <partita/source_place.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace partita {

class Array;

namespace detail {
PARTITA_API void read_element(const Array& array, const Index& index, void* value,
                              std::optional<Stream> stream);
/// Throws ArgumentError if the array belongs to another context.
PARTITA_API Operand operand_in(const Context& context, const Array& array, std::string_view operation);
PARTITA_API Array wrap_elements(const Context& context, const View& elements,
                                const Distribution& distribution, const Shape& shape);
/// Throws ArgumentError unless the local part is dense, row-major host memory.
PARTITA_API void require_span(const Array& array);
}  // namespace detail

/// A distributed array. A handle: `Array b = a` refers to the same memory, as in NumPy; `clone(a)` copies the
/// elements. The destructor never communicates and never throws: a block on the symmetric heap is released
/// later, when all ranks have dropped it. Not thread-safe; different arrays may be used by different threads.
/// An array belongs to the context in which it was made: calls that take arrays or plans of different
/// contexts throw ArgumentError.
class PARTITA_API Array {
 public:
  Array() = default;  ///< empty: only assignment and `valid()` are allowed

  bool valid() const { return state_ != nullptr; }         ///< false for `Array()`
  const Layout& layout() const;                            ///< which rank owns which elements
  const Shape& shape() const { return layout().shape(); }  ///< global
  Dtype dtype() const;                                     ///< dtype of the elements
  Operand operand() const;                               ///< description for planners, the same on all ranks
  const View& local() const;                             ///< the local part of this rank
  Shape local_shape() const { return local().extents; }  ///< shape of the local part
  std::int64_t local_size() const;                       ///< number of elements of the local part
  std::int64_t size() const { return volume(shape()); }  ///< number of elements, global
  int ndim() const { return shape().size(); }            ///< number of dimensions
  Context context() const;                               ///< the context in which the array was made

  /// Pointer to the first local element. Throws ArgumentError if T is not the dtype.
  template <class T>
  T* data() const {
    require_dtype(dtype_of<T>());
    return static_cast<T*>(local().data);
  }
  /// The local elements. Throws ArgumentError if T is not the dtype, or unless the local part is dense,
  /// row-major host memory.
  template <class T>
  std::span<T> span() const {
    T* const first = data<T>();
    detail::require_span(*this);
    return {first, static_cast<std::size_t>(local_size())};
  }
  /// The element at a global index, on every rank. Collective, blocking; see `at` of <partita/elements.hpp>.
  template <class T>
  T at(const Index& index) const {
    require_dtype(dtype_of<T>());
    T value{};
    detail::read_element(*this, index, &value, {});
    return value;
  }

  /// The sub-array [lower, lower + shape) as a view of the same memory; nothing is copied. Each rank keeps
  /// the elements that it owns (`Layout::window`). The result counts as ordinary memory and is not dense, so
  /// peers do not read it in place. Local; must be called alike on all ranks. Throws ArgumentError if the
  /// sub-array is not inside the array.
  Array window(const Index& lower, const Shape& shape) const;
  /// The transposed array as a view of the same memory: dimension i of the result is dimension axes[i] of
  /// this array. `redistribute` with the same axes moves elements; this function does not. Local; must be
  /// called alike on all ranks. Throws ArgumentError if `axes` is not a permutation.
  Array permuted(const std::vector<int>& axes) const;
  Array transposed() const;                 ///< `permuted` with all dimensions in reverse order
  Array T() const { return transposed(); }  ///< NumPy's name of `transposed`
  /// The indices [from, to) along `axis` as a `window`. Throws ArgumentError if they are not inside the
  /// array.
  Array slice(int axis, std::int64_t from, std::int64_t to) const;

  // The functions of the same names with their default options.
  Array clone() const;                                         ///< a copy of the elements
  Array astype(Dtype dtype) const;                             ///< <partita/astype.hpp>
  Array redistribute(const Distribution& distribution) const;  ///< <partita/redistribute.hpp>
  Scalar sum() const;                                          ///< <partita/array_reductions.hpp>
  Scalar min() const;                                          ///< as `sum`
  Scalar max() const;                                          ///< as `sum`
  Scalar mean() const;                                         ///< as `sum`

  struct State;
  explicit Array(std::shared_ptr<State> state) : state_(std::move(state)) {}  ///< for the library itself
  const std::shared_ptr<State>& state() const { return state_; }              ///< for the library itself
  const std::shared_ptr<ContextState>& context_state() const;                 ///< for the library itself

 private:
  void require_dtype(Dtype wanted) const;
  std::shared_ptr<State> state_;
};

/// Not defined, because it could mean several things: `equal(a, b)` compares element by element, `compare(a,
/// b).equal` whole arrays, and `a.state() == b.state()` handles.
bool operator==(const Array& a, const Array& b) = delete;

/// Memory of a newly allocated array.
struct ArrayOptions {
  /// For `clone`, `gather`, `scatter` and `astype` (<partita/stream.hpp>). Functions that create arrays
  /// without a source (`empty`, `zeros`, `full`, reading of files) block: ArgumentError on every rank if set.
  std::optional<Stream> stream = {};
  Residency residency = Residency::heap;  ///< on the symmetric heap, or in ordinary memory
  Order order = Order::row_major;         ///< memory order of the local parts
  /// Host or device memory. If unset: the memory of the context's device, or the host's without one.
  std::optional<MemorySpace> space = {};
};

/// A new array with undefined contents. Collective and blocking, also for ordinary memory: the ranks compare
/// shape, dtype, distribution and options. `where`, in all functions that create arrays: the source location
/// that reports of leaks name; keep the default. Errors, the same on every rank: ArgumentError,
/// DisagreementError, MemoryError.
PARTITA_API Array empty(const Context& context, const Shape& shape, const Distribution& distribution,
                        Dtype dtype = Dtype::f64, const ArrayOptions& options = {},
                        SourcePlace where = SourcePlace::current());
PARTITA_API Array empty(const Context& context, const Layout& layout, Dtype dtype = Dtype::f64,
                        const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current());
PARTITA_API Array zeros(const Context& context, const Shape& shape, const Distribution& distribution,
                        Dtype dtype = Dtype::f64, const ArrayOptions& options = {},
                        SourcePlace where = SourcePlace::current());

/// An array on the caller's memory. `local` must have the local shape of this rank, with any strides.
/// `owner`: keeps the memory alive; it is released when the last copy of the array is destroyed, on whichever
/// thread that happens. Without it the caller keeps the memory alive. Memory of the symmetric heap
/// (`SymmetricMemory`) at the same offset on all ranks is recognised as such.
///
/// In a context with a device, the driver determines where the memory is. ArgumentError if this contradicts
/// `local.space`, if the memory belongs to another device than the context's, or if device memory is not
/// aligned to the element size. Pinned and managed memory may be declared as either. Collective and blocking:
/// an invalid argument on one rank is the same error on all ranks.
PARTITA_API Array wrap(const Context& context, const View& local, const Distribution& distribution,
                       const Shape& shape, std::shared_ptr<void> owner = {});
PARTITA_API Array wrap(const Context& context, const View& local, const Layout& layout,
                       std::shared_ptr<void> owner = {});
/// As above, for elements in a contiguous C++ container of this rank, such as a std::vector<double>: its
/// local part, dense and row-major. The container must outlive the array.
template <class Memory>
requires detail::Elements<Memory&> Array wrap(const Context& context, Memory& memory,
                                              const Distribution& distribution, const Shape& shape) {
  return detail::wrap_elements(context, view(memory), distribution, shape);
}
/// As above, but local: `operand` describes the array on all ranks, and nothing is exchanged. It must
/// describe ordinary memory and be the same on all ranks; this is not checked here, but by the operations on
/// the array. If it is not dense, each rank has its own strides. Device memory must be aligned to the element
/// size. Throws ArgumentError if `local` does not match.
PARTITA_API Array wrap(const Context& context, const View& local, const Operand& operand,
                       std::shared_ptr<void> owner = {});

// --- element access and copies
//
// These functions block, or are stream-ordered if a stream is given (<partita/stream.hpp>).

/// Sets every element to `value`, which points to one element of the array's dtype. Local.
PARTITA_API void fill(Array& array, const void* value, std::optional<Stream> stream = {});
/// As above, with a pointer to a T. Throws ArgumentError if T is not the dtype.
template <class T>
void fill(Array& array, const T* value, std::optional<Stream> stream = {}) {
  (void)array.data<T>();
  fill(array, static_cast<const void*>(value), stream);
}
/// As above, with a number, which takes the array's dtype as `Scalar::write` allows: 3 and 0.5 in an f64
/// array; otherwise ArgumentError.
template <class T>
requires(detail::is_number<T> || std::is_same_v<T, Scalar>) void fill(Array& array, T value,
                                                                      std::optional<Stream> stream = {}) {
  alignas(16) std::byte element[16];
  Scalar(value).write(array.dtype(), element);
  fill(array, static_cast<const void*>(element), stream);
}

/// Fills the array with reproducible pseudo-random numbers: the value of an element depends only on `seed`
/// and on its global row-major index, so it is the same in every distribution and on every host and device.
/// Floating-point and complex: uniform in [-1, 1); integers: uniform in [-100, 100] (unsigned: [0, 200]);
/// boolean: fair. Local. Source: the SplitMix64 finaliser (Steele et al. 2014).
PARTITA_API void fill_random(Array& array, std::uint64_t seed, std::optional<Stream> stream = {});
/// As `fill_random`, with the normal distribution of mean 0 and variance 1; for complex numbers, each of the
/// two parts. Floating-point and complex dtypes only: ArgumentError otherwise. Local. Source: Box and Muller
/// (1958) on the same generator; logarithm and cosine are series of this library, so the bits are the same
/// everywhere.
PARTITA_API void fill_normal(Array& array, std::uint64_t seed, std::optional<Stream> stream = {});

/// destination = source, element by element. The layouts must be equivalent and the dtypes equal; memory
/// orders may differ, and each side may be in host or device memory. Overlapping arrays, such as windows of
/// one array, are copied as if the source were read first; this takes a temporary copy of the local part.
/// Local. With a stream at least one side must be in device memory; if the other side is not, or if the two
/// overlap, the host waits. Throws ArgumentError if layouts, dtypes or contexts differ; UnsupportedError if
/// the two overlap while the stream is being captured.
PARTITA_API void copy(const Array& source, Array& destination, std::optional<Stream> stream = {});
/// Copies between the local part and plain memory of the same extents and dtype, in host or device memory,
/// with any strides. The two may overlap, as above. Local: each rank may call it independently. Throws
/// ArgumentError if extents or dtypes differ.
PARTITA_API void copy(const View& source, Array& destination, std::optional<Stream> stream = {});
PARTITA_API void copy(const Array& source, const View& destination, std::optional<Stream> stream = {});

/// A new array with the layout, dtype and elements of `array`. `options`: memory of the result; `space`
/// defaults to that of `array`. For a partial array the contributions are copied. Collective; blocks, or is
/// stream-ordered. Errors, the same on every rank: DisagreementError, MemoryError, UnsupportedError (a stream
/// for an array in host memory).
PARTITA_API Array clone(const Array& array, const ArrayOptions& options = {},
                        SourcePlace where = SourcePlace::current());

/// Alias of `clone`.
inline Array copy(const Array& array) {
  return array.clone();
}

/// The whole array on rank `root`: an array whose local parts on other ranks are empty. In ordinary memory
/// only the root allocates; on the heap every rank allocates the same size. `space` defaults to that of the
/// source. Collective; blocks, or is stream-ordered. Errors, the same on every rank: ArgumentError (root out
/// of range), DisagreementError, MemoryError.
PARTITA_API Array gather(const Array& source, int root = 0, const ArrayOptions& options = {},
                         SourcePlace where = SourcePlace::current());
/// Distributes the array `source` of rank `root`, a dense view in host memory that other ranks may leave
/// empty. The result is in the default memory of the context unless the options say otherwise. Collective
/// over `context`, and always blocking: with a stream, which requires a context with a device, the host
/// waits. Errors as for `gather`, and ArgumentError if `source` does not have the given shape.
PARTITA_API Array scatter(const Context& context, const View& source, const Shape& shape,
                          const Distribution& distribution, int root = 0, const ArrayOptions& options = {},
                          SourcePlace where = SourcePlace::current());

/// Result of `compare`, the same on every rank.
struct Comparison {
  bool equal = true;              ///< bit for bit
  std::int64_t differing = 0;     ///< number of elements that differ
  double largest_difference = 0;  ///< max |a - b|; infinite if one is NaN and the other is not
  Index first_difference;         ///< smallest global index in row-major order; empty if none
};
/// Compares two arrays of the same shape and dtype in any distributions (b is redistributed to a's layout).
/// Collective and blocking, also with a stream. Errors, the same on every rank: ArgumentError (shapes or
/// dtypes differ), DisagreementError.
PARTITA_API Comparison compare(const Array& a, const Array& b, std::optional<Stream> stream = {});

/// The array as seen from a larger context: `array` belongs to `context.subgroup(ranks)`; ranks outside the
/// subgroup pass an empty Array. The result shares the memory and counts as ordinary memory. Collective over
/// `context`, blocking. ArgumentError, the same on every rank: a rank listed twice or out of range, an array
/// on a rank outside the subgroup.
PARTITA_API Array embed(const Context& context, const Array& array, std::span<const int> ranks);
/// The inverse of `embed`: the same memory as an array of the subgroup; ranks outside get an empty Array.
/// Collective over `subgroup`, blocking. ArgumentError if the layout assigns elements to ranks outside the
/// subgroup.
PARTITA_API Array restrict_to(const Context& subgroup, const Array& array, std::span<const int> ranks);

}  // namespace partita
