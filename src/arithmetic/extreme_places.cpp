// Where the largest and smallest elements of arrays are: each rank looks in its own part, once.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <partita/astype.hpp>
#include <partita/collectives.hpp>
#include <partita/create.hpp>
#include <partita/places.hpp>
#include <partita/redistribute.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/broadcast.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "collectives/layouts.hpp"
#include "context/device_answer.hpp"
#include "device/device_sorting.hpp"
#include "device/stream_work.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/call_notes.hpp"

namespace partita {
namespace {

constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();

/// What is looked for, and what it is called.
struct Wanted {
  std::string_view operation;
  ArrayReduction extreme;

  bool smallest() const { return extreme == ArrayReduction::min; }
};
constexpr Wanted largest{"argmax", ArrayReduction::max};
constexpr Wanted smallest{"argmin", ArrayReduction::min};

/// Inside a collective check. `count`: of the elements from which one is chosen.
void check_wanted(const Wanted& wanted, const Array& array, std::int64_t count) {
  arithmetic::check_values(wanted.operation, array);
  check(!is_complex(array.dtype()) && !is_float8(array.dtype()), "{} is not defined for {}", wanted.operation,
        name(array.dtype()));
  check(count > 0, "{}: the array {} has no elements", wanted.operation, to_string(array.shape()));
  arithmetic::check_folds(wanted.operation, array, {});
}

/// In this rank's part, which has elements, along all dimensions but the kept ones: into memory of the
/// array's space. Stream-ordered on devices.
void find_here(const Wanted& wanted, const Array& array, const std::vector<int>& kept, const Strides& strides,
               void* places) {
  const View& local = array.local();
  kernels::PlacePass pass{local.dtype, wanted.smallest(), {places, local.data}, {}, {}};
  for (int d = 0, next = 0; d < local.extents.size(); ++d) {
    const bool is_kept = next < static_cast<int>(kept.size()) && kept[static_cast<std::size_t>(next)] == d;
    (is_kept ? pass.kept : pass.over)
        .push_back({local.extents[d], {is_kept ? strides[next] : 0, local.strides[d], 0}});
    if (is_kept) ++next;
  }
  pass = simplify(std::move(pass));
  if (local.space == MemorySpace::host) return kernels::find_places(pass);
  ContextState& context = *array.context_state();
  auto* const device = dynamic_cast<devices::DeviceSorting*>(context.device.get());
  check<UnsupportedError>(device != nullptr, "{}: this device does not compare elements", wanted.operation);
  devices::put_into_stream(context, wanted.operation, {}, [&](Stream used, bool) {
    device->find_places(pass, arithmetic::fold_scratch(context), used);
  });
}

/// An element of this rank's part and its place.
struct Candidate {
  Scalar value = 0;                 ///< if there are other ranks
  std::int64_t position = nowhere;  ///< in row-major order of the array's elements
};

/// Blocking.
Candidate candidate_here(const Wanted& wanted, const Array& array) {
  ContextState& context = *array.context_state();
  const View& local = array.local();
  const bool on_host = local.space == MemorySpace::host;
  alignas(16) std::array<std::byte, 16> number{};
  void* result = number.data();
  if (!on_host) result = contexts::device_answer(context);
  const auto fetch = [&] {  // after the wait, which may fail
    if (on_host) return;
    devices::finish_device(context, wanted.operation);
    std::memcpy(number.data(), result, sizeof(number));
  };
  find_here(wanted, array, {}, {}, result);
  fetch();
  std::int64_t place = 0;
  std::memcpy(&place, number.data(), sizeof(place));
  Index index = local.extents;
  std::int64_t offset = 0;
  for (int d = local.extents.size() - 1; d >= 0; --d) {
    index[d] = place % local.extents[d];
    place /= local.extents[d];
    offset += index[d] * local.strides[d];
  }
  Candidate candidate{0, 0};
  const Index global = array.layout().to_global(context.rank(), index);
  for (int d = 0; d < global.size(); ++d)
    candidate.position = candidate.position * array.shape()[d] + global[d];
  if (context.size() == 1) return candidate;
  const void* const element = static_cast<const char*>(local.data) + offset * size_of(local.dtype);
  if (on_host) {
    std::memcpy(result, element, static_cast<std::size_t>(size_of(local.dtype)));
  } else {
    devices::put_into_stream(context, wanted.operation, {}, [&](Stream used, bool) {
      context.device->copy_bytes(element, result, size_of(local.dtype), used);
    });
    fetch();
  }
  candidate.value = Scalar::of(local.dtype, number.data());
  return candidate;
}

/// Of all ranks' candidates. T: in which the elements can be compared. Collective.
template <class T>
std::int64_t first_of_all(const Wanted& wanted, const Context& context, const Candidate& mine) {
  const bool is_there = mine.position != nowhere;
  using Limits = std::numeric_limits<T>;
  T value = wanted.smallest() ? Limits::max() : Limits::lowest();
  if constexpr (std::is_floating_point_v<T>)
    value = wanted.smallest() ? Limits::infinity() : -Limits::infinity();
  if (is_there) value = mine.value.as<T>();
  const T best =
      all_reduce(context, value, {.reduction = wanted.smallest() ? Reduction::min : Reduction::max});
  const bool is_best = value == best || (value != value && best != best);
  return all_reduce(context, is_there && is_best ? mine.position : nowhere, {.reduction = Reduction::min});
}

/// In a type in which the elements are compared exactly. Collective.
std::int64_t first_of_all(const Wanted& wanted, const Array& array, const Candidate& mine) {
  const Context context = array.context();
  if (context.size() == 1) return mine.position;
  const Dtype dtype = array.dtype();
  if (dtype == Dtype::u64) return first_of_all<std::uint64_t>(wanted, context, mine);
  return is_integer(dtype) || dtype == Dtype::boolean ? first_of_all<std::int64_t>(wanted, context, mine)
                                                      : first_of_all<double>(wanted, context, mine);
}

Index place_of_all(const Wanted& wanted, const Array& array) {
  check(array.valid(), "{}: the array is an empty Array", wanted.operation);
  ContextState& context = *array.context_state();
  context.require_usable(wanted.operation);
  runtime::check_or_tell_all(context, wanted.operation,
                             [&] { check_wanted(wanted, array, volume(array.shape())); });
  arithmetic::make_fold_scratch(wanted.operation, array);
  Candidate mine;
  runtime::check_or_tell_all(context, wanted.operation, [&] {
    if (array.local_size() > 0) mine = candidate_here(wanted, array);
  });
  const runtime::CallNotes::OfArrays of(*context.notes, {array.state()->number});
  const std::int64_t position = first_of_all(wanted, array, mine);
  const Strides strides = dense_strides(array.shape());
  Index index = array.shape();
  for (int d = 0; d < index.size(); ++d) index[d] = position / strides[d] % array.shape()[d];
  return index;
}

// --- along an axis

/// Each rank in its own lines. Collective.
Array places_of_whole_lines(const Wanted& wanted, const Array& array, int axis, const Layout& left,
                            const ReduceAxesOptions& options, const SourcePlace& where) {
  const std::shared_ptr<ContextState>& context = array.context_state();
  const MemorySpace space = array.local().space;
  Array places = arrays::allocate(context, left, Dtype::i64, {.residency = options.residency, .space = space},
                                  fmt::format("{} along {}", wanted.operation, axis), where);
  std::vector<int> kept;
  Strides strides;
  for (int d = 0; d < array.shape().size(); ++d) {
    if (d == axis) continue;
    strides.push_back(places.local().strides[options.keep_dimensions ? d : static_cast<int>(kept.size())]);
    kept.push_back(d);
  }
  runtime::check_or_tell_all(*context, wanted.operation, [&] {
    if (array.local_size() > 0) find_here(wanted, array, kept, strides, places.local().data);
  });
  if (space == MemorySpace::device) devices::finish_device(*context, wanted.operation);
  return places;
}

/// Lines are divided: the smallest of the indices at which an element is the extreme one. Collective.
Array places_of_divided_lines(const Wanted& wanted, const Array& array, int axis,
                              const ReduceAxesOptions& options) {
  const std::int64_t extent = array.shape()[axis];
  const Array best =
      arithmetic::readable(reduce(array, wanted.extreme, axis, {.keep_dimensions = true}), array);
  const bool has_nan = !is_integer(array.dtype()) && array.dtype() != Dtype::boolean;
  const Array is_best = has_nan ? equal(array, best) + not_equal(array, array) : equal(array, best);
  const Array indices = arange(array.context(), std::int64_t{0}, extent, std::int64_t{1}, Replicated{},
                               {.space = array.local().space});
  View line = indices.local();
  line.extents = array.shape();
  for (int d = 0; d < line.extents.size(); ++d) {
    if (d != axis) line.extents[d] = 1;
  }
  line.strides = dense_strides(line.extents);
  const Array along = wrap(array.context(), line, Replicated{}, line.extents);
  return reduce(where(is_best, along, extent), ArrayReduction::min, axis, options);
}

Array places_along(const Wanted& wanted, const Array& array, int axis, const ReduceAxesOptions& options,
                   const SourcePlace& where) {
  check(array.valid(), "{}: the array is an empty Array", wanted.operation);
  ContextState& context = *array.context_state();
  context.require_usable(wanted.operation);
  runtime::check_or_tell_all(context, wanted.operation, [&] {
    check(axis >= 0 && axis < array.shape().size(), "{}: an array of {} dimensions has no axis {}",
          wanted.operation, array.shape().size(), axis);
    check_wanted(wanted, array, array.shape()[axis]);
    arithmetic::check_stream(wanted.operation, array, options.stream);
  });
  arithmetic::make_fold_scratch(wanted.operation, array);
  if (!arithmetic::has_whole_lines(array.layout(), axis))
    return places_of_divided_lines(wanted, array, axis, options);
  const arithmetic::ReducedAxes reduced{{axis}, options.keep_dimensions, Reduction::min};
  const Layout left = arithmetic::reduced_layouts(array.layout(), reduced).left;
  Array places = places_of_whole_lines(wanted, array, axis, left, options, where);
  if (options.root)
    return redistribute(places, collective::at_root(left.shape(), *options.root, left.ranks()));
  return options.distribution ? redistribute(places, *options.distribution) : places;
}

}  // namespace

Index argmax(const Array& array) {
  return place_of_all(largest, array);
}
Index argmin(const Array& array) {
  return place_of_all(smallest, array);
}
Array argmax(const Array& array, int axis, const ReduceAxesOptions& options, SourcePlace where) {
  return places_along(largest, array, axis, options, where);
}
Array argmin(const Array& array, int axis, const ReduceAxesOptions& options, SourcePlace where) {
  return places_along(smallest, array, axis, options, where);
}

}  // namespace partita
