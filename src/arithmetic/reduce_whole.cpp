// All elements of an array reduced: each rank reduces its own part, then one number per rank is reduced.
#include <fmt/format.h>

#include <cstring>
#include <partita/array_reductions.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/folding.hpp"
#include "collectives/by_name.hpp"
#include "context/device_answer.hpp"
#include "device/stream_work.hpp"
#include "runtime/checks/call_notes.hpp"

namespace partita {
namespace {

using arithmetic::Folding;

/// One number of any dtype.
struct Number {
  alignas(16) std::array<std::byte, 16> bytes{};
  View view(Dtype dtype) { return View::dense(bytes.data(), dtype, {1}); }
};

void fold_on_device(const Folding& folding, const Array& array, const Array* other, Number& number,
                    std::string_view operation, const std::optional<Stream>& stream) {
  ContextState& context = *array.context_state();
  void* const result = contexts::device_answer(context);
  devices::put_into_stream(context, operation, stream, [&](Stream used, bool) {
    arithmetic::fold_part(folding, array, other, {result, {}, {}, false}, used);
  });
  devices::finish_device(context, operation);
  // Only now: no stream may write to the number once a wait has failed.
  std::memcpy(number.bytes.data(), result, sizeof(number.bytes));
}

/// Into `result`. Collective. The arrays are checked.
void join_of_all_ranks(const Folding& folding, const Array& array, const Array* other,
                       std::string_view operation, const std::optional<Stream>& stream, Number& result) {
  const std::shared_ptr<ContextState>& context = array.context_state();
  const runtime::CallNotes::OfArrays of(
      *context->notes, {array.state()->number, other == nullptr ? 0 : other->state()->number});
  Number number;
  write_identity(folding.reduction, folding.joined, number.bytes.data());
  runtime::check_or_tell_all(*context, operation, [&] {
    if (!arithmetic::counts(array.layout(), context->rank())) return;
    if (array.local().space == MemorySpace::device) {
      fold_on_device(folding, array, other, number, operation, stream);
    } else {
      arithmetic::fold_part(folding, array, other, {number.bytes.data(), {}, {}, false}, {});
    }
  });
  const View joined = number.view(folding.joined);
  collective::all_reduce_of(array, operation, joined, joined,
                            {.reduction = folding.reduction, .deterministic = true});
  arithmetic::finish_part(*context, folding, joined, result.view(folding.result), volume(array.shape()), {});
}

/// The same as a number. Collective.
Scalar joined_of_all_ranks(Folding folding, const Array& array, const Array* other,
                           std::string_view operation, const std::optional<Stream>& stream) {
  Number result;
  join_of_all_ranks(folding, array, other, operation, stream, result);
  if (arithmetic::squares_leave_range(folding, array.dtype())) {
    const auto found = Scalar::of(folding.result, result.bytes.data()).as<double>();  // of all ranks the same
    for (const double factor : arithmetic::factors_for(found, found)) {
      folding.factor = factor;
      join_of_all_ranks(folding, array, other, operation, stream, result);
    }
  }
  return Scalar::of(folding.result, result.bytes.data());
}

}  // namespace

std::string_view name(ArrayReduction reduction) {
  constexpr std::string_view names[] = {"sum", "product", "min", "max", "mean", "norm", "any", "all"};
  const auto index = static_cast<std::size_t>(reduction);
  check(index < std::size(names), "unknown reduction number {}", index);
  return names[index];
}

Scalar reduce(const Array& array, ArrayReduction reduction, std::optional<Stream> stream) {
  const std::string_view operation = name(reduction);
  check(array.valid(), "{}: the array is an empty Array", operation);
  array.context_state()->require_usable(operation);
  Folding folding;
  runtime::check_or_tell_all(*array.context_state(), operation, [&] {
    arithmetic::check_values(operation, array);
    arithmetic::check_stream(operation, array, stream);
    folding = arithmetic::folding_of(reduction, array.dtype());
    check(!folding.needs_elements || volume(array.shape()) > 0, "{}: the array {} has no elements", operation,
          to_string(array.shape()));
    arithmetic::check_folds(operation, array, stream);
  });
  arithmetic::make_fold_scratch(operation, array);
  return joined_of_all_ranks(folding, array, nullptr, operation, stream);
}

Scalar inner_product(const Array& a, const Array& b, bool conjugated, std::optional<Stream> stream) {
  const std::string_view operation = conjugated ? "vdot" : "dot";
  check(a.valid(), "{}: an operand is an empty Array", operation);
  a.context_state()->require_usable(operation);
  runtime::check_or_tell_all(*a.context_state(), operation, [&] {
    arithmetic::check_values(operation, a);
    arithmetic::check_values(operation, b);
    arithmetic::check_alike(operation, a, b);
    arithmetic::check_stream(operation, a, stream);
    check(a.layout() == b.layout() || a.layout().equivalent(b.layout()),
          "{}: the arrays are {} and {}; redistribute the second one to the layout of the first", operation,
          a.layout().to_string(), b.layout().to_string());
    arithmetic::check_folds(operation, a, stream);
  });
  arithmetic::make_fold_scratch(operation, a);
  return joined_of_all_ranks(arithmetic::inner_product_of(a.dtype(), conjugated), a, &b, operation, stream);
}

}  // namespace partita
