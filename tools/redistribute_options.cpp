#include "tools/redistribute_options.hpp"

#include <fmt/format.h>

#include <map>

#include "tools/subcommand.hpp"

namespace partita::tools {
namespace {

const std::map<std::string, RedistributeMethod> methods{
    {"automatic", RedistributeMethod::automatic}, {"direct", RedistributeMethod::direct},
    {"pushed", RedistributeMethod::pushed},       {"staged", RedistributeMethod::staged},
    {"messages", RedistributeMethod::messages},   {"grouped", RedistributeMethod::grouped}};

}  // namespace

RedistributeMethod parse_redistribute_method(const std::string& text) {
  const auto found = methods.find(text);
  if (found != methods.end()) return found->second;
  throw UsageError(fmt::format(
      "there is no method \"{}\" of a redistribution: automatic, direct, pushed, staged, messages", text));
}

Shape permuted(const Shape& shape, const std::vector<int>& axes) {
  if (axes.empty()) return shape;
  Shape result;
  for (const int axis : axes) {
    if (axis >= shape.size())
      throw UsageError(fmt::format("there is no axis {} in {}", axis, to_string(shape)));
    result.push_back(shape[axis]);
  }
  return result;
}

}  // namespace partita::tools
