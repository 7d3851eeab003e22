// What an Array is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <partita/array.hpp>

#include "context/context_state.hpp"

namespace partita {

namespace arrays {
/// Another number at each call: of memory that a new array has. Any thread.
std::uint64_t new_memory();
}  // namespace arrays

struct Array::State {
  std::shared_ptr<ContextState> context;  // declared first: the heap outlives the block
  Operand operand;
  View local;
  std::shared_ptr<void> owner;  // what owns the memory; nothing where the caller of `wrap` keeps it
  std::int64_t heap_offset =
      -1;  // of `local` in this rank's segment, the same on all ranks; -1: not on the heap
  int shared_rank =
      -1;  // lowest rank whose local part has elements that share memory; it is then read-only; -1: none
  int read_only_rank = -1;                      // the first whose part is const memory; -1: none
  std::uint64_t memory = arrays::new_memory();  // windows and transposed arrays have that of the whole array
  /// Of the latest collective check when it was made, so alike on all ranks and another one for each array:
  /// ranks that execute something on different arrays are found out by it. Views have their array's, results
  /// that each rank makes alone their operand's (runtime::number_of_result); 0: not known to be alike.
  std::uint64_t number = 0;
};

namespace arrays {

/// The rank's part in `memory`, dense as the operand says, which the array shares. `heap_offset`: see
/// Array::State. Local.
Array array_on(const std::shared_ptr<ContextState>& context, const Operand& operand,
               std::shared_ptr<void> memory, std::int64_t heap_offset);

/// A new array on the symmetric heap. Collective; `purpose` identifies the call to the other ranks, which
/// must have agreed on layout, dtype and order already. `where`: of the user's call.
Array allocate_on_heap(const std::shared_ptr<ContextState>& context, const Layout& layout, Dtype dtype,
                       Order order, std::string_view purpose, SourcePlace where,
                       MemorySpace space = MemorySpace::host);

/// A new array as the options say, on the heap or not; as `allocate_on_heap`.
Array allocate(const std::shared_ptr<ContextState>& context, const Layout& layout, Dtype dtype,
               const ArrayOptions& options, std::string_view purpose, SourcePlace where);

/// An array like this one, with undefined contents, in ordinary host memory, in the array's order (row-major
/// where it is strided). Local.
Array host_like(const Array& array);
/// A copy of the part in ordinary host memory, in the array's order (row-major where it is strided). Local,
/// blocking.
Array copied_to_host(const Array& array);
/// The array itself if it is in host memory, otherwise such a copy.
Array on_host(const Array& array);

/// An array on memory that the caller owns, or `owner`; the ranks agree on residency and order in one
/// exchange. Collective.
Array wrap_agreed(const std::shared_ptr<ContextState>& context, const View& local, const Layout& layout,
                  std::string_view operation, std::shared_ptr<void> owner = {});

/// Throws ArgumentError where the driver of the context's device knows that the view's memory is not what
/// `local.space` says. Local; nothing to do in a context without a device.
void check_whose_memory(const ContextState& context, const View& local);

/// `wrap` of what `local` gives, whose errors are every rank's. Collective.
Array wrap_together(const Context& context, std::string_view operation, const std::function<View()>& local,
                    const std::function<Layout()>& layout, std::shared_ptr<void> owner);

/// Throws ArgumentError, the same on every rank, where some rank's part of an array that is to be written has
/// elements that share memory, or is const memory.
void check_written(std::string_view operation, const Array& array);
/// Throws ArgumentError where that is so of this rank's view, which is to be written.
void check_written(std::string_view operation, const View& view, int rank);

/// Throws ArgumentError for a partial array.
void check_has_values(std::string_view operation, const Array& array);

/// Row-major, or column-major: of an operand that is dense in one of these orders.
Order order_of(const Operand& operand);

/// The transposed array on the same memory: dimension i of the result is dimension axes[i] of this one.
/// Local.
std::shared_ptr<Array::State> permuted(const Array::State& array, std::span<const int> axes);

}  // namespace arrays
}  // namespace partita
