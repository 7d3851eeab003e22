// Elements by their global indices: loops over the local ones, and single ones.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <partita/elements.hpp>

#include "array/array_name.hpp"
#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/element_at.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {
namespace {

void check_index(const Array& array, const Index& index, std::string_view operation) {
  check(index.size() == array.shape().size(), "{}: an index of {} dimensions in an array of {}", operation,
        index.size(), array.shape().size());
  for (int d = 0; d < index.size(); ++d) {
    check(index[d] >= 0 && index[d] < array.shape()[d], "{}: index {} along dimension {} of an array {}",
          operation, index[d], d, to_string(array.shape()));
  }
  arrays::check_has_values(operation, array);
}

void follow(const Array& array, std::string_view operation, const std::optional<Stream>& stream) {
  arrays::require_stream_of_device(operation, array.local().space == MemorySpace::device, stream);
  devices::follow(*array.context_state(), operation, stream);
}

/// This rank's place of an element; nothing where it has none.
std::optional<View> place_of(const Array& array, const Index& index) {
  const std::optional<Index> local = array.layout().to_local(array.context_state()->rank(), index);
  if (!local) return std::nullopt;
  const View& part = array.local();
  std::int64_t offset = 0;
  for (int d = 0; d < local->size(); ++d) offset += (*local)[d] * part.strides[d];
  return View{static_cast<char*>(part.data) + offset * size_of(part.dtype), part.dtype, {}, {}, part.space};
}

}  // namespace

std::vector<std::int64_t> local_indices(const Array& array, int axis) {
  return local_indices(array.layout(), axis, array.context_state()->rank());
}

detail::LocalLoops detail::local_loops(const Array& array) {
  const View& part = array.local();
  check<UnsupportedError>(part.space == MemorySpace::host,
                          "for_each_local: this part is in device memory; use fill(array, f), or copy it to "
                          "an array in host memory and back");
  LocalLoops result;
  result.empty = volume(part.extents) == 0;
  for (int d = 0; d < array.shape().size(); ++d)
    result.loops.push_back({d, part.strides[d], local_indices(array, d)});
  std::ranges::stable_sort(result.loops, [](const LocalLoops::Loop& a, const LocalLoops::Loop& b) {
    return std::abs(a.stride) > std::abs(b.stride);
  });
  return result;
}

Array detail::host_mirror(const Array& array, std::optional<Stream> stream) {
  arrays::check_written("fill", array);
  arrays::require_stream_of_device("fill", array.local().space == MemorySpace::device, stream);
  return array.local().space == MemorySpace::host ? array : arrays::host_like(array);
}

void detail::read_element(const Array& array, const Index& index, void* value, std::optional<Stream> stream) {
  ContextState& context = *array.context_state();
  context.require_usable("at");
  runtime::collectively(context, "at", [&]() -> std::vector<Fact> {
    follow(array, "at", stream);
    if (array.local().space == MemorySpace::device) devices::require_no_capture(context, "at");
    check_index(array, index, "at");
    return {{"array", arrays::name_of(array)}, {"index", to_string(index)}};
  });
  const int owner = array.layout().owner(index);
  std::string bytes;
  runtime::check_or_tell_all(context, "at", [&] {
    if (owner != context.rank()) return;
    bytes.resize(static_cast<std::size_t>(size_of(array.dtype())));
    arrays::copy_view(context, *place_of(array, index), View::dense(bytes.data(), array.dtype(), {}));
  });
  const std::vector<std::string> all = runtime::exchange(context, "at", bytes);
  const std::string& found = all[static_cast<std::size_t>(owner)];
  std::copy(found.begin(), found.end(), static_cast<char*>(value));
  if (array.dtype() == Dtype::boolean) normalize_booleans(value, 1);
}

void detail::write_element(Array& array, const Index& index, const void* value,
                           std::optional<Stream> stream) {
  follow(array, "set_at", stream);
  check_index(array, index, "set_at");
  arrays::check_written("set_at", array);
  const std::optional<View> place = place_of(array, index);
  if (!place) return;
  std::array<char, 16> bytes{};  // of the largest dtype
  std::copy_n(static_cast<const char*>(value), size_of(array.dtype()), bytes.begin());
  arrays::copy_view(*array.context_state(), View::dense(bytes.data(), array.dtype(), {}), *place);
}

}  // namespace partita
