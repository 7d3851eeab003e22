// Selection among one rank's elements.
#include <partita/functions.hpp>
#include <partita/selection.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/folding.hpp"
#include "array/overlap.hpp"
#include "array/transfer.hpp"
#include "device/device_sorting.hpp"
#include "device/stream_work.hpp"

namespace partita {
namespace {

using devices::DeviceSorting;

void check_dense(std::string_view operation, const Array& one) {
  arithmetic::check_values(operation, one);
  check(arrays::lies_dense(one.local()), "{}: an array is not dense and row-major: clone it first",
        operation);
}

/// What the context's device is, too.
DeviceSorting& selecting(std::string_view operation, ContextState& context) {
  auto* const device = dynamic_cast<DeviceSorting*>(context.device.get());
  check<UnsupportedError>(device != nullptr, "{}: this device does not select elements", operation);
  context.device->use();
  return *device;
}

Array beside(const Array& model, std::int64_t count, Dtype dtype, const std::optional<Stream>& stream) {
  return empty_beside(model, Layout(Replicated{}, {count}, model.context().size()), dtype, stream);
}

/// In device memory. Stream-ordered.
void find_true_there(const Array& mask, const kernels::TruePass& pass, const std::optional<Stream>& stream) {
  ContextState& context = *mask.context_state();
  DeviceSorting& device = selecting("true_positions", context);
  const Array scratch = beside(mask, device.true_scratch_bytes(pass), Dtype::u8, stream);
  devices::put_into_stream(context, "true_positions", stream,
                           [&](Stream used, bool) { device.find_true(pass, scratch.local().data, used); });
}

}  // namespace

Array true_positions(const Array& mask, std::optional<Stream> stream) {
  check_dense("true_positions", mask);
  check(mask.dtype() == Dtype::boolean, "true_positions: expected booleans, got {}", name(mask.dtype()));
  arithmetic::check_stream("true_positions", mask, stream);
  arithmetic::check_folds("true_positions", mask, stream);
  ContextState& context = *mask.context_state();
  context.require_usable_here("true_positions");
  if (mask.local_size() == 0) return beside(mask, 0, Dtype::i64, stream);
  std::int64_t found = 0;
  kernels::TruePass pass{mask.local_size(), static_cast<const bool*>(mask.local().data), nullptr, &found};
  if (mask.local().space == MemorySpace::host) {
    kernels::find_true(pass);
    Array positions = beside(mask, found, Dtype::i64, {});
    pass.to = static_cast<std::int64_t*>(positions.local().data);
    kernels::find_true(pass);
    return positions;
  }
  const Array counted = beside(mask, 1, Dtype::i64, stream);
  pass.found = static_cast<std::int64_t*>(counted.local().data);
  find_true_there(mask, pass, stream);
  copy(counted, View::dense(&found, Dtype::i64, {1}), stream);
  Array positions = beside(mask, found, Dtype::i64, stream);
  pass.to = static_cast<std::int64_t*>(positions.local().data);
  if (found > 0) find_true_there(mask, pass, stream);
  return positions;
}

void gather_part(const Array& source, const Array& rows, Array& destination, std::optional<Stream> stream) {
  constexpr std::string_view operation = "gather_part";
  for (const Array* const one : {&source, &rows, static_cast<const Array*>(&destination)})
    check_dense(operation, *one);
  arithmetic::check_alike(operation, source, destination);
  arithmetic::check_together(operation, source, rows);
  const View &from = source.local(), &to = destination.local();
  check(rows.dtype() == Dtype::i64, "gather_part: positions are i64, not {}", name(rows.dtype()));
  check(!from.extents.empty() && from.extents.size() == to.extents.size() &&
            to.extents[0] == rows.local_size() &&
            std::equal(from.extents.begin() + 1, from.extents.end(), to.extents.begin() + 1),
        "gather_part: the parts {} and {} do not suit {} positions", to_string(from.extents),
        to_string(to.extents), rows.local_size());
  arrays::check_written(operation, destination);
  check(!arrays::overlap(from, to) && !arrays::overlap(rows.local(), to), "gather_part: the arrays overlap");
  arithmetic::check_stream(operation, source, stream);
  ContextState& context = *source.context_state();
  context.require_usable_here(operation);
  if (destination.local_size() == 0) return;
  const kernels::GatherPass pass{destination.local_size() / to.extents[0] * size_of(from.dtype),
                                 to.extents[0], from.data,
                                 static_cast<const std::int64_t*>(rows.local().data), to.data};
  if (from.space == MemorySpace::host) return kernels::gather(pass);
  DeviceSorting& device = selecting(operation, context);
  devices::put_into_stream(context, operation, stream, [&](Stream used, bool) { device.gather(pass, used); });
}

}  // namespace partita
