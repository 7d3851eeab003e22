// A transport that takes no device memory, as most do.
#pragma once

#include <memory>
#include <partita/context.hpp>
#include <utility>
#include <vector>

#include "runtime/groups/process_group.hpp"

namespace partita::testing {

/// Another group, whose messages are all in memory that the host may read: an address of a fake device's
/// memory is an Error, where a transport would end the process or send garbage.
class HostOnlyGroup final : public runtime::ProcessGroup {
 public:
  explicit HostOnlyGroup(std::unique_ptr<runtime::ProcessGroup> group) : group_(std::move(group)) {}

  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  const Topology& topology() const override { return group_->topology(); }
  bool in_process() const override { return group_->in_process(); }
  runtime::MessageId send(int peer, runtime::Lane lane, const void* data, std::int64_t bytes) override;
  runtime::MessageId receive(int peer, runtime::Lane lane, void* data, std::int64_t bytes) override;
  bool test(runtime::MessageId message) override { return group_->test(message); }
  void progress() override { group_->progress(); }
  std::size_t in_flight() const override { return group_->in_flight(); }
  void say_farewell(const runtime::Farewell& farewell) noexcept override { group_->say_farewell(farewell); }
  std::vector<runtime::Farewell> farewells(std::uint64_t context) override {
    return group_->farewells(context);
  }
  void tell(int peer, const runtime::Note& note) noexcept override { group_->tell(peer, note); }
  std::vector<runtime::Note> take_notes(std::uint64_t context) override {
    return group_->take_notes(context);
  }
  std::string lost(int peer) override { return group_->lost(peer); }
  void abandon() noexcept override { group_->abandon(); }
  std::unique_ptr<runtime::ProcessGroup> subgroup(const std::vector<int>& ranks, std::int32_t key) override {
    return std::make_unique<HostOnlyGroup>(group_->subgroup(ranks, key));
  }
  std::string place() const override { return group_->place(); }

 private:
  std::unique_ptr<runtime::ProcessGroup> group_;
};

/// The context's messages go through one from here on, if it computes on a fake device and its messages are
/// not said to be of device memory.
void let_no_device_memory_travel(Context& context);

}  // namespace partita::testing
