// Selection among one rank's elements.
#include <partita/functions.hpp>
#include <partita/selection.hpp>

#include "arithmetic/dense_parts.hpp"
#include "arithmetic/folding.hpp"
#include "array/overlap.hpp"
#include "array/transfer.hpp"
#include "context/device_answer.hpp"
#include "device/stream_work.hpp"

namespace partita {
namespace {

using arithmetic::check_dense;
using arithmetic::sequence_beside;
using arithmetic::sorting_device;

/// In device memory. Stream-ordered.
void find_true_there(const Array& mask, const TruePass& pass, const std::optional<Stream>& stream) {
  ContextState& context = *mask.context_state();
  devices::DeviceSorting& device = sorting_device("true_positions", context);
  const Array scratch = sequence_beside(mask, device.true_scratch_bytes(pass), Dtype::u8, stream);
  devices::put_into_stream(context, "true_positions", stream,
                           [&](Stream used, bool) { device.find_true(pass, scratch.local().data, used); });
}

void check_gathered(std::string_view operation, const Array& source, const Array& indices,
                    const Array& destination, const std::optional<Stream>& stream) {
  for (const Array* const one : {&source, &indices, &destination}) check_dense(operation, *one);
  arithmetic::check_alike(operation, source, destination);
  arithmetic::check_together(operation, source, indices);
  check(indices.dtype() == Dtype::i64, "{}: positions are i64, not {}", operation, name(indices.dtype()));
  arrays::check_written(operation, destination);
  check(!arrays::overlap(source.local(), destination.local()) &&
            !arrays::overlap(indices.local(), destination.local()),
        "{}: the arrays overlap", operation);
  arithmetic::check_stream(operation, source, stream);
}

bool alike_apart_from(const View& a, const View& b, int axis) {
  for (int d = 0; d < a.extents.size(); ++d) {
    if (d != axis && a.extents[d] != b.extents[d]) return false;
  }
  return true;
}

/// One index for all lines alike, and no rule.
GatherPass pass_along(const Array& source, const Array& indices, const Array& destination, int axis) {
  const View& to = destination.local();
  GatherPass pass;
  pass.element_bytes = size_of(to.dtype);
  for (int d = 0; d < to.extents.size(); ++d) {
    if (d != axis) (d < axis ? pass.outer : pass.width) *= to.extents[d];
  }
  pass.count = to.extents[axis];
  pass.extent = source.local().extents[axis];
  pass.from = source.local().data;
  pass.indices = static_cast<const std::int64_t*>(indices.local().data);
  pass.to = to.data;
  return pass;
}

/// Stream-ordered. The destination is not empty.
void gather(std::string_view operation, const Array& source, const GatherPass& pass,
            const std::optional<Stream>& stream) {
  if (source.local().space == MemorySpace::host) return kernels::gather(pass);
  ContextState& context = *source.context_state();
  devices::DeviceSorting& device = sorting_device(operation, context);
  devices::put_into_stream(context, operation, stream, [&](Stream used, bool) { device.gather(pass, used); });
}

}  // namespace

Array true_positions(const Array& mask, std::optional<Stream> stream) {
  check_dense("true_positions", mask);
  check(mask.dtype() == Dtype::boolean, "true_positions: expected booleans, got {}", name(mask.dtype()));
  arithmetic::check_stream("true_positions", mask, stream);
  arithmetic::check_folds("true_positions", mask, stream);
  ContextState& context = *mask.context_state();
  context.require_usable_here("true_positions");
  if (mask.local_size() == 0) return sequence_beside(mask, 0, Dtype::i64, stream);
  std::int64_t found = 0;
  TruePass pass{mask.local_size(), static_cast<const bool*>(mask.local().data), nullptr, &found};
  if (mask.local().space == MemorySpace::host) {
    kernels::find_true(pass);
    Array positions = sequence_beside(mask, found, Dtype::i64, {});
    pass.to = static_cast<std::int64_t*>(positions.local().data);
    kernels::find_true(pass);
    return positions;
  }
  pass.found = static_cast<std::int64_t*>(contexts::device_answer(context));
  find_true_there(mask, pass, stream);
  devices::finish_device(context, "true_positions");
  found = *pass.found;
  Array positions = sequence_beside(mask, found, Dtype::i64, stream);
  if (found == 0) return positions;
  const Array again = sequence_beside(mask, 1, Dtype::i64, stream);  // nobody waits for it
  pass.found = static_cast<std::int64_t*>(again.local().data);
  pass.to = static_cast<std::int64_t*>(positions.local().data);
  find_true_there(mask, pass, stream);
  return positions;
}

void gather_part(const Array& source, const Array& rows, Array& destination, std::optional<Stream> stream) {
  constexpr std::string_view operation = "gather_part";
  check_gathered(operation, source, rows, destination, stream);
  const View &from = source.local(), &to = destination.local();
  check(from.extents.size() == to.extents.size() && !from.extents.empty() &&
            to.extents[0] == rows.local_size() && alike_apart_from(from, to, 0),
        "gather_part: the parts {} and {} do not suit {} positions", to_string(from.extents),
        to_string(to.extents), rows.local_size());
  source.context_state()->require_usable_here(operation);
  if (destination.local_size() > 0)
    gather(operation, source, pass_along(source, rows, destination, 0), stream);
}

bool take_part(const Array& source, const Array& indices, Array& destination, int axis, OutOfRange rule,
               std::optional<Stream> stream) {
  constexpr std::string_view operation = "take_part";
  check_gathered(operation, source, indices, destination, stream);
  const View &from = source.local(), &to = destination.local();
  const Extents& chosen = indices.local().extents;
  check(axis >= 0 && axis < from.extents.size(), "take_part: axis {} of {} dimensions", axis,
        from.extents.size());
  check(from.extents.size() == to.extents.size() && alike_apart_from(from, to, axis) &&
            (chosen == to.extents || (chosen.size() == 1 && chosen[0] == to.extents[axis])),
        "take_part: the parts {} and {} do not suit indices {} along axis {}", to_string(from.extents),
        to_string(to.extents), to_string(chosen), axis);
  if (rule == OutOfRange::refuse) arithmetic::check_folds(operation, source, stream);
  ContextState& context = *source.context_state();
  context.require_usable_here(operation);
  if (destination.local_size() == 0) return true;
  check(from.extents[axis] > 0, "take_part: elements of an empty axis");
  GatherPass pass = pass_along(source, indices, destination, axis);
  pass.own = chosen.size() == to.extents.size() && chosen.size() > 1;
  if (rule != OutOfRange::refuse) {
    pass.outside = rule == OutOfRange::wrap ? Outside::wrap : Outside::clip;
    gather(operation, source, pass, stream);
    return true;
  }
  pass.outside = Outside::report;
  std::int64_t reported = 0;
  if (from.space == MemorySpace::host) {
    pass.reported = &reported;
    gather(operation, source, pass, stream);
    return reported == 0;
  }
  pass.reported = static_cast<std::int64_t*>(contexts::device_answer(context));
  *pass.reported = 0;
  gather(operation, source, pass, stream);
  devices::finish_device(context, operation);
  return *pass.reported == 0;
}

}  // namespace partita
