// A product that is planned and bound: what the functions and the object run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/product_choices.hpp"
#include "execute/operation.hpp"
#include "matmul/request.hpp"
#include "matmul/roles.hpp"

namespace partita::multiplication {

/// What a plan is made for.
struct Setting {
  MatmulOperands operands;
  MatmulOptions options;
  bool in_place = false;
  bool product = true;  ///< alpha is not 0
};

/// Uses: the operands that there are, in the order of their roles.
class Product final : public execution::Operation {
 public:
  /// `setting` may refuse its arguments, so it is called inside the check.
  Product(ContextState& context, std::function<Setting()> setting);

  const Setting& setting() const { return *setting_; }
  /// For D, of a call with these factors, which all ranks compare. Collective.
  Array new_d(const std::shared_ptr<ContextState>& context, const Parameters& factors, SourcePlace where);
  /// See Operation::run. The request has the arrays of the setting.
  void run(const Request& request, const Parameters& parameters, const std::optional<Stream>& stream);

 private:
  std::vector<Fact> prepare() override;
  execution::Planned plan_of(int rank) const override;
  void before_binding() override;
  void after_binding() override;
  void after_check() override;
  bool reads(std::size_t use, const Parameters& parameters) const override;

  std::function<Setting()> ask_;
  std::optional<Setting> setting_;
  std::vector<Role> roles_;  // by use
  std::vector<const Array*> given_;
  std::string purpose_of_d_;  // of these:
  Parameters factors_;
  // While it is planned: what products of devices are tried, and what this rank has chosen.
  std::optional<devices::ChoicesFile> choices_;
  std::string chosen_;
};

/// What `local` throws on one rank, all throw. The ranks communicate only then if they know the same.
/// Collective.
void check_together(ContextState& context, bool alike_on_all_ranks, const std::function<void()>& local);

}  // namespace partita::multiplication
