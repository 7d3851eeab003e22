#include "linalg/diagonal.hpp"

#include <cstring>

#include "array/transfer.hpp"
#include "context/context_state.hpp"
#include "device/device_synchronization.hpp"
#include "linalg/numbers.hpp"

namespace partita::linear {
namespace {

/// Elements [first, first + extents) of a part.
View inside(const View& part, const Index& first, const Shape& extents, const Strides& strides) {
  View view = part;
  std::int64_t offset = 0;
  for (int d = 0; d < first.size(); ++d) offset += first[d] * part.strides[d];
  view.data = static_cast<char*>(part.data) + offset * size_of(part.dtype);
  view.extents = extents;
  view.strides = strides;
  return view;
}

}  // namespace

std::vector<LocalPanel> local_panels(const Panels& panels, int rank) {
  std::vector<LocalPanel> result;
  std::int64_t local = 0;
  for (int k = panels.column_of(rank); panels.first(k) < panels.columns; k += panels.grid_columns()) {
    const std::int64_t columns = panels.end(k) - panels.first(k);
    result.push_back({k, local, columns});
    local += columns;
  }
  return result;
}

std::vector<DiagonalElement> local_diagonal(const Array& factor, const Panels& panels) {
  ContextState& context = *factor.context_state();
  const View& part = factor.local();
  const IndexSet rows = panels.rows_of(panels.row_of(context.rank()));
  std::vector<DiagonalElement> result;
  for (const LocalPanel& local : local_panels(panels, context.rank())) {
    const std::int64_t first = panels.first(local.panel);
    const std::int64_t count = std::min(local.columns, panels.rows - first);
    if (count <= 0) break;
    if (panels.owner(local.panel) != context.rank()) continue;
    std::vector<char> bytes(static_cast<std::size_t>(count * size_of(part.dtype)));
    const View diagonal =
        inside(part, {rows.position(first), local.first_local}, {count}, {part.strides[0] + part.strides[1]});
    arrays::copy_view(context, diagonal, View::dense(bytes.data(), part.dtype, {count}));
    for (std::int64_t i = 0; i < count; ++i)
      result.push_back({first + i, number_at(part.dtype, bytes, static_cast<std::size_t>(i))});
  }
  return result;
}

void clear_diagonal(const Array& array, const Panels& panels) {
  ContextState& context = *array.context_state();
  const View& part = array.local();
  const IndexSet rows = panels.rows_of(panels.row_of(context.rank()));
  for (const LocalPanel& local : local_panels(panels, context.rank())) {
    if (panels.owner(local.panel) != context.rank()) continue;
    const std::vector<char> zeros(static_cast<std::size_t>(local.columns * size_of(part.dtype)));
    const View diagonal = inside(part, {rows.position(panels.first(local.panel)), local.first_local},
                                 {local.columns}, {part.strides[0] + part.strides[1]});
    arrays::copy_view(context, View::dense(const_cast<char*>(zeros.data()), part.dtype, {local.columns}),
                      diagonal);
  }
}

void clear_other_triangle(const Array& array, const Panels& panels, bool lower) {
  ContextState& context = *array.context_state();
  const View& part = array.local();
  const bool on_device = part.space == MemorySpace::device;
  const std::complex<double> zero = 0;
  const IndexSet own = panels.rows_of(panels.row_of(context.rank()));
  for (const LocalPanel& local : local_panels(panels, context.rank())) {
    for (std::int64_t c = 0; c < local.columns; ++c) {
      const std::int64_t diagonal = panels.first(local.panel) + c;
      const std::int64_t first = lower ? 0 : own.position(std::min(diagonal + 1, panels.rows));
      const std::int64_t rows = lower ? own.position(std::min(diagonal, panels.rows)) : own.size() - first;
      if (rows == 0) continue;
      const View column = inside(part, {first, local.first_local + c}, {rows}, {part.strides[0]});
      if (on_device) {
        arrays::fill_on_device(context, column, &zero, std::nullopt);
      } else {
        std::memset(column.data, 0, static_cast<std::size_t>(rows * size_of(part.dtype)));
      }
    }
  }
  if (on_device) devices::finish_device(context, "clear a triangle");
}

}  // namespace partita::linear
