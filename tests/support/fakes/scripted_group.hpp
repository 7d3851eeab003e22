// A transport that fails when a test says so.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "context/context_state.hpp"
#include "runtime/groups/process_group.hpp"

namespace partita::testing {

/// Sends and receives nothing: messages get numbers from 0 on, and what becomes of them the script says.
/// Everything else is the group's that it replaces.
class ScriptedGroup : public runtime::ProcessGroup {
 public:
  struct Script {
    std::function<void()> progress = [] {};
    std::map<runtime::MessageId, std::function<bool()>> test;  ///< others have arrived
  };
  ScriptedGroup(std::unique_ptr<runtime::ProcessGroup> group, Script& script)
      : group_(std::move(group)), script_(script) {}

  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  const Topology& topology() const override { return group_->topology(); }
  bool in_process() const override { return group_->in_process(); }
  runtime::MessageId send(int, runtime::Lane, const void*, std::int64_t) override { return messages_++; }
  runtime::MessageId receive(int, runtime::Lane, void*, std::int64_t) override { return messages_++; }
  bool test(runtime::MessageId message) override {
    const auto found = script_.test.find(message);
    return found == script_.test.end() || found->second();
  }
  void progress() override { script_.progress(); }
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
    return group_->subgroup(ranks, key);
  }
  std::string place() const override { return group_->place(); }

 private:
  std::unique_ptr<runtime::ProcessGroup> group_;
  Script& script_;  // outlives it
  runtime::MessageId messages_ = 0;
};

/// A context of this rank alone, by the script, which must outlive it.
inline Context alone_by(Context& context, ScriptedGroup::Script& script) {
  const std::vector<int> me{context.rank()};
  Context alone = context.subgroup(me);
  alone.state()->group = std::make_unique<ScriptedGroup>(std::move(alone.state()->group), script);
  return alone;
}

}  // namespace partita::testing
