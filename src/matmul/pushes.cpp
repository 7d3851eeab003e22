#include "matmul/pushes.hpp"

#include <algorithm>
#include <set>

#include "base/check.hpp"

namespace partita::multiplication {
namespace {

// Each rank works out what all others are given.
constexpr int most_ranks = 256;

std::int64_t rounded(std::int64_t bytes) {
  constexpr std::int64_t unit = 256;  // on which devices read best
  return (bytes + unit - 1) / unit * unit;
}

std::int64_t bytes_of(const Frame& frame, const Landing& piece) {
  return piece.region.size() * size_of(frame.problem.input(piece.of_a).dtype);
}

bool has_neighbours(const Topology& topology) {
  return topology.node_count() < topology.ranks();
}

}  // namespace

Landings landings_of(const Frame& frame, const Blocks& blocks, int rank) {
  Landings result;
  std::vector<int> givers[2];
  for (std::size_t t = 0; t < blocks.turns(); ++t) {
    const auto begin = static_cast<std::ptrdiff_t>(result.pieces.size());
    for (const bool of_a : {true, false}) {
      if (!frame.input(of_a).pushed) continue;
      std::vector<Piece> pieces = pieces_of(frame, blocks, rank, t, of_a, givers[of_a ? 0 : 1]);
      for (std::size_t number = 0; number < pieces.size(); ++number) {
        Piece& piece = pieces[number];
        if (piece.owner == rank || !frame.same_node(piece.owner, rank)) continue;
        result.pieces.push_back({t, of_a, number, piece.owner, std::move(piece.region)});
      }
    }
    std::stable_sort(result.pieces.begin() + begin, result.pieces.end(),
                     [&](const Landing& a, const Landing& b) {
                       return frame.distance(rank, a.owner) < frame.distance(rank, b.owner);
                     });
  }
  for (Landing& piece : result.pieces) {
    piece.offset = result.bytes;
    result.bytes += rounded(bytes_of(frame, piece));
  }
  return result;
}

std::int64_t find_pushes(Frame& frame) {
  const Problem& problem = frame.problem;
  if (!problem.on_device() || problem.options.memory_limit != 0 || problem.ranks() > most_ranks ||
      !has_neighbours(problem.topology)) {
    return 0;
  }
  Frame pushing = frame;
  for (const bool of_a : {true, false}) pushing.input(of_a).pushed = pushing.input(of_a).moves;
  Cutting cutting(pushing);
  std::int64_t most = 0;
  double bytes = 0, pieces = 0;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Landings landings = landings_of(pushing, cutting.blocks(rank), rank);
    most = std::max(most, landings.bytes);
    bytes += static_cast<double>(landings.bytes);
    pieces += static_cast<double>(landings.pieces.size());
  }
  const Machine& machine = problem.machine;
  if (pieces == 0 || bytes / pieces < machine.copy_latency * machine.peer_bandwidth) return 0;
  for (const bool of_a : {true, false}) frame.input(of_a).pushed = pushing.input(of_a).pushed;
  return most;
}

Pushes::Pushes(const Frame& frame, planning::PlanBuilder& builder, Cutting& cutting, const Blocks& blocks)
    : frame_(frame), builder_(builder) {
  if (frame_.landing < 0) return;
  landings_ = landings_of(frame_, blocks, frame_.rank());
  std::map<int, std::int64_t> given;  // by owner
  for (std::size_t i = 0; i < landings_.pieces.size(); ++i) {
    const Landing& piece = landings_.pieces[i];
    pieces_[{piece.turn, piece.of_a, piece.number}] = i;
    ordinals_.push_back(++given[piece.owner]);
  }
  puts_ = puts(cutting);
}

// What this rank gives, in the order in which it is wanted.
std::vector<Pushes::Put> Pushes::puts(Cutting& cutting) const {
  std::vector<Put> result;
  for (int step = 1; step < frame_.problem.ranks(); ++step) {
    const int taker = (frame_.rank() - step + frame_.problem.ranks()) % frame_.problem.ranks();
    if (!frame_.same_node(taker, frame_.rank()) || frame_.tile(taker).empty()) continue;
    for (Landing& piece : landings_of(frame_, cutting.blocks(taker), taker).pieces) {
      if (piece.owner == frame_.rank()) result.push_back({taker, std::move(piece)});
    }
  }
  std::ranges::stable_sort(result, {}, [](const Put& put) { return put.piece.turn; });
  return result;
}

Place Pushes::landing(int rank, const Landing& piece) const {
  return {frame_.landing, rank, piece.offset, frame_.problem.input(piece.of_a).axis_order};
}

// Nobody waits before all its peers may begin.
void Pushes::begin() {
  std::set<int> owners;
  for (const Landing& piece : landings_.pieces) {
    if (owners.insert(piece.owner).second) builder_.signal(piece.owner, planning::Channel::grant);
  }
  std::set<int> granted;
  for (const Put& put : puts_) {
    if (granted.insert(put.taker).second) builder_.wait(put.taker, planning::Channel::grant);
    const Place from = builder_.own(frame_.input(put.piece.of_a).buffer);
    builder_.copy(frame_.rank(), put.piece.region, from, landing(put.taker, put.piece));
    builder_.signal(put.taker, planning::Channel::written);
  }
}

std::size_t Pushes::position(std::size_t t, bool of_a, std::size_t number) const {
  const auto found = pieces_.find({t, of_a, number});
  return found == pieces_.end() ? 0 : found->second + 1;
}

Place Pushes::place_of(std::size_t t, bool of_a, std::size_t number) {
  const std::size_t i = pieces_.at({t, of_a, number});
  const Landing& piece = landings_.pieces[i];
  std::int64_t& arrived = arrived_[piece.owner];
  if (ordinals_[i] > arrived) {
    builder_.wait_for(piece.owner, planning::Channel::written, ordinals_[i] - arrived);
    arrived = ordinals_[i];
  }
  return landing(frame_.rank(), piece);
}

}  // namespace partita::multiplication
