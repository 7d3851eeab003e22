#include <atomic>
#include <partita/array.hpp>
#include <partita/call_names.hpp>

#include "array/array_name.hpp"
#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "array/overlap.hpp"
#include "base/check.hpp"
#include "runtime/checks/array_number.hpp"

namespace partita {
namespace {

const Array::State& require(const std::shared_ptr<Array::State>& state) {
  check(state != nullptr, "this Array holds no array");
  return *state;
}

}  // namespace

const Layout& Array::layout() const {
  return require(state_).operand.layout;
}
Dtype Array::dtype() const {
  return require(state_).operand.dtype;
}
Operand Array::operand() const {
  return require(state_).operand;
}
const View& Array::local() const {
  return require(state_).local;
}
std::int64_t Array::local_size() const {
  return volume(local().extents);
}
Context Array::context() const {
  return Context(require(state_).context);
}
const std::shared_ptr<ContextState>& Array::context_state() const {
  return require(state_).context;
}

bool arrays::is_first_holder(const Layout& layout, int rank) {
  const Region mine = layout.region(rank);
  if (mine.empty()) return false;
  const std::vector<Layout::Cell> cells = layout.cells(mine);
  return !cells.empty() && cells.front().contributions.front().front() == rank;
}

void arrays::check_has_values(std::string_view operation, const Array& array) {
  check(!array.layout().partial(), "{}: the array {} is partial and has no values yet; redistribute it first",
        operation, array.layout().to_string());
}

namespace {

void refuse_shared(bool shared, std::string_view operation, int rank) {
  check(!shared,
        "{}: the destination has overlapping elements on rank {} (a stride of 0, or windows that "
        "overlap): it is read-only",
        operation, rank);
}

void refuse_read_only(bool read_only, std::string_view operation, int rank) {
  check(!read_only,
        "{}: the destination is const memory on rank {} (View::read_only): it is read-only; copy it first",
        operation, rank);
}

}  // namespace

std::uint64_t arrays::new_memory() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void arrays::check_written(std::string_view operation, const Array& array) {
  const Array::State& state = require(array.state());
  refuse_shared(state.shared_rank >= 0, operation, state.shared_rank);
  refuse_read_only(state.read_only_rank >= 0, operation, state.read_only_rank);
}

void arrays::check_written(std::string_view operation, const View& view, int rank) {
  refuse_shared(elements_meet(view), operation, rank);
  refuse_read_only(view.read_only, operation, rank);
}

std::string origin_of(const Array& array) {
  const std::uint64_t number = require(array.state()).number;
  return number == 0 ? "" : runtime::array_text(number) + " of the context";
}

void set_origin(Array& array, const Array& model) {
  require(array.state());
  array.state()->number = runtime::number_of_result(require(model.state()).number);
}

std::string arrays::name_of(const Array& array) {
  const std::string origin = origin_of(array), text = array.operand().to_string();
  return origin.empty() ? text : fmt::format("{} ({})", text, origin);
}

Order arrays::order_of(const Operand& operand) {
  const Extents rows = Operand::of(operand.layout, operand.dtype).axis_order;
  return operand.axis_order == rows ? Order::row_major : Order::column_major;
}

void Array::require_dtype(Dtype wanted) const {
  check(dtype() == wanted, "the array holds {}, not {}", name(dtype()), name(wanted));
}

}  // namespace partita
