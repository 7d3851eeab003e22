#include "linalg/chain_transport.hpp"

#include <utility>

#include "base/round.hpp"

namespace partita::linear {

using planning::Channel;

ChainLink chain_link(const Panels& panels, int rank, Along line, int first, std::int64_t elements,
                     bool backward) {
  const int row = panels.row_of(rank), column = panels.column_of(rank);
  const bool along_row = line == Along::row;
  const int size = along_row ? panels.grid_columns() : panels.grid_rows;
  const int position = along_row ? column : row, step = backward ? size - 1 : 1;
  const int start = (first + size) % size;
  const int number = (backward ? start - position + size : position - start + size) % size;
  const auto at = [&](int i) { return along_row ? panels.owner(row, i) : panels.owner(i, column); };
  ChainLink link;
  link.elements = elements;
  if (number > 0) link.from = at(position + size - step);
  if (number + 1 < size) link.to = at(position + step);
  return link;
}

ChainTransport::ChainTransport(planning::PlanBuilder& builder, Dtype dtype, MemorySpace space,
                               const std::vector<std::int64_t>& most, int turns, LinkOf link, Posting posting)
    : builder_(builder), item_(size_of(dtype)), turns_(turns), link_(std::move(link)), posting_(posting) {
  constexpr std::int64_t alignment = 256;  // bytes; products of devices begin best there
  for (const std::int64_t elements : most) {
    offsets_.push_back(turn_bytes_);
    turn_bytes_ += round_up(elements * item_, alignment);
  }
  for (std::vector<int>& steps : received_) steps.assign(offsets_.size(), -1);
  slots_ = builder.add_scratch("blocks of other ranks", BufferKind::shared, 2 * turn_bytes_, dtype);
  messages_ = slots_;
  if (space == MemorySpace::device && builder.plan().topology.node_count() > 1)
    messages_ = builder.add_scratch("messages", BufferKind::scratch, 2 * turn_bytes_, dtype);
}

Place ChainTransport::slot_of(int buffer, int rank, int turn, int kind) const {
  return {buffer, rank, turn % 2 * turn_bytes_ + offsets_[static_cast<std::size_t>(kind)], Extents{1, 0}};
}

/// All elements of a slot, as one line.
void ChainTransport::copy(const ChainLink& link, const Place& from, const Place& to) {
  Place source = from, destination = to;
  source.axis_order = destination.axis_order = {0};
  builder_.copy(rank(), {{IndexSet::range(0, link.elements)}}, source, destination);
}

// The slots of a turn are free. Receives and grants of a pair of ranks are in the order of turns and kinds,
// as what they are for is.
void ChainTransport::prepare(int turn) {
  if (turn >= turns_) return;
  builder_.finish(std::exchange(sent_[static_cast<std::size_t>(turn % 2)], {}));
  for (int kind = 0; kind < kinds(); ++kind) {
    const ChainLink link = link_(turn, kind);
    if (link.elements == 0 || link.from < 0) continue;
    if (!by_message(link.from)) {
      builder_.signal(link.from, Channel::grant);
    } else if (posting_ == Posting::ahead) {
      post(turn, kind);
    }
  }
}

void ChainTransport::post(int turn, int kind) {
  if (turn >= turns_ || posted(turn, kind) >= 0) return;
  const ChainLink link = link_(turn, kind);
  if (link.elements == 0 || link.from < 0 || !by_message(link.from)) return;
  posted(turn, kind) =
      builder_.receive(link.from, slot_of(messages_, rank(), turn, kind), link.elements * item_);
}

void ChainTransport::open() {
  prepare(0);
  prepare(1);
}

void ChainTransport::receive(int turn, int kind) {
  const ChainLink link = link_(turn, kind);
  if (link.elements == 0 || link.from < 0) return;
  if (!by_message(link.from)) {
    builder_.wait(link.from, Channel::written);
    return;
  }
  post(turn, kind);
  builder_.finish({std::exchange(posted(turn, kind), -1)});
  if (messages_ != slots_) copy(link, slot_of(messages_, rank(), turn, kind), slot(turn, kind));
}

void ChainTransport::send(int turn, int kind) {
  const ChainLink link = link_(turn, kind);
  if (link.elements == 0 || link.to < 0) return;
  if (by_message(link.to)) {
    const Place from = slot_of(messages_, rank(), turn, kind);
    if (messages_ != slots_) copy(link, slot(turn, kind), from);
    sent_[static_cast<std::size_t>(turn % 2)].push_back(builder_.send(link.to, from, link.elements * item_));
    return;
  }
  builder_.wait(link.to, Channel::grant);
  copy(link, slot(turn, kind), slot_of(slots_, link.to, turn, kind));
  builder_.signal(link.to, Channel::written);
}

void ChainTransport::end(int turn) {
  prepare(turn + 2);
}

void ChainTransport::close() {
  for (std::vector<int>& messages : sent_) builder_.finish(std::exchange(messages, {}));
}

}  // namespace partita::linear
