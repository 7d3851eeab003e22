// The part of each rank, extended by what its neighbours own.
#include <array>
#include <optional>
#include <partita/collectives.hpp>
#include <tuple>
#include <utility>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/call.hpp"
#include "collectives/halo_geometry.hpp"
#include "collectives/heap_offsets.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"
#include "device/device_synchronization.hpp"
#include "execute/operation.hpp"
#include "runtime/checks/call_notes.hpp"

namespace partita {
namespace collective {
namespace {

constexpr std::int64_t most_device_scratch = 256 << 20;  // on a device

/// Ghost cells of one way, planned and bound. Uses: views of the part, of the extended part, and of the
/// part's place in it.
class HaloExchange final : public execution::Operation {
 public:
  /// `in_halves`: what is run ends with `finish_half`. In host memory.
  HaloExchange(ContextState& context, const Operand& operand, const HaloOptions& options,
               HaloWay way = HaloWay::exchange, bool in_halves = false)
      : Operation(context, "halo"), operand_(operand), options_(options), way_(way), in_halves_(in_halves) {}

  /// Peers wait for what has been started.
  ~HaloExchange() override {
    if (!started_) return;
    std::erase(context().started, this);
    if (!on_device() && !context().failed())
      context().fail("halo: an exchange was started and never finished");
  }

  bool started() const { return started_; }
  Shape extended() const { return extended_shape(*halos_, context().rank()); }
  View interior(const View& extended) const { return interior_of(*halos_, extended, context().rank()); }

  /// `part`: the source, or the destination.
  void run(const View& part, const View& extended, const std::optional<Stream>& stream) {
    look_at(part, extended, stream);
    enqueue({}, stream);
  }

  void start(const View& part, const View& extended, const std::optional<Stream>& stream) {
    if (on_device()) {
      run(part, extended, stream);
      if (!exchanged_) exchanged_ = context().device->event();
      exchanged_->record(devices::stream_or_own(context(), stream));
    } else {
      look_at(part, extended, stream);
      if (!halves_) halves_ = make<HaloExchange>(context(), operand_, options_, way_, true);
      halves_->run(part, extended, stream);
    }
    started_ = true;
    context().started.push_back(this);
  }

  void finish(const std::optional<Stream>& stream) {
    context().require_usable("halo");
    check(started_, "halo: finish() without a start()");
    check(context().started.front() == this,
          "halo: another exchange of this context was started earlier: finish it first");
    arrays::require_stream_of_device("halo", on_device(), stream);
    started_ = false;
    context().started.erase(context().started.begin());
    if (!on_device()) return halves_->finish_half();
    context().device->use();
    exchanged_->hold(devices::stream_or_own(context(), stream));
  }

 private:
  std::vector<Fact> prepare() override {
    const auto& [layout, dtype] = std::tie(operand_.layout, operand_.dtype);
    check(layout.ranks() == context().size(), "halo: the layout {} does not suit a context of {} ranks",
          layout.to_string(), context().size());
    check(!options_.stream, "Halo: the options of a plan have a stream; pass it to execute");
    halos_ = make_halos(layout, options_);
    if (way_ == HaloWay::accumulate) check_sums();
    check<UnsupportedError>(operand_.space == MemorySpace::host || context().device != nullptr,
                            "halo: an array in device memory, but the context has no device");
    std::vector<execution::ArrayUse> uses;
    for (const Operand& operand : halo_operands(*halos_, dtype, operand_.space))
      uses.push_back({.name = "a view", .operand = operand, .is_view = true});
    set_uses(std::move(uses));
    facts_ = {{"layout and widths", halo_text(layout, options_)},
              {"way", way_ == HaloWay::exchange ? "exchange" : "accumulate"},
              {"dtype", std::string(partita::name(dtype))},
              {"memory", std::string(partita::name(operand_.space))}};
    // A rank that starts where others execute is found out.
    if (in_halves_) facts_.push_back({"in halves", "yes"});
    return facts_;
  }

  bool asks_all_ranks() const override { return true; }
  void ask_all_ranks() override {
    most_bytes_ =
        runtime::largest_of_ranks(context(), "halo",
                                  halo_posted_bytes(*halos_, context().topology(space()), context().rank(),
                                                    operand_.dtype, way_, space()));
  }

  // In halves: the same plan, on whose messages what comes in between does not wait.
  execution::Planned plan_of(int rank) const override {
    std::vector<Operand> operands;
    for (const execution::ArrayUse& use : uses()) operands.push_back(use.operand);
    const Request request{name(), operands, context().topology(space()), rank, facts_, grouped()};
    if (goes_through_rings()) return {plan_halo(request, options_, halos_->layout, way_)};
    PostedHalo posted = plan_posted_halo(request, *halos_, most_bytes_, way_);
    return {.plan = std::move(posted.plan), .given = in_halves_ ? posted.given : 0};
  }

  /// Of devices, whose memory is dear: messages in groups, and more than may be in scratch.
  bool goes_through_rings() const { return on_device() && (grouped() || most_bytes_ > most_device_scratch); }

  void finish_half() { Operation::finish(); }

  /// What is refused on this rank is refused on all that come to listen.
  void look_at(const View& part, const View& extended, const std::optional<Stream>& stream) {
    context().require_usable("halo");
    check_views(std::array{part, extended}, stream, [&] { check_own(part, extended, stream); });
    const bool is_empty = volume(halos_->layout.local_shape(context().rank())) == 0;
    see(0, is_empty ? View{} : with_rank(part));
    see(1, is_empty ? View{} : with_rank(extended));
    see(2, is_empty ? View{} : with_rank(interior(extended)));
  }

  void check_sums() const {
    check(!operand_.layout.is_replicated(),
          "halo: sums into the replicated array {} would be added once per rank; redistribute it first",
          operand_.layout.to_string());
    check(is_defined(Reduction::sum, operand_.dtype), "halo: no sum is defined for {}",
          partita::name(operand_.dtype));
  }

  void check_own(const View& part, const View& extended, const std::optional<Stream>& stream) const {
    const View views[] = {part, extended};
    check_space(context(), "halo", views, space(), stream);
    const Shape own = halos_->layout.local_shape(context().rank());
    if (volume(own) == 0) return;
    check_one(part, own, "the part");
    check_one(extended, this->extended(), "the extended part");
    check_same_or_apart("halo", part, interior(extended), extended);
    arrays::check_written("halo", way_ == HaloWay::exchange ? extended : part, context().rank());
  }

  void check_one(const View& view, const Shape& wanted, const char* what) const {
    const int rank = context().rank();
    check(view.extents == wanted && view.strides.size() == wanted.size(),
          "halo: {} of rank {} is {}, but {} is expected", what, rank, to_string(view.extents),
          to_string(wanted));
    check(view.dtype == operand_.dtype, "halo: {} of rank {} is {}, but the plan was made for {}", what, rank,
          partita::name(view.dtype), partita::name(operand_.dtype));
    check(view.data != nullptr, "halo: {} of rank {} is a null pointer", what, rank);
  }

  Operand operand_;
  HaloOptions options_;
  HaloWay way_;
  bool in_halves_;
  std::vector<Fact> facts_;
  std::int64_t most_bytes_ = 0;  // that a rank gives within its node
  std::optional<Halos> halos_;
  std::shared_ptr<HaloExchange> halves_;             // of the host; null until the first start
  std::unique_ptr<devices::DeviceEvent> exchanged_;  // of a device: behind what was started
  bool started_ = false;
};

}  // namespace
}  // namespace collective

Shape halo_shape(const Layout& layout, int rank, const HaloOptions& options) {
  return collective::extended_shape(collective::make_halos(layout, options), rank);
}

View halo_interior(const View& extended, const Layout& layout, int rank, const HaloOptions& options) {
  const collective::Halos halos = collective::make_halos(layout, options);
  return collective::interior_of(halos, extended, rank);
}

struct Halo::State {
  std::shared_ptr<ContextState> context;  // declared first: it outlives the plans
  Operand operand;
  HaloOptions options;
  std::shared_ptr<collective::HaloExchange> runner;
  std::shared_ptr<collective::HaloExchange> adjoint = {};

  /// This rank's part of an array that the plans suit. Of another one some ranks' parts may fit, too: all
  /// ranks refuse it.
  const View& part_of(const Array& array) const {
    runtime::check_or_tell_all(
        *context, "halo", [&] { arrays::check_context("halo", *context, "the plan", array, "the array"); });
    const bool suits = array.layout() == operand.layout || array.layout().equivalent(operand.layout);
    if (!suits) {
      runtime::check_or_tell_all(*context, "halo", [&] {
        throw ArgumentError(fmt::format("halo: the array is {}, but the plan was made for {}",
                                        array.layout().to_string(), operand.layout.to_string()));
      });
    }
    return array.local();
  }

  /// What is executed while it lives is of that array, of which the plans see the part.
  struct Noted {
    const View& part;
    runtime::CallNotes::OfArrays of;
  };
  Noted noted(const Array& array) const {
    const View& part = part_of(array);
    return {part, {*context->notes, {array.state()->number}}};
  }

  bool accumulates() const { return adjoint && adjoint->started(); }

  collective::HaloExchange& exchanging() const {
    require_finished();
    return *runner;
  }

  /// Collective where it is the first time.
  collective::HaloExchange& accumulating() {
    require_finished();
    if (!adjoint) {
      adjoint = execution::Operation::make<collective::HaloExchange>(*context, operand, options,
                                                                     collective::HaloWay::accumulate);
    }
    return *adjoint;
  }

  void require_finished() const {
    context->require_usable("halo");
    check(!runner->started() && !accumulates(),
          "halo: an exchange was started and is not finished: call finish() first");
  }
};

Halo::Halo(const Context& context, const Operand& operand, const HaloOptions& options)
    : state_(new State{
          context.state(), operand, options,
          execution::Operation::make<collective::HaloExchange>(*context.state(), operand, options)}) {}

Halo::~Halo() = default;
Halo::Halo(Halo&&) noexcept = default;
Halo& Halo::operator=(Halo&&) noexcept = default;

Shape Halo::extended_shape() const {
  return state_->runner->extended();
}

View Halo::interior(const View& extended) const {
  return state_->runner->interior(extended);
}

void Halo::execute(const Array& source, const View& extended, std::optional<Stream> stream) {
  execute(state_->noted(source).part, extended, stream);
}

void Halo::execute(const View& source, const View& extended, std::optional<Stream> stream) {
  state_->exchanging().run(source, extended, stream);
}

void Halo::refresh(const View& extended, std::optional<Stream> stream) {
  execute(interior(extended), extended, stream);
}

void Halo::accumulate(const View& extended, const Array& destination, std::optional<Stream> stream) {
  accumulate(extended, state_->noted(destination).part, stream);
}

void Halo::accumulate(const View& extended, const View& destination, std::optional<Stream> stream) {
  state_->accumulating().run(destination, extended, stream);
}

void Halo::accumulate(const View& extended, std::optional<Stream> stream) {
  accumulate(extended, interior(extended), stream);
}

void Halo::start(const Array& source, const View& extended, std::optional<Stream> stream) {
  start(state_->noted(source).part, extended, stream);
}

void Halo::start(const View& source, const View& extended, std::optional<Stream> stream) {
  state_->exchanging().start(source, extended, stream);
}

void Halo::start(const View& extended, std::optional<Stream> stream) {
  start(interior(extended), extended, stream);
}

void Halo::start_accumulate(const View& extended, const Array& destination, std::optional<Stream> stream) {
  start_accumulate(extended, state_->noted(destination).part, stream);
}

void Halo::start_accumulate(const View& extended, const View& destination, std::optional<Stream> stream) {
  state_->accumulating().start(destination, extended, stream);
}

void Halo::start_accumulate(const View& extended, std::optional<Stream> stream) {
  start_accumulate(extended, interior(extended), stream);
}

void Halo::finish(std::optional<Stream> stream) {
  (state_->accumulates() ? state_->adjoint : state_->runner)->finish(stream);
}

const Plan& Halo::plan() const {
  return state_->runner->plan();
}

void halo_exchange(const Array& source, const View& extended, const HaloOptions& options) {
  ContextState& context = *source.context_state();
  context.require_usable("halo");
  contexts::PlanKey key("halo");
  key.add(source.state()->operand.layout, options.lower, options.upper, options.periodic.size(),
          source.dtype(), source.local().space);
  for (const bool turns : options.periodic) (void)key.add(turns);
  HaloOptions planned = options;
  planned.stream.reset();
  const auto halo =
      execution::Operation::kept<collective::HaloExchange>(context, key, source.operand(), planned);
  const runtime::CallNotes::OfArrays of(*context.notes, {source.state()->number});
  halo->run(source.local(), extended, options.stream);
}

}  // namespace partita
