#include "linalg/tournament.hpp"

#include <algorithm>

namespace partita::linear {

Tournament::Tournament(const FactorBuffers& buffers, planning::PlanBuilder& builder)
    : buffers_(buffers), panels_(buffers.panels), builder_(builder) {
  const std::int64_t width = std::min(panels_.width, panels_.least());
  const std::int64_t bytes = width * (width + 2) * buffers.item();
  const auto add = [&](const char* name, std::int64_t size) {
    return builder.add_scratch(name, BufferKind::scratch, size, buffers.dtype);
  };
  chosen_ = add("chosen rows", bytes);
  received_ = add("chosen rows of others", bytes);
  both_ = add("rows to choose from", 2 * bytes);
}

/// How many rows those at `count` positions have together, at most as many as there are pivots.
std::int64_t Tournament::entrants(int k, int position, int count) const {
  const std::int64_t pivots = panels_.diagonal(k).size();
  const int end = std::min(position + count, panels_.positions(k));
  std::int64_t rows = 0;
  for (int i = position; i < end && rows < pivots; ++i)
    rows += std::min(panels_.width, panels_.rows - panels_.first(k + i));
  return std::min(rows, pivots);
}

Part Tournament::rows_at(int buffer, std::int64_t count, std::int64_t columns) const {
  return {{{IndexSet::range(0, count), IndexSet::range(0, columns)}},
          {buffer, builder_.rank(), 0, Extents{1, 0}}};
}

void Tournament::choose(const Part& from, bool numbered, std::int64_t count, std::int64_t pivots) {
  ChooseRows work;
  work.from = from;
  work.numbered = numbered;
  work.chosen = rows_at(chosen_, count, pivots + 2);
  builder_.compute(work);
}

void Tournament::play(int k, const Place& to) {
  const int position = panels_.position(k, builder_.rank());
  if (position >= panels_.positions(k)) return;
  finish_send();
  const IndexSet diagonal = panels_.diagonal(k);
  const std::int64_t pivots = diagonal.size();
  const Part own{{{panels_.rows_from(k, panels_.row_of(builder_.rank())), diagonal}},
                 builder_.own(buffers_.factor)};
  choose(own, false, std::min(pivots, own.region.sets[0].size()), pivots);
  for (int distance = 1; distance < panels_.positions(k); distance *= 2) {
    if (position % (2 * distance) == 0) {
      if (position + distance < panels_.positions(k)) meet(k, position, distance);
      continue;
    }
    const int winner = panels_.owner(panels_.grid_row(k, position - distance), k);
    const Part mine = rows_at(chosen_, entrants(k, position, distance), pivots + 2);
    sent_ = builder_.send(winner, mine.place, mine.region.size() * buffers_.item());
    return;
  }
  const Part best = rows_at(chosen_, pivots, pivots + 2);
  builder_.copy(builder_.rank(), best.region, best.place, to);
}

/// With the one at that distance.
void Tournament::meet(int k, int position, int distance) {
  const std::int64_t pivots = panels_.diagonal(k).size(), columns = pivots + 2;
  const Part mine = rows_at(chosen_, entrants(k, position, distance), columns),
             others = rows_at(received_, entrants(k, position + distance, distance), columns);
  const int other = panels_.owner(panels_.grid_row(k, position + distance), k);
  builder_.finish({builder_.receive(other, others.place, others.region.size() * buffers_.item())});
  const std::int64_t before = mine.region.sets[0].size(), count = before + others.region.sets[0].size();
  const Part both = rows_at(both_, count, columns);
  Place to = both.place;
  to.pitch = count;
  builder_.copy(builder_.rank(), mine.region, mine.place, to);
  to.offset = before * buffers_.item();
  builder_.copy(builder_.rank(), others.region, others.place, to);
  choose(both, true, std::min(count, pivots), pivots);
}

void Tournament::finish_send() {
  if (sent_ >= 0) builder_.finish({sent_});
  sent_ = -1;
}

void Tournament::close() {
  finish_send();
}

}  // namespace partita::linear
