// Elements reduced along axes: each rank its own part, and what several ranks have contributed to by a
// redistribution of partial values.
#include <fmt/ranges.h>

#include <partita/redistribute.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "context/kept_plans.hpp"
#include "device/stream_work.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/call_notes.hpp"

namespace partita {
namespace {

using arithmetic::Folding;
using arithmetic::ReducedAxes;
using arithmetic::ReducedLayouts;

/// One reduction, as all ranks have agreed on it.
struct AxesReduction {
  std::string_view operation;
  Folding folding;
  ReducedAxes reduced;
  ReducedLayouts layouts;
  Layout result;
  std::int64_t count = 1;    ///< elements that become one
  std::string purpose = {};  ///< of its results, as ranks compare it

  bool moves() const { return !(layouts.joined == result); }
  bool finishes() const { return folding.joined != folding.result || folding.root || folding.divided; }
};

AxesReduction checked(const Array& array, ArrayReduction reduction, const std::vector<int>& axes,
                      const ReduceAxesOptions& options) {
  const std::string_view operation = name(reduction);
  arithmetic::check_axes(operation, array.shape(), axes);
  const Folding folding = arithmetic::folding_of(reduction, array.dtype());
  std::int64_t count = 1;
  for (const int axis : axes) count *= array.shape()[axis];
  check(!folding.needs_elements || count > 0, "{}: the array {} has no elements along the axes", operation,
        to_string(array.shape()));
  const ReducedAxes reduced{axes, options.keep_dimensions, folding.reduction};
  ReducedLayouts layouts = arithmetic::reduced_layouts(array.layout(), reduced);
  Layout result = arithmetic::wanted_layout(operation, options, layouts.left);
  return {operation, folding, reduced, std::move(layouts), std::move(result), count};
}

/// The strides of the kept dimensions in an array of the result's shape.
Strides kept_strides(const ReducedAxes& reduced, const Strides& strides, int dimensions) {
  Strides result;
  int next = 0;
  for (int d = 0; d < dimensions; ++d) {
    if (!reduced.contains(d)) result.push_back(strides[next]);
    if (!reduced.contains(d) || reduced.keep_dimensions) ++next;
  }
  return result;
}

/// What this rank has, reduced. Local; complete at return, or stream-ordered.
void fold_into(const AxesReduction& what, const Folding& folding, const Array& array, Array& joined,
               const std::optional<Stream>& stream) {
  ContextState& context = *array.context_state();
  const bool has_elements =
      what.layouts.whole ? arithmetic::counts(array.layout(), context.rank()) : array.local_size() > 0;
  if (what.layouts.whole || !has_elements) {
    std::array<std::byte, 16> identity{};
    write_identity(folding.reduction, folding.joined, identity.data());
    fill(joined, static_cast<const void*>(identity.data()));
  }
  if (!has_elements) return;
  const int dimensions = array.shape().size();
  const arithmetic::Destination to{joined.local().data, what.reduced.kept(dimensions),
                                   kept_strides(what.reduced, joined.local().strides, dimensions),
                                   what.layouts.whole};
  if (array.local().space == MemorySpace::host) return arithmetic::fold_part(folding, array, nullptr, to, {});
  devices::put_into_stream(context, what.operation, stream, [&](Stream used, bool) {
    arithmetic::fold_part(folding, array, nullptr, to, used);
  });
}

/// The results of reduced values. Local; complete at return, or ordered by the context's stream.
void finish_into(const AxesReduction& what, const Folding& folding, const Array& joined,
                 const Array& result) {
  ContextState& context = *joined.context_state();
  const auto finish = [&](Stream used) {
    arithmetic::finish_part(context, folding, joined.local(), result.local(), what.count, used);
  };
  if (result.local().space == MemorySpace::host) return finish({});
  devices::put_into_stream(context, what.operation, {}, [&](Stream used, bool) { finish(used); });
}

/// A reduction with the memory and the redistribution between its steps. It does not keep the context, which
/// keeps it.
class AxesPlan {
 public:
  /// Collective.
  AxesPlan(ContextState& context, AxesReduction what, MemorySpace space, Residency residency)
      : what_(std::move(what)) {
    const Context unowned(std::shared_ptr<ContextState>(std::shared_ptr<void>(), &context));
    const auto scratch = [&](const Layout& layout) {
      return arrays::allocate_on_heap(unowned.state(), layout, what_.folding.joined, Order::row_major,
                                      "scratch of a reduction", SourcePlace::current(), space);
    };
    if (what_.moves() || what_.finishes()) joined_ = scratch(what_.layouts.joined);
    if (!what_.moves()) return;
    Operand destination = Operand::of(what_.result, what_.folding.joined, Order::row_major, residency);
    destination.space = space;
    if (what_.finishes()) {
      moved_ = scratch(what_.result);
      destination = moved_.operand();
    }
    redistribution_.emplace(unowned, joined_.operand(), destination);
  }

  const AxesReduction& what() const { return what_; }

  /// `factor`: see Folding. Collective, blocking in host memory.
  void run(const Array& array, Array& result, const std::optional<Stream>& stream, double factor = 1) {
    Folding folding = what_.folding;
    folding.factor = factor;
    fold_into(what_, folding, array, joined_.valid() ? joined_ : result, stream);
    Array& moved = moved_.valid() ? moved_ : result;
    if (redistribution_) redistribution_->execute(joined_, moved);
    if (what_.finishes()) finish_into(what_, folding, redistribution_ ? moved_ : joined_, result);
  }

 private:
  AxesReduction what_;
  Array joined_;  // unless it is the result itself
  Array moved_;   // in the result's layout, where it must still be finished
  std::optional<Redistribute> redistribution_;
};

std::string text_of(const Array& array, ArrayReduction reduction, const std::vector<int>& axes,
                    const ReduceAxesOptions& options) {
  return fmt::format("{} {} over {}{} to {}{} {}", name(reduction), array.operand().to_string(),
                     fmt::join(axes, ","), options.keep_dimensions ? " kept" : "",
                     options.distribution ? options.distribution->to_string() : "what is left",
                     options.root ? fmt::format(" root {}", *options.root) : "",
                     options.residency == Residency::heap ? "heap" : "ordinary");
}

std::shared_ptr<AxesPlan> plan_together(const Array& array, ArrayReduction reduction,
                                        const std::vector<int>& axes, const ReduceAxesOptions& options) {
  ContextState& context = *array.context_state();
  std::optional<AxesReduction> what;
  runtime::collectively(context, name(reduction), [&]() -> std::vector<Fact> {
    what = checked(array, reduction, axes, options);
    what->purpose = text_of(array, reduction, axes, options);
    return {{"array", array.operand().to_string()},
            {"axes", fmt::format("{}", fmt::join(axes, ","))},
            {"result", what->result.to_string()},
            {"residency", options.residency == Residency::heap ? "heap" : "ordinary memory"}};
  });
  return std::make_shared<AxesPlan>(context, std::move(*what), array.local().space, options.residency);
}

/// Those that squares have lost, again. Collective, blocking.
void scale_norms(AxesPlan& plan, const Array& array, Array& result, const std::optional<Stream>& stream) {
  const auto least = reduce(result, ArrayReduction::min).as<double>();
  const auto most = reduce(result, ArrayReduction::max).as<double>();
  for (const double factor : arithmetic::factors_for(least, most)) {
    plan.run(array, result, stream, factor);
    if (result.local().space == MemorySpace::device)
      devices::finish_device(*array.context_state(), plan.what().operation);
  }
}

}  // namespace

Array reduce(const Array& array, ArrayReduction reduction, const Axes& axes, const ReduceAxesOptions& options,
             SourcePlace where) {
  const std::optional<Stream>& stream = options.stream;
  const std::string_view operation = name(reduction);
  check(array.valid(), "{}: the array is an empty Array", operation);
  const std::shared_ptr<ContextState>& context = array.context_state();
  context->require_usable(operation);
  runtime::check_or_tell_all(*context, operation, [&] {
    arithmetic::check_values(operation, array);
    arithmetic::check_stream(operation, array, stream);
    arithmetic::check_folds(operation, array, stream);
  });
  arithmetic::make_fold_scratch(operation, array);
  contexts::PlanKey key("reduce axes");
  key.add(reduction, array.state()->operand, axes.list, options.keep_dimensions, options.distribution,
          options.root, options.residency);
  const std::shared_ptr<AxesPlan> plan = contexts::kept_plan<AxesPlan>(
      *context, key, [&] { return plan_together(array, reduction, axes.list, options); });
  const MemorySpace space = array.local().space;
  Array result =
      arrays::allocate(context, plan->what().result, plan->what().folding.result,
                       {.residency = options.residency, .space = space}, plan->what().purpose, where);
  const runtime::CallNotes::OfArrays of(*context->notes, {array.state()->number});
  plan->run(array, result, stream);
  if (space == MemorySpace::device) devices::finish_device(*context, operation);
  if (arithmetic::squares_leave_range(plan->what().folding, array.dtype()) && volume(result.shape()) > 0)
    scale_norms(*plan, array, result, stream);
  return result;
}

}  // namespace partita
