#include "support/fakes/fake_device_group.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace partita::testing {
namespace {

struct Sent {
  const void* data = nullptr;
  std::int64_t bytes = 0;
  std::atomic<bool> taken = false;
};

/// What ranks of this process have sent one another.
class Transit {
 public:
  using Key = std::tuple<std::uint64_t, int, int>;  // group, sender, receiver

  static Transit& get() {
    static Transit& transit = *new Transit;  // streams may outlive static objects
    return transit;
  }
  std::shared_ptr<Sent> send(const Key& key, const devices::DeviceGroup::Part& part) {
    auto sent = std::make_shared<Sent>();
    sent->data = part.data;
    sent->bytes = part.bytes;
    const std::lock_guard lock(mutex_);
    under_way_[key].push_back(sent);
    return sent;
  }
  std::shared_ptr<Sent> take(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(key);
    if (found == under_way_.end() || found->second.empty()) return nullptr;
    std::shared_ptr<Sent> first = found->second.front();
    found->second.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::deque<std::shared_ptr<Sent>>> under_way_;
};

std::vector<devices::DeviceGroup::Part> with_bytes(std::span<const devices::DeviceGroup::Part> parts) {
  std::vector<devices::DeviceGroup::Part> result;
  for (const devices::DeviceGroup::Part& part : parts) {
    if (part.bytes > 0) result.push_back(part);
  }
  return result;
}

}  // namespace

void FakeDeviceGroup::exchange(std::span<const Part> sent, std::span<const Part> received, Stream stream) {
  if (!moves_) return;
  put_(stream, [identity = identity_, rank = rank_, aborted = aborted_, given = with_bytes(sent),
                wanted = with_bytes(received)](const Wait& wait) {
    std::vector<std::shared_ptr<Sent>> mine;
    for (const Part& part : given) mine.push_back(Transit::get().send({identity, rank, part.peer}, part));
    for (const Part& part : wanted) {
      std::shared_ptr<Sent> come;
      wait([&] { return *aborted || (come = Transit::get().take({identity, part.peer, rank})) != nullptr; });
      if (come == nullptr) return;
      // What a root has sent to itself in place is read by others now.
      if (come->bytes == part.bytes && part.data != come->data)
        std::memcpy(part.data, come->data, static_cast<std::size_t>(part.bytes));
      come->taken = true;
    }
    for (const std::shared_ptr<Sent>& one : mine) wait([&] { return *aborted || one->taken; });
  });
}

void FakeDeviceGroup::broadcast(const void* from, void* to, std::int64_t bytes, int root, Stream stream) {
  std::vector<Part> sent;
  for (int peer = 0; rank_ == root && peer < ranks_; ++peer) {
    sent.push_back({peer, const_cast<void*>(from), bytes});
  }
  exchange(sent, std::array{Part{root, to, bytes}}, stream);
}

void FakeDeviceGroup::all_gather(const void* from, void* to, std::int64_t bytes, Stream stream) {
  std::vector<Part> sent, received;
  for (int peer = 0; peer < ranks_; ++peer) {
    sent.push_back({peer, const_cast<void*>(from), bytes});
    received.push_back({peer, static_cast<char*>(to) + peer * bytes, bytes});
  }
  exchange(sent, received, stream);
}

}  // namespace partita::testing
