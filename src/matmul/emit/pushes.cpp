#include "matmul/emit/pushes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/round.hpp"
#include "matmul/dtypes.hpp"
#include "matmul/emit/puts.hpp"
#include "matmul/emit/stripes_price.hpp"

namespace partita::multiplication {
namespace {

// Each rank works out what all others are given.
constexpr int most_ranks = 256;
constexpr int line_pieces_limit = 8;

std::int64_t rounded(std::int64_t bytes) {
  return round_up(bytes, 256);  // on which devices read best
}

std::int64_t bytes_of(const Frame& frame, const Landing& piece) {
  return piece.region.size() * size_of(frame.problem.input(piece.of_a).dtype);
}

/// In which round a giver puts to a taker, where all put to all: no two of them to the same one. In pairs
/// where that can be, so that it holds, too, where some ranks have nothing for others.
int round_of(const Frame& frame, int taker, int giver) {
  return std::has_single_bit(static_cast<unsigned>(frame.problem.ranks())) ? taker ^ giver
                                                                           : frame.distance(taker, giver);
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
                       return round_of(frame, rank, a.owner) < round_of(frame, rank, b.owner);
                     });
  }
  for (Landing& piece : result.pieces) {
    piece.offset = result.bytes;
    result.bytes += rounded(bytes_of(frame, piece));
  }
  return result;
}

std::vector<ProductLanding> product_landings(const Frame& frame, Cutting& cutting) {
  std::vector<ProductLanding> result;
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(frame.problem.ranks()));
  for (int maker = 0; maker < frame.problem.ranks(); ++maker) {
    if (frame.tile(maker).empty()) continue;
    for (BlockProduct& product : products_of(frame, cutting.blocks(maker), maker)) {
      if (product.holder == maker || !frame.same_node(product.holder, maker)) continue;
      std::int64_t& offset = bytes[static_cast<std::size_t>(product.holder)];
      result.push_back({maker, product.holder, product.offset, offset, std::move(product.region)});
      offset += rounded(result.back().region.size() * size_of(frame.problem.compute));
    }
  }
  return result;
}

namespace {

/// What all ranks are given of A and B.
struct InputPushes {
  std::int64_t most = 0;  ///< bytes that one of them is given
  std::int64_t bytes = 0;
  std::size_t pieces = 0;
  std::int64_t awaited = 0;  ///< bytes that the first turn of a rank begins with at most

  bool worth(const Machine& machine) const {
    return worth_starts(machine, static_cast<double>(bytes), static_cast<double>(pieces));
  }
};

InputPushes input_pushes(const Frame& frame) {
  Cutting cutting(frame);
  InputPushes result;
  for (int rank = 0; rank < frame.problem.ranks(); ++rank) {
    const Landings landings = landings_of(frame, cutting.blocks(rank), rank);
    result.most = std::max(result.most, landings.bytes);
    result.bytes += landings.bytes;
    result.pieces += landings.pieces.size();
    if (landings.pieces.empty() || landings.pieces.front().turn != 0) continue;
    result.awaited = std::max(result.awaited, bytes_of(frame, landings.pieces.front()));
  }
  return result;
}

/// Into so many pieces the lines are cut at most: where each tile is one block for each of two pieces of k,
/// and what is left of it gives all of a device something to do.
int most_line_pieces(const Frame& frame, bool of_a) {
  if (!frame.tiling.stationary_d || !frame.input(of_a).pushed) return 1;
  const double flops = frame.problem.machine.product_flops(frame.problem.a.dtype);
  double most = line_pieces_limit;
  Cutting cutting(frame);
  for (int rank = 0; rank < frame.problem.ranks(); ++rank) {
    const Blocks blocks = cutting.blocks(rank);
    if (blocks.turns() != 2 || blocks.schedule->depth.size() != 2 || blocks.batches.size() != 1 ||
        blocks.rows->size() != 1 || blocks.columns->size() != 1) {
      return 1;
    }
    const Tile& tile = frame.tile(rank);
    const auto lines = static_cast<double>((of_a ? tile.m : tile.n).size());
    const auto elements = static_cast<double>(tile.m.size()) * static_cast<double>(tile.n.size());
    most = std::min(
        {most, lines, operations_of(frame.problem.compute) * elements / (flops * wave_seconds_of_k)});
  }
  return std::max(static_cast<int>(most), 1);
}

/// Cuts the lines of the one input (of B, if its columns are contiguous in memory and the rows of A are not)
/// into as many pieces as let a rank that awaits its first one begin early. With W seconds of the link for
/// all of them, p pieces take
///
///     W / p + 2 (p - 1) (idle k / 2 + start)
InputPushes cut_lines(Frame& frame, const InputPushes& whole) {
  const Machine& machine = frame.problem.machine;
  // Rows and columns come behind an input's own batches, of which it may have fewer than D.
  const auto rows_lie_whole = [&](bool of_a) {
    const Extents& order = frame.problem.input(of_a).axis_order;
    return std::ranges::find(order, order.size() - 2) < std::ranges::find(order, order.size() - 1);
  };
  const bool of_a = rows_lie_whole(true) || rows_lie_whole(false);
  const double link = static_cast<double>(whole.awaited) / machine.peer_bandwidth;
  const double more = idle_seconds_of_k * static_cast<double>(frame.problem.k()) + 2 * machine.copy_latency;
  InputPushes best = whole;
  double least = link;
  const int most = most_line_pieces(frame, of_a);
  Frame cut = frame;
  for (int pieces = 2; pieces <= most; pieces *= 2) {
    cut.input(of_a).line_pieces = pieces;
    const double seconds = link / pieces + (pieces - 1) * more;
    const InputPushes pushes = input_pushes(cut);
    if (seconds >= least || !pushes.worth(machine)) break;
    frame.input(of_a).line_pieces = pieces;
    least = seconds;
    best = pushes;
  }
  return best;
}

std::int64_t find_input_pushes(Frame& frame) {
  Frame pushing = frame;
  for (const bool of_a : {true, false}) pushing.input(of_a).pushed = pushing.input(of_a).moves;
  InputPushes pushes = input_pushes(pushing);
  if (!pushes.worth(frame.problem.machine)) return 0;
  if (pushes.awaited > 0) pushes = cut_lines(pushing, pushes);
  frame.a = pushing.a;
  frame.b = pushing.b;
  return pushes.most;
}

std::int64_t find_product_pushes(Frame& frame) {
  if (!frame.delivers) return 0;
  Cutting cutting(frame);
  std::int64_t most = 0, bytes = 0;
  const std::vector<ProductLanding> landings = product_landings(frame, cutting);
  for (const ProductLanding& product : landings) {
    const std::int64_t its = rounded(product.region.size() * size_of(frame.problem.compute));
    bytes += its;
    most = std::max(most, product.offset + its);
  }
  frame.pushes_products =
      worth_starts(frame.problem.machine, static_cast<double>(bytes), static_cast<double>(landings.size()));
  return frame.pushes_products ? most : 0;
}

}  // namespace

LandingBytes find_pushes(Frame& frame) {
  const Problem& problem = frame.problem;
  if (!problem.on_device() || problem.options.memory_limit != 0 || problem.ranks() > most_ranks ||
      !has_neighbours(problem.topology)) {
    return {};
  }
  const std::int64_t of_inputs = find_input_pushes(frame);
  return {of_inputs, find_product_pushes(frame)};
}

Pushes::Pushes(const Frame& frame, planning::PlanBuilder& builder, Cutting& cutting, const Blocks& blocks)
    : frame_(frame), builder_(builder), transfers_(builder) {
  if (frame_.landing >= 0) {
    landings_ = landings_of(frame_, blocks, frame_.rank());
    given_ = given(cutting);
  }
  for (std::size_t i = 0; i < landings_.pieces.size(); ++i) {
    const Landing& piece = landings_.pieces[i];
    pieces_[{piece.turn, piece.of_a, piece.number}] = i;
    ordinals_.push_back(++wanted_[piece.owner]);
  }
  if (frame_.pushes_products) list_products(cutting);
}

void Pushes::list_products(Cutting& cutting) {
  for (ProductLanding& product : product_landings(frame_, cutting)) {
    if (product.holder == frame_.rank()) arriving_[{product.maker, product.made_at}] = product.offset;
    if (product.maker == frame_.rank()) made_.push_back(std::move(product));
  }
}

// What this rank sends, in the order in which it is needed.
std::vector<planning::Transfer> Pushes::given(Cutting& cutting) const {
  std::vector<planning::KeyedTransfer> puts;
  for (int taker = 0; taker < frame_.problem.ranks(); ++taker) {
    if (taker == frame_.rank() || !frame_.same_node(taker, frame_.rank()) || frame_.tile(taker).empty())
      continue;
    for (const Landing& piece : landings_of(frame_, cutting.blocks(taker), taker).pieces) {
      if (piece.owner != frame_.rank()) continue;
      puts.push_back({{static_cast<std::int64_t>(piece.turn), round_of(frame_, taker, piece.owner)},
                      {.end = planning::TransferEnd::put,
                       .peer = taker,
                       .region = piece.region,
                       .from = builder_.own(frame_.input(piece.of_a).buffer),
                       .to = landing(taker, piece)}});
    }
  }
  return planning::sorted_by_key(std::move(puts));
}

Place Pushes::landing(int rank, const Landing& piece) const {
  return {frame_.landing, rank, piece.offset, frame_.problem.input(piece.of_a).axis_order};
}

// Nobody waits before all its peers may begin.
void Pushes::begin() {
  std::set<int> givers;
  for (const Landing& piece : landings_.pieces) givers.insert(piece.owner);
  for (const auto& [made, offset] : arriving_) givers.insert(made.first);
  for (const int giver : givers) transfers_.puts().grant(giver);
  for (const planning::Transfer& put : given_) transfers_.puts().await_grant(put.peer);
  transfers_.write(std::exchange(given_, {}));
}

void Pushes::put_products(int holder) {
  if (!delivered_.insert(holder).second) return;
  const Extents order = frame_.product_order();
  for (const ProductLanding& product : made_) {
    if (product.holder != holder) continue;
    transfers_.puts().put(holder, product.region, {frame_.products, frame_.rank(), product.made_at, order},
                          {frame_.landing_products, holder, product.offset, order});
  }
  transfers_.puts().tell(holder);
}

// Each piece of A and B has a signal, and all products together one.
void Pushes::await_products(int maker) {
  transfers_.puts().await(maker, wanted_[maker] + 1);
}

std::int64_t Pushes::offset_of_product(int maker, std::int64_t made_at) const {
  return arriving_.at({maker, made_at});
}

std::size_t Pushes::position(std::size_t t, bool of_a, std::size_t number) const {
  const auto found = pieces_.find({t, of_a, number});
  return found == pieces_.end() ? 0 : found->second + 1;
}

Place Pushes::place_of(std::size_t t, bool of_a, std::size_t number) {
  const std::size_t i = pieces_.at({t, of_a, number});
  const Landing& piece = landings_.pieces[i];
  transfers_.puts().await(piece.owner, ordinals_[i]);
  return landing(frame_.rank(), piece);
}

}  // namespace partita::multiplication
