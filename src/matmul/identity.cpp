#include "matmul/identity.hpp"

#include <fmt/format.h>

namespace partita::multiplication {
namespace {

std::string text(const std::optional<Operand>& operand) {
  return operand ? operand->to_string() : "none";
}

}  // namespace

std::string plan_text(const MatmulOptions& options, bool in_place) {
  const auto dtype = [](const std::optional<Dtype>& wanted) { return wanted ? name(*wanted) : "any"; };
  return fmt::format("ops {} {} epilogue {} result {} compute {} method {} memory {}{}{}",
                     static_cast<int>(options.op_a), static_cast<int>(options.op_b),
                     static_cast<int>(options.epilogue), dtype(options.result), dtype(options.compute),
                     static_cast<int>(options.method), options.memory_limit, in_place ? " in place" : "",
                     options.alpha == std::complex<double>(0) ? " alpha 0" : "");
}

std::string text(const MatmulOperands& operands) {
  return fmt::format("{} | {} | {} | {} | {} | {}", operands.a.to_string(), operands.b.to_string(),
                     text(operands.c), text(operands.bias), text(operands.auxiliary),
                     text(operands.gradient));
}

std::vector<Fact> facts(const MatmulOperands& operands, const MatmulOptions& options, bool in_place) {
  return {{"A", operands.a.to_string()},
          {"B", operands.b.to_string()},
          {"C", text(operands.c)},
          {"D", operands.d.to_string()},
          {"the bias", text(operands.bias)},
          {"the auxiliary array", text(operands.auxiliary)},
          {"the gradient", text(operands.gradient)},
          {"options", plan_text(options, in_place)}};
}

}  // namespace partita::multiplication
