// Distributed arrays: a local part, its layout, and the memory if it owns it.
#pragma once

#include <memory>
#include <optional>
#include <partita/context.hpp>
#include <partita/error.hpp>
#include <partita/half.hpp>
#include <partita/operand.hpp>
#include <partita/source_place.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace partita {

/// What every operation takes and gives. A handle: `Array b = a` is another name of the same memory, as in
/// NumPy, and what is written through one is seen through the other. `clone(a)` copies the elements. The
/// destructor never communicates and never throws: a heap block is released later, when all ranks have
/// dropped it. Not thread-safe; different arrays may be used by different threads. An array belongs to the
/// context in which it was made: a call that takes several arrays, or a plan and arrays, throws ArgumentError
/// where they are of different contexts.
class PARTITA_API Array {
 public:
  Array() = default;  ///< no array; only assignment and `valid()` are allowed

  bool valid() const { return state_ != nullptr; }         ///< there is one
  const Layout& layout() const;                            ///< who has what
  const Shape& shape() const { return layout().shape(); }  ///< global
  Dtype dtype() const;                                     ///< of its elements
  Operand operand() const;    ///< what planners need to know; agreed by all ranks when the array was made
  const View& local() const;  ///< this rank's part
  Shape local_shape() const { return local().extents; }  ///< of this rank's part
  std::int64_t local_size() const;                       ///< elements of this rank's part
  Context context() const;                               ///< in which it was made

  /// The first local element, typed; throws ArgumentError if T is not the dtype.
  template <class T>
  T* data() const {
    require_dtype(dtype_of<T>());
    return static_cast<T*>(local().data);
  }

  /// The sub-array [lower, lower + shape) on the same memory, without a copy: what is written through either
  /// is seen through both. Every rank has what it has of it (`Layout::window`). It counts as ordinary memory,
  /// and is not dense, so that peers do not read it in place. Local; to be made alike on all ranks. Throws
  /// ArgumentError where the sub-array does not lie inside.
  Array window(const Index& lower, const Shape& shape) const;
  /// The transposed array on the same memory, likewise: its dimension i is dimension axes[i] of this one.
  /// Where `redistribute` with these axes moves elements, nothing moves here. Throws ArgumentError where
  /// `axes` is no permutation.
  Array permuted(const std::vector<int>& axes) const;

  struct State;
  explicit Array(std::shared_ptr<State> state) : state_(std::move(state)) {}  ///< for the library itself
  const std::shared_ptr<State>& state() const { return state_; }              ///< for the library itself
  const std::shared_ptr<ContextState>& context_state() const;                 ///< for the library itself

 private:
  void require_dtype(Dtype wanted) const;
  std::shared_ptr<State> state_;
};

/// How a new array lies in memory.
struct ArrayOptions {
  /// Of `clone`, `gather`, `scatter` and `astype` (<partita/stream.hpp>). What makes arrays of nothing
  /// (`empty`, `zeros`, `full`, files, ...) blocks: ArgumentError on every rank if set.
  std::optional<Stream> stream = {};
  Residency residency = Residency::heap;  ///< on the symmetric heap, or not
  Order order = Order::row_major;         ///< of the local parts
  /// Where it lies; nothing said: in the memory of the context's device.
  std::optional<MemorySpace> space = {};
};

/// A new array with undefined contents. Collective and blocking, also for ordinary memory (the ranks compare
/// shape, dtype, distribution and options). `where`, here and in all that makes arrays: what a report of
/// leaks names; leave it to its default. Errors, the same on every rank: ArgumentError, DisagreementError,
/// MemoryError.
PARTITA_API Array empty(const Context& context, const Shape& shape, const Distribution& distribution,
                        Dtype dtype, const ArrayOptions& options = {},
                        SourcePlace where = SourcePlace::current());
PARTITA_API Array empty(const Context& context, const Layout& layout, Dtype dtype,
                        const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current());
PARTITA_API Array zeros(const Context& context, const Shape& shape, const Distribution& distribution,
                        Dtype dtype, const ArrayOptions& options = {},
                        SourcePlace where = SourcePlace::current());

/// An array on the caller's memory. `local` must have the local shape of this rank; dense row- or
/// column-major and any strides are fine. `owner` keeps the memory: the array and its copies hold it as long
/// as they live, and let it go in whatever thread the last one ends; without it the caller keeps the memory
/// alive. Memory inside the symmetric heap (from `SymmetricMemory`) at the same offset on all ranks is
/// recognised.
///
/// In a context with a device its driver is asked whose memory it is. ArgumentError: memory of a device that
/// `local.space` says is the host's, the reverse, or another device's than the context's; device memory that
/// begins at no multiple of an element's size. Pinned and managed memory may be either. Collective: what is
/// wrong on one rank is the same error on all.
PARTITA_API Array wrap(const Context& context, const View& local, const Distribution& distribution,
                       const Shape& shape, std::shared_ptr<void> owner = {});
PARTITA_API Array wrap(const Context& context, const View& local, const Layout& layout,
                       std::shared_ptr<void> owner = {});
/// The same where every rank already knows what all ranks pass: the operand says it, and nothing is
/// exchanged. Local. The operand must be of ordinary memory, and the same on all ranks (that is not checked
/// here; the operations on the array check it). Where it is not dense, strides are each rank's own. Memory of
/// a device must begin at a multiple of an element's size. Throws ArgumentError where `local` does not suit.
PARTITA_API Array wrap(const Context& context, const View& local, const Operand& operand,
                       std::shared_ptr<void> owner = {});

// --- operations of one step
//
// They block, or with a stream are stream-ordered: see <partita/stream.hpp>.

/// Every element becomes `value`, given as one element of the array's dtype. Local.
PARTITA_API void fill(Array& array, const void* value, std::optional<Stream> stream = {});
/// The same, typed: throws ArgumentError if T is not the dtype.
template <class T>
void fill(Array& array, const T* value, std::optional<Stream> stream = {}) {
  (void)array.data<T>();
  fill(array, static_cast<const void*>(value), stream);
}
template <class T>
requires(!std::is_pointer_v<T> &&
         !std::is_invocable_v<T&, const Index&>) void fill(Array& array, T value,
                                                           std::optional<Stream> stream = {}) {
  fill(array, &value, stream);
}

/// Reproducible pseudo-random numbers: the value of an element depends only on `seed` and its global index
/// (row-major number), so it is the same in every distribution. Floating and complex: uniform in [-1, 1);
/// integers: uniform over [-100, 100] (unsigned [0, 200]); boolean: fair. Local. Source: the SplitMix64
/// finaliser (Steele et al. 2014).
/// They are made in the memory of the array. The bits are those of every other machine's host and devices.
PARTITA_API void fill_random(Array& array, std::uint64_t seed, std::optional<Stream> stream = {});
/// Likewise, of the normal distribution with mean 0 and variance 1; of complex numbers, each of the two
/// parts. Floating and complex dtypes; ArgumentError otherwise. Local. Source: Box and Muller (1958) on the
/// same generator, with logarithm and cosine of series of our own, so that the bits are the same everywhere.
PARTITA_API void fill_normal(Array& array, std::uint64_t seed, std::optional<Stream> stream = {});

/// destination = source, element by element; equivalent layouts, same dtype, any local orders, host and
/// device memory alike. The two may overlap, as windows of one array do: the result is as if the source had
/// been read first, and takes as much memory again as this rank's part. Local. With a stream at least one
/// side is in device memory; where the other is not, or where the two overlap, the host waits. Throws
/// ArgumentError where layouts, dtypes or contexts differ; UnsupportedError where the two overlap and the
/// stream is being captured.
PARTITA_API void copy(const Array& source, Array& destination, std::optional<Stream> stream = {});
/// Between this rank's part and plain memory of the same extents and dtype, host or device, any strides: no
/// array is made of it. The two may overlap, as above. Local; each rank may do it or not. Throws
/// ArgumentError.
PARTITA_API void copy(const View& source, Array& destination, std::optional<Stream> stream = {});
PARTITA_API void copy(const Array& source, const View& destination, std::optional<Stream> stream = {});

/// A copy: a new array with the layout, dtype and elements of this one. `options`: how it is stored; `space`
/// unset: where this array is. Of a partial array it has the contributions. Collective. Errors, the same on
/// every rank: DisagreementError, MemoryError, UnsupportedError (a stream for an array in host memory).
PARTITA_API Array clone(const Array& array, const ArrayOptions& options = {},
                        SourcePlace where = SourcePlace::current());

/// The whole array on rank `root` (an ordinary array whose other local parts are empty), and back. In
/// ordinary memory only the root has any; on the heap every rank has as much. `space` unset: where the source
/// is. Collective. Errors, the same on every rank:
/// ArgumentError (no such root), DisagreementError, MemoryError.
PARTITA_API Array gather(const Array& source, int root = 0, const ArrayOptions& options = {},
                         SourcePlace where = SourcePlace::current());
/// `source` is valid on `root` only: a dense whole array in host memory; the result lies where the context's
/// arrays do, if the options say nothing else. Collective over `context`, blocking, also with a stream, which
/// the host waits for and which is for a context with a device. Errors as of the other direction;
/// ArgumentError, too, where `source` is not of that shape.
PARTITA_API Array scatter(const Context& context, const View& source, const Shape& shape,
                          const Distribution& distribution, int root = 0, const ArrayOptions& options = {},
                          SourcePlace where = SourcePlace::current());

/// What `compare` found, the same on every rank.
struct Comparison {
  bool equal = true;              ///< bit for bit
  std::int64_t differing = 0;     ///< elements that differ
  double largest_difference = 0;  ///< |a - b|, over numbers; NaN beside a number counts as infinite
  Index first_difference;         ///< of the smallest row-major number; empty if none
};
/// Compares two arrays of the same shape and dtype in any distributions (b is redistributed to a's layout).
/// Collective, blocking, also with a stream. Errors, the same on every rank: ArgumentError (other shapes or
/// dtypes), DisagreementError.
PARTITA_API Comparison compare(const Array& a, const Array& b, std::optional<Stream> stream = {});

/// The array seen from a larger context: `array` lives on `context.subgroup(ranks)`; ranks outside pass an
/// invalid Array. The result shares the memory and counts as ordinary memory. Collective over `context`,
/// blocking. ArgumentError, the same on every rank: a rank named twice or out of range, an array where there
/// should be none.
PARTITA_API Array embed(const Context& context, const Array& array, std::span<const int> ranks);
/// The opposite: the same memory as an array of the subgroup; ranks outside get an invalid Array. Collective
/// over `subgroup`, blocking; `array`'s layout must give nothing to ranks outside (ArgumentError).
PARTITA_API Array restrict_to(const Context& subgroup, const Array& array, std::span<const int> ranks);

}  // namespace partita
