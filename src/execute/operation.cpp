#include "execute/operation.hpp"

#include <algorithm>
#include <utility>

#include "array/device_mirror.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/option_text.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "execute/device/packet_plan.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::execution {
namespace {

bool is_in_device_memory(const ArrayUse& use) {
  return use.operand.space == MemorySpace::device;
}

}  // namespace

Operation::Operation(ContextState& context, std::string_view name) : context_(context), name_(name) {}

Operation::~Operation() = default;

void Operation::check_streams() const {
  for (const ArrayUse& use : uses_) {
    check<UnsupportedError>(is_in_device_memory(use),
                            "{}: {} is in host memory; stream-ordered calls require device arrays", name_,
                            use.name);
  }
}

void Operation::set_uses(std::vector<ArrayUse> uses, const std::optional<Stream>& stream) {
  uses_ = std::move(uses);
  on_device_ = std::ranges::any_of(uses_, is_in_device_memory);
  all_on_device_ = std::ranges::all_of(uses_, is_in_device_memory);
  if (stream) check_streams();
}

// --- planning

std::vector<Fact> Operation::ask() {
  std::vector<Fact> facts = prepare();
  if (on_device_) devices::require_no_capture(context_, name_, "making a plan");
  return facts;
}

void Operation::plan_together() {
  context_.require_usable(name_);
  std::vector<Fact> facts;
  bool asks = false;
  runtime::collectively(context_, name_, [&] {
    facts = ask();
    // Who carries messages between nodes decides what is planned, and asks all ranks itself.
    asks = context_.device_topology.node_count() > 1 || asks_all_ranks();
    if (!asks) plan_and_bind_or_pack();
    return facts;
  });
  if (asks) {
    grouped_ = on_device_ && devices::messages_go_in_groups(context_);
    if (asks_all_ranks()) ask_all_ranks();
    runtime::collectively(context_, name_, [&] {
      plan_and_bind_or_pack();
      return facts;
    });
  }
  after_check();
  context_.heap_in(space()).collect();  // plan creation is a named point of deferred release
  if (packets_ && !packets_->suits_all_ranks()) {
    packets_.reset();
    without_packets();
    runtime::collectively(context_, name_, [&] { plan_and_bind(); });
  }
  in_packets_ = packets_ != nullptr;
  if (in_packets_) unconnected_ = std::move(packets_);
  if (unconnected_) connect();
  purpose_ = fmt::format("{} {}", name_, text_of(plan().identity));
}

void Operation::plan_and_bind() {
  planned_ = plan_of(context_.rank());
  if (!binds_late()) bind();
}

void Operation::plan_and_bind_or_pack() {
  std::optional<Planned> planned = plan_in_packets(context_.rank());
  if (!planned) return plan_and_bind();
  packets_ = std::make_unique<PacketPlan>(context_, std::move(planned->plan), *planned->exchange);
}

Planner Operation::planner() const {
  return [this](int rank) { return (in_packets_ ? *plan_in_packets(rank) : plan_of(rank)).plan; };
}

// --- binding

void Operation::bind() {
  before_binding();
  std::optional<std::int64_t> workspace;
  if (workspace_.valid()) workspace = workspace_.state()->heap_offset;
  unconnected_ = Executor::bind(context_, planned_, workspace);
  after_binding();
}

void Operation::bind_together() {
  context_.require_usable(name_);
  contexts::with_room(context_, [&] {
    runtime::collectively(context_, name_, [&]() -> std::vector<Fact> {
      if (on_device_) devices::require_no_capture(context_, name_, "making a plan");
      bind();
      return {{"scratch of", purpose_}};
    });
    after_check();
    connect();
  });
}

void Operation::connect() {
  if (in_packets_) {
    unconnected_->connect();
  } else {
    Executor::connect_all(context_, unconnected_);
  }
  works_bytes_ = unconnected_->local_workspace_bytes();
  make_mirrors();
  bound_ = std::move(unconnected_);
  planned_.plan = {};
  make_seen();
}

void Operation::make_mirrors() {
  mirrors_.clear();
  if (!on_device_ || std::ranges::all_of(uses_, is_in_device_memory)) return;
  mirrors_.resize(uses_.size());
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const ArrayUse& use = uses_[i];
    if (is_in_device_memory(use)) continue;
    mirrors_[i] = use.same_as >= 0 ? mirrors_[static_cast<std::size_t>(use.same_as)]
                                   : arrays::allocate_device_mirror(context_, use.operand);
  }
}

void Operation::make_seen() {
  seen_.assign(uses_.size(), std::nullopt);
  operands_.assign(uses_.size(), nullptr);
  std::size_t i = 0;
  for (const Buffer& buffer : plan().buffers) {
    if (buffer.kind != BufferKind::operand) continue;
    const std::size_t use = i++;
    if (uses_[use].axes.empty() && !uses_[use].is_view) continue;
    const Operand& operand = *buffer.operand;
    Seen seen{{nullptr, operand, {}, nullptr}, {}, buffer.name};
    seen.state.local.extents = operand.layout.local_shape(context_.rank());
    if (operand.dense) seen.strides = operand.local_strides(context_.rank());
    seen_[use] = std::move(seen);
  }
}

Array Operation::result(const std::shared_ptr<ContextState>& context, std::size_t use,
                        std::string_view purpose, SourcePlace where) const {
  const Operand& operand = uses_[use].operand;
  const bool in_rows = operand.axis_order.size() < 2 || operand.axis_order[0] == 0;
  const ArrayOptions options{.residency = operand.residency,
                             .order = in_rows ? Order::row_major : Order::column_major,
                             .space = operand.space};
  return arrays::allocate(context, operand.layout, operand.dtype, options, purpose, where);
}

void Operation::release() {
  if (bound_) planned_.plan = bound_->plan();
  bound_.reset();
  mirrors_.clear();
  context_.heap_in(space()).collect();
}

std::int64_t Operation::scratch_bytes() const {
  return execution::scratch_bytes(context_, plan()) + works_bytes_;
}

std::int64_t Operation::mirror_bytes() const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    if (!mirrors_[i].valid() || uses_[i].same_as >= 0) continue;
    bytes += mirrors_[i].layout().local_size(context_.rank()) * size_of(mirrors_[i].dtype());
  }
  return bytes;
}

void Operation::set_workspace(const Array& workspace) {
  runtime::collectively(context_, name_, [&]() -> std::vector<Fact> {
    check(workspace.valid() && workspace.state()->heap_offset >= 0,
          "{}: a workspace must be an array on the symmetric heap", name_);
    arrays::check_context(name_, context_, "the plan", workspace, "the workspace");
    const MemorySpace given = workspace.local().space;
    check(given == space(), "{}: the plan uses {} memory, but the workspace is in {} memory", name_,
          partita::name(space()), partita::name(given));
    const std::int64_t bytes = workspace.local_size() * size_of(workspace.dtype());
    check(bytes >= scratch_bytes(), "{}: the workspace has {} bytes on this rank, but {} are needed", name_,
          bytes, scratch_bytes());
    return {{"workspace", fmt::format("at {}", workspace.state()->heap_offset)}};
  });
  if (bound_) planned_.plan = bound_->plan();
  bound_.reset();
  workspace_ = workspace;
  if (!binds_late()) bind_together();
}

// --- execution

void Operation::run(std::span<const Array* const> given, const Parameters& parameters,
                    const std::optional<Stream>& stream) {
  if (stream && !all_on_device_) check_streams();
  if (!stream && on_device_ && (!bound_ || !mirrors_.empty()))
    arrays::require_no_capture_together(context_, name_);
  if (!bound_) bind_together();
  if (stream) {
    (void)seen(given);
    enqueue(parameters, stream);
  } else if (mirrors_.empty()) {
    bound_->execute(seen(given), parameters);
  } else {
    copy_to_mirrors(given, parameters);
    bound_->execute(seen(given), parameters);
    copy_from_mirrors(given);
  }
}

void Operation::see(std::size_t use, const View& view, std::int64_t heap_offset) {
  Array::State& state = seen_[use]->state;
  const int dimensions = state.operand.layout.dimensions();
  state.local = view;
  if (view.strides.size() != dimensions) state.local.strides = Strides::filled(dimensions, 0);  // of nothing
  state.heap_offset = heap_offset;
  operands_[use] = &state;
}

void Operation::enqueue(const Parameters& parameters, const std::optional<Stream>& stream) {
  if (on_device_) contexts::keep_for_graph(context_, devices::stream_or_own(context_, stream), bound_);
  bound_->enqueue(operands_, parameters, stream);
}

std::span<const Array::State* const> Operation::seen(std::span<const Array* const> given) {
  runtime::check_or_tell_all(context_, name_, [&] {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const bool mirrored = !mirrors_.empty() && mirrors_[i].valid();
      operands_[i] = seen(i, mirrored ? mirrors_[i] : *given[i]);
    }
  });
  return operands_;
}

const Array::State* Operation::seen(std::size_t use, const Array& given) {
  const Array::State& array = *given.state();
  if (!seen_[use]) return &array;
  if (mirrors_.empty() || !mirrors_[use].valid()) check_suits(seen_[use]->name, uses_[use].operand, array);
  Array::State& result = seen_[use]->state;
  const Extents extents = result.local.extents;
  Strides strides = seen_[use]->strides;
  if (strides.empty()) {
    for (const int axis : uses_[use].axes) strides.push_back(axis < 0 ? 1 : array.local.strides[axis]);
  }
  result.local = array.local;
  result.local.extents = extents;
  result.local.strides = strides;
  result.heap_offset = array.heap_offset;
  result.number = array.number;
  return &result;
}

/// What copying needs of memory, some rank may not have.
void Operation::copy(const Array& from, const Array& to) {
  runtime::check_or_tell_all(context_, name_, [&] { arrays::copy_view(context_, from.local(), to.local()); });
}

void Operation::copy_to_mirrors(std::span<const Array* const> given, const Parameters& parameters) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (mirrors_[i].valid()) arrays::check_matches(uses_[i].operand, *given[i], name_, uses_[i].name);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (mirrors_[i].valid() && reads(i, parameters)) copy(*given[i], mirrors_[i]);
  }
}

void Operation::copy_from_mirrors(std::span<const Array* const> given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (mirrors_[i].valid() && uses_[i].written) copy(mirrors_[i], *given[i]);
  }
}

}  // namespace partita::execution
