#include "matmul/vectors.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.hpp"
#include "distribution/dimensions.hpp"
#include "plan/vectors.hpp"

namespace partita::multiplication {

using planning::with_dimension;

namespace {

/// Nothing where a rank holds no box, or what others hold too.
std::optional<Layout> boxes_without(const Layout& layout, int position, const Shape& shape) {
  if (layout.is_replicated() || layout.partial() || shape.empty()) return std::nullopt;
  std::vector<Box::Bounds> boxes;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    Box::Bounds box{Extents::filled(shape.size(), 0), Extents::filled(shape.size(), 0)};
    const Region region = layout.region(rank);
    for (int d = 0; d < shape.size() && !region.empty(); ++d) {
      const IndexSet& set = region.sets[static_cast<std::size_t>(d < position ? d : d + 1)];
      if (!set.is_range()) return std::nullopt;
      box.lower[d] = set.front();
      box.upper[d] = set.back() + 1;
    }
    boxes.push_back(box);
  }
  return Layout(Box(std::move(boxes)), shape, layout.ranks());
}

void check_dimensions(const MatmulOperands& operands, Vectors vectors) {
  const Shape &a = operands.a.layout.shape(), &b = operands.b.layout.shape(), &d = operands.d.layout.shape();
  const int matrix = std::max(a.size(), b.size());
  const int wanted = vectors.a && vectors.b ? 0 : matrix - 1;
  check(d.size() == wanted && matrix >= 1,
        "cannot multiply A of shape {} by B of shape {} into D of shape {}: with a vector D has {}",
        to_string(a), to_string(b), to_string(d),
        wanted == 0 ? "no dimension" : "one dimension less than the matrix");
}

}  // namespace

Op without_transposition(Op op) {
  if (op == Op::transpose) return Op::none;
  return op == Op::conjugate_transpose ? Op::conjugate : op;
}

std::vector<int> missing_dimensions(const Shape& d, Vectors vectors) {
  const int dimensions = d.size();
  std::vector<int> positions;
  if (vectors.b) positions.push_back(dimensions);
  if (vectors.a) positions.push_back(vectors.b ? dimensions : dimensions - 1);
  check(vectors.b || !vectors.a || dimensions > 0,
        "the product of a vector and a matrix has at least one dimension, but D has shape {}", to_string(d));
  return positions;
}

Layout without_dimension(const Layout& layout, int position) {
  const std::array<int, 1> axes{position};
  if (const auto found = distribution::without_dimensions(layout, axes)) return *found;
  const Shape shape = distribution::without_dimensions(layout.shape(), axes);
  if (const auto found = boxes_without(layout, position, shape)) return *found;
  if (shape.empty()) return {Replicated(), shape, layout.ranks()};
  return {Slab(shape.size() - 1), shape, layout.ranks()};
}

Operand matrix_a(const Operand& a, Vectors vectors) {
  return vectors.a ? with_dimension(a, 0) : a;
}

Operand matrix_b(const Operand& b, Vectors vectors) {
  return vectors.b ? with_dimension(b, 1) : b;
}

Operand matrix_d(const Operand& d, Vectors vectors) {
  Operand result = d;
  for (const int position : missing_dimensions(d.layout.shape(), vectors)) {
    result = with_dimension(result, position);
  }
  return result;
}

void see_as_matrices(MatmulOperands& operands, MatmulOptions& options) {
  const Vectors vectors(operands.a, operands.b);
  if (!vectors) return;
  check_dimensions(operands, vectors);
  if (vectors.a) options.op_a = without_transposition(options.op_a);
  if (vectors.b) options.op_b = without_transposition(options.op_b);
  operands.a = matrix_a(operands.a, vectors);
  operands.b = matrix_b(operands.b, vectors);
  operands.d = matrix_d(operands.d, vectors);
  for (std::optional<Operand>* like_d : {&operands.c, &operands.epilogue.auxiliary}) {
    if (*like_d) *like_d = matrix_d(**like_d, vectors);
  }
}

}  // namespace partita::multiplication
