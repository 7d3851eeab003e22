#include "matmul/emit/put_exchange.hpp"

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

std::int64_t bytes_of(const MatmulBuffers& buffers, const Landing& piece) {
  return piece.region.size() * size_of(buffers.problem.input(piece.of_a).dtype);
}

/// In which round a giver puts to a taker, where all put to all: no two of them to the same one. In pairs
/// where that can be, so that it holds, too, where some ranks have nothing for others.
int round_of(const MatmulBuffers& buffers, int taker, int giver) {
  return std::has_single_bit(static_cast<unsigned>(buffers.problem.ranks())) ? taker ^ giver
                                                                             : buffers.distance(taker, giver);
}

bool has_neighbours(const Topology& topology) {
  return topology.node_count() < topology.ranks();
}

}  // namespace

Landings landings_of(const MatmulBuffers& buffers, const Blocks& blocks, int rank) {
  Landings result;
  std::vector<int> givers[2];
  for (std::size_t t = 0; t < blocks.turns(); ++t) {
    const auto begin = static_cast<std::ptrdiff_t>(result.pieces.size());
    for (const bool of_a : {true, false}) {
      if (!buffers.input(of_a).pushed) continue;
      std::vector<Piece> pieces = pieces_of(buffers, blocks, rank, t, of_a, givers[of_a ? 0 : 1]);
      for (std::size_t number = 0; number < pieces.size(); ++number) {
        Piece& piece = pieces[number];
        if (piece.owner == rank || !buffers.same_node(piece.owner, rank)) continue;
        result.pieces.push_back({t, of_a, number, piece.owner, std::move(piece.region)});
      }
    }
    std::stable_sort(result.pieces.begin() + begin, result.pieces.end(),
                     [&](const Landing& a, const Landing& b) {
                       return round_of(buffers, rank, a.owner) < round_of(buffers, rank, b.owner);
                     });
  }
  for (Landing& piece : result.pieces) {
    piece.offset = result.bytes;
    result.bytes += rounded(bytes_of(buffers, piece));
  }
  return result;
}

std::vector<ProductLanding> product_landings(const MatmulBuffers& buffers, Cutting& cutting) {
  std::vector<ProductLanding> result;
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(buffers.problem.ranks()));
  for (int maker = 0; maker < buffers.problem.ranks(); ++maker) {
    if (buffers.tile(maker).empty()) continue;
    for (BlockProduct& product : products_of(buffers, cutting.blocks(maker), maker)) {
      if (product.holder == maker || !buffers.same_node(product.holder, maker)) continue;
      std::int64_t& offset = bytes[static_cast<std::size_t>(product.holder)];
      result.push_back({maker, product.holder, product.offset, offset, std::move(product.region)});
      offset += rounded(result.back().region.size() * size_of(buffers.problem.compute));
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

InputPushes input_pushes(const MatmulBuffers& buffers) {
  Cutting cutting(buffers);
  InputPushes result;
  for (int rank = 0; rank < buffers.problem.ranks(); ++rank) {
    const Landings landings = landings_of(buffers, cutting.blocks(rank), rank);
    result.most = std::max(result.most, landings.bytes);
    result.bytes += landings.bytes;
    result.pieces += landings.pieces.size();
    if (landings.pieces.empty() || landings.pieces.front().turn != 0) continue;
    result.awaited = std::max(result.awaited, bytes_of(buffers, landings.pieces.front()));
  }
  return result;
}

/// Into so many pieces the lines are cut at most: where each tile is one block for each of two pieces of k,
/// and what is left of it gives all of a device something to do.
int most_line_pieces(const MatmulBuffers& buffers, bool of_a) {
  if (!buffers.tiling.stationary_d || !buffers.input(of_a).pushed) return 1;
  const double flops = buffers.problem.machine.product_flops(buffers.problem.a.dtype);
  double most = line_pieces_limit;
  Cutting cutting(buffers);
  for (int rank = 0; rank < buffers.problem.ranks(); ++rank) {
    const Blocks blocks = cutting.blocks(rank);
    if (blocks.turns() != 2 || blocks.schedule->depth.size() != 2 || blocks.batches.size() != 1 ||
        blocks.rows->size() != 1 || blocks.columns->size() != 1) {
      return 1;
    }
    const Tile& tile = buffers.tile(rank);
    const auto lines = static_cast<double>((of_a ? tile.m : tile.n).size());
    const auto elements = static_cast<double>(tile.m.size()) * static_cast<double>(tile.n.size());
    most = std::min(
        {most, lines, operations_of(buffers.problem.compute) * elements / (flops * wave_seconds_of_k)});
  }
  return std::max(static_cast<int>(most), 1);
}

/// Cuts the lines of the one input (of B, if its columns are contiguous in memory and the rows of A are not)
/// into as many pieces as let a rank that awaits its first one begin early. With W seconds of the link for
/// all of them, p pieces take
///
///     W / p + 2 (p - 1) (idle k / 2 + start)
InputPushes cut_lines(MatmulBuffers& buffers, const InputPushes& whole) {
  const Machine& machine = buffers.problem.machine;
  // Rows and columns come behind an input's own batches, of which it may have fewer than D.
  const auto rows_lie_whole = [&](bool of_a) {
    const Extents& order = buffers.problem.input(of_a).axis_order;
    return std::ranges::find(order, order.size() - 2) < std::ranges::find(order, order.size() - 1);
  };
  const bool of_a = rows_lie_whole(true) || rows_lie_whole(false);
  const double link = static_cast<double>(whole.awaited) / machine.peer_bandwidth;
  const double more = idle_seconds_of_k * static_cast<double>(buffers.problem.k()) + 2 * machine.copy_latency;
  InputPushes best = whole;
  double least = link;
  const int most = most_line_pieces(buffers, of_a);
  MatmulBuffers cut = buffers;
  for (int pieces = 2; pieces <= most; pieces *= 2) {
    cut.input(of_a).line_pieces = pieces;
    const double seconds = link / pieces + (pieces - 1) * more;
    const InputPushes pushes = input_pushes(cut);
    if (seconds >= least || !pushes.worth(machine)) break;
    buffers.input(of_a).line_pieces = pieces;
    least = seconds;
    best = pushes;
  }
  return best;
}

std::int64_t find_input_pushes(MatmulBuffers& buffers) {
  MatmulBuffers pushing = buffers;
  for (const bool of_a : {true, false}) pushing.input(of_a).pushed = pushing.input(of_a).moves;
  InputPushes pushes = input_pushes(pushing);
  if (!pushes.worth(buffers.problem.machine)) return 0;
  if (pushes.awaited > 0) pushes = cut_lines(pushing, pushes);
  buffers.a = pushing.a;
  buffers.b = pushing.b;
  return pushes.most;
}

std::int64_t find_product_pushes(MatmulBuffers& buffers) {
  if (!buffers.delivers) return 0;
  Cutting cutting(buffers);
  std::int64_t most = 0, bytes = 0;
  const std::vector<ProductLanding> landings = product_landings(buffers, cutting);
  for (const ProductLanding& product : landings) {
    const std::int64_t its = rounded(product.region.size() * size_of(buffers.problem.compute));
    bytes += its;
    most = std::max(most, product.offset + its);
  }
  buffers.pushes_products =
      worth_starts(buffers.problem.machine, static_cast<double>(bytes), static_cast<double>(landings.size()));
  return buffers.pushes_products ? most : 0;
}

}  // namespace

LandingBytes find_pushes(MatmulBuffers& buffers) {
  const Problem& problem = buffers.problem;
  if (!problem.on_device() || problem.options.memory_limit != 0 || problem.ranks() > most_ranks ||
      !has_neighbours(problem.topology)) {
    return {};
  }
  const std::int64_t of_inputs = find_input_pushes(buffers);
  return {of_inputs, find_product_pushes(buffers)};
}

PutExchange::PutExchange(const MatmulBuffers& buffers, planning::PlanBuilder& builder, Cutting& cutting,
                         const Blocks& blocks)
    : buffers_(buffers), builder_(builder), transfers_(builder) {
  if (buffers_.landing >= 0) {
    landings_ = landings_of(buffers_, blocks, buffers_.rank());
    given_ = given(cutting);
  }
  for (std::size_t i = 0; i < landings_.pieces.size(); ++i) {
    const Landing& piece = landings_.pieces[i];
    pieces_[{piece.turn, piece.of_a, piece.number}] = i;
    ordinals_.push_back(++wanted_[piece.owner]);
  }
  if (buffers_.pushes_products) list_products(cutting);
}

void PutExchange::list_products(Cutting& cutting) {
  for (ProductLanding& product : product_landings(buffers_, cutting)) {
    if (product.holder == buffers_.rank()) arriving_[{product.maker, product.made_at}] = product.offset;
    if (product.maker == buffers_.rank()) made_.push_back(std::move(product));
  }
}

// What this rank sends, in the order in which it is needed.
std::vector<planning::Transfer> PutExchange::given(Cutting& cutting) const {
  std::vector<planning::KeyedTransfer> puts;
  for (int taker = 0; taker < buffers_.problem.ranks(); ++taker) {
    if (taker == buffers_.rank() || !buffers_.same_node(taker, buffers_.rank()) ||
        buffers_.tile(taker).empty())
      continue;
    for (const Landing& piece : landings_of(buffers_, cutting.blocks(taker), taker).pieces) {
      if (piece.owner != buffers_.rank()) continue;
      puts.push_back({{static_cast<std::int64_t>(piece.turn), round_of(buffers_, taker, piece.owner)},
                      {.end = planning::TransferEnd::put,
                       .peer = taker,
                       .region = piece.region,
                       .from = builder_.own(buffers_.input(piece.of_a).buffer),
                       .to = landing(taker, piece)}});
    }
  }
  return planning::sorted_by_key(std::move(puts));
}

Place PutExchange::landing(int rank, const Landing& piece) const {
  return {buffers_.landing, rank, piece.offset, buffers_.problem.input(piece.of_a).axis_order};
}

// Nobody waits before all its peers may begin.
void PutExchange::begin() {
  std::set<int> givers;
  for (const Landing& piece : landings_.pieces) givers.insert(piece.owner);
  for (const auto& [made, offset] : arriving_) givers.insert(made.first);
  for (const int giver : givers) transfers_.puts().grant(giver);
  for (const planning::Transfer& put : given_) transfers_.puts().await_grant(put.peer);
  transfers_.write(std::exchange(given_, {}));
}

void PutExchange::put_products(int holder) {
  if (!delivered_.insert(holder).second) return;
  const Extents order = buffers_.product_order();
  for (const ProductLanding& product : made_) {
    if (product.holder != holder) continue;
    transfers_.puts().put(holder, product.region,
                          {buffers_.products, buffers_.rank(), product.made_at, order},
                          {buffers_.landing_products, holder, product.offset, order});
  }
  transfers_.puts().tell(holder);
}

// Each piece of A and B has a signal, and all products together one.
void PutExchange::await_products(int maker) {
  transfers_.puts().await(maker, wanted_[maker] + 1);
}

std::int64_t PutExchange::offset_of_product(int maker, std::int64_t made_at) const {
  return arriving_.at({maker, made_at});
}

std::size_t PutExchange::position(std::size_t t, bool of_a, std::size_t number) const {
  const auto found = pieces_.find({t, of_a, number});
  return found == pieces_.end() ? 0 : found->second + 1;
}

Place PutExchange::place_of(std::size_t t, bool of_a, std::size_t number) {
  const std::size_t i = pieces_.at({t, of_a, number});
  const Landing& piece = landings_.pieces[i];
  transfers_.puts().await(piece.owner, ordinals_[i]);
  return landing(buffers_.rank(), piece);
}

}  // namespace partita::multiplication
