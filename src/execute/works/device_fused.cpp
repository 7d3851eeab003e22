// A multiply and the epilogue that follows it, as one product of a device whose BLAS takes both.
#include <algorithm>
#include <utility>

#include "execute/works/device_bound_work.hpp"

namespace partita::execution {
namespace {

class DeviceFused final : public DeviceBoundWork {
 public:
  DeviceFused(std::unique_ptr<FusedMultiply> both, std::unique_ptr<DeviceBoundWork> rest,
              std::unique_ptr<DeviceBoundWork> multiply, std::unique_ptr<DeviceBoundWork> epilogue)
      : both_(std::move(both)),
        rest_(std::move(rest)),
        multiply_(std::move(multiply)),
        epilogue_(std::move(epilogue)) {}

  std::int64_t workspace_bytes() const override {
    const auto of = [](const auto& work) { return work ? work->workspace_bytes() : 0; };
    return std::max({of(both_), of(rest_), of(multiply_), of(epilogue_)});
  }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    const auto put = [&](auto& work) {
      if (work) work->enqueue(address, parameters, stream);
    };
    if (both_ && both_->goes(address, parameters)) {
      put(both_);
      return put(rest_);
    }
    put(multiply_);
    put(epilogue_);
  }

 private:
  std::unique_ptr<FusedMultiply> both_;    // null: there is none
  std::unique_ptr<DeviceBoundWork> rest_;  // what is left to do behind it; null: nothing
  std::unique_ptr<DeviceBoundWork> multiply_, epilogue_;
};

bool ends_sums(const ApplyEpilogue& work) {
  const bool does_something = work.has_bias || work.has_c || work.activation != Activation::identity;
  return does_something && !work.has_scale_a && !work.has_scale_b && !work.has_scale_d && !work.has_amax;
}

/// Products that keep what an activation was made of, or read it, are those of gelu. The others' activations
/// may follow the rounding of the sums as well as go before it: max(x, 0) and what is masked are rounded x
/// or 0.
bool follows_rounding(const ApplyEpilogue& work) {
  const bool of_gelu = work.activation == Activation::gelu || work.activation == Activation::dgelu;
  return work.has_auxiliary && !of_gelu;
}

/// What comes with the product of the epilogue.
ApplyEpilogue of_product(const ApplyEpilogue& work) {
  ApplyEpilogue with = work;
  if (follows_rounding(work)) with.activation = Activation::identity;
  with.has_auxiliary = work.has_auxiliary && !follows_rounding(work);
  return with;
}

/// And what follows it, of what the product has written.
std::unique_ptr<DeviceBoundWork> bind_rest(const ApplyEpilogue& work, const DeviceWorkBinding& binding) {
  if (follows_rounding(work)) {
    ApplyEpilogue rest = work;
    rest.from = work.to;
    rest.has_bias = rest.has_c = false;
    return bind_device_epilogue(rest, binding);
  }
  if (!work.has_gradient) return nullptr;
  const auto dimensions = static_cast<int>(work.to.region.sets.size());
  return bind_device_sum_along({work.to, work.gradient, dimensions - (work.gradient_along_rows ? 2 : 1)},
                               binding);
}

bool same_place(const Place& a, const Place& b) {
  return a.buffer == b.buffer && a.rank == b.rank && a.offset == b.offset;
}

bool overlap(const planning::MemoryRange& a, const planning::MemoryRange& b) {
  return a.buffer == b.buffer && a.rank == b.rank && a.first < b.last && b.first < a.last;
}

/// Another step than the next one reads what step `multiply` makes.
bool read_elsewhere(std::span<const planning::Touched> touched, std::size_t multiply) {
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (i == multiply + 1) continue;
    for (const planning::MemoryRange& read : touched[i].read) {
      for (const planning::MemoryRange& made : touched[multiply].written) {
        if (overlap(read, made)) return true;
      }
    }
  }
  return false;
}

/// The work of step i and the next one's, where the one is a multiply that the other ends.
std::optional<EndedMultiply> ended_multiply(const Plan& plan, std::span<const planning::Touched> touched,
                                            std::size_t i) {
  const Step &step = plan.steps[i], &next = plan.steps[i + 1];
  if (step.kind != StepKind::compute || next.kind != StepKind::compute || !next.after.empty())
    return std::nullopt;
  const auto* const multiply = std::get_if<Multiply>(&plan.works[static_cast<std::size_t>(step.work)]);
  const auto* const epilogue = std::get_if<ApplyEpilogue>(&plan.works[static_cast<std::size_t>(next.work)]);
  if (multiply == nullptr || epilogue == nullptr || !ends_sums(*epilogue)) return std::nullopt;
  if (!(multiply->to.region == epilogue->from.region) ||
      !same_place(multiply->to.place, epilogue->from.place))
    return std::nullopt;
  const bool in_place = same_place(epilogue->from.place, epilogue->to.place);
  if (in_place && follows_rounding(*epilogue)) return std::nullopt;  // there is no pass less
  if (!in_place) {
    const Buffer& sums = plan.buffers[static_cast<std::size_t>(multiply->to.place.buffer)];
    if (sums.kind != BufferKind::scratch || multiply->beta != Beta::zero || read_elsewhere(touched, i))
      return std::nullopt;
  }
  EndedMultiply ended{next.work, *multiply};
  ended.work.to = epilogue->to;
  return ended;
}

}  // namespace

std::vector<std::optional<EndedMultiply>> find_ended_multiplies(const Plan& plan,
                                                                std::span<const planning::Touched> touched) {
  std::vector<std::optional<EndedMultiply>> result(plan.works.size());
  for (std::size_t i = 0; i + 1 < touched.size(); ++i) {
    if (auto ended = ended_multiply(plan, touched, i))
      result[static_cast<std::size_t>(plan.steps[i].work)] = std::move(ended);
  }
  return result;
}

std::unique_ptr<DeviceBoundWork> bind_ended_multiply(const Plan& plan, int multiply,
                                                     const EndedMultiply& ended,
                                                     const DeviceWorkBinding& binding) {
  const auto work = [&](int number) -> const Work& { return plan.works[static_cast<std::size_t>(number)]; };
  const auto& epilogue = std::get<ApplyEpilogue>(work(ended.epilogue));
  // First: time for tries is limited.
  std::unique_ptr<FusedMultiply> both = bind_fused_multiply(ended.work, of_product(epilogue), binding);
  std::unique_ptr<DeviceBoundWork> rest = both ? bind_rest(epilogue, binding) : nullptr;
  return std::make_unique<DeviceFused>(std::move(both), std::move(rest),
                                       bind_device_work(work(multiply), binding),
                                       bind_device_work(work(ended.epilogue), binding));
}

}  // namespace partita::execution
