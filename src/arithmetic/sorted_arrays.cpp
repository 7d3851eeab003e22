// Arrays sorted along an axis, or as one sequence: each rank its own lines, or each line by all ranks.
#include <fmt/format.h>

#include <memory>
#include <partita/astype.hpp>
#include <partita/redistribute.hpp>
#include <partita/sorting.hpp>

#include "arithmetic/dense_parts.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/lines.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "arithmetic/sorted_sequence.hpp"
#include "device/stream_work.hpp"
#include "kernels/host/sort_any.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using arithmetic::DensePart;
using arithmetic::SequenceCuts;
using arithmetic::SequenceSort;

/// One call, as all ranks have agreed on it.
struct ArraySort {
  SequenceSort what;
  int axis = 0;
  bool flat = false;
  Layout wanted;  ///< of the result
  Residency residency = Residency::heap;
  SourcePlace where;

  Dtype dtype(const Array& array) const { return what.order ? Dtype::i64 : array.dtype(); }
  Array result(const Array& array, const Layout& layout, MemorySpace space) const {
    return arrays::allocate(array.context_state(), layout, dtype(array),
                            {.residency = residency, .space = space}, what.operation, where);
  }
  Array moved(Array made) const {
    if (made.layout() == wanted) return made;
    return redistribute(made, wanted, {.residency = residency}, where);
  }
};

/// The longest dimension but one; -1: there is no other.
int longest_besides(const Shape& shape, int axis) {
  return arithmetic::longest_dimension(shape, [axis](int d) { return d != axis; });
}

/// The lines of a part, whose axis is the last dimension.
class Lines {
 public:
  Lines(ContextState& context, const View& part, int axis, DensePart::Elements elements)
      : dense_(context, arithmetic::with_axis_last(part, axis), elements) {}
  std::int64_t length() const { return dense_.view().extents[dense_.view().extents.size() - 1]; }
  char* line(std::int64_t number) const {
    return static_cast<char*>(dense_.view().data) + number * length() * size_of(dense_.view().dtype);
  }
  void finish() const { dense_.finish(); }

 private:
  DensePart dense_;
};

/// Of a rank that has whole lines.
void sort_lines_here(const SequenceSort& what, const Array& array, const Array& result, int axis) {
  ContextState& context = *array.context_state();
  if (array.local_size() == 0) return;
  const Lines from(context, array.local(), axis, DensePart::Elements::read),
      to(context, result.local(), axis, DensePart::Elements::written);
  kernels::SortPass pass{.dtype = array.dtype(), .descending = what.descending, .count = from.length()};
  const std::int64_t lines = array.local_size() / from.length();
  for (std::int64_t line = 0; line < lines; ++line) {
    pass.from = from.line(line);
    if (what.order) pass.order = reinterpret_cast<std::int64_t*>(to.line(line));
    if (!what.order) pass.to = to.line(line);
    kernels::sort_any({pass});
  }
  to.finish();
}

/// Collective.
Array sort_whole_lines(const ArraySort& sort, const Array& array) {
  Array result = sort.result(array, array.layout(), MemorySpace::host);
  runtime::check_or_tell_all(*array.context_state(), sort.what.operation,
                             [&] { sort_lines_here(sort.what, array, result, sort.axis); });
  return sort.moved(std::move(result));
}

/// Fewer lines than ranks, one after the other. Collective.
Array sort_divided_lines(const ArraySort& sort, const Array& array) {
  const Array there =
      arithmetic::blocks_along(array.layout(), sort.axis) ? array : redistribute(array, Slab(sort.axis));
  const SequenceCuts cuts = *arithmetic::blocks_along(there.layout(), sort.axis);
  ContextState& context = *array.context_state();
  Array result = sort.result(array, there.layout(), MemorySpace::host);
  std::unique_ptr<Lines> from, to;
  runtime::check_or_tell_all(context, sort.what.operation, [&] {
    from = std::make_unique<Lines>(context, there.local(), sort.axis, DensePart::Elements::read);
    to = std::make_unique<Lines>(context, result.local(), sort.axis, DensePart::Elements::written);
  });
  const std::int64_t lines = array.size() / array.shape()[sort.axis];
  for (std::int64_t line = 0; line < lines; ++line)
    arithmetic::sort_sequence(array.context(), sort.what,
                              {array.dtype(), from->line(line), cuts, cuts, to->line(line)});
  runtime::check_or_tell_all(context, sort.what.operation, [&] { to->finish(); });
  return sort.moved(std::move(result));
}

/// How the ranks have the elements of an array as one sequence.
struct Elements {
  Array array;
  SequenceCuts cuts;
};

/// In row-major order, or, for sorted elements, in any. Each element is in one part. Collective.
Elements as_sequence(const Array& array, bool in_order) {
  const int ranks = array.context().size();
  std::vector<std::int64_t> sizes;
  if (array.ndim() == 0) {  // a replica is the part of the first rank
    const Array there = redistribute(array, Replicated{});
    sizes.assign(static_cast<std::size_t>(ranks), 0);
    sizes[0] = 1;
    return {there, arithmetic::cuts_of(sizes)};
  }
  Array there = array;
  if (in_order && !arithmetic::blocks_along(array.layout(), 0)) there = redistribute(array, Slab(0));
  if (!in_order && ranks > 1 && array.layout().is_replicated())
    there = redistribute(array, Slab(longest_besides(array.shape(), -1)));
  for (int rank = 0; rank < ranks; ++rank) sizes.push_back(there.layout().local_size(rank));
  return {there, arithmetic::cuts_of(sizes)};
}

/// The elements in one dimension. `on_device`: they are sorted there. Collective.
Array sort_as_sequence(const ArraySort& sort, const Array& array, bool on_device) {
  const Elements given = as_sequence(array, sort.what.order);
  const Context context = array.context();
  const int ranks = context.size();
  std::optional<SequenceCuts> cuts = arithmetic::blocks_along(sort.wanted, 0);
  const Layout layout = cuts ? sort.wanted : Layout(Slab(0), sort.wanted.shape(), ranks);
  if (!cuts) cuts = arithmetic::blocks_along(layout, 0);
  const MemorySpace space = on_device ? MemorySpace::device : MemorySpace::host;
  Array result = sort.result(array, layout, space);
  if (on_device) {
    Array dense = given.array;
    if (!arrays::lies_dense(dense.local())) dense = clone(dense, {.residency = Residency::ordinary});
    if (sort.what.order) {
      Array unwanted;
      runtime::check_or_tell_all(*context.state(), sort.what.operation,
                                 [&] { sort_part(dense, unwanted, result, sort.what.descending); });
    } else {
      arithmetic::sort_sequence_there(sort.what, dense, given.cuts, result, *cuts);
    }
    devices::finish_device(*context.state(), sort.what.operation);
    return sort.moved(std::move(result));
  }
  std::unique_ptr<DensePart> mine;
  runtime::check_or_tell_all(*context.state(), sort.what.operation, [&] {
    mine = std::make_unique<DensePart>(*context.state(), given.array.local());
  });
  arithmetic::sort_sequence(context, sort.what,
                            {array.dtype(), mine->view().data, given.cuts, *cuts, result.local().data});
  return sort.moved(std::move(result));
}

/// In host memory. Collective.
Array sort_on_host(const ArraySort& sort, const Array& array) {
  if (sort.flat) return sort_as_sequence(sort, array, false);
  if (arithmetic::has_whole_lines(array.layout(), sort.axis)) return sort_whole_lines(sort, array);
  if (array.ndim() == 1) return sort_as_sequence(sort, array, false);
  if (array.size() / array.shape()[sort.axis] >= array.context().size())
    return sort_whole_lines(sort, redistribute(array, Slab(longest_besides(array.shape(), sort.axis))));
  return sort_divided_lines(sort, array);
}

/// Whether the devices sort it: one sequence of numbers. Of few elements the host does among several ranks.
bool is_sorted_on_device(const ArraySort& sort, const Array& array) {
  if (!kernels::is_sorted_here(array.dtype()) || !(sort.flat || array.ndim() == 1)) return false;
  if (dynamic_cast<devices::DeviceSorting*>(array.context_state()->device.get()) == nullptr) return false;
  const int ranks = array.context().size();
  for (int rank = 0; rank < ranks; ++rank) {
    if (array.layout().local_size(rank) > devices::DeviceSorting::most_sorted) return false;
  }
  return ranks == 1 || (!sort.what.order && array.size() > arithmetic::few_elements);
}

/// An element alone, and its index. Collective.
Array sort_one(const ArraySort& sort, const Array& array) {
  if (!sort.what.order) return sort.moved(clone(array, {.residency = sort.residency}, sort.where));
  Array result = sort.result(array, array.layout(), array.local().space);
  fill(result, 0);
  return sort.moved(std::move(result));
}

/// Collective.
Array sort_anywhere(const ArraySort& sort, const Array& array) {
  if (array.ndim() == 0 && !sort.flat) return sort_one(sort, array);
  if (is_float8(array.dtype())) {
    const Array found = sort_anywhere(sort, astype(array, Dtype::f32));
    return sort.what.order ? found : astype(found, array.dtype(), {.residency = sort.residency}, sort.where);
  }
  if (array.local().space == MemorySpace::host) return sort_on_host(sort, array);
  if (is_sorted_on_device(sort, array)) return sort_as_sequence(sort, array, true);
  const Array copied = clone(array, {.residency = Residency::ordinary, .space = MemorySpace::host});
  const Array found = sort_on_host(sort, copied);
  return clone(found, {.residency = sort.residency, .space = MemorySpace::device}, sort.where);
}

Array sorted(SequenceSort what, const Array& array, std::optional<int> axis, const SortOptions& options,
             const SourcePlace& where) {
  const std::string_view operation = what.operation;
  const runtime::PublicCall call(operation);
  check(array.valid(), "{}: the array is an empty Array", operation);
  ContextState& context = *array.context_state();
  context.require_usable(operation);
  const runtime::CallNotes::OfArrays of(*context.notes, {array.state()->number});
  what.descending = options.descending;
  std::optional<Layout> wanted;
  const int dimensions = array.ndim(), along = axis.value_or(dimensions - 1);
  runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
    arithmetic::check_values(operation, array);
    arithmetic::check_folds(operation, array, {});
    check(!options.flat || !axis, "{}: axis {} of a flat sort, which has none", operation, along);
    check(!axis || (along >= 0 && along < dimensions), "{}: an array of {} dimensions has no axis {}",
          operation, dimensions, along);
    const Shape shape = options.flat ? Shape{array.size()} : array.shape();
    wanted = options.distribution ? Layout(*options.distribution, shape, context.size())
             : options.flat       ? Layout(Slab(0), shape, context.size())
                                  : array.layout();
    check(!wanted->partial(), "{}: the result's layout {} is partial", operation, wanted->to_string());
    return {{"array", array.operand().to_string()},
            {"axis", options.flat ? "all elements" : std::to_string(along)},
            {"order", options.descending ? "descending" : "ascending"},
            {"result", wanted->to_string()},
            {"residency", options.residency == Residency::heap ? "heap" : "ordinary memory"}};
  });
  return sort_anywhere({what, along, options.flat, *wanted, options.residency, where}, array);
}

}  // namespace

Array sort(const Array& array, std::optional<int> axis, const SortOptions& options, SourcePlace where) {
  return sorted({"sort"}, array, axis, options, where);
}
Array argsort(const Array& array, std::optional<int> axis, const SortOptions& options, SourcePlace where) {
  return sorted({"argsort", true}, array, axis, options, where);
}

}  // namespace partita
