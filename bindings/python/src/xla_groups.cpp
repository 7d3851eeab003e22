#include "xla_groups.hpp"

#include <algorithm>
#include <partita/distribution.hpp>
#include <partita/error.hpp>
#include <partita/layout.hpp>

namespace partita::python::xla {

namespace {

struct Known {
  std::mutex mutex;
  std::map<std::int64_t, std::shared_ptr<Group>> groups;
  std::int64_t last = 0;
};

Known& known() {
  static auto& all = *new Known;  // XLA's threads may outlive static objects
  return all;
}

constexpr std::size_t most_plans = 64;  // as many as a context keeps of its own

/// Null: there is none of this number, or no more.
std::shared_ptr<Group> found_group(std::int64_t number) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().groups.find(number);
  return found == known().groups.end() ? nullptr : found->second;
}

}  // namespace

std::int64_t add_group(const Context& context) {
  const std::lock_guard lock(known().mutex);
  known().groups.emplace(++known().last, std::make_shared<Group>(context));
  return known().last;
}

void forget_group(std::int64_t number) {
  const std::lock_guard lock(known().mutex);
  known().groups.erase(number);
}

void synchronize_group(std::int64_t number) {
  const std::shared_ptr<Group> group = found_group(number);
  if (!group) return;
  const std::lock_guard lock(group->mutex());
  group->context().synchronize();
}

std::pair<std::int64_t, std::string> failures_of_group(std::int64_t number) {
  const std::shared_ptr<Group> group = found_group(number);
  return group ? group->failures() : std::pair<std::int64_t, std::string>();
}

std::shared_ptr<Group> group_of(const Call& call) {
  std::shared_ptr<Group> found = found_group(call.number("group"));
  if (!found) throw ArgumentError("the group of this program has been closed");
  return found;
}

const Operand& Group::operand(const Call& call, const std::string& name, const View& local) {
  const std::string_view text = call.text(name);
  std::string key(partita::name(local.dtype));
  if (local.space == MemorySpace::device) key += " on devices";
  Shape shape;
  for (const std::int64_t extent : call.numbers(name + "_shape")) {
    shape.push_back(extent);
    key += ' ' + std::to_string(extent);
  }
  key.append(1, ' ').append(text);
  const auto found = operands_.find(key);
  if (found != operands_.end()) return found->second;
  Operand made = Operand::of(Layout(Distribution::parse(text), shape, context_.size()), local.dtype);
  made.space = local.space;
  return operands_.emplace(key, std::move(made)).first->second;
}

Array Group::array(const Call& call, const std::string& name, const View& local) {
  return wrap(context_, local, operand(call, name, local));
}

std::pair<std::int64_t, std::string> Group::failures() const {
  const std::lock_guard lock(of_failures_);
  return failures_;
}

void Group::note_failure(std::string how) {
  const std::lock_guard lock(of_failures_);
  ++failures_.first;
  failures_.second = std::move(how);
}

std::shared_ptr<void> Group::find(const std::string& identity) {
  const auto found =
      std::ranges::find(plans_, identity, &std::pair<std::string, std::shared_ptr<void>>::first);
  if (found == plans_.end()) return {};
  plans_.splice(plans_.begin(), plans_, found);
  return plans_.front().second;
}

void Group::keep(const std::string& identity, std::shared_ptr<void> plan) {
  if (plans_.size() == most_plans) plans_.pop_back();
  plans_.emplace_front(identity, std::move(plan));
}

}  // namespace partita::python::xla
