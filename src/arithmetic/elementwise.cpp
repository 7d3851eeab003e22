// destination[i] = a[i] op b[i]: every rank of its own part, with what it has of the operands.
#include <fmt/format.h>

#include <partita/elementwise.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/broadcast.hpp"
#include "array/overlap.hpp"
#include "device/stream_work.hpp"

namespace partita {
namespace {

using arithmetic::Step;
using kernels::Arithmetic;
using kernels::ElementwisePass;

/// One operation as it is called.
struct Joining {
  std::string_view name;
  Arithmetic operation;
  const ArrayOrScalar& a;
  const ArrayOrScalar& b;
  const Scalar* factor = nullptr;  ///< of axpy
};

void check_operation(const Joining& joining) {
  check(joining.a.is_array() || joining.b.is_array(), "{}: neither operand is an array", joining.name);
  const Array& one = joining.a.is_array() ? joining.a.array() : joining.b.array();
  for (const ArrayOrScalar* operand : {&joining.a, &joining.b}) {
    if (!operand->is_array()) continue;
    arithmetic::check_values(joining.name, operand->array());
    arithmetic::check_alike(joining.name, operand->array(), one);
  }
  check(kernels::is_defined(joining.operation, one.dtype()), "{} is not defined for {}", joining.name,
        name(one.dtype()));
}

/// The one redistribution of an operand after which every rank has what its part of `other` needs.
std::string remedy_for(std::string_view which, const Layout& operand, std::string_view other,
                       const Layout& wanted) {
  if (operand.shape() != wanted.shape())
    return fmt::format("redistribute the {} operand, which is broadcast, to Replicated()", which);
  return fmt::format("redistribute the {} operand to the layout of the {}: redistribute(b, a.layout())",
                     which, other);
}

/// Where the operand's elements may not be overwritten before they are read.
bool overlaps(const View& operand, const View& destination) {
  const bool same = operand.data == destination.data && operand.extents == destination.extents &&
                    operand.strides == destination.strides;
  return !same && arrays::overlap(operand, destination);
}

/// `which`: "first" or "second".
void check_operand(const Joining& joining, std::string_view which, const Array& operand,
                   const Array& destination) {
  arithmetic::check_alike(joining.name, operand, destination);
  check(arithmetic::broadcast(joining.name, operand.shape(), destination.shape()) == destination.shape(),
        "{}: an operand is {}, larger than the destination, {}", joining.name, to_string(operand.shape()),
        to_string(destination.shape()));
  check(arithmetic::suits(operand.layout(), destination.layout()),
        "{}: the {} operand is {}, the destination {}: some ranks do not own the elements that their part "
        "needs; {}",
        joining.name, which, operand.layout().to_string(), destination.layout().to_string(),
        remedy_for(which, operand.layout(), "destination", destination.layout()));
  check(!overlaps(operand.local(), destination.local()), "{}: an operand overlaps the destination",
        joining.name);
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
std::vector<arithmetic::Dimension> dimensions_of(const Joining& joining, const Array& destination) {
  const Layout& layout = destination.layout();
  const int rank = destination.context_state()->rank();
  const View& local = destination.local();
  const Region region = layout.region(rank);
  std::array<std::vector<Step>, 2> steps;
  for (const std::size_t x : {0U, 1U}) {
    const ArrayOrScalar& operand = x == 0 ? joining.a : joining.b;
    steps[x].resize(static_cast<std::size_t>(layout.dimensions()));
    if (!operand.is_array()) continue;
    steps[x] = arithmetic::steps_of(operand.array().layout(), operand.array().local().strides, layout, rank);
  }
  std::vector<arithmetic::Dimension> dimensions;
  for (int d = 0; d < layout.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const bool by_index = steps[0][i].by_index || steps[1][i].by_index;
    dimensions.push_back(
        {by_index ? arithmetic::pieces_of(region.sets[i]) : arithmetic::one_piece(local.extents[d]),
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
  pass.dtype = destination.dtype();
  pass.number = number;
  arithmetic::for_each_nest(
      dimensions_of(joining, destination), [&](const arithmetic::Offsets& at, const arithmetic::Nest& loops) {
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

/// Local.
void join(const Joining& joining, Array& destination, const std::optional<Stream>& stream) {
  check_operation(joining);
  arithmetic::check_values(joining.name, destination);
  arrays::check_written(joining.name, destination);
  if (joining.a.is_array()) check_operand(joining, "first", joining.a.array(), destination);
  if (joining.b.is_array()) check_operand(joining, "second", joining.b.array(), destination);
  arithmetic::check_stream(joining.name, destination, stream);
  const std::array<std::byte, 16> number = number_of(joining, destination.dtype());
  destination.context_state()->require_usable_here(joining.name);
  carry_out(joining, destination, number, stream);
}

// --- into a new array

/// The array whose layout the result has; null: the result is Replicated. Throws ArgumentError where there is
/// none that suits.
const Array* model_of(const Joining& joining, const Shape& shape) {
  const ArrayOrScalar* operands[] = {&joining.a, &joining.b};
  bool has_shape = false;
  for (const int x : {0, 1}) {
    const ArrayOrScalar &one = *operands[x], &other = *operands[1 - x];
    if (!one.is_array() || one.array().shape() != shape) continue;
    has_shape = true;
    if (!other.is_array() || arithmetic::suits(other.array().layout(), one.array().layout()))
      return &one.array();
  }
  const Layout& a = joining.a.array().layout();
  const Layout& b = joining.b.array().layout();
  const Layout everywhere(Replicated{}, shape, a.ranks());
  const bool whole_a = arithmetic::suits(a, everywhere), whole_b = arithmetic::suits(b, everywhere);
  if (!has_shape && whole_a && whole_b) return nullptr;
  std::string remedy;
  if (a.shape() == shape) {
    remedy = remedy_for("second", b, "first operand", a);
  } else if (b.shape() == shape) {
    remedy = remedy_for("first", a, "second operand", b);
  } else {
    const std::string_view which = whole_a ? "the second operand" : whole_b ? "the first operand" : "both";
    remedy = fmt::format("redistribute {} to Replicated()", which);
  }
  throw ArgumentError(
      fmt::format("{}: the operands are {} and {}: some ranks do not own the elements that their part of the "
                  "result needs; {}",
                  joining.name, a.to_string(), b.to_string(), remedy));
}

struct Result {
  Layout layout;
  Order order;
  std::array<std::byte, 16> number;  ///< the operand that is none of an array
};

Result result_of(const Joining& joining) {
  check_operation(joining);
  const Array& one = joining.a.is_array() ? joining.a.array() : joining.b.array();
  const Array& other = joining.b.is_array() ? joining.b.array() : one;
  const Shape shape = arithmetic::broadcast(joining.name, one.shape(), other.shape());
  const std::array<std::byte, 16> number = number_of(joining, one.dtype());
  const Array* const model = model_of(joining, shape);
  if (model != nullptr) return {model->layout(), arrays::order_of(model->operand()), number};
  return {Layout(Replicated{}, shape, one.layout().ranks()), Order::row_major, number};
}

/// What ranks compare.
std::string number_text(const Joining& joining) {
  if (joining.a.is_array() && joining.b.is_array()) return "";
  return (joining.a.is_array() ? joining.b : joining.a).scalar().to_string() + " ";
}

Array joined(const Joining& joining) {
  const Array& one = joining.a.is_array() ? joining.a.array() : joining.b.array();
  check(one.valid(), "{}: an operand is an empty Array", joining.name);
  const std::shared_ptr<ContextState>& context = one.context_state();
  context->require_usable(joining.name);
  std::optional<Result> result;
  runtime::check_or_tell_all(*context, joining.name, [&] { result = result_of(joining); });
  Array array = arrays::allocate_on_heap(context, result->layout, one.dtype(), result->order,
                                         fmt::format("{} {}into {} {}", joining.name, number_text(joining),
                                                     name(one.dtype()), result->layout.to_string()),
                                         SourcePlace::current(), one.local().space);
  carry_out(joining, array, result->number, {});
  return array;
}

constexpr std::string_view add_name = "add", subtract_name = "subtract", multiply_name = "multiply",
                           divide_name = "divide";

}  // namespace

void scale(Array& array, const Scalar& factor, std::optional<Stream> stream) {
  join({"scale", Arithmetic::multiply, array, factor}, array, stream);
}

void axpy(const Scalar& alpha, const Array& x, Array& y, std::optional<Stream> stream) {
  join({"axpy", Arithmetic::axpy, x, y, &alpha}, y, stream);
}

void add(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination, std::optional<Stream> stream) {
  join({add_name, Arithmetic::add, a, b}, destination, stream);
}

void subtract(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
              std::optional<Stream> stream) {
  join({subtract_name, Arithmetic::subtract, a, b}, destination, stream);
}

void multiply(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
              std::optional<Stream> stream) {
  join({multiply_name, Arithmetic::multiply, a, b}, destination, stream);
}

void divide(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
            std::optional<Stream> stream) {
  join({divide_name, Arithmetic::divide, a, b}, destination, stream);
}

Array& operator+=(Array& array, const ArrayOrScalar& other) {
  return add(array, other, array), array;
}
Array& operator-=(Array& array, const ArrayOrScalar& other) {
  return subtract(array, other, array), array;
}
Array& operator*=(Array& array, const ArrayOrScalar& other) {
  return multiply(array, other, array), array;
}
Array& operator/=(Array& array, const ArrayOrScalar& other) {
  return divide(array, other, array), array;
}

Array operator+(const Array& a, const ArrayOrScalar& b) {
  return joined({add_name, Arithmetic::add, a, b});
}
Array operator-(const Array& a, const ArrayOrScalar& b) {
  return joined({subtract_name, Arithmetic::subtract, a, b});
}
Array operator*(const Array& a, const ArrayOrScalar& b) {
  return joined({multiply_name, Arithmetic::multiply, a, b});
}
Array operator/(const Array& a, const ArrayOrScalar& b) {
  return joined({divide_name, Arithmetic::divide, a, b});
}
Array operator+(const Scalar& a, const Array& b) {
  return joined({add_name, Arithmetic::add, a, b});
}
Array operator-(const Scalar& a, const Array& b) {
  return joined({subtract_name, Arithmetic::subtract, a, b});
}
Array operator*(const Scalar& a, const Array& b) {
  return joined({multiply_name, Arithmetic::multiply, a, b});
}
Array operator/(const Scalar& a, const Array& b) {
  return joined({divide_name, Arithmetic::divide, a, b});
}

}  // namespace partita
