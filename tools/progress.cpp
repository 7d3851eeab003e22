#include "tools/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/command_line.hpp"
#include "tools/terminal.hpp"

namespace partita::tools {

Progress::Progress(std::vector<std::string> phases, bool shown) : phases_(std::move(phases)) {
  if (!shown || !terminal().error) return;
  bar_ = std::jthread([this](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds pause{200};  // nothing is drawn for what is over at once
    std::unique_lock lock(mutex_);
    while (!woken_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) draw();
  });
}

Progress::~Progress() {
  done();
}

void Progress::draw() const {
  constexpr std::size_t width = 24;
  const std::size_t phase = std::min(seconds_.size(), phases_.size() - 1);
  const std::size_t full = width * phase / phases_.size();
  const std::chrono::duration<double> elapsed = Clock::now() - begin_;
  fmt::print(stderr, "\r\x1b[K[{:#<{}}{:-<{}}] {}/{} {} {:.1f} s", "", full, "", width - full, phase + 1,
             phases_.size(), phases_[phase], elapsed.count());
  std::fflush(stderr);
}

void Progress::next() {
  const std::lock_guard lock(mutex_);
  if (seconds_.size() == phases_.size()) return;
  const auto now = Clock::now();
  seconds_.push_back(std::chrono::duration<double>(now - phase_begin_).count());
  phase_begin_ = now;
}

void Progress::done() {
  next();
  if (!bar_.joinable()) return;
  bar_.request_stop();
  bar_.join();
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void Progress::print(const Rate& rate, const std::string& left_out) const {
  std::size_t width = 10;
  for (const std::string& phase : phases_) width = std::max(width, phase.size() + 1);
  const auto line = [&](const std::string& phase, double seconds) {
    const std::string said = rate(phase, seconds);
    fmt::print("  {:<{}}{:>9}{}{:>{}}\n", phase, width, describe_seconds(seconds), said.empty() ? "" : "  ",
               said, said.empty() ? 0 : 11);
  };
  double total = 0;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    if (phases_[i] == left_out) continue;
    line(phases_[i], seconds_[i]);
    total += seconds_[i];
  }
  line("in all", total);
}

}  // namespace partita::tools
