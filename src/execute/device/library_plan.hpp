// The executor of operations that the vendor's library of collectives carries out.
#pragma once

#include <string>
#include <vector>

#include "execute/device/dense_views.hpp"
#include "execute/executor.hpp"
#include "runtime/checks/greetings.hpp"

namespace partita::execution {

/// The plan has the operands and no steps. Operands that are not dense are packed before and unpacked after.
class LibraryPlan final : public Executor {
 public:
  /// Local.
  LibraryPlan(ContextState& context, Plan plan, ByLibrary work);

 private:
  void relower() override;
  void run(const Execution& execution) override;
  bool may_be_captured() const override { return false; }
  std::string why_not_captured() const override;

  ByLibrary work_;
  runtime::Greeted greeted_;
  DenseViews dense_;
};

}  // namespace partita::execution
