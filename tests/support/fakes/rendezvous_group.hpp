// A library of messages for ranks that are threads and may share a device, which vendors' libraries refuse:
// the ranks meet on the host for every group, so it is slow, and nothing of it can be captured.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <partita/error.hpp>
#include <thread>
#include <utility>

#include "context/context_state.hpp"

namespace partita::testing {

/// Where the ranks of one context meet.
class Rendezvous {
 public:
  struct Sent {
    devices::DeviceGroup::Part part;
    bool taken = false;
  };
  using Key = std::pair<int, int>;  // sender, receiver

  std::shared_ptr<Sent> give(const Key& key, const devices::DeviceGroup::Part& part) {
    const std::lock_guard lock(mutex_);
    auto sent = std::make_shared<Sent>(Sent{part});
    given_[key].push_back(sent);
    changed_.notify_all();
    return sent;
  }
  std::shared_ptr<Sent> take(const Key& key) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !given_[key].empty(); });
    std::shared_ptr<Sent> first = given_[key].front();
    given_[key].pop_front();
    return first;
  }
  void let_go(Sent& sent) {
    const std::lock_guard lock(mutex_);
    sent.taken = true;
    changed_.notify_all();
  }
  void await_taken(const Sent& sent) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return sent.taken; });
  }

 private:
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    if (!changed_.wait_for(lock, std::chrono::seconds(30), ready)) throw TimeoutError("nobody comes to meet");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::deque<std::shared_ptr<Sent>>> given_;
};

/// Exchanges, and nothing else.
class RendezvousGroup final : public devices::DeviceGroup {
 public:
  RendezvousGroup(devices::Accelerator& device, int rank, std::shared_ptr<Rendezvous> rendezvous)
      : device_(device), rank_(rank), rendezvous_(std::move(rendezvous)) {}

  std::string name() const override { return "ranks that meet"; }
  bool reduces(Dtype, Reduction) const override { return false; }
  void broadcast(const void*, void*, std::int64_t, int, Stream) override { refuse(); }
  void reduce(const void*, void*, std::int64_t, Dtype, Reduction, int, Stream) override { refuse(); }
  void all_reduce(const void*, void*, std::int64_t, Dtype, Reduction, Stream) override { refuse(); }
  void all_gather(const void*, void*, std::int64_t, Stream) override { refuse(); }
  void reduce_scatter(const void*, void*, std::int64_t, Dtype, Reduction, Stream) override { refuse(); }
  void exchange(std::span<const Part> sent, std::span<const Part> received, Stream stream) override {
    finish(stream);
    std::vector<std::shared_ptr<Rendezvous::Sent>> mine, theirs;
    for (const Part& part : sent) mine.push_back(rendezvous_->give({rank_, part.peer}, part));
    for (const Part& part : received) {
      theirs.push_back(rendezvous_->take({part.peer, rank_}));
      if (theirs.back()->part.bytes != part.bytes) throw ArgumentError("messages of other lengths");
      device_.copy_bytes(theirs.back()->part.data, part.data, part.bytes, stream);
    }
    finish(stream);
    for (const auto& one : theirs) rendezvous_->let_go(*one);
    for (const auto& one : mine) rendezvous_->await_taken(*one);
  }
  void abort() noexcept override {}
  std::string failed() override { return ""; }
  bool in_call() const override { return false; }

 private:
  [[noreturn]] static void refuse() { throw UnsupportedError("this library carries messages only"); }
  void finish(Stream stream) {
    const std::unique_ptr<devices::DeviceEvent> event = device_.event();
    event->record(stream);
    while (!event->reached()) std::this_thread::yield();
  }

  devices::Accelerator& device_;
  int rank_;
  std::shared_ptr<Rendezvous> rendezvous_;
};

/// From now on this context's messages go in groups, if it has nodes.
inline void meet_at(Context& context, const std::shared_ptr<Rendezvous>& rendezvous) {
  ContextState& state = *context.state();
  state.device_group_asked = true;
  state.adopt(std::make_unique<RendezvousGroup>(*state.device, state.rank(), rendezvous));
}

}  // namespace partita::testing
