#include <partita/astype.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "kernels/host/convert.hpp"
#include "runtime/agree.hpp"

namespace partita {

Array astype(const Array& array, Dtype dtype, const ArrayOptions& options, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = array.context();
  context->require_usable("astype");
  const bool loses = is_complex(array.dtype()) && !is_complex(dtype) && dtype != Dtype::boolean;
  runtime::collectively(*context, "astype", [&]() -> std::vector<Fact> {
    check(!loses,
          "astype: {} numbers do not become {}: write the part that is meant, or the absolute value, into a "
          "real array (for_each_local, fill)",
          name(array.dtype()), name(dtype));
    return {{"array", array.operand().to_string()}, {"dtype", std::string(name(dtype))}};
  });
  ArrayOptions made = options;
  made.space = options.space.value_or(array.local().space);
  Array result =
      arrays::allocate(context, array.layout(), dtype, made, fmt::format("astype {}", name(dtype)), where);
  if (dtype == array.dtype()) return copy(array, result), result;
  const Array from = arrays::on_host(array);
  const bool here = result.local().space == MemorySpace::host;
  const Array to = here ? result : arrays::host_like(result);
  kernels::convert(from.local(), to.local());
  if (!here) copy(to, result);
  return result;
}

}  // namespace partita
