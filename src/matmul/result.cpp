// The layout of a result for which none is given: the one in which the cheapest method leaves the product.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "matmul/choose/chooser.hpp"
#include "matmul/choose/memory_limit.hpp"
#include "matmul/choose/meshes.hpp"
#include "matmul/roles.hpp"
#include "matmul/vectors.hpp"

namespace partita {
namespace multiplication {
namespace {

/// What is multiplied, in op-space, before there is a result.
struct Factors {
  Operand a;
  Operand b;
  Topology topology;
  MatmulOptions options;
  Machine machine;
  Shape result;
  int missing = -1;  ///< the dimension that D has not, of one index: to cut it is to leave all to one rank
};

Shape shape_of_result(const Shape& a, const Shape& b) {
  check(a.size() >= 2 && b.size() >= 2,
        "cannot multiply shapes {} and {}: a matrix has at least two dimensions", to_string(a), to_string(b));
  Shape result = a.size() >= b.size() ? a : b;
  result[result.size() - 2] = a[a.size() - 2];
  result[result.size() - 1] = b[b.size() - 1];
  return result;
}

/// What NumPy calls the product's shape, without the dimensions that the vectors do not have.
Shape shape_without_rows_of(Vectors vectors, const Shape& product) {
  Shape shape;
  for (int d = 0; d < product.size(); ++d) {
    const bool missing = (vectors.a && d == product.size() - 2) || (vectors.b && d == product.size() - 1);
    if (!missing) shape.push_back(product[d]);
  }
  return shape;
}

Operand result_with(const Factors& factors, const Distribution& distribution) {
  const Layout layout(distribution, factors.result, factors.topology.ranks());
  const Dtype dtype = result_dtype(factors.a.dtype, factors.options);
  Operand result = Operand::of(layout, dtype, factors.options.order, factors.options.residency);
  result.space = factors.a.space;
  return result;
}

/// With a result in slabs, for the beginning.
Problem problem_of(const Factors& factors) {
  const Operand d = result_with(factors, Slab(factors.result.size() - 2));
  const MatmulOperands operands{factors.a, factors.b, {}, d};
  return make_problem(operands, factors.topology, 0, factors.options, factors.machine, false);
}

/// Whether the layout is its rule, bound to the shape and nothing else, so that another shape may follow it.
bool follows_rule(const Layout& layout) {
  return layout.members().empty() && layout.whole_shape() == layout.shape() &&
         layout.distribution().kind() != DistributionKind::box && !layout.partial();
}

/// Whether no rank holds only a part of the dimension. Looks at a few ranks: rules cut a dimension for all.
bool is_whole(const Layout& layout, int dimension) {
  for (int rank = 0; rank < std::min(layout.ranks(), 2); ++rank) {
    if (layout.local_shape(rank)[dimension] < layout.shape()[dimension]) return false;
  }
  return true;
}

/// The operand's rule where it leaves k whole: A slab:0 gives D slab:0, B slab:1 gives D slab:1.
std::optional<Distribution> like(const Operand& operand, int dimension_of_k, const Shape& result) {
  const Layout& layout = operand.layout;
  const bool suits =
      layout.dimensions() == result.size() && follows_rule(layout) && is_whole(layout, dimension_of_k);
  if (!suits) return std::nullopt;
  if (const auto* blocks = layout.distribution().as<BlockNonCyclic>(); blocks && !blocks->block.empty()) {
    Extents block = blocks->block;
    block[dimension_of_k] = std::max<std::int64_t>(1, result[dimension_of_k]);
    return BlockNonCyclic(blocks->grid, block);
  }
  return layout.distribution();
}

/// A's rows by B's columns, if both are in blocks over the same grid of processes.
std::optional<Distribution> over_their_grid(const Factors& factors) {
  if (factors.result.size() != 2 || !follows_rule(factors.a.layout) || !follows_rule(factors.b.layout))
    return std::nullopt;
  const Distribution& a = factors.a.layout.distribution();
  const Distribution& b = factors.b.layout.distribution();
  if (const auto* x = a.as<BlockCyclic>(), *y = b.as<BlockCyclic>(); x && y && x->grid == y->grid)
    return BlockCyclic(x->grid, {x->block[0], y->block[1]});
  if (const auto* x = a.as<BlockNonCyclic>(), *y = b.as<BlockNonCyclic>(); x && y && x->grid == y->grid)
    return BlockNonCyclic(x->grid);
  return std::nullopt;
}

/// The cells of a grid: along k the ranks share the rows of their tile of D, or its columns where it has more
/// of those. Mesh axes are named m, n and k, the last one fastest, as in "m-n-k order".
Distribution over_grid(const Grid& grid, const Factors& factors) {
  const auto axis = [](const char* name, std::int64_t size) {
    return Mesh::Axis{name, static_cast<int>(size)};
  };
  PartitionSpec spec;
  spec.uneven = Uneven::balanced;
  spec.dimensions.resize(static_cast<std::size_t>(factors.result.size()));
  const std::size_t rows = spec.dimensions.size() - 2, columns = rows + 1;
  spec.dimensions[rows] = {"m"};
  spec.dimensions[columns] = {"n"};
  const std::int64_t m = factors.result[static_cast<int>(rows)],
                     n = factors.result[static_cast<int>(columns)];
  spec.dimensions[m / grid.m >= n / grid.n ? rows : columns].emplace_back("k");
  return Partitioned{Mesh({axis("m", grid.m), axis("n", grid.n), axis("k", grid.k)}), spec};
}

/// In the order of preference where prices are alike.
std::vector<Distribution> candidates(const Factors& factors, const Problem& problem) {
  const int dimensions = factors.result.size();
  std::vector<Distribution> result;
  const auto add = [&](const std::optional<Distribution>& one) {
    const Slab* const slab = one ? one->as<Slab>() : nullptr;
    if (slab != nullptr && slab->axis == factors.missing) return;
    if (one && std::find(result.begin(), result.end(), *one) == result.end()) result.push_back(*one);
  };
  add(like(factors.a, dimensions - 1, factors.result));
  add(like(factors.b, dimensions - 2, factors.result));
  add(over_their_grid(factors));
  for (int axis = 0; axis < dimensions; ++axis) add(Slab((axis + dimensions - 2) % dimensions));
  for (const Grid& grid : GridSearch(problem).best(2)) {
    if (grid.batch == 1) add(over_grid(grid, factors));
  }
  return result;
}

constexpr double usual_is_worth = 0.97;  // of a price: a grid over m, n and k must save more

/// The cheapest of those in which the multiply can be done at all; or why there is none.
struct Cheapest {
  std::optional<Distribution> distribution;
  std::string refusal;
  std::int64_t needed = 0;  ///< bytes that may do, where a memory limit is too small; 0: that is not why
};

Cheapest find_cheapest(const Factors& factors) {
  Cheapest found;
  Choice price;
  Problem problem = problem_of(factors);
  for (const Distribution& candidate : candidates(factors, problem)) {
    try {
      problem.d = result_with(factors, candidate);
      Choice choice = choose(problem);
      const bool unusual = candidate.kind() == DistributionKind::partitioned;
      if (found.distribution && !is_worth_it(price, choice)) continue;
      if (found.distribution && unusual && choice.seconds > usual_is_worth * price.seconds) continue;
      found.distribution = candidate;
      price = std::move(choice);
    } catch (const LimitRefusal& refusal) {
      found.refusal = refusal.text();
      found.needed = found.needed == 0 ? refusal.needed() : std::min(found.needed, refusal.needed());
    } catch (const ArgumentError& error) {
      if (found.needed == 0) found.refusal = error.what();
    }
  }
  return found;
}

/// With which there is a cheapest result, and a plan for it on every rank. `needed`: more than there is.
std::int64_t enough_memory_for(Factors factors, std::int64_t needed) {
  std::int64_t& limit = factors.options.memory_limit;
  for (;;) {
    limit = std::max(limit + 1, needed);
    const Cheapest found = find_cheapest(factors);
    needed = found.needed;
    if (!found.distribution) continue;
    Problem problem = problem_of(factors);
    problem.d = result_with(factors, *found.distribution);
    needed = enough_memory(problem);
    if (needed == limit) return limit;
  }
}

Distribution cheapest(const Factors& factors) {
  const Cheapest found = find_cheapest(factors);
  if (found.distribution) return *found.distribution;
  if (found.needed == 0) throw ArgumentError(found.refusal);
  throw ArgumentError(fmt::format("{}; at least {} bytes are required", found.refusal,
                                  enough_memory_for(factors, found.needed)));
}

}  // namespace
}  // namespace multiplication

Layout cheapest_result(const Operand& a, const Operand& b, const Topology& topology,
                       const MatmulOptions& options, const Machine& machine) {
  using namespace multiplication;
  const MatmulOperands planned = as_planned({a, b, {}, a});
  const Vectors vectors(a, b);
  const Op op_a = vectors.a ? without_transposition(options.op_a) : options.op_a;
  const Op op_b = vectors.b ? without_transposition(options.op_b) : options.op_b;
  Factors factors{op_space(matrix_a(planned.a, vectors), op_a),
                  op_space(matrix_b(planned.b, vectors), op_b),
                  topology,
                  options,
                  machine,
                  {}};
  factors.result = shape_of_result(factors.a.layout.shape(), factors.b.layout.shape());
  const auto bound = [&](const Distribution& distribution) {
    return Layout(distribution, shape_without_rows_of(vectors, factors.result), topology.ranks());
  };
  if (options.distribution) return bound(*options.distribution);
  if (parts_of(options.epilogue).everywhere || (vectors.a && vectors.b)) return bound(Replicated());
  factors.options.op_a = factors.options.op_b = Op::none;  // done
  factors.options.epilogue = Epilogue::none;               // comes after the product, wherever that is
  if (vectors) factors.missing = factors.result.size() - (vectors.a ? 2 : 1);
  const Layout product(cheapest(factors), factors.result, topology.ranks());
  return vectors ? without_dimension(product, factors.missing) : product;
}

}  // namespace partita
