// Factors as LAPACK stores them.
#include <array>

#include "array/device_mirror.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "linalg/factors.hpp"
#include "linalg/results.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

using execution::Operation;

void Factors::run_packing(const Array& other, bool packs) const {
  const Operand& of_other = other.state()->operand;
  constexpr std::string_view operation = "pack factors";
  contexts::PlanKey key(operation);
  key.add(kind_, panels_.width, factor(), of_other, packs);
  const auto planned = Operation::kept<LinearOperation>(*context_, key, operation, [&]() -> LinearRequest {
    const Operand factors = factor();
    const MemorySpace space = space_of(factors, of_other);
    execution::ArrayUse source{.name = "the factors", .operand = factors};
    execution::ArrayUse destination{.name = "the packed factors", .operand = of_other};
    if (!packs) std::swap(source, destination);
    destination.read = false;
    destination.written = true;
    return {
        .uses = {source, destination, {.name = "the pivots", .operand = pivots_.state()->operand}},
        .plan = [kind = kind_, options = options_of(panels_), factors = arrays::as_planned(factors, space),
                 of_other = arrays::as_planned(of_other, space), packs,
                 kept_in = factors.space](const Topology& topology, int rank) {
          return plan_packing(kind, factors, of_other, topology, rank, options, {}, packs, kept_in);
        }};
  });
  const Array &from = packs ? factor_ : other, &to = packs ? other : factor_;
  const std::array<const Array*, 3> arrays{&from, &to, &pivots_};
  planned->run(arrays, {}, std::nullopt);
}

Array Factors::packed(SourcePlace where) const {
  require_factorized();
  Array result = arrays::allocate(context_, layout_like(matrix_, shape()), matrix_.dtype,
                                  options_like(matrix_), "packed factors", where);
  run_packing(result, true);
  return result;
}

void Factors::pack_into(Array& array) const {
  require_factorized();
  runtime::check_or_tell_all(*context_, name(), [&] {
    check(array.valid(), "{}: the array for the factors is none", name());
    arrays::check_context(name(), *context_, "the factorization", array, "the array for the factors");
    check(array.shape() == shape() && array.dtype() == matrix_.dtype,
          "{}: the factors are {} of shape {}, but the array for them is {} of shape {}", name(),
          partita::name(matrix_.dtype), to_string(shape()), partita::name(array.dtype()),
          to_string(array.shape()));
    check(!arrays::overlap(factor_, array), "{}: the array for the factors overlaps them in memory", name());
    arrays::check_written(name(), array);
  });
  run_packing(array, true);
}

}  // namespace partita::linear
