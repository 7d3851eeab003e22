#include "plan/steps.hpp"

#include <utility>

namespace partita {
namespace {

Step of_peer(StepKind kind, int peer) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  return step;
}

}  // namespace

Step copy_step(int owner, Region region, Place from, Place to, std::vector<int> after) {
  Step step = of_peer(StepKind::copy, owner);
  step.region = std::move(region);
  step.from = from;
  step.to = to;
  step.after = std::move(after);
  return step;
}

Step signal_step(int peer, int channel) {
  Step step = of_peer(StepKind::signal, peer);
  step.channel = channel;
  return step;
}

Step wait_step(int peer, int channel, std::int64_t count) {
  Step step = of_peer(StepKind::wait, peer);
  step.channel = channel;
  step.count = count;
  return step;
}

Step send_step(int peer, Place from, std::int64_t bytes) {
  Step step = of_peer(StepKind::send, peer);
  step.from = from;
  step.bytes = bytes;
  return step;
}

Step receive_step(int peer, Place to, std::int64_t bytes) {
  Step step = of_peer(StepKind::receive, peer);
  step.to = to;
  step.bytes = bytes;
  return step;
}

int push(std::vector<Step>& steps, Step step) {
  steps.push_back(std::move(step));
  return static_cast<int>(steps.size()) - 1;
}

}  // namespace partita
