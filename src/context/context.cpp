#include <partita/call_names.hpp>
#include <partita/context.hpp>
#include <partita/refusal.hpp>
#include <utility>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "context/kept_plans.hpp"
#include "device/device_synchronization.hpp"
#include "device/packet_board.hpp"
#include "device/run_ahead.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"
#include "runtime/checks/rank_zero.hpp"

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
Context::Context(const Context&) = default;
Context& Context::operator=(const Context&) = default;

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

const Machine& Context::machine() const {
  return present(state_).machine;
}

void Context::barrier() const {
  present(state_).require_usable("barrier");
  runtime::barrier(*state_);
}

Device Context::device() const {
  return present(state_).options.device;
}

Stream Context::stream() const {
  return present(state_).device ? state_->device->stream() : Stream{};
}

void Context::synchronize(std::optional<Stream> stream) const {
  present(state_).require_usable_here("synchronize");
  devices::finish_device(*state_, "synchronize", stream);
}

void Context::collect() {
  present(state_).require_usable("collect");
  contexts::collect_memory(*state_);
}

std::string Context::close(bool logged) {
  present(state_).require_alive("close");
  if (state_->closed) return "";
  runtime::refuse_in_rank_zero(*state_, "close");
  check(state_->started.empty(), "close: a halo exchange was started and is not finished");
  state_->plans.clear();  // they own scratch memory
  state_->attachments.clear();
  state_->run_ahead.reset();
  state_->packets.reset();
  devices::finish_device(*state_, "close");
  contexts::collect_memory(*state_);
  std::string leaks = state_->heap->leaks();
  if (state_->device_heap) leaks += state_->device_heap->leaks();
  if (logged && !leaks.empty()) state_->log->warn("symmetric memory that was never freed:\n" + leaks);
  runtime::barrier(*state_, "close");
  state_->closed = true;
  return leaks;
}

void Context::fail(const std::string& why) const noexcept {
  if (state_ == nullptr || state_->closed || !state_->home.is_here()) return;
  state_->fail(why);
}

bool Context::failed() const noexcept {
  if (state_ == nullptr) return false;
  state_->settle_failure();
  return state_->failed();
}

std::string Context::failure() const {
  return present(state_).failure();
}

void throw_on_all(const Context& context, std::string_view operation, const std::exception_ptr& error) {
  check(error != nullptr, "throw_on_all: there is no exception: call it in an exception handler");
  runtime::refuse_on_all(*context.state(), operation, error);
}

void listen_to_all(const Context& context, std::string_view operation) {
  present(context.state()).require_usable(operation);
  runtime::barrier(*context.state(), operation);
}

void agree(const Context& context, std::string_view operation,
           const std::function<std::vector<Fact>()>& local) {
  ContextState& state = present(context.state());
  state.require_usable(operation);
  runtime::collectively(state, operation, local);
}

void name_calls_by(std::string (*name)()) noexcept {
  runtime::name_public_calls_by(name);
}

void rank_zero(const Context& context, const std::function<void()>& body) {
  ContextState& state = present(context.state());
  state.require_usable("rank_zero");
  check(body != nullptr, "rank_zero: no function is given");
  runtime::collectively(state, "rank_zero", [&] {
    if (state.rank() != 0) return;
    const runtime::RankZeroScope inside(state);
    body();
  });
}

}  // namespace partita
