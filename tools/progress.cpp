#include "tools/progress.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tools/terminal.hpp"

namespace partita::tools {

struct Progress::State {
  using Clock = std::chrono::steady_clock;

  explicit State(std::vector<std::string> phases_) : phases(std::move(phases_)) {}

  void draw() {
    constexpr std::size_t width = 24;
    const std::size_t full = width * phase / phases.size();
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    fmt::print(stderr, "\r\x1b[K[{:#<{}}{:-<{}}] {}/{} {} {:.1f} s", "", full, "", width - full, phase + 1,
               phases.size(), phases[phase], elapsed.count());
    std::fflush(stderr);
  }

  void keep_drawing() {
    std::unique_lock lock(mutex);
    while (!over) {
      // Nothing is drawn for what is over at once.
      changed.wait_for(lock, std::chrono::milliseconds(200));
      if (!over) draw();
    }
  }

  std::vector<std::string> phases;
  std::size_t phase = 0;
  bool over = false;
  Clock::time_point begin = Clock::now();
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
};

Progress::Progress(std::vector<std::string> phases, bool shown) : phases_(phases.size()) {
  if (!shown || !terminal().error || phases.empty()) return;
  state_ = std::make_unique<State>(std::move(phases));
  state_->thread = std::thread([state = state_.get()] { state->keep_drawing(); });
}

Progress::~Progress() {
  done();
}

void Progress::end_phase() {
  if (seconds_.size() == phases_) return;
  const auto now = Clock::now();
  seconds_.push_back(std::chrono::duration<double>(now - phase_begin_).count());
  phase_begin_ = now;
}

void Progress::next() {
  end_phase();
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  if (state_->phase + 1 < state_->phases.size()) ++state_->phase;
}

void Progress::done() {
  end_phase();
  if (!state_) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  state_.reset();
}

}  // namespace partita::tools
