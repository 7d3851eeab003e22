#include "matmul/roles.hpp"

#include <algorithm>
#include <vector>

#include "array/device_mirror.hpp"

namespace partita::multiplication {
namespace {

/// "A, C and D"
std::string joined(const std::vector<const char*>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

template <class Of, class Operands>
std::array<Of*, roles> listed(Operands& operands) {
  const auto maybe = [](auto& operand) -> Of* { return operand ? &*operand : nullptr; };
  return {&operands.a,
          &operands.b,
          maybe(operands.c),
          &operands.d,
          maybe(operands.epilogue.bias),
          maybe(operands.epilogue.auxiliary),
          maybe(operands.epilogue.gradient),
          maybe(operands.epilogue.scale_a),
          maybe(operands.epilogue.scale_b),
          maybe(operands.epilogue.scale_d),
          maybe(operands.epilogue.amax_d)};
}

}  // namespace

std::array<Operand*, roles> by_role(MatmulOperands& operands) {
  return listed<Operand>(operands);
}

std::array<const Operand*, roles> by_role(const MatmulOperands& operands) {
  return listed<const Operand>(operands);
}

bool is_read(Role role, const EpilogueParts& parts, bool product) {
  if (role == in_a) return product || parts.gradient_of_a;
  if (role == in_b) return product || parts.gradient_of_b;
  if (role == in_auxiliary) return !parts.writes_auxiliary;
  return role != in_d && role != in_gradient && role != in_amax_d;
}

bool is_written(Role role, const EpilogueParts& parts) {
  return role == in_d || role == in_gradient || role == in_amax_d ||
         (role == in_auxiliary && parts.writes_auxiliary);
}

MemorySpace space_of(const MatmulOperands& operands) {
  const auto on_device = [](const Operand* operand) {
    return operand != nullptr && operand->space == MemorySpace::device;
  };
  return std::ranges::any_of(by_role(operands), on_device) ? MemorySpace::device : MemorySpace::host;
}

MatmulOperands as_planned(MatmulOperands operands) {
  if (space_of(operands) == MemorySpace::host) return operands;
  for (Operand* const operand : by_role(operands)) {
    if (operand != nullptr) *operand = arrays::as_planned(*operand, MemorySpace::device);
  }
  return operands;
}

std::string host_copies_text(const MatmulOperands& operands, const MatmulOptions& options) {
  if (space_of(operands) == MemorySpace::host) return "";
  const EpilogueParts parts = parts_of(options.epilogue);
  const bool product = options.alpha != std::complex<double>(0);
  std::vector<const char*> to_device, to_host;
  const auto all = by_role(operands);
  for (std::size_t i = 0; i < roles; ++i) {
    if (all[i] == nullptr || all[i]->space == MemorySpace::device) continue;
    const auto role = static_cast<Role>(i);
    if (is_read(role, parts, product)) to_device.push_back(role_names[i]);
    if (is_written(role, parts)) to_host.push_back(role_names[i]);
  }
  std::string text;
  if (!to_device.empty()) text += "; copied from host memory to the device before: " + joined(to_device);
  if (!to_host.empty()) text += "; copied back to host memory after: " + joined(to_host);
  return text;
}

}  // namespace partita::multiplication
