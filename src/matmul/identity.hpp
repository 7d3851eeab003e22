// What a multiply is planned from, in words.
#pragma once

#include <partita/fact.hpp>
#include <partita/matmul.hpp>
#include <string>
#include <vector>

namespace partita::multiplication {

/// Operands and options, one by one: the plan's identity. alpha and beta are no part of a plan but for
/// whether alpha is 0.
std::vector<Fact> facts(const MatmulOperands& operands, const MatmulOptions& options, bool in_place);

/// By which a context keeps the plan.
std::string key_of(const std::vector<Fact>& facts);

}  // namespace partita::multiplication
