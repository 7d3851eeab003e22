// The path of every operation: planned and bound on all ranks together, then run again and again.
#pragma once

#include <memory>
#include <optional>
#include <partita/array.hpp>
#include <partita/operand.hpp>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/array_state.hpp"
#include "context/kept_plans.hpp"
#include "execute/checked_views.hpp"
#include "execute/executor.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::execution {

class PacketPlan;

/// One of the arrays or views of an operation, as the caller gives it.
struct ArrayUse {
  std::string_view name;  ///< "the input"
  Operand operand;
  bool read = true;
  bool written = false;
  /// Dimension i of what the plan sees is dimension axes[i] of the array, or for -1 one of extent 1. Empty:
  /// the plan sees the array as it is.
  std::vector<int> axes = {};
  /// The earlier use that is the same array; -1: none.
  int same_as = -1;
  bool is_view = false;  ///< no array: see Operation::see
};

/// Derived classes say what an operation uses, what all ranks compare, and how it is planned; all else is
/// here. The operand buffers of a plan are the uses, in their order. If one of the arrays is in device
/// memory, the device does the work: those in host memory have mirrors on its heap, to which they are copied
/// before and from which they are copied after. Holds no share of the context: the owner of an operation
/// keeps the context alive. `name` must be a literal.
class Operation {
 public:
  virtual ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Plans and binds, or throws the same error on every rank. Where there is no memory left, plans of the
  /// context are dropped for it. Collective, blocking.
  template <class Made, class... Arguments>
  static std::shared_ptr<Made> make(ContextState& context, const Arguments&... arguments) {
    return contexts::with_room(context, [&] { return make_once<Made>(context, arguments...); });
  }
  /// The context's operation of that key, made where there is none. Collective if it is made; else local.
  template <class Made, class... Arguments>
  static std::shared_ptr<Made> kept(ContextState& context, const contexts::PlanKey& key,
                                    const Arguments&... arguments) {
    return contexts::kept_plan<Made>(context, key, [&] { return make_once<Made>(context, arguments...); });
  }

  /// This rank's. Valid after `release`, too.
  const Plan& plan() const { return bound_ ? bound_->plan() : planned_.plan; }
  /// Of every rank, for `explain`. The operation must outlive it.
  Planner planner() const;
  /// "fft input: 8x8 slab:0 over 2 ranks, f64, ...": what a new result is for, as ranks compare it.
  const std::string& purpose() const { return purpose_; }
  MemorySpace space() const { return on_device_ ? MemorySpace::device : MemorySpace::host; }
  bool on_device() const { return on_device_; }
  bool is_bound() const { return bound_ != nullptr; }

  /// Runs the plan on these arrays, one for each use; they have been checked. Without a stream it is done
  /// when this returns; with one it has been enqueued (UnsupportedError if an array is in host memory).
  /// Collective; binds first if nothing is bound. Operations on views: `see` and `enqueue`.
  void run(std::span<const Array* const> given, const Parameters& parameters,
           const std::optional<Stream>& stream);

  /// A new array for that use; the exchange of its allocation also compares `purpose`. Collective.
  Array result(const std::shared_ptr<ContextState>& context, std::size_t use, std::string_view purpose,
               SourcePlace where) const;

  /// Frees scratch and mirrors. Collective; the next `run` binds again.
  void release();
  /// Bytes of the scratch that a workspace may hold.
  std::int64_t scratch_bytes() const;
  std::int64_t mirror_bytes() const;  ///< on this rank
  /// Has the scratch of the plan in that array from now on. Throws ArgumentError, the same on every rank:
  /// too small, elsewhere, of another context. Collective.
  void set_workspace(const Array& workspace);

 protected:
  Operation(ContextState& context, std::string_view name);

  /// Checks what is asked for; sets `uses`. What it returns, all ranks compare. Called once, inside the
  /// collective check; what it throws is thrown on all ranks.
  virtual std::vector<Fact> prepare() = 0;
  /// The plan of any rank. Pure after `prepare`.
  virtual Planned plan_of(int rank) const = 0;
  /// One in packets, which is used if it suits all ranks; nothing: there is none. Pure after `ask_all_ranks`.
  virtual std::optional<Planned> plan_in_packets(int) const { return std::nullopt; }
  /// Whether the ranks exchange something before they plan: by `ask_all_ranks`, after their checks, and if
  /// packets do not suit all ranks by `without_packets`. Collective. Answers as all ranks with these facts
  /// do.
  virtual bool asks_all_ranks() const { return false; }
  virtual void ask_all_ranks() {}
  virtual void without_packets() {}
  /// Before and after this rank's plan is bound, inside the check; and after the check. Collective.
  virtual void before_binding() {}
  virtual void after_binding() {}
  virtual void after_check() {}
  /// Whether scratch is allocated only when it is needed: by the first `run`.
  virtual bool binds_late() const { return false; }
  /// Whether an execution with these numbers reads the array of that use.
  virtual bool reads(std::size_t use, const Parameters&) const { return uses_[use].read; }

  const std::vector<ArrayUse>& uses() const { return uses_; }
  /// `stream`: of the call that it is made for. Throws UnsupportedError if that has one and an array is in
  /// host memory.
  void set_uses(std::vector<ArrayUse> uses, const std::optional<Stream>& stream = {});

  /// Runs `check` unless these views with this stream are known to pass it. What it throws on this rank is
  /// thrown on all.
  template <class Check>
  void check_views(std::span<const View> views, const std::optional<Stream>& stream, Check&& check) {
    const bool has_stream = stream && stream->given;
    if (checked_views_.know(views, has_stream)) return;
    runtime::check_or_tell_all(context_, name_, check);
    checked_views_.add(views, has_stream);
  }
  /// The view of that use in the executions to come. `heap_offset`: in this rank's segment, the same on all
  /// ranks if the plan has it on the heap; else negative.
  void see(std::size_t use, const View& view, std::int64_t heap_offset = -1);
  /// Runs the plan on the views that it sees: enqueued on `stream`, or if unset on the context's own; in host
  /// memory it is done when this returns. Collective.
  void enqueue(const Parameters& parameters, const std::optional<Stream>& stream);
  /// The second half of an operation in halves. Collective, blocking.
  void finish() { bound_->finish(); }

  /// A library carries messages between devices in groups (NCCL).
  bool grouped() const { return grouped_; }
  ContextState& context() const { return context_; }
  std::string_view name() const { return name_; }

 private:
  /// How the plan sees a view, or the array of a use that has `axes`.
  struct Seen {
    Array::State state;  // of the latest execution; owns nothing
    Strides strides;     // of dense parts, in the order of the plan; empty: the array's own
    std::string name;    // of the plan's buffer
  };

  /// As `make`, but an error of memory is thrown at once.
  template <class Made, class... Arguments>
  static std::shared_ptr<Made> make_once(ContextState& context, const Arguments&... arguments) {
    auto made = std::make_shared<Made>(context, arguments...);
    made->plan_together();
    return made;
  }
  void plan_together();
  std::vector<Fact> ask();
  void plan_and_bind();
  void plan_and_bind_or_pack();
  void bind();
  void bind_together();
  void connect();
  void make_mirrors();
  void make_seen();
  std::span<const Array::State* const> seen(std::span<const Array* const> given);
  const Array::State* seen(std::size_t use, const Array& given);
  void copy_to_mirrors(std::span<const Array* const> given, const Parameters& parameters);
  void copy_from_mirrors(std::span<const Array* const> given);
  void copy(const Array& from, const Array& to);
  void check_streams() const;

  ContextState& context_;
  std::string_view name_;
  std::vector<ArrayUse> uses_;
  std::string purpose_;
  bool on_device_ = false;
  bool all_on_device_ = false;  // all that it uses
  bool grouped_ = false;
  Planned planned_;                      // its plan only while nothing is bound
  std::unique_ptr<PacketPlan> packets_;  // while it is not known whether it suits all ranks
  bool in_packets_ = false;
  std::unique_ptr<Executor> unconnected_;  // bound, on this rank
  std::shared_ptr<Executor> bound_;        // on all ranks; captured graphs share it
  Array workspace_;
  std::int64_t works_bytes_ = 0;               // of what its works take, see Executor::local_workspace_bytes
  std::vector<Array> mirrors_;                 // by use; invalid: the array is used in place. Empty: none
  std::vector<std::optional<Seen>> seen_;      // by use; none: the array as it is
  std::vector<const Array::State*> operands_;  // of one execution
  CheckedViews checked_views_;
};

}  // namespace partita::execution
