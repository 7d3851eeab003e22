// Parts of arrays that are walked piece by piece.
#include "array/pieces.hpp"

#include "distribution/local_indices.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

struct Box {
  Extents lower, extents;
};

std::vector<Box> pieces(const View& view, std::int64_t bytes) {
  std::vector<Box> boxes;
  arrays::for_each_piece(view, bytes, [&](const Extents& lower, const Extents& extents) {
    boxes.push_back({lower, extents});
  });
  return boxes;
}

TEST(Pieces, HoldEveryElementOnceWhateverTheOrder) {
  std::vector<double> memory(std::size_t{7} * 5 * 3);
  for (const Order order : {Order::row_major, Order::column_major}) {
    const View all = view(memory, {7, 5, 3}, order);
    for (const std::int64_t bytes : {1, 8, 24, 50, 120, 300, 839, 840, 5000}) {
      std::fill(memory.begin(), memory.end(), 0);
      for (const Box& box : pieces(all, bytes)) {
        const View piece = arrays::piece_of(all, box.lower, box.extents);
        EXPECT_LE(arrays::bytes_of(piece), std::max<std::int64_t>(bytes, 8));
        const std::int64_t first = static_cast<double*>(piece.data) - memory.data();
        for (std::int64_t i = 0; i < volume(piece.extents); ++i)
          memory.at(static_cast<std::size_t>(first + i)) += 1;
      }
      EXPECT_EQ(std::set<double>(memory.begin(), memory.end()), std::set<double>{1}) << bytes;
    }
  }
}

// As of the whole, but in time that does not grow with it.
TEST(Pieces, KnowTheirIndices) {
  for (const Distribution& how : {Distribution(Slab(0)), Distribution(BlockCyclic({3}, {4}))}) {
    const Layout layout(how, {100}, 3);
    const std::vector<std::int64_t> all = local_indices(layout, 0, 1);
    const auto size = static_cast<std::int64_t>(all.size());
    for (std::int64_t first = 0; first <= size; ++first) {
      for (std::int64_t count = 0; first + count <= size; ++count) {
        const auto some = distribution::local_indices(layout.region(1), 0, first, count);
        EXPECT_TRUE(std::ranges::equal(
            some, std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))));
      }
    }
  }
}

TEST(Pieces, OfNothingThereAreNone) {
  EXPECT_TRUE(pieces(View::dense(nullptr, Dtype::f64, {4, 0}), 64).empty());
}

TEST(Pieces, ANumberIsOne) {
  double number = 1;
  EXPECT_EQ(pieces(view(number), 64).size(), 1U);
}

}  // namespace
}  // namespace partita
