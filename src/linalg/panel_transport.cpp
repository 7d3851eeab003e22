#include "linalg/panel_transport.hpp"

#include <algorithm>
#include <utility>

#include "base/round.hpp"

namespace partita::linear {

using planning::Channel;

namespace {

constexpr std::int64_t slot_alignment = 256;  // bytes; products of devices begin best there
const Extents columns_first{1, 0};

}  // namespace

Part FoundPanel::part(const IndexSet& rows, const IndexSet& columns) const {
  Part part{{{rows, columns}}, place_};
  if (item_ == 0 || part.region.empty()) return part;
  const std::int64_t height = whole_.sets[0].size();
  const std::int64_t before = whole_.sets[1].position(columns.front()) * height;
  part.place.offset += (before + whole_.sets[0].position(rows.front())) * item_;
  part.place.pitch = height;
  return part;
}

PanelTransport::PanelTransport(const FactorBuffers& buffers, planning::PlanBuilder& builder,
                               std::vector<PanelTurn> turns, Readiness readiness, int readers)
    : buffers_(buffers), builder_(builder), turns_(std::move(turns)), readiness_(readiness) {
  const Topology& topology = builder.plan().topology;
  readers_ = topology.node_count() == 1 ? readers : topology.ranks();
  if (turns_.empty() || topology.ranks() == 1) return;
  for (const int peer : topology.node_ranks(topology.node(rank()))) {
    if (peer != rank() && peer < readers_) peers_.push_back(peer);
  }
  for (int turn = 0; turn < this->turns(); ++turn) slot_bytes_ = std::max(slot_bytes_, message_bytes(turn));
  slot_bytes_ = round_up(slot_bytes_, slot_alignment);
  if (puts()) slots_ = builder.add_scratch("panels", BufferKind::shared, 2 * slot_bytes_, buffers.dtype);
  if (topology.node_count() > 1)
    messages_ = builder.add_scratch("messages", BufferKind::scratch, 2 * slot_bytes_);  // of several dtypes
}

bool PanelTransport::owns_a_turn() const {
  return std::ranges::any_of(
      turns_, [&](const PanelTurn& turn) { return buffers_.panels.owner(turn.panel) == rank(); });
}

Region PanelTransport::region(int turn) const {
  return {{turns_[static_cast<std::size_t>(turn)].rows, buffers_.panels.columns_of(panel(turn))}};
}

// --- the ring of ranks, from the owner on, without those of its node

int PanelTransport::following(int turn) const {
  const int from = owner(turn), ranks = buffers_.panels.ranks;
  const Topology& topology = builder_.plan().topology;
  for (int next = (rank() + 1) % ranks; next != from; next = (next + 1) % ranks) {
    if (!topology.same_node(next, from)) return next;
  }
  return -1;
}

int PanelTransport::preceding(int turn) const {
  const int from = owner(turn), ranks = buffers_.panels.ranks;
  const Topology& topology = builder_.plan().topology;
  int before = (rank() + ranks - 1) % ranks;
  while (before != from && topology.same_node(before, from)) before = (before + ranks - 1) % ranks;
  return before;
}

// --- slots

/// The panel, its pivots and its status: visit(region, buffer, offset in a slot).
template <class Visit>
void PanelTransport::for_each_piece(int turn, const Visit& visit) const {
  const int k = panel(turn);
  std::int64_t offset = 0;
  const auto piece = [&](const Region& region, int buffer) {
    if (buffer < 0 || region.empty()) return;
    visit(region, buffer, offset);
    offset += round_up(region.size() * size_of(builder_.operand(buffer).dtype), buffers_.item());
  };
  piece(region(turn), buffers_.factor);
  if (readiness_ == Readiness::from_start) return;  // every rank has them
  piece(buffers_.pivots_of(k), buffers_.pivots);
  piece(buffers_.status_of(k), buffers_.status);
}

std::int64_t PanelTransport::message_bytes(int turn) const {
  std::int64_t bytes = 0;
  for_each_piece(turn, [&](const Region& region, int buffer, std::int64_t offset) {
    bytes = offset + round_up(region.size() * size_of(builder_.operand(buffer).dtype), buffers_.item());
  });
  return bytes;
}

Place PanelTransport::slot(int buffer, int rank, int turn) const {
  return {buffer, rank, turn % 2 * slot_bytes_, columns_first};
}

FoundPanel PanelTransport::packed(int buffer, int turn) const {
  return {slot(buffer, rank(), turn), region(turn), buffers_.item()};
}

// --- puts

void PanelTransport::grant(int turn) {
  if (!puts() || !reads() || turn >= turns() || is_mine(turn) || arrives_by_message(turn)) return;
  builder_.signal(owner(turn), Channel::grant);
}

void PanelTransport::put(int turn) {
  for (const int peer : peers_) {
    builder_.wait(peer, Channel::grant);
    for_each_piece(turn, [&](const Region& region, int buffer, std::int64_t /*offset*/) {
      const bool is_panel = buffer == buffers_.factor;
      builder_.copy(rank(), region, builder_.own(buffer),
                    is_panel ? slot(slots_, peer, turn) : Place{buffer, peer, 0, {}});
    });
    builder_.signal(peer, Channel::written);
  }
}

// --- messages

void PanelTransport::finish_send(int turn) {
  int& sent = sent_[static_cast<std::size_t>(turn % 2)];
  if (sent >= 0) builder_.finish({sent});
  sent = -1;
}

/// The receive of a turn, if its panel comes in a message: its slot is free.
void PanelTransport::post(int turn) {
  if (turn >= turns() || is_mine(turn) || !arrives_by_message(turn)) return;
  finish_send(turn);
  received_ = builder_.receive(preceding(turn), slot(messages_, rank(), turn), message_bytes(turn));
}

void PanelTransport::send(int turn) {
  const int next = following(turn);
  if (next < 0) return;
  sent_[static_cast<std::size_t>(turn % 2)] =
      builder_.send(next, slot(messages_, rank(), turn), message_bytes(turn));
}

/// What arrived with the panel; on devices the panel, too, since messages may be in host memory.
void PanelTransport::unpack(int turn) {
  for_each_piece(turn, [&](const Region& region, int buffer, std::int64_t offset) {
    const bool is_panel = buffer == buffers_.factor;
    if (is_panel && !puts()) return;
    Place from = slot(messages_, rank(), turn);
    from.offset += offset;
    if (!is_panel) from.axis_order = {0};
    builder_.copy(owner(turn), region, from, is_panel ? slot(slots_, rank(), turn) : builder_.own(buffer));
  });
}

// --- in place

/// What a rank keeps of the panels of others.
void PanelTransport::copy_from_owner(int turn) {
  for_each_piece(turn, [&](const Region& region, int buffer, std::int64_t /*offset*/) {
    if (buffer == buffers_.factor) return;
    builder_.copy(owner(turn), region, {buffer, owner(turn), 0, {}}, builder_.own(buffer));
  });
}

// --- turns

void PanelTransport::open() {
  grant(0);
  grant(1);
  post(0);
  if (readiness_ == Readiness::by_turn || puts()) return;
  if (!owns_a_turn()) return;
  for (const int peer : peers_) builder_.signal(peer, Channel::ready);
}

void PanelTransport::announce(int turn) {
  if (puts()) {
    put(turn);
  } else if (readiness_ == Readiness::by_turn) {
    for (const int peer : peers_) builder_.signal(peer, Channel::ready);
  }
  if (messages_ < 0 || following(turn) < 0) return;
  finish_send(turn);
  for_each_piece(turn, [&](const Region& region, int buffer, std::int64_t offset) {
    Place to = slot(messages_, rank(), turn);
    to.offset += offset;
    if (buffer != buffers_.factor) to.axis_order = {0};
    builder_.copy(rank(), region, builder_.own(buffer), to);
  });
  send(turn);
}

FoundPanel PanelTransport::take(int turn) {
  if (is_mine(turn)) {
    post(turn + 1);
    return FoundPanel(builder_.own(buffers_.factor));
  }
  if (arrives_by_message(turn)) {
    builder_.finish({std::exchange(received_, -1)});
    send(turn);
    unpack(turn);
    post(turn + 1);
    return packed(puts() ? slots_ : messages_, turn);
  }
  const int from = owner(turn);
  if (puts()) {
    builder_.wait(from, Channel::written);
    post(turn + 1);
    return packed(slots_, turn);
  }
  const bool is_first = read_.insert(from).second;
  if (readiness_ == Readiness::by_turn || is_first) builder_.wait(from, Channel::ready);
  copy_from_owner(turn);
  post(turn + 1);
  return FoundPanel(Place{buffers_.factor, from, 0, {}});
}

void PanelTransport::release(int turn) {
  grant(turn + 2);
}

void PanelTransport::close() {
  for (int slot = 0; slot < 2; ++slot) finish_send(slot);
  if (puts()) return;
  for (const int from : read_) builder_.signal(from, Channel::done);
  if (!owns_a_turn()) return;
  for (const int peer : peers_) builder_.wait(peer, Channel::done);
}

}  // namespace partita::linear
