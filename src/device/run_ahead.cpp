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
  given_ += launches;
  line.launches += launches;
  if (line.launches >= (line.marked + 1) * between_marks_of_a_line) mark(line, stream);
}

RunAhead::Line& RunAhead::line_of(Stream stream) {
  for (std::size_t i = 0; i < used_lines_; ++i) {
    if (lines_[i].stream == stream.handle) return lines_[i];
  }
  if (used_lines_ == lines_.size()) lines_.emplace_back();
  Line& line = lines_[used_lines_++];
  line.stream = stream.handle;
  line.launches = line.marked = 0;
  return line;
}

/// What was given before the last mark but one has been done then.
void RunAhead::mark(Line& line, Stream stream) {
  std::unique_ptr<DeviceEvent>& event = line.last_marks.at(static_cast<std::size_t>(line.marked % 2));
  if (line.marked >= 2) wait([&] { return event->reached(); });
  if (!event) event = state_.device->event();
  event->record(stream);
  ++line.marked;
}

template <class Ready>
void RunAhead::wait(const Ready& ready) {
  const runtime::WaitReason reason{operation_, [] { return std::string("what its device has to do before"); },
                                   -1, [this] { return others_of_the_node(state_); },
                                   std::chrono::milliseconds(20)};
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
