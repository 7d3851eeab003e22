// C = alpha A A^H + beta C in one triangle.
#include <algorithm>
#include <partita/matmul.hpp>
#include <vector>

#include "array/pairs.hpp"
#include "base/check.hpp"
#include "context/context_state.hpp"
#include "linalg/facts.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace linear {
namespace {

/// Columns [first, end) of C, and its rows from, or up to, the diagonal.
struct TriangleBlock {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};

std::vector<TriangleBlock> blocks_of(std::int64_t n, int count, bool upper) {
  std::vector<TriangleBlock> blocks;
  for (int i = 0; i < count; ++i) {
    const std::int64_t first = n * i / count, end = n * (i + 1) / count;
    blocks.push_back(upper ? TriangleBlock{0, end, first, end - first}
                           : TriangleBlock{first, n - first, first, end - first});
  }
  return blocks;
}

/// The elements of a block on the rank that owns most of them.
std::int64_t largest_part(const Layout& layout, const TriangleBlock& block) {
  std::int64_t largest = 0;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region held = layout.region(rank);
    if (held.empty()) continue;
    const std::int64_t rows =
        intersect(held.sets[0], IndexSet::range(block.row, block.row + block.rows)).size();
    const std::int64_t columns =
        intersect(held.sets[1], IndexSet::range(block.column, block.column + block.columns)).size();
    largest = std::max(largest, rows * columns);
  }
  return largest;
}

/// One block unless the ranks own the triangle so evenly that more of them take a quarter less time; small
/// products take longer than their operations.
std::vector<TriangleBlock> chosen_blocks(const Layout& layout, bool upper) {
  constexpr std::int64_t least_columns = 128;
  const std::int64_t n = layout.shape()[0];
  const int count = static_cast<int>(std::min<std::int64_t>(8, n / least_columns));
  const TriangleBlock whole{0, n, 0, n};
  if (count < 2) return {whole};
  std::vector<TriangleBlock> blocks = blocks_of(n, count, upper);
  std::int64_t elements = 0;
  for (const TriangleBlock& block : blocks) elements += largest_part(layout, block);
  if (4 * elements > 3 * largest_part(layout, whole)) return {whole};
  return blocks;
}

void check_update(const Array& a, const Array& c, const RankUpdateOptions& options) {
  constexpr std::string_view operation = "rank_k_update";
  check_matrix(operation, "A", a.operand());
  check_matrix(operation, "C", c.operand());
  const bool complex = is_complex(a.dtype());
  const Op other = options.symmetric || !complex ? Op::transpose : Op::conjugate_transpose;
  const bool known =
      options.op == Op::none || options.op == other || (!complex && options.op == Op::conjugate_transpose);
  check(known, "{}: op is {}; supported are none and {}", operation, name(options.op), name(other));
  const bool is_real = options.alpha.imag() == 0 && options.beta.imag() == 0;
  check(!complex || options.symmetric || is_real, "{}: alpha and beta of a Hermitian update must be real",
        operation);
  const std::int64_t n = a.shape()[transposes(options.op) ? 1 : 0];
  check(c.shape() == Shape({n, n}), "{}: C must be {} x {}, but its shape is {}", operation, n, n,
        to_string(c.shape()));
  arrays::check_same_context(operation, a, "A", c, "C");
  check(!arrays::overlap(a, c), "{}: A and C overlap in memory", operation);
}

/// Rows of op(A).
Array rows_of(const Array& a, Op op, std::int64_t first, std::int64_t count) {
  if (transposes(op)) return a.window({0, first}, {a.shape()[0], count});
  return a.window({first, 0}, {count, a.shape()[1]});
}

}  // namespace
}  // namespace linear

void rank_k_update(const Array& a, Array& c, const RankUpdateOptions& options) {
  const runtime::PublicCall call("rank_k_update");
  check(a.valid() && c.valid(), "rank_k_update: {} holds no array", a.valid() ? "C" : "A");
  ContextState& context = *a.context_state();
  context.require_usable("rank_k_update");
  runtime::check_or_tell_all(context, "rank_k_update", [&] { linear::check_update(a, c, options); });
  const Op adjoint = options.symmetric || !is_complex(a.dtype()) ? Op::transpose : Op::conjugate_transpose;
  const bool transposed = linear::transposes(options.op);
  MatmulOptions how;
  how.stream = options.stream;
  how.op_a = transposed ? adjoint : Op::none;
  how.op_b = transposed ? Op::none : adjoint;
  how.alpha = options.alpha;
  how.beta = options.beta;
  how.compute = options.compute;
  const auto blocks = linear::chosen_blocks(c.layout(), options.upper);
  if (blocks.size() == 1) return matmul_into(a, a, &c, c, how);
  for (const linear::TriangleBlock& block : blocks) {
    Array part = c.window({block.row, block.column}, {block.rows, block.columns});
    matmul_into(linear::rows_of(a, how.op_a, block.row, block.rows),
                linear::rows_of(a, how.op_a, block.column, block.columns), &part, part, how);
  }
}

}  // namespace partita
