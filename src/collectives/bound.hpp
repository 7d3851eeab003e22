// A plan bound to memory, run on views.
#pragma once

#include <memory>
#include <partita/view.hpp>
#include <span>
#include <vector>

#include "array/array_state.hpp"
#include "execute/executor.hpp"

namespace partita::collective {

/// Holds no share of the context: whoever owns it keeps the context alive.
class Bound {
 public:
  /// Allocates the scratch: collective.
  Bound(ContextState& context, Plan plan);

  const Plan& plan() const { return executor_->plan(); }
  const std::vector<Layout>& layouts() const { return layouts_; }

  /// Collective, blocking. One view an operand; `heap_offsets` of those on the symmetric heap, the same on
  /// all ranks.
  void run(std::span<const View> views, std::span<const std::int64_t> heap_offsets = {});

 private:
  std::vector<Layout> layouts_;  // of the operands
  std::vector<Array::State> states_;
  std::vector<const Array::State*> pointers_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace partita::collective
