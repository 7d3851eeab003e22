#include "device/run_ahead.hpp"

#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/board/wait.hpp"

namespace partita::devices {

std::shared_ptr<RunAhead> RunAhead::of(DeviceRuntime& state) {
  if (!state.run_ahead) state.run_ahead = std::make_shared<RunAhead>(state);
  return state.run_ahead;
}

RunAhead::RunAhead(DeviceRuntime& state) : state_(state), ring_(*state.device, marks) {
  operation_.reserve(64);  // executions allocate nothing
}

RunAhead::Execution::Execution(RunAhead& ahead, std::string_view operation) : ahead_(ahead) {
  ahead_.begin(operation);
}

RunAhead::Execution::~Execution() {
  ahead_.end();
}

void RunAhead::Execution::given(Stream stream) {
  ahead_.given_ += 1;  // what ends it
  if (ahead_.given_ - ahead_.marked_ < between_marks || !ahead_.ring_.has_room()) return;
  const auto milestone = static_cast<std::size_t>(ahead_.ring_.put(stream) % marks);
  ahead_.starts_before_[milestone] = ahead_.marked_ = ahead_.given_;
}

void RunAhead::begin(std::string_view operation) {
  operation_ = operation;
  used_lines_ = 0;
  if (given_ - done_ > most) wait([this] { return has_room(); });
  state_.watchdog->begin(operation);
  state_.device->set_gate(this);
}

void RunAhead::end() noexcept {
  state_.device->set_gate(nullptr);
  state_.watchdog->end();
  meanwhile_ = nullptr;
}

bool RunAhead::has_room() {
  while (first_ <= ring_.last() && ring_.reached(first_)) {
    done_ = starts_before_[static_cast<std::size_t>(first_++ % marks)];
  }
  return given_ - done_ <= most;
}

void RunAhead::launching(Stream stream, int launches) {
  Line& line = line_of(stream);
  if (line.launches + launches - line.newer.launches >= between_marks_of_a_line) mark(line, stream);
  for (Mark* const next : {&line.older, &line.newer}) {
    if (line.launches + launches - line.done > most_of_a_line) reach(line, *next);
  }
  given_ += launches;
  line.launches += launches;
}

RunAhead::Line& RunAhead::line_of(Stream stream) {
  for (std::size_t i = 0; i < used_lines_; ++i) {
    if (lines_[i].stream == stream.handle) return lines_[i];
  }
  if (used_lines_ == lines_.size()) lines_.emplace_back();
  Line& line = lines_[used_lines_++];
  line.stream = stream.handle;
  line.launches = line.done = 0;
  for (Mark* const mark : {&line.older, &line.newer}) {
    mark->launches = 0;
    mark->ahead = false;
  }
  return line;
}

void RunAhead::mark(Line& line, Stream stream) {
  reach(line, line.older);
  std::swap(line.older, line.newer);
  Mark& mark = line.newer;
  if (!mark.event) mark.event = state_.device->event();
  mark.event->record(stream);
  mark.launches = line.launches;
  mark.ahead = true;
}

void RunAhead::reach(Line& line, Mark& mark) {
  if (!mark.ahead) return;
  wait([&] { return mark.event->reached(); });
  mark.ahead = false;
  line.done = mark.launches;
}

template <class Ready>
void RunAhead::wait(const Ready& ready) {
  const runtime::WaitReason reason{operation_,
                                   [] { return std::string("what its device has to do before"); },
                                   -1,
                                   [this] { return others_of_the_node(state_); },
                                   std::chrono::milliseconds(20),
                                   runtime::WaitReason::Kind::call,
                                   [this] { return late_for_the_device(state_); }};
  runtime::WaitLoop loop(state_, reason);
  while (!ready()) {
    if (meanwhile_ && meanwhile_()) {
      loop.progressed();
      continue;
    }
    if (state_.greetings) state_.greetings->look(operation_);
    loop.pause();
  }
}

}  // namespace partita::devices
