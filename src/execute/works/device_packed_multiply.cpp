#include "execute/works/device_packed_multiply.hpp"

#include <utility>

#include "base/round.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

/// Starts of small products cost more than copies.
constexpr std::int64_t short_run = 128;

}  // namespace

struct PackedMultiply::Operand {
  std::size_t number;  // 0: a, 1: b, 2: to
  const ProductRole& role;
  const BoundPart& part;
  bool pads_rows, pads_columns;
  bool by_columns;  // the layout when it is packed
  bool transposed;  // its region is columns x rows
};

PackedMultiply::PackedMultiply(const Multiply& given, const DeviceWorkBinding& binding)
    : work(given), workspaces_(binding.workspaces) {
  take(binding);
  aligns_ = binding.math().wants_aligned(shape->a.dtype(), shape->m_size, shape->n_size, shape->k_size);
  if (shape->empty()) return;
  if (aligns_) padding = padding_of(*shape);
  while (pack(given, binding)) take(binding);
}

void PackedMultiply::take(const DeviceWorkBinding& binding) {
  shape = std::make_unique<ProductShape>(work, binding.memory, ProductRules{short_run, short_run, true});
}

/// Places what BLAS cannot take in the workspace, in the order in which it can; false: it takes all. What has
/// been packed changes how the others can be taken.
bool PackedMultiply::pack(const Multiply& given, const DeviceWorkBinding& binding) {
  const auto factor_by_columns = [&](const ProductRole& role, bool conjugated) {
    return conjugated && is_complex(shape->to.dtype()) ? !shape->to_by_columns : role.lies_by_columns(0, 0);
  };
  const Operand a{0,
                  shape->role_a,
                  shape->a,
                  padding.m,
                  padding.k,
                  factor_by_columns(shape->role_a, given.conjugate_a),
                  given.transpose_a};
  const Operand b{1,
                  shape->role_b,
                  shape->b,
                  padding.k,
                  padding.n,
                  factor_by_columns(shape->role_b, given.conjugate_b),
                  given.transpose_b};
  const Operand to{2, shape->role_to, shape->to, padding.m, padding.n, shape->to_by_columns, false};
  const Plan& plan = binding.memory.plan;
  // The result first: the others follow its layout.
  if (pack(to, given.to, work.to, plan)) return true;
  const bool packs_a = pack(a, given.a, work.a, plan);
  return pack(b, given.b, work.b, plan) || packs_a;
}

bool PackedMultiply::pack(const Operand& operand, const Part& given, Part& packed, const Plan& plan) {
  const auto& [number, role, part, pads_rows, pads_columns, by_columns, transposed] = operand;
  const bool is_new = !is_packed(packed);
  const bool padded =
      pads_rows || pads_columns || (aligns_ && is_misaligned(role, *shape, number, part, given.place.offset));
  if (!role.packed && !(is_new && padded)) return false;
  const Dtype dtype = planning::dtype_at(plan, given.place);
  const Shape extents = given.region.shape();
  const int row = extents.size() - (transposed ? 1 : 2), column = extents.size() - (transposed ? 2 : 1);
  Extents order = Extents::filled(extents.size(), 0);
  for (int d = 0; d < order.size(); ++d) order[d] = d;
  if (by_columns != transposed) std::swap(order[row], order[column]);
  const std::int64_t rows = ProductPadding::of(extents[row], pads_rows),
                     columns = ProductPadding::of(extents[column], pads_columns);
  const std::int64_t offset = is_new ? workspace_bytes : packed.place.offset;
  if (is_new) {
    const std::int64_t matrices = given.region.size() / (extents[row] * extents[column]);
    const std::int64_t elements = aligns_ ? padded_elements(matrices, rows, columns) : given.region.size();
    workspace_bytes += round_up(elements * size_of(dtype), workspace_alignment);
  }
  const std::int64_t length = by_columns ? rows : columns;
  packed.place = {workspaces_ + static_cast<int>(dtype), plan.rank, offset, order,
                  aligns_ ? round_up(length, ProductPadding::unit) : length};
  return true;
}

}  // namespace partita::execution
