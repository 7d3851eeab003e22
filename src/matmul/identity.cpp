#include "matmul/identity.hpp"

#include <fmt/format.h>

namespace partita::multiplication {
namespace {

std::string text(const std::optional<Operand>& operand) {
  return operand ? operand->to_string() : "none";
}

std::string text(const MatmulOptions& options, bool in_place) {
  const auto dtype = [](const std::optional<Dtype>& wanted) { return wanted ? name(*wanted) : "any"; };
  return fmt::format("ops {} {} epilogue {} result {} compute {} method {} memory {}{}{}",
                     static_cast<int>(options.op_a), static_cast<int>(options.op_b),
                     static_cast<int>(options.epilogue), dtype(options.result), dtype(options.compute),
                     static_cast<int>(options.method), options.memory_limit, in_place ? " in place" : "",
                     options.alpha == std::complex<double>(0) ? " alpha 0" : "");
}

}  // namespace

std::vector<Fact> facts(const MatmulOperands& operands, const MatmulOptions& options, bool in_place) {
  return {{"A", operands.a.to_string()},
          {"B", operands.b.to_string()},
          {"C", text(operands.c)},
          {"D", operands.d.to_string()},
          {"the bias", text(operands.bias)},
          {"the auxiliary array", text(operands.auxiliary)},
          {"the gradient", text(operands.gradient)},
          {"options", text(options, in_place)}};
}

std::string key_of(const std::vector<Fact>& facts) {
  std::string key = "matmul";
  for (const Fact& fact : facts) key += " | " + fact.value;
  return key;
}

}  // namespace partita::multiplication
