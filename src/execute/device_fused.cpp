// A multiply and the epilogue that follows it, as one product of a device whose BLAS takes both.
#include <algorithm>
#include <utility>

#include "execute/device_bound_work.hpp"

namespace partita::execution {
namespace {

class DeviceFused final : public DeviceBoundWork {
 public:
  DeviceFused(std::unique_ptr<FusedMultiply> both, std::unique_ptr<DeviceBoundWork> multiply,
              std::unique_ptr<DeviceBoundWork> epilogue)
      : both_(std::move(both)), multiply_(std::move(multiply)), epilogue_(std::move(epilogue)) {}

  std::int64_t workspace_bytes() const override {
    const std::int64_t apart = std::max(multiply_->workspace_bytes(), epilogue_->workspace_bytes());
    return both_ ? std::max(both_->workspace_bytes(), apart) : apart;
  }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    if (both_ && both_->goes(address, parameters)) return both_->enqueue(address, parameters, stream);
    multiply_->enqueue(address, parameters, stream);
    epilogue_->enqueue(address, parameters, stream);
  }

 private:
  std::unique_ptr<FusedMultiply> both_;  // null: there is none
  std::unique_ptr<DeviceBoundWork> multiply_, epilogue_;
};

bool ends_sums(const ApplyEpilogue& work) {
  const bool known = work.activation == Activation::identity || work.activation == Activation::relu ||
                     work.activation == Activation::gelu;
  return known && (work.has_bias || work.activation != Activation::identity) && !work.has_c &&
         !work.has_auxiliary && !work.has_gradient && !work.has_scale_a && !work.has_scale_b &&
         !work.has_scale_d && !work.has_amax;
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
  if (!same_place(epilogue->from.place, epilogue->to.place)) {
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
  return std::make_unique<DeviceFused>(
      bind_fused_multiply(ended.work, std::get<ApplyEpilogue>(work(ended.epilogue)), binding),
      bind_device_work(work(multiply), binding), bind_device_work(work(ended.epilogue), binding));
}

}  // namespace partita::execution
