// Pieces of A and B, and products, that ranks of a node put into each other's memory while they multiply.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "matmul/emit/cutting.hpp"
#include "plan/transfers.hpp"

namespace partita::multiplication {

/// A piece that another rank of the node puts into the taker's `landing`.
struct Landing {
  std::size_t turn = 0;  ///< of the taker
  bool of_a = true;
  std::size_t number = 0;  ///< of the piece in that turn
  int owner = 0;
  Region region;
  std::int64_t offset = 0;  ///< in `landing`, in bytes
};

/// All that a rank is given so, in the order of its turns, and in a turn in rounds, so that no two owners put
/// to the same rank at the same time. Pure, so that owners know it, too.
struct Landings {
  std::vector<Landing> pieces;
  std::int64_t bytes = 0;  ///< that they take up
};
Landings landings_of(const MatmulBuffers& buffers, const Blocks& blocks, int rank);

/// A product that its maker puts into the holder's `landing_products`.
struct ProductLanding {
  int maker = 0;
  int holder = 0;
  std::int64_t made_at = 0;  ///< in the maker's `products`, in bytes
  std::int64_t offset = 0;   ///< in `landing_products`
  Region region;
};
/// Of all ranks.
std::vector<ProductLanding> product_landings(const MatmulBuffers& buffers, Cutting& cutting);

/// Bytes that a rank needs at most.
struct LandingBytes {
  std::int64_t inputs = 0;
  std::int64_t products = 0;
};
/// Says in the buffers which inputs are put, and whether products are: on a device, without a limit of
/// memory, and pieces take longer on their way than to start.
LandingBytes find_pushes(MatmulBuffers& buffers);

/// Writes it into the plan of one rank: grants to those who give, which then put all of A and B, turn after
/// turn, around the ring; each piece is waited for by the first product that reads it. Products are put as
/// soon as a holder's are there.
class PutExchange {
 public:
  PutExchange(const MatmulBuffers& buffers, planning::PlanBuilder& builder, Cutting& cutting,
              const Blocks& blocks);

  void begin();
  /// The products for this holder are complete.
  void put_products(int holder);
  /// Waits for those of this maker.
  void await_products(int maker);
  /// The place of one of them, which the maker made at this place.
  std::int64_t offset_of_product(int maker, std::int64_t made_at) const;
  bool brings(std::size_t t, bool of_a, std::size_t number) const {
    return pieces_.contains({t, of_a, number});
  }
  /// When a piece comes, of those of its turn; 0: it need not come.
  std::size_t position(std::size_t t, bool of_a, std::size_t number) const;
  /// Its place, once it is there.
  Place place_of(std::size_t t, bool of_a, std::size_t number);

 private:
  using PieceKey = std::tuple<std::size_t, bool, std::size_t>;  // turn, of A, number

  std::vector<planning::Transfer> given(Cutting& cutting) const;
  void list_products(Cutting& cutting);
  Place landing(int rank, const Landing& piece) const;

  const MatmulBuffers& buffers_;
  planning::PlanBuilder& builder_;
  Landings landings_;
  std::map<PieceKey, std::size_t> pieces_;  // where in `landings_`
  std::vector<std::int64_t> ordinals_;      // of each of them, among those of its owner, from 1 on
  std::vector<planning::Transfer> given_;
  std::vector<ProductLanding> made_;                               // by this rank
  std::map<std::pair<int, std::int64_t>, std::int64_t> arriving_;  // products: maker, place there; place here
  std::map<int, std::int64_t> wanted_;  // by owner: pieces of A and B for this rank
  planning::TransferWriter transfers_;
  std::set<int> delivered_;  // holders
};

}  // namespace partita::multiplication
