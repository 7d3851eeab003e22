#include <partita/context.hpp>
#include <utility>

#include "base/check.hpp"
#include "runtime/collective.hpp"
#include "runtime/context_state.hpp"

namespace partita {

namespace {

ContextState& present(const std::shared_ptr<ContextState>& state) {
  check(state != nullptr, "the context has been moved away");
  return *state;
}

}  // namespace

Context::Context(std::shared_ptr<ContextState> state) : state_(std::move(state)) {}

Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

int Context::rank() const {
  return present(state_).rank();
}

int Context::size() const {
  return present(state_).size();
}

const Topology& Context::topology() const {
  return present(state_).topology();
}

int Context::threads() const {
  return present(state_).threads;
}

void Context::barrier() const {
  present(state_).require_usable("barrier");
  partita::barrier(*state_);
}

void Context::collect() {
  present(state_).require_usable("collect");
  state_->heap->collect();
}

std::string Context::close() {
  present(state_).require_alive("close");
  if (state_->closed) return "";
  state_->plans.clear();  // they own scratch memory
  state_->heap->collect();
  std::string leaks = state_->heap->leaks();
  if (!leaks.empty()) state_->log->warn("symmetric memory that was never freed:\n{}", leaks);
  partita::barrier(*state_, "close");
  state_->closed = true;
  return leaks;
}

bool Context::failed() const noexcept {
  return state_ != nullptr && state_->failed();
}

std::string Context::failure() const {
  return present(state_).failure();
}

}  // namespace partita
