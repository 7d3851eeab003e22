// Messages that need not be packed or unpacked.
#pragma once

#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "execute/message_use.hpp"
#include "kernels/host/copy.hpp"

namespace partita {

/// Where what a message carries lies in one run of an operand, the message may leave from there or arrive
/// there, and the copy into or out of private scratch is spared: if a transport takes any memory, and groups
/// and copies are ordered as GroupedPlan orders them.
struct DirectMessages {
  static constexpr std::size_t packed = ~std::size_t{0};

  std::vector<bool> spared;       ///< by step: a copy that need not be made
  std::vector<std::size_t> copy;  ///< by step; of a message: its copy that is spared; `packed`: it is made
};

/// `moves`: by step, what the copies have been lowered to. No two operands may share memory. A copy is made
/// all the same where another one touches its place in the operand meanwhile: an earlier one, in the case of
/// what is received, a later one of what is sent.
DirectMessages find_direct_messages(const Plan& plan, const MessageUse& use,
                                    std::span<const std::vector<StridedCopy>> moves);

}  // namespace partita
