#include "xla_groups.hpp"

#include <algorithm>
#include <partita/distribution.hpp>
#include <partita/error.hpp>
#include <partita/layout.hpp>
#include <vector>

namespace partita::python::xla {

namespace {

using Members = std::vector<std::shared_ptr<Group>>;  // this process's ranks of a group

struct Known {
  std::mutex mutex;
  std::map<std::int64_t, Members> groups;
  std::int64_t last = 0;
};

Known& known() {
  static auto& all = *new Known;  // XLA's threads may outlive static objects
  return all;
}

constexpr std::size_t most_plans = 64;  // as many as a context keeps

/// Empty: there is no group of this number, or it was forgotten.
Members members_of(std::int64_t number) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().groups.find(number);
  return found == known().groups.end() ? Members() : found->second;
}

/// A GPU has a number of its own in a context; CPU devices are numbered as the ranks of the process are.
bool is_on(const Context& context, std::size_t rank, int device) {
  const Device own = context.device();
  return device == (own.kind == Device::Kind::cuda ? own.index : static_cast<int>(rank));
}

}  // namespace

std::int64_t add_group(const std::vector<Context>& contexts) {
  Members members;
  for (const Context& context : contexts) {
    const bool is_whole = static_cast<std::size_t>(context.size()) == contexts.size();
    members.push_back(std::make_shared<Group>(context, is_whole));
  }
  const std::lock_guard lock(known().mutex);
  known().groups.emplace(++known().last, std::move(members));
  return known().last;
}

void forget_group(std::int64_t number) {
  const std::lock_guard lock(known().mutex);
  known().groups.erase(number);
}

void synchronize_group(std::int64_t number) {
  for (const std::shared_ptr<Group>& group : members_of(number)) {
    const std::lock_guard lock(group->mutex());
    group->context().synchronize();
  }
}

std::pair<std::int64_t, std::string> failures_of_group(std::int64_t number) {
  std::pair<std::int64_t, std::string> all;
  for (const std::shared_ptr<Group>& group : members_of(number)) {
    auto [count, text] = group->failures();
    all.first += count;
    if (count > 0) all.second = std::move(text);
  }
  return all;
}

std::shared_ptr<Group> group_of(const Call& call) {
  const Members members = members_of(call.number("group"));
  if (members.empty()) throw ArgumentError("the group of this program has been closed");
  if (members.size() == 1) return members.front();
  const std::optional<int> device = call.device();
  for (std::size_t rank = 0; device && rank < members.size(); ++rank)
    if (is_on(members[rank]->context(), rank, *device)) return members[rank];
  throw ArgumentError("the program runs on device " + (device ? std::to_string(*device) : std::string("?")) +
                      " of this process, which is not a rank of the group of its calls");
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
  const bool is_padded = call.has(name + "_padded");
  key.append(is_padded ? " padded " : " ").append(text);
  const auto found = operands_.find(key);
  if (found != operands_.end()) return found->second;
  Operand made = Operand::of(Layout(Distribution::parse(text), shape, context_.size()), local.dtype);
  made.space = local.space;
  made.dense = !is_padded;
  return operands_.emplace(key, std::move(made)).first->second;
}

Array Group::array(const Call& call, const std::string& name, const View& local) {
  const Operand& known = operand(call, name, local);
  View part = local;
  if (!known.dense) part.extents = known.layout.local_shape(context_.rank());
  return wrap(context_, part, known);
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
