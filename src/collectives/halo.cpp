// The part of each rank, extended by what its neighbours own.
#include <array>
#include <functional>
#include <optional>
#include <partita/collectives.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/call.hpp"
#include "collectives/halo_geometry.hpp"
#include "collectives/heap_offsets.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plan_runner.hpp"
#include "collectives/plans.hpp"
#include "context/kept_plans.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"

namespace partita {
namespace collective {

namespace {

constexpr std::int64_t most_device_scratch = 256 << 20;  // on a device

View with_rank(View view) {
  view.extents = with_first(1, view.extents);
  view.strides = with_first(0, view.strides);
  return view;
}

/// The views of a call, checked: none where the rank's part is empty.
using HaloViews = std::array<View, 3>;

/// A halo plan bound to memory, of one way. Holds no share of the context.
class HaloRunner {
 public:
  /// Collective.
  HaloRunner(ContextState& context, const Operand& operand, const HaloOptions& options,
             HaloWay way = HaloWay::exchange)
      : context_(context), dtype_(operand.dtype), space_(operand.space), way_(way) {
    const Layout& layout = operand.layout;
    context.require_usable("halo");
    runtime::collectively(context, "halo", [&]() -> std::vector<Fact> {
      check(layout.ranks() == context.size(), "halo: the layout {} does not suit a context of {} ranks",
            layout.to_string(), context.size());
      check(!options.stream, "Halo: the options of a plan have a stream; pass it to execute");
      halos_ = make_halos(layout, options);
      if (way == HaloWay::accumulate) check_sums(layout);
      check<UnsupportedError>(space_ == MemorySpace::host || context.device != nullptr,
                              "halo: an array in device memory, but the context has no device");
      facts_ = {{"layout and widths", halo_text(layout, options)},
                {"way", way == HaloWay::exchange ? "exchange" : "accumulate"},
                {"dtype", std::string(name(dtype_))},
                {"memory", std::string(name(space_))}};
      return facts_;
    });
    most_bytes_ = runtime::largest_of_ranks(
        context, "halo",
        halo_posted_bytes(*halos_, context.topology(space_), context.rank(), dtype_, way, space_));
    bound_ = bind([&] {
      return std::make_unique<PlanRunner>(
          context, goes_through_rings() ? plan_ringed(options) : plan_posted(facts_).plan);
    });
  }

  /// Peers wait for what has been started.
  ~HaloRunner() {
    if (!started_) return;
    std::erase(context_.started, this);
    if (space_ == MemorySpace::host && !context_.failed())
      context_.fail("halo: an exchange was started and never finished");
  }
  HaloRunner(const HaloRunner&) = delete;
  HaloRunner& operator=(const HaloRunner&) = delete;

  const Plan& plan() const { return bound_->plan(); }
  bool started() const { return started_; }
  Shape extended() const { return extended_shape(*halos_, context_.rank()); }

  View interior(const View& extended) const { return interior_of(*halos_, extended, context_.rank()); }

  /// `part`: the source, or the destination.
  void run(const View& part, const View& extended, const std::optional<Stream>& given) {
    const Stream stream = given.value_or(Stream{});
    bound_->run(checked(part, extended, stream), stream);
  }

  void start(const View& part, const View& extended, const std::optional<Stream>& given) {
    const Stream stream = given.value_or(Stream{});
    const HaloViews views = checked(part, extended, stream);
    if (space_ == MemorySpace::device) {
      start_on_device(views, stream);
    } else {
      if (!halves_) bind_halves();
      halves_->run(views, {});
    }
    started_ = true;
    context_.started.push_back(this);
  }

  void finish(const std::optional<Stream>& given) {
    const Stream stream = given.value_or(Stream{});
    context_.require_usable("halo");
    check(started_, "halo: finish() without a start()");
    check(context_.started.front() == this,
          "halo: another exchange of this context was started earlier: finish it first");
    arrays::require_stream_of_device("halo", space_ == MemorySpace::device, stream);
    started_ = false;
    context_.started.erase(context_.started.begin());
    if (space_ == MemorySpace::host) return halves_->finish();
    context_.device->use();
    exchanged_->hold(devices::stream_or_own(context_, stream));
  }

 private:
  /// What is refused on this rank is refused on all that come to listen.
  HaloViews checked(const View& part, const View& extended, Stream stream) {
    context_.require_usable("halo");
    runtime::check_or_tell_all(context_, "halo", [&] { check_views(part, extended, stream); });
    if (volume(halos_->layout.local_shape(context_.rank())) == 0) return {};
    return {with_rank(part), with_rank(extended), with_rank(interior(extended))};
  }

  void start_on_device(const HaloViews& views, Stream stream) {
    bound_->run(views, stream);
    if (!exchanged_) exchanged_ = context_.device->event();
    exchanged_->record(devices::stream_or_own(context_, stream));
  }

  /// Of devices, whose memory is dear: messages in groups, and more than may lie in scratch.
  bool goes_through_rings() const {
    return space_ == MemorySpace::device &&
           (devices::messages_go_in_groups(context_) || most_bytes_ > most_device_scratch);
  }

  Plan plan_ringed(const HaloOptions& options) const {
    const std::vector<Operand> operands = halo_operands(*halos_, dtype_, space_);
    return plan_halo({"halo", operands, context_.topology(space_), context_.rank(), facts_,
                      devices::messages_go_in_groups(context_)},
                     options, halos_->layout, way_);
  }

  PostedHalo plan_posted(const std::vector<Fact>& facts) const {
    const std::vector<Operand> operands = halo_operands(*halos_, dtype_, space_);
    return plan_posted_halo({"halo", operands, context_.topology(space_), context_.rank(), facts}, *halos_,
                            most_bytes_, way_);
  }

  // The same plan for `start` and `finish`, on whose messages what comes in between is not to wait. Another
  // fact, so that a rank that starts where others execute is found out.
  void bind_halves() {
    std::vector<Fact> facts = facts_;
    facts.push_back({"in halves", "yes"});
    halves_ = bind([&] {
      PostedHalo posted = plan_posted(facts);
      return std::make_unique<PlanRunner>(context_, std::move(posted.plan), posted.given);
    });
  }

  /// Collective.
  std::unique_ptr<PlanRunner> bind(const std::function<std::unique_ptr<PlanRunner>()>& make) {
    std::unique_ptr<PlanRunner> runner;
    runtime::collectively(context_, "halo", [&]() -> std::vector<Fact> {
      runner = make();
      return facts_;
    });
    context_.heap_in(space_).collect();
    runner->connect();
    return runner;
  }

  void check_sums(const Layout& layout) const {
    check(!layout.is_replicated(),
          "halo: sums into the replicated array {} would be added once per rank; redistribute it first",
          layout.to_string());
    check(is_defined(Reduction::sum, dtype_), "halo: no sum is defined for {}", name(dtype_));
  }

  void check_views(const View& part, const View& extended, Stream stream) const {
    const View views[] = {part, extended};
    check_space(context_, "halo", views, space_, stream);
    const Shape own = halos_->layout.local_shape(context_.rank());
    if (volume(own) == 0) return;
    check_one(part, own, "the part");
    check_one(extended, this->extended(), "the extended part");
    check_same_or_apart("halo", part, interior(extended), extended);
    arrays::check_written("halo", way_ == HaloWay::exchange ? extended : part, context_.rank());
  }

  void check_one(const View& view, const Shape& wanted, const char* what) const {
    check(view.extents == wanted && view.strides.size() == wanted.size(),
          "halo: {} of rank {} is {}, but {} is expected", what, context_.rank(), to_string(view.extents),
          to_string(wanted));
    check(view.dtype == dtype_, "halo: {} of rank {} is {}, but the plan was made for {}", what,
          context_.rank(), name(view.dtype), name(dtype_));
    check(view.data != nullptr, "halo: {} of rank {} is a null pointer", what, context_.rank());
  }

  ContextState& context_;
  Dtype dtype_;
  MemorySpace space_;
  HaloWay way_;
  std::vector<Fact> facts_;
  std::int64_t most_bytes_ = 0;  // that a rank gives within its node
  std::optional<Halos> halos_;
  std::unique_ptr<PlanRunner> bound_;
  std::unique_ptr<PlanRunner> halves_;               // of the host; null until the first start
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
  std::shared_ptr<collective::HaloRunner> runner;  // graphs may have their share
  std::shared_ptr<collective::HaloRunner> adjoint = {};

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

  bool accumulates() const { return adjoint && adjoint->started(); }

  /// For a call in `stream`.
  collective::HaloRunner& exchanging(const std::optional<Stream>& stream) {
    require_finished();
    contexts::keep_for_graph(*context, stream.value_or(Stream{}), runner);
    return *runner;
  }

  /// Collective where it is the first time.
  collective::HaloRunner& accumulating(const std::optional<Stream>& stream) {
    require_finished();
    if (!adjoint) {
      adjoint = contexts::with_room(*context, [&] {
        return std::make_shared<collective::HaloRunner>(*context, operand, options,
                                                        collective::HaloWay::accumulate);
      });
    }
    contexts::keep_for_graph(*context, stream.value_or(Stream{}), adjoint);
    return *adjoint;
  }

  void require_finished() const {
    context->require_usable("halo");
    check(!runner->started() && !accumulates(),
          "halo: an exchange was started and is not finished: call finish() first");
  }
};

Halo::Halo(const Context& context, const Operand& operand, const HaloOptions& options)
    : state_(new State{context.state(), operand, options, contexts::with_room(*context.state(), [&] {
                         return std::make_shared<collective::HaloRunner>(*context.state(), operand, options);
                       })}) {}

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
  execute(state_->part_of(source), extended, stream);
}

void Halo::execute(const View& source, const View& extended, std::optional<Stream> stream) {
  state_->exchanging(stream).run(source, extended, stream);
}

void Halo::refresh(const View& extended, std::optional<Stream> stream) {
  execute(interior(extended), extended, stream);
}

void Halo::accumulate(const View& extended, const Array& destination, std::optional<Stream> stream) {
  accumulate(extended, state_->part_of(destination), stream);
}

void Halo::accumulate(const View& extended, const View& destination, std::optional<Stream> stream) {
  state_->accumulating(stream).run(destination, extended, stream);
}

void Halo::accumulate(const View& extended, std::optional<Stream> stream) {
  accumulate(extended, interior(extended), stream);
}

void Halo::start(const Array& source, const View& extended, std::optional<Stream> stream) {
  start(state_->part_of(source), extended, stream);
}

void Halo::start(const View& source, const View& extended, std::optional<Stream> stream) {
  state_->exchanging(stream).start(source, extended, stream);
}

void Halo::start(const View& extended, std::optional<Stream> stream) {
  start(interior(extended), extended, stream);
}

void Halo::start_accumulate(const View& extended, const Array& destination, std::optional<Stream> stream) {
  start_accumulate(extended, state_->part_of(destination), stream);
}

void Halo::start_accumulate(const View& extended, const View& destination, std::optional<Stream> stream) {
  state_->accumulating(stream).start(destination, extended, stream);
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
  key.add(collective::halo_text(source.layout(), options), source.dtype(), source.local().space);
  const auto runner = contexts::kept_plan<collective::HaloRunner>(context, key, [&] {
    HaloOptions planned = options;
    planned.stream.reset();
    return std::make_shared<collective::HaloRunner>(context, source.operand(), planned);
  });
  contexts::keep_for_graph(context, options.stream.value_or(Stream{}), runner);
  runner->run(source.local(), extended, options.stream);
}

}  // namespace partita
