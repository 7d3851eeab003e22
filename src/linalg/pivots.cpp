// Pivots, as LAPACK counts them.
#include <partita/redistribute.hpp>

#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "linalg/factors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

Array Factors::pivots(SourcePlace where) const {
  require_factorized();
  const Operand operand = pivots_.state()->operand;
  Array result = arrays::allocate_on_heap(context_, operand.layout, operand.dtype, Order::column_major,
                                          name(), where, operand.space);
  runtime::check_or_tell_all(*context_, name(), [&] {
    const Array host = arrays::copied_to_host(pivots_);
    if (kind_ == Factorization::lu) {
      auto* const pivots = host.data<std::int32_t>();
      for (std::int64_t i = 0; i < panels_.least(); ++i)
        pivots[i] += static_cast<std::int32_t>(i / panels_.width * panels_.width);
    }
    arrays::copy_view(*context_, host.local(), result.local());
  });
  return result;
}

void Factors::take_pivots(const Array& given) {
  const Dtype wanted = pivots_.dtype();
  runtime::check_or_tell_all(*context_, name(), [&] {
    check(given.valid(), "{}: the pivots hold no array", name());
    arrays::check_context(name(), *context_, "the factors", given, "the pivots");
    check(given.dtype() == wanted && given.shape() == Shape{panels_.least()},
          "{}: the pivots must be {} of shape [{}], but are {} of shape {}", name(), partita::name(wanted),
          panels_.least(), partita::name(given.dtype()), to_string(given.shape()));
  });
  const Array replicated = redistribute(given, Replicated(), {.space = MemorySpace::host});
  runtime::check_or_tell_all(*context_, name(), [&] {
    if (kind_ == Factorization::lu) {
      auto* const pivots = replicated.data<std::int32_t>();
      for (std::int64_t i = 0; i < panels_.least(); ++i) {
        check(pivots[i] >= i && pivots[i] < panels_.rows,
              "{}: row {} cannot have been exchanged with row {} of {}", name(), i, pivots[i], panels_.rows);
        pivots[i] -= static_cast<std::int32_t>(i / panels_.width * panels_.width);
      }
    }
    arrays::copy_view(*context_, replicated.local(), pivots_.local());
  });
}

}  // namespace partita::linear
