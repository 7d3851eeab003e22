// What a multiply is planned from, in words.
#pragma once

#include <partita/fact.hpp>
#include <partita/matmul.hpp>
#include <string>
#include <vector>

namespace partita::multiplication {

/// The options; alpha and beta are no part of a plan but for whether alpha is 0.
std::string plan_text(const MatmulOptions& options, bool in_place);
/// All operands but D.
std::string text(const MatmulOperands& operands);
/// Both and D, one by one: the plan's identity.
std::vector<Fact> facts(const MatmulOperands& operands, const MatmulOptions& options, bool in_place);

}  // namespace partita::multiplication
