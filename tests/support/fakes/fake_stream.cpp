#include "support/fakes/fake_stream.hpp"

#include <vector>

#include "base/check.hpp"

namespace partita::testing {
namespace {

std::atomic<int> queues_made{0};
std::atomic<int> launches_blocked{0};
thread_local int events_put = 0;
thread_local int driven = 0;  // the device that the thread drives

}  // namespace

/// How far streams have come, and which devices they have had work for.
class FakeProgress {
 public:
  void put() {
    devices_ |= std::uint64_t{1} << driven;
    ++put_;
  }
  void done() { ++done_; }
  void end() { ended_ = true; }
  bool of(int device) const { return (devices_ >> device & 1) != 0; }
  std::int64_t given() const { return put_; }
  bool has_done(std::int64_t count) const { return ended_ || done_ >= count; }

 private:
  std::atomic<std::uint64_t> devices_{0};
  std::atomic<std::int64_t> put_{0}, done_{0};
  std::atomic<bool> ended_{false};
};

namespace {

/// Of all streams of the process.
class AllProgress {
 public:
  static AllProgress& get() {
    static AllProgress& all = *new AllProgress;
    return all;
  }
  std::shared_ptr<FakeProgress> add() {
    auto added = std::make_shared<FakeProgress>();
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const std::weak_ptr<FakeProgress>& one) { return one.expired(); });
    all_.push_back(added);
    return added;
  }
  /// For all that the streams have been given for `device`.
  void wait_for(int device) {
    std::vector<std::pair<std::shared_ptr<FakeProgress>, std::int64_t>> waiting;
    {
      const std::lock_guard lock(mutex_);
      for (const std::weak_ptr<FakeProgress>& one : all_) {
        if (const auto progress = one.lock(); progress && progress->of(device))
          waiting.emplace_back(progress, progress->given());
      }
    }
    for (const auto& [progress, given] : waiting) {
      while (!progress->has_done(given)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<FakeProgress>> all_;
};

}  // namespace

void drive_fake_device(int index) {
  driven = index;
}

void await_fake_device(int index) {
  AllProgress::get().wait_for(index);
}

FakeQueue::FakeQueue() : progress_(AllProgress::get().add()), thread_([this] { work(); }) {
  ++queues_made;
}

FakeQueue::~FakeQueue() {
  progress_->end();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::mutex& fake_driver() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

void FakeQueue::put(std::function<void()> task) {
  {
    std::unique_lock lock(mutex_);
    if (graph_) return graph_->tasks.push_back(std::move(task));
    if (tasks_.size() >= most_launches) {
      ++launches_blocked;
      lock.unlock();
      const std::lock_guard others(fake_driver());
      lock.lock();
      changed_.wait(lock, [&] { return ending_ || tasks_.size() < most_launches; });
    }
    tasks_.push_back(std::move(task));
    progress_->put();
  }
  changed_.notify_all();
}

bool FakeQueue::idle() {
  const std::lock_guard lock(mutex_);
  return tasks_.empty() && !busy_ && !graph_;
}

void FakeQueue::begin_capture() {
  const std::lock_guard lock(mutex_);
  graph_ = std::make_shared<FakeGraph>();
}

std::shared_ptr<FakeGraph> FakeQueue::end_capture() {
  const std::lock_guard lock(mutex_);
  return std::move(graph_);
}

std::shared_ptr<FakeGraph> FakeQueue::graph() {
  const std::lock_guard lock(mutex_);
  return graph_;
}

void FakeQueue::wait(const std::function<bool()>& ready) const {
  for (int turn = 0; !ready() && !ending_; ++turn) {
    if (turn < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void FakeQueue::work() {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
    }
    changed_.notify_all();
    task();
    task = nullptr;
    progress_->done();
    const std::lock_guard lock(mutex_);
    busy_ = false;
  }
}

FakeQueue& queue_of(Stream stream) {
  invariant(stream.given, "a fake device is given work and no stream");
  static FakeQueue& usual = *new FakeQueue;
  const auto number = reinterpret_cast<std::uintptr_t>(stream.handle);
  if (number <= 1) return usual;
  if (number > 2) return *static_cast<FakeQueue*>(stream.handle);
  thread_local FakeQueue& own = *new FakeQueue;  // outlives the thread, as its work may
  return own;
}

void FakeEvent::record(Stream stream) {
  ++events_put;
  check(queue_of(stream).graph() == nullptr,
        "a fake stream that is being captured is asked how far it has come");
  auto done = std::make_shared<std::atomic<bool>>(false);
  queue_of(stream).put([done] { done->store(true); });
  const std::lock_guard lock(mutex_);
  done_ = std::move(done);
}

bool FakeEvent::reached() {
  return last()->load();
}

void FakeEvent::hold(Stream stream) {
  FakeQueue& queue = queue_of(stream);
  queue.put([&queue, done = last()] { queue.wait([&] { return done->load(); }); });
}

std::shared_ptr<std::atomic<bool>> FakeEvent::last() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

struct FakeStream::State {
  FakeQueue queue;
};

FakeStream::FakeStream() : state_(std::make_unique<State>()) {}
FakeStream::~FakeStream() = default;

Stream FakeStream::stream() const {
  return {&state_->queue};
}

void begin_fake_capture(Stream stream) {
  queue_of(stream).begin_capture();
}

std::shared_ptr<FakeGraph> end_fake_capture(Stream stream) {
  return queue_of(stream).end_capture();
}

void start_fake_graph(const FakeGraph& graph, Stream stream) {
  queue_of(stream).put([tasks = graph.tasks] {
    for (const std::function<void()>& task : tasks) task();
  });
}

void delay_fake_stream(Stream stream, std::chrono::microseconds time) {
  queue_of(stream).put([time] { std::this_thread::sleep_for(time); });
}

void put_into_fake_stream(Stream stream, std::function<void()> task) {
  queue_of(stream).put(std::move(task));
}

int fake_queues_made() {
  return queues_made;
}

int fake_launches_blocked() {
  return launches_blocked;
}

int fake_events_put() {
  return events_put;
}

}  // namespace partita::testing
