// to[i] = a[i] op b[i]: every rank of its own part, with what it has of the operands.
#include "arithmetic/joining.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arithmetic/arguments.hpp"
#include "arithmetic/broadcast.hpp"
#include "array/pairs.hpp"
#include "device/stream_work.hpp"

namespace partita::arithmetic {
namespace {

using kernels::Arithmetic;
using kernels::ElementwisePass;

const Array& one_array(const Joining& joining) {
  return joining.a.is_array() ? joining.a.array() : joining.b.array();
}

Dtype result_dtype(const Joining& joining) {
  return kernels::is_comparison(joining.operation) ? Dtype::boolean : one_array(joining).dtype();
}

void check_operation(const Joining& joining) {
  check(joining.a.is_array() || joining.b.is_array(), "{}: neither operand is an array", joining.name);
  const Array& one = one_array(joining);
  for (const ArrayOrScalar* operand : {&joining.a, &joining.b}) {
    if (!operand->is_array()) continue;
    check_values(joining.name, operand->array());
    check_alike(joining.name, operand->array(), one);
  }
  check(kernels::is_defined(joining.operation, one.dtype()), "{} is not defined for {}", joining.name,
        name(one.dtype()));
  check<UnsupportedError>(
      one.local().space == MemorySpace::host || kernels::is_on_devices(joining.operation, one.dtype()),
      "{}: not available for {} in device memory; compute it on a copy in host memory: "
      "clone(a, {{.space = MemorySpace::host}})",
      joining.name, name(one.dtype()));
}

/// The one redistribution of an operand after which every rank has what its part of `other` needs.
std::string remedy_for(std::string_view which, const Layout& operand, std::string_view other,
                       const Layout& wanted) {
  if (operand.shape() != wanted.shape())
    return fmt::format("redistribute the {} operand, which is broadcast, to Replicated()", which);
  return fmt::format("redistribute the {} operand to the layout of the {}: redistribute(b, a.layout())",
                     which, other);
}

bool are_one(const View& a, const View& b) {
  return a.data == b.data && a.dtype == b.dtype && a.extents == b.extents && a.strides == b.strides;
}

/// Where the operand's elements may not be overwritten before they are read.
bool overlaps(const View& operand, const View& destination) {
  return !are_one(operand, destination) && arrays::overlap(operand, destination);
}

/// `which`: "first" or "second".
void check_place(std::string_view operation, std::string_view which, const Array& operand,
                 const Array& destination) {
  check(broadcast(operation, operand.shape(), destination.shape()) == destination.shape(),
        "{}: an operand is {}, larger than the destination, {}", operation, to_string(operand.shape()),
        to_string(destination.shape()));
  check(suits(operand.layout(), destination.layout()),
        "{}: the {} operand is {}, the destination {}: some ranks do not own the elements that their part "
        "needs; {}",
        operation, which, operand.layout().to_string(), destination.layout().to_string(),
        remedy_for(which, operand.layout(), "destination", destination.layout()));
  check(!overlaps(operand.local(), destination.local()), "{}: an operand overlaps the destination",
        operation);
}

void check_operand(const Joining& joining, std::string_view which, const Array& operand,
                   const Array& destination) {
  if (kernels::is_comparison(joining.operation)) {
    check_together(joining.name, operand, destination);
    check(destination.dtype() == Dtype::boolean, "{}: the destination is {}; comparisons write booleans",
          joining.name, name(destination.dtype()));
  } else {
    check_alike(joining.name, operand, destination);
  }
  check_place(joining.name, which, operand, destination);
}

/// Throws ArgumentError where it is no number of the dtype.
std::array<std::byte, 16> number_of(const Joining& joining, Dtype dtype) {
  std::array<std::byte, 16> number{};
  const Scalar* scalar = joining.factor;
  if (!joining.a.is_array()) scalar = &joining.a.scalar();
  if (!joining.b.is_array()) scalar = &joining.b.scalar();
  if (scalar == nullptr) return number;
  try {
    scalar->write(dtype, number.data());
  } catch (const ArgumentError&) {
    throw ArgumentError(
        fmt::format("{}: {} is not representable in {}, the dtype of the array; convert it with astype",
                    joining.name, scalar->to_string(), name(dtype)));
  }
  return number;
}

/// The dimensions of the rank's part, in pieces where an operand has more than its part along some.
std::vector<Dimension> dimensions_of(const Joining& joining, const Array& destination) {
  const Layout& layout = destination.layout();
  const int rank = destination.context_state()->rank();
  const View& local = destination.local();
  const Region region = layout.region(rank);
  std::array<std::vector<Step>, 2> steps;
  for (const std::size_t x : {0U, 1U}) {
    const ArrayOrScalar& operand = x == 0 ? joining.a : joining.b;
    steps[x].resize(static_cast<std::size_t>(layout.dimensions()));
    if (!operand.is_array()) continue;
    steps[x] = steps_of(operand.array().layout(), operand.array().local().strides, layout, rank);
  }
  std::vector<Dimension> dimensions;
  for (int d = 0; d < layout.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const bool by_index = steps[0][i].by_index || steps[1][i].by_index;
    dimensions.push_back({by_index ? pieces_of(region.sets[i]) : one_piece(local.extents[d]),
                          {Step{local.strides[d], false, 0}, steps[0][i], steps[1][i]}});
  }
  return dimensions;
}

char* element(const View& view, std::int64_t offset) {
  return static_cast<char*>(view.data) + offset * size_of(view.dtype);
}

/// All is checked. `compute`: carries out one pass.
template <class Compute>
void for_each_pass(const Joining& joining, const Array& destination, const std::array<std::byte, 16>& number,
                   const Compute& compute) {
  ElementwisePass pass;
  pass.operation = joining.operation;
  pass.dtype = kernels::is_comparison(joining.operation) ? one_array(joining).dtype() : destination.dtype();
  pass.number = number;
  for_each_nest(dimensions_of(joining, destination), [&](const Offsets& at, const Nest& loops) {
    pass.data[ElementwisePass::to] = element(destination.local(), at[ElementwisePass::to]);
    if (joining.a.is_array())
      pass.data[ElementwisePass::a] = element(joining.a.array().local(), at[ElementwisePass::a]);
    if (joining.b.is_array())
      pass.data[ElementwisePass::b] = element(joining.b.array().local(), at[ElementwisePass::b]);
    pass.loops = kernels::simplified(loops, ElementwisePass::to);
    compute(pass);
  });
}

/// All is checked. Local.
void carry_out(const Joining& joining, Array& destination, const std::array<std::byte, 16>& number,
               const std::optional<Stream>& stream) {
  ContextState& context = *destination.context_state();
  if (destination.local_size() == 0) return;
  if (destination.local().space == MemorySpace::host)
    return for_each_pass(joining, destination, number, kernels::compute);
  devices::put_into_stream(context, joining.name, stream, [&](Stream used, bool) {
    for_each_pass(joining, destination, number,
                  [&](const ElementwisePass& pass) { context.device->compute(pass, used); });
  });
}

// --- into a new array

struct Source {
  std::string_view which;  ///< "first", "second"
  const Array* array;
};

/// What makes the operands suit each other.
std::string remedy_for(const std::vector<Source>& operands, const Shape& shape, const Layout& everywhere) {
  for (const Source& one : operands) {
    if (one.array->shape() != shape) continue;
    for (const Source& other : operands) {
      if (!suits(other.array->layout(), one.array->layout()))
        return remedy_for(other.which, other.array->layout(), fmt::format("{} operand", one.which),
                          one.array->layout());
    }
  }
  std::vector<std::string_view> spread;
  for (const Source& one : operands) {
    if (!suits(one.array->layout(), everywhere)) spread.push_back(one.which);
  }
  return spread.size() == 1
             ? fmt::format("redistribute the {} operand to Replicated()", spread.front())
             : fmt::format("redistribute {} to Replicated()", operands.size() == 2 ? "both" : "the operands");
}

/// The array whose layout the result has; null: the result is Replicated. Throws ArgumentError where there is
/// none that suits.
const Array* model_of(std::string_view operation, const std::vector<Source>& operands, const Shape& shape) {
  const auto all_suit = [&](const Layout& result) {
    return std::ranges::all_of(operands,
                               [&](const Source& one) { return suits(one.array->layout(), result); });
  };
  bool has_shape = false;
  for (const Source& one : operands) {
    if (one.array->shape() != shape) continue;
    has_shape = true;
    if (all_suit(one.array->layout())) return one.array;
  }
  const Layout everywhere(Replicated{}, shape, operands.front().array->layout().ranks());
  if (!has_shape && all_suit(everywhere)) return nullptr;
  std::vector<std::string> layouts;
  for (const Source& one : operands) layouts.push_back(one.array->layout().to_string());
  throw ArgumentError(fmt::format(
      "{}: the operands are {}: some ranks do not own the elements that their part of the result needs; {}",
      operation, fmt::join(layouts, " and "), remedy_for(operands, shape, everywhere)));
}

/// Where a new array is stored.
struct Place {
  Layout layout;
  Order order;
};

/// Of the arrays among the operands.
Place place_of(std::string_view operation, const std::vector<Source>& operands) {
  Shape shape = operands.front().array->shape();
  for (const Source& one : operands) shape = broadcast(operation, shape, one.array->shape());
  const Array* const model = model_of(operation, operands, shape);
  if (model != nullptr) return {model->layout(), arrays::order_of(model->operand())};
  return {Layout(Replicated{}, shape, operands.front().array->layout().ranks()), Order::row_major};
}

std::vector<Source> arrays_of(const Joining& joining) {
  std::vector<Source> operands;
  if (joining.a.is_array()) operands.push_back({"first", &joining.a.array()});
  if (joining.b.is_array()) operands.push_back({"second", &joining.b.array()});
  return operands;
}

/// What ranks compare.
std::string number_text(const ArrayOrScalar& operand) {
  return operand.is_array() ? "" : operand.scalar().to_string() + " ";
}

Array allocate(std::string_view purpose, const Array& one, const Place& place, Dtype dtype) {
  return arrays::allocate_on_heap(one.context_state(), place.layout, dtype, place.order,
                                  fmt::format("{}into {} {}", purpose, name(dtype), place.layout.to_string()),
                                  SourcePlace::current(), one.local().space);
}

}  // namespace

/// Local.
void join(const Joining& joining, Array& destination, const std::optional<Stream>& stream) {
  check_operation(joining);
  check_values(joining.name, destination);
  arrays::check_written(joining.name, destination);
  if (joining.a.is_array()) check_operand(joining, "first", joining.a.array(), destination);
  if (joining.b.is_array()) check_operand(joining, "second", joining.b.array(), destination);
  check_stream(joining.name, destination, stream);
  const std::array<std::byte, 16> number = number_of(joining, one_array(joining).dtype());
  destination.context_state()->require_usable_here(joining.name);
  carry_out(joining, destination, number, stream);
}

Array joined(const Joining& joining) {
  const Array& one = one_array(joining);
  check(one.valid(), "{}: an operand is an empty Array", joining.name);
  ContextState& context = *one.context_state();
  context.require_usable(joining.name);
  std::optional<Place> place;
  std::array<std::byte, 16> number{};
  runtime::check_or_tell_all(context, joining.name, [&] {
    check_operation(joining);
    number = number_of(joining, one.dtype());
    place = place_of(joining.name, arrays_of(joining));
  });
  const std::string numbers = number_text(joining.a) + number_text(joining.b);
  Array array = allocate(fmt::format("{} {}", joining.name, numbers), one, *place, result_dtype(joining));
  carry_out(joining, array, number, {});
  return array;
}

namespace {

Dtype operand_dtype(const ArrayOrScalar& operand) {
  return operand.is_array() ? operand.array().dtype() : operand.scalar().dtype();
}

void check_condition(std::string_view operation, const Array& condition) {
  check(condition.dtype() == Dtype::boolean, "{}: the condition is {}, not bool: compare it with a number",
        operation, name(condition.dtype()));
}

}  // namespace

void select(std::string_view operation, const Array& condition, const ArrayOrScalar& a,
            const ArrayOrScalar& b, Array& destination, const std::optional<Stream>& stream) {
  check_values(operation, condition);
  check_values(operation, destination);
  arrays::check_written(operation, destination);
  check_together(operation, condition, destination);
  check_condition(operation, condition);
  check_place(operation, "condition", condition, destination);
  for (const ArrayOrScalar* one : {&a, &b}) {
    if (!one->is_array()) continue;
    check_values(operation, one->array());
    check_alike(operation, one->array(), destination);
    check_place(operation, one == &a ? "first" : "second", one->array(), destination);
  }
  const bool is_kept = !a.is_array() || !arrays::overlap(a.array(), destination);
  check(is_kept && !arrays::overlap(condition, destination),
        "{}: the condition or the first operand overlaps the destination", operation);
  check(kernels::is_defined(Arithmetic::select, destination.dtype()), "{} is not defined for {}", operation,
        name(destination.dtype()));
  check_stream(operation, destination, stream);
  const ArrayOrScalar mask = condition;
  const Joining others{operation, Arithmetic::copy, b, b};
  const Joining chosen{operation, Arithmetic::select, mask, a};
  const auto number_a = number_of(chosen, destination.dtype());
  const auto number_b = number_of(others, destination.dtype());
  destination.context_state()->require_usable_here(operation);
  if (!b.is_array() || !are_one(b.array().local(), destination.local()))
    carry_out(others, destination, number_b, stream);
  carry_out(chosen, destination, number_a, stream);
}

Array selected(std::string_view operation, const Array& condition, const ArrayOrScalar& a,
               const ArrayOrScalar& b) {
  check(condition.valid(), "{}: an operand is an empty Array", operation);
  ContextState& context = *condition.context_state();
  context.require_usable(operation);
  const ArrayOrScalar mask = condition;
  const Joining others{operation, Arithmetic::copy, b, b};
  const Joining chosen{operation, Arithmetic::select, mask, a};
  const Dtype dtype = operand_dtype(a.is_array() || !b.is_array() ? a : b);
  std::optional<Place> place;
  std::array<std::byte, 16> number_a{}, number_b{};
  runtime::check_or_tell_all(context, operation, [&] {
    std::vector<Source> operands = {{"condition", &condition}};
    if (a.is_array()) operands.push_back({"first", &a.array()});
    if (b.is_array()) operands.push_back({"second", &b.array()});
    for (const Source& one : operands) {
      check_values(operation, *one.array);
      check_together(operation, *one.array, condition);
    }
    check_condition(operation, condition);
    if (a.is_array() && b.is_array()) check_alike(operation, a.array(), b.array());
    check(kernels::is_defined(Arithmetic::select, dtype), "{} is not defined for {}", operation, name(dtype));
    if (!a.is_array()) number_a = number_of(chosen, dtype);
    if (!b.is_array()) number_b = number_of(others, dtype);
    place = place_of(operation, operands);
  });
  Array array =
      allocate(fmt::format("{} {}{}", operation, number_text(a), number_text(b)), condition, *place, dtype);
  carry_out(others, array, number_b, {});
  carry_out(chosen, array, number_a, {});
  return array;
}

}  // namespace partita::arithmetic
