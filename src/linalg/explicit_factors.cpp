// Triangles, Q and inverses as new arrays.
#include <partita/redistribute.hpp>

#include "array/fill_by_number.hpp"
#include "array/transfer.hpp"
#include "linalg/diagonal.hpp"
#include "linalg/factors.hpp"
#include "linalg/results.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

Array Factors::triangle(bool lower, SourcePlace where) const {
  require_factorized();
  Panels panels = panels_;
  if (!lower) panels.rows = panels_.least();
  const Array own = new_like_factor(panels.rows, where);
  runtime::check_or_tell_all(*context_, name(), [&] {
    View from = factor_.local();
    if (!panels.on_grid()) from.extents[0] = panels.rows;
    arrays::copy_view(*context_, from, own.local());
    clear_other_triangle(own, panels, lower);
  });
  const ArrayOptions options = options_like(matrix_);
  return redistribute(own, layout_like(matrix_, own.shape()),
                      {.order = options.order, .residency = options.residency}, where);
}

Array Factors::unit_matrix(std::int64_t columns, SourcePlace where) const {
  Array array = empty(Context(context_), layout_like(matrix_, {shape()[0], columns}), matrix_.dtype,
                      options_like(matrix_), where);
  arrays::fill_by_number(array, [&](std::int64_t number, auto& element) {
    using Element = std::remove_reference_t<decltype(element)>;
    if constexpr (!is_small_float_type<Element>)
      element = static_cast<Element>(number / columns == number % columns ? 1 : 0);
  });
  return array;
}

Array Factors::q(SourcePlace where) const {
  require_factorized();
  Array q = unit_matrix(panels_.least(), where);
  apply_into(q_job(Op::none), q, q, {});
  return q;
}

Array Factors::inverse(SourcePlace where) const {
  const Job job = checked_job(Op::none);
  Array x = unit_matrix(shape()[1], where);
  apply_into(job, x, x, {});
  return x;
}

}  // namespace partita::linear
