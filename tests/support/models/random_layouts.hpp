// Random distributions of every kind and methods, for tests that want hundreds of them.
#pragma once

#include <algorithm>
#include <numeric>
#include <partita/layout.hpp>
#include <partita/redistribute.hpp>
#include <random>
#include <string>
#include <vector>

namespace partita::testing {

class RandomLayouts {
 public:
  explicit RandomLayouts(std::uint64_t seed) : random_(seed) {}

  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool maybe(double chance = 0.5) { return std::bernoulli_distribution(chance)(random_); }

  Shape shape(int dimensions, int most) {
    Shape result;
    for (int i = 0; i < dimensions; ++i) result.push_back(maybe(0.05) ? 0 : number(1, most));
    return result;
  }

  std::vector<int> permutation(int size) {
    std::vector<int> result(static_cast<std::size_t>(size));
    std::iota(result.begin(), result.end(), 0);
    std::shuffle(result.begin(), result.end(), random_);
    return result;
  }

  Distribution distribution(const Shape& shape, int ranks) {
    switch (number(0, 6)) {
      case 0:
        return Slab(number(0, shape.size() - 1));
      case 1:
        return boxes(shape, ranks);
      case 2:
        return block_cyclic(shape, ranks);
      case 3:
        return BlockNonCyclic(grid(shape, ranks));
      case 4:
        return Replicated();
      default:
        return partitioned(shape, ranks);
    }
  }

  Layout layout(const Shape& shape, int ranks) { return Layout(distribution(shape, ranks), shape, ranks); }

  /// Of those that suit; the planner chooses a third of the time and more.
  RedistributeMethod method(bool direct_suits, bool pushed_suits, bool pulled_suits) {
    switch (number(0, 6)) {
      case 0:
        return direct_suits ? RedistributeMethod::direct : RedistributeMethod::automatic;
      case 1:
        return pushed_suits ? RedistributeMethod::pushed : RedistributeMethod::automatic;
      case 2:
        return RedistributeMethod::staged;
      case 3:
        return RedistributeMethod::messages;
      case 4:
        return pulled_suits ? RedistributeMethod::pulled : RedistributeMethod::automatic;
      default:
        return RedistributeMethod::automatic;
    }
  }

  // Halved again and again at random places, assigned to random ranks; some are left without a box.
  Box boxes(const Shape& shape, int ranks) {
    std::vector<Box::Bounds> parts{{Extents::filled(shape.size(), 0), shape}};
    const int wanted = number(1, ranks);
    while (static_cast<int>(parts.size()) < wanted) {
      Box::Bounds& low = parts[static_cast<std::size_t>(number(0, static_cast<int>(parts.size()) - 1))];
      Box::Bounds high = low;
      const int axis = number(0, shape.size() - 1);
      high.lower[axis] = number(static_cast<int>(low.lower[axis]), static_cast<int>(low.upper[axis]));
      low.upper[axis] = high.lower[axis];
      parts.push_back(high);
    }
    std::vector<Box::Bounds> dealt(static_cast<std::size_t>(ranks),
                                   {Extents::filled(shape.size(), 0), Extents::filled(shape.size(), 0)});
    const std::vector<int> order = permutation(ranks);
    for (std::size_t i = 0; i < parts.size(); ++i) dealt[static_cast<std::size_t>(order[i])] = parts[i];
    return Box(dealt);
  }

  BlockCyclic block_cyclic(const Shape& shape, int ranks) {
    Extents block;
    for (int i = 0; i < shape.size(); ++i) block.push_back(number(1, 4));
    return BlockCyclic(grid(shape, ranks), block);
  }

  ProcessGrid grid(const Shape& shape, int ranks) {
    Extents extents;
    Extents first;
    for (int i = 0; i < shape.size(); ++i) {
      extents.push_back(number(1, ranks / static_cast<int>(volume(extents))));
      first.push_back(number(0, static_cast<int>(extents[i]) - 1));
    }
    if (maybe()) return ProcessGrid(extents, maybe() ? Order::row_major : Order::column_major, first);
    std::vector<int> order = permutation(ranks);
    order.resize(static_cast<std::size_t>(volume(extents)));
    return ProcessGrid::of_ranks(extents, order, first);
  }

  // All ranks, over up to three axes; each axis cuts a dimension, holds replicas or holds contributions.
  Partitioned partitioned(const Shape& shape, int ranks) {
    std::vector<Mesh::Axis> axes;
    PartitionSpec spec;
    spec.dimensions.resize(static_cast<std::size_t>(shape.size()));
    spec.uneven = maybe() ? Uneven::ceil : Uneven::balanced;
    spec.partial_reduction = Reduction::sum;
    int left = ranks;
    for (const char* name : {"x", "y", "z"}) {
      int size = name[0] == 'z' ? left : number(1, left);
      while (left % size != 0) --size;
      left /= size;
      axes.push_back({name, size});
      const int use = number(0, 5);
      if (use == 0) spec.partial_axes.emplace_back(name);
      if (use >= 2) {
        spec.dimensions[static_cast<std::size_t>(number(0, shape.size() - 1))].emplace_back(name);
      }
    }
    // Without a separate draw: some meshes list their ranks, from the last to the first.
    std::vector<int> backwards;
    for (int rank = ranks - 1; rank >= 0; --rank) backwards.push_back(rank);
    const bool lists = (axes[0].size + axes[1].size) % 2 == 1;
    return {lists ? Mesh(axes, backwards) : Mesh(axes), spec};
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace partita::testing
