// Messages that need not be packed or unpacked.
#pragma once

#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "kernels/host/copy.hpp"
#include "plan/touched.hpp"

namespace partita::execution {

/// If the data of a message is contiguous in an operand, the message may be sent from or received into the
/// operand, without a copy through private scratch: if the transport accepts any memory, and groups and
/// copies are ordered as GroupedPlan orders them.
struct DirectMessages {
  static constexpr std::size_t packed = ~std::size_t{0};

  std::vector<bool> spared;       ///< by step: a copy that need not be made
  std::vector<std::size_t> copy;  ///< by step; of a message: its copy that is spared; `packed`: it is made
};

/// `closing`: by step; of a message, the last one of its group, where all of that group is put into a stream.
/// `moves`: by step, what the copies have been lowered to. No two operands may share memory. A copy is made
/// all the same where its place in the operand is touched between its own turn and the group's.
DirectMessages find_direct_messages(const Plan& plan, std::span<const planning::Touched> touched,
                                    std::span<const int> closing,
                                    std::span<const std::vector<kernels::StridedCopy>> moves);

}  // namespace partita::execution
