#include "plan/append.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "plan/steps.hpp"

namespace partita {
namespace {

using Counter = std::pair<int, int>;  // peer, channel

std::map<Counter, std::int64_t> waited_for(const Plan& plan) {
  std::map<Counter, std::int64_t> result;
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::wait) continue;
    std::int64_t& most = result[{step.peer, step.channel}];
    most = std::max(most, step.count);
  }
  return result;
}

class Renumber {
 public:
  explicit Renumber(std::span<const int> buffers) : buffers_(buffers) {}
  void operator()(Place& place) const { place.buffer = buffers_[static_cast<std::size_t>(place.buffer)]; }
  void operator()(Part& part) const { (*this)(part.place); }

  void operator()(Multiply& work) const { all(work.a, work.b, work.to); }
  void operator()(ApplyEpilogue& work) const {
    all(work.from, work.to);
    if (work.has_c) (*this)(work.c);
    if (work.has_bias) (*this)(work.bias);
    if (work.has_auxiliary) (*this)(work.auxiliary);
    if (work.has_gradient) (*this)(work.gradient);
  }
  void operator()(SumAlong& work) const { all(work.from, work.to); }
  void operator()(Transform& work) const { all(work.from, work.to); }
  void operator()(Twiddle& work) const { (*this)(work.part); }

 private:
  template <class... Parts>
  void all(Parts&... parts) const {
    ((*this)(parts), ...);
  }
  std::span<const int> buffers_;
};

}  // namespace

void append(Plan& plan, Plan part, std::span<const int> buffers, const std::function<void(int)>& before) {
  const auto counted = waited_for(plan);
  const auto first_work = static_cast<int>(plan.works.size());
  const Renumber renumber(buffers);
  for (Work& work : part.works) {
    std::visit(renumber, work);
    plan.works.push_back(std::move(work));
  }
  std::vector<int> number;  // in `plan`, of each step of `part`
  number.reserve(part.steps.size());
  plan.steps.reserve(plan.steps.size() + part.steps.size());
  for (Step& step : part.steps) {
    if (before) before(static_cast<int>(number.size()));
    renumber(step.from);
    renumber(step.to);
    for (int& message : step.after) message = number[static_cast<std::size_t>(message)];
    if (step.work >= 0) step.work += first_work;
    if (step.kind == StepKind::wait) {
      const auto found = counted.find({step.peer, step.channel});
      if (found != counted.end()) step.count += found->second;
    }
    number.push_back(push(plan.steps, std::move(step)));
  }
}

int add_or_share(Plan& plan, const Buffer& wanted) {
  auto& buffers = plan.buffers;
  const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& buffer) {
    return buffer.kind == wanted.kind && buffer.name == wanted.name && !buffer.operand;
  });
  if (found == buffers.end()) {
    buffers.push_back(wanted);
    return static_cast<int>(buffers.size()) - 1;
  }
  found->bytes = std::max(found->bytes, wanted.bytes);
  return static_cast<int>(found - buffers.begin());
}

int append_work(Plan& plan, Work work, std::vector<int> after) {
  Step step;
  step.kind = StepKind::compute;
  step.peer = plan.rank;
  step.work = static_cast<int>(plan.works.size());
  step.after = std::move(after);
  plan.works.push_back(std::move(work));
  return push(plan.steps, std::move(step));
}

}  // namespace partita
