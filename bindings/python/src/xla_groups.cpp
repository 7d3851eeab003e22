#include "xla_groups.hpp"

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

std::shared_ptr<Group> group_of(const Call& call) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().groups.find(call.number("group"));
  if (found == known().groups.end()) throw ArgumentError("the group of this program has been closed");
  return found->second;
}

const Operand& Group::operand(const Call& call, const std::string& name, Dtype dtype) {
  const std::string_view text = call.text(name);
  std::string key(partita::name(dtype));
  Shape shape;
  for (const std::int64_t extent : call.numbers(name + "_shape")) {
    shape.push_back(extent);
    key += ' ' + std::to_string(extent);
  }
  key.append(1, ' ').append(text);
  const auto found = operands_.find(key);
  if (found != operands_.end()) return found->second;
  const Layout layout(Distribution::parse(text), shape, context_.size());
  return operands_.emplace(key, Operand::of(layout, dtype)).first->second;
}

Array Group::array(const Call& call, const std::string& name, const View& local) {
  const Operand& described = operand(call, name, local.dtype);
  if (local.space == MemorySpace::device) return wrap(context_, local, described.layout);
  return wrap(context_, local, described);
}

}  // namespace partita::python::xla
