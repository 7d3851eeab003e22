#include "execute/works/product_shape.hpp"

#include "base/check.hpp"

namespace partita::execution {
namespace {

BoundPart factor(const Part& part, const WorkBinding& binding, bool transposed,
                 std::optional<Dtype> dtype = {}) {
  BoundPart bound(part, binding, dtype);
  return transposed ? bound.transpose() : bound;
}

std::int64_t rows(const BoundPart& part) {
  return part.extent(part.dimensions() - 2);
}
std::int64_t columns(const BoundPart& part) {
  return part.extent(part.dimensions() - 1);
}
PartAxis row_axis(const BoundPart& part) {
  return part.axis(part.dimensions() - 2);
}
PartAxis column_axis(const BoundPart& part) {
  return part.axis(part.dimensions() - 1);
}

std::int64_t joins(const BoundPart& one, const BoundPart& other, const BoundPart& to,
                   const ProductRules& rules) {
  const bool others = one.dtype() != to.dtype() || other.dtype() != to.dtype();
  return others ? rules.short_run_of_others : rules.short_run;
}

/// Whether all chunks are evenly spaced in two dimensions, of a form that passes the test.
template <class Test>
bool all_forms(const ProductRole& role, Test&& test) {
  for (std::size_t i = 0; i < role.rows->chunks().size(); ++i) {
    for (std::size_t j = 0; j < role.columns->chunks().size(); ++j) {
      const kernels::TileAxis& r = role.row(i);
      const kernels::TileAxis& c = role.column(j);
      if (r.table != nullptr || c.table != nullptr) return false;
      if (!test(kernels::blas_form({r.count, c.count, r.step, c.step}))) return false;
    }
  }
  return true;
}

}  // namespace

bool ProductRole::lies_by_columns(std::size_t i, std::size_t j) const {
  return !rows->chunks().empty() && !columns->chunks().empty() && row(i).adjacent() && !column(j).adjacent();
}

ProductShape::ProductShape(const Multiply& work, const WorkBinding& binding, const ProductRules& rules)
    : a(factor(work.a, binding, work.transpose_a)),
      b(factor(work.b, binding, work.transpose_b, work.dtype_b)),
      to(work.to, binding),
      m_size(rows(to)),
      n_size(columns(to)),
      k_size(columns(a)),
      m(row_axis(a), row_axis(to), m_size, joins(a, to, to, rules)),
      n(column_axis(b), column_axis(to), n_size, joins(b, to, to, rules)),
      k(column_axis(a), row_axis(b), k_size, joins(a, b, to, rules)),
      role_a{&m, 0, &k, 0},
      role_b{&k, 1, &n, 0},
      role_to{&m, 1, &n, 1} {
  invariant(rows(a) == m_size && columns(b) == n_size && rows(b) == k_size,
            "a multiply of {}x{} by {}x{} into {}x{}", rows(a), columns(a), rows(b), columns(b), m_size,
            n_size);
  list_batches();
  choose_roles(work, rules);
}

// The leading dimensions of the result; an operand without them is the same for every one of them.
void ProductShape::list_batches() {
  batches.push_back({});
  const int dimensions = to.dimensions();
  for (int d = 0; d < dimensions - 2; ++d) {
    const auto axis = [&](const BoundPart& part) {
      return part.dimensions() == dimensions ? part.axis(d) : PartAxis{};
    };
    const std::array<PartAxis, 3> parts{axis(a), axis(b), axis(to)};
    const std::vector<AxisRun> runs = axis_runs(parts, to.extent(d));
    std::vector<Batch> next;
    for (const Batch& batch : batches) {
      for (const AxisRun& run : runs) {
        for (std::int64_t i = 0; i < run.count; ++i) {
          Batch one = batch;
          for (std::size_t x = 0; x < one.size(); ++x) one[x] += run.offset[x] + i * run.step[x];
          next.push_back(one);
        }
      }
    }
    batches = std::move(next);
  }
}

void ProductShape::choose_roles(const Multiply& work, const ProductRules& rules) {
  const bool by_columns = all_forms(role_to, [](const kernels::BlasForm& form) { return form.by_columns; });
  const bool by_rows = all_forms(role_to, [](const kernels::BlasForm& form) { return form.by_rows; });
  role_to.packed = rules.packs_result || (!by_columns && !by_rows);
  to_by_columns = role_to.packed ? role_to.lies_by_columns(0, 0) : by_columns;
  const auto readable = [&](const ProductRole& role, Dtype dtype, bool conjugated) {
    if (dtype != to.dtype() && !rules.reads_others) return false;
    return all_forms(role, [&](const kernels::BlasForm& form) {
      return form.any() && (!conjugated || kernels::blas_conjugates(form, to_by_columns));
    });
  };
  const bool conjugates = is_complex(to.dtype());
  role_a.packed = !readable(role_a, a.dtype(), conjugates && work.conjugate_a);
  role_b.packed = !readable(role_b, b.dtype(), conjugates && work.conjugate_b);
}

}  // namespace partita::execution
