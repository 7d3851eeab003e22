#include "linalg/row_exchange.hpp"

#include <algorithm>
#include <cmath>

namespace partita::linear {

RowExchange::RowExchange(const FactorBuffers& buffers, planning::PlanBuilder& builder)
    : buffers_(buffers), panels_(buffers.panels), builder_(builder) {
  const std::int64_t width = std::min(panels_.width, panels_.least());
  const std::int64_t bytes = width * panels_.owned(0, 0, panels_.columns).size() * buffers.item();
  const auto add = [&](const char* name) {
    return builder.add_scratch(name, BufferKind::scratch, bytes, buffers.dtype);
  };
  sending_ = add("rows to send");
  receiving_ = add("received rows");
  kept_ = add("rows of the diagonal");
  size_ = builder.add_scratch("size of rows", BufferKind::scratch, sizeof(std::int64_t), Dtype::i64);
}

void RowExchange::run(int k, const IndexSet& columns) {
  const int position = panels_.position(k, builder_.rank());
  if (columns.empty() || position >= panels_.positions(k)) return;
  if (position == 0) return run_by_owner(k, columns);
  const Part own = of_factor(panels_.rows_from(k, panels_.row_of(builder_.rank())), columns);
  move(k, own, panels_.diagonal(k), sending_, true);
  exchange(panels_.owner(k % panels_.grid_rows, panels_.column_of(builder_.rank())), k, columns.size());
  move(k, own, panels_.diagonal(k), receiving_, false);
}

/// Rows that were on the diagonal are sent from a copy. At position 0 the other rank is this one.
void RowExchange::run_by_owner(int k, const IndexSet& columns) {
  const int row = panels_.row_of(builder_.rank());
  const IndexSet diagonal = panels_.diagonal(k), below = panels_.rows_below(k, row);
  const Part top = of_factor(diagonal, columns);
  const Part kept{top.region, {kept_, builder_.rank(), 0, Extents{1, 0}}};
  builder_.copy(builder_.rank(), top.region, top.place, kept.place);
  move(k, kept, panels_.rows_of(row), sending_, true);
  if (!below.empty()) move(k, of_factor(below, columns), diagonal, receiving_, true);
  move(k, of_factor(panels_.rows_from(k, row), columns), diagonal, sending_, false);
  if (!below.empty()) move(k, top, below, receiving_, false);
  for (int position = 1; position < panels_.positions(k); ++position) {
    const int other = panels_.grid_row(k, position);
    move(k, kept, panels_.rows_of(other), sending_, true);
    exchange(panels_.owner(other, panels_.column_of(builder_.rank())), k, columns.size());
    move(k, top, panels_.rows_of(other), receiving_, false);
  }
}

void RowExchange::exchange(int peer, int k, std::int64_t columns) {
  const auto rows = static_cast<double>(panels_.diagonal(k).size());
  const double bytes_of_row = static_cast<double>(columns * buffers_.item());
  const std::int64_t most = panels_.diagonal(k).size() * columns * buffers_.item();
  const std::int64_t expected = std::llround(rows / panels_.positions(k) * bytes_of_row);
  const Place size{size_, builder_.rank(), 0, Extents{0}};
  const int received =
      builder_.receive_sized(peer, {receiving_, builder_.rank(), 0, {}}, most, expected, size);
  const int sent = builder_.send_sized(peer, {sending_, builder_.rank(), 0, {}}, most, expected, size);
  builder_.finish({received, sent});
}

void RowExchange::move(int k, const Part& matrix, const IndexSet& others, int packed, bool packs) {
  const IndexSet diagonal = panels_.diagonal(k);
  const int rank = builder_.rank();
  MoveRows work;
  work.matrix = matrix;
  work.pivots = {buffers_.pivots_of(k), builder_.own(buffers_.pivots)};
  work.others = others;
  work.packed = {{{diagonal, matrix.region.sets[1]}}, {packed, rank, 0, Extents{1, 0}}};
  work.bytes = {{{IndexSet::range(0, 1)}}, {size_, rank, 0, Extents{0}}};
  work.expected = static_cast<double>(diagonal.size()) / panels_.positions(k);
  work.packs = packs;
  builder_.compute(work);
}

}  // namespace partita::linear
