#include <partita/array.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"

namespace partita {
namespace {

const Array::State& require(const std::shared_ptr<Array::State>& state) {
  check(state != nullptr, "this Array holds no array");
  return *state;
}

}  // namespace

Array::Array() = default;
Array::~Array() = default;
Array::Array(const Array&) = default;
Array& Array::operator=(const Array&) = default;
Array::Array(Array&&) noexcept = default;
Array& Array::operator=(Array&&) noexcept = default;
Array::Array(std::shared_ptr<State> state) : state_(std::move(state)) {}

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
const std::shared_ptr<ContextState>& Array::context() const {
  return require(state_).context;
}

void Array::require_dtype(Dtype wanted) const {
  check(dtype() == wanted, "the array holds {}, not {}", name(dtype()), name(wanted));
}

}  // namespace partita
