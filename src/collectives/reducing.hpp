// What the reducing collectives share.
#pragma once

#include <partita/collectives.hpp>
#include <string_view>

#include "collectives/collective.hpp"

namespace partita::collective {

/// A reducing call, in place or not.
Call reducing_call(std::string_view operation, const View& source, const View& destination,
                   const ReduceOptions& options);

/// In place or apart.
class Reducing : public Collective {
 public:
  using Collective::Collective;

 protected:
  Layout checked_contributions() const;
  void check_own(const Views& views) const override;
  bool is_offered_by(const devices::DeviceGroup& library) const override;
};

/// Contributions to a layout of complete values, reduced in rank order: small ones are read whole from shared
/// scratch, large ones in slices.
Plan plan_joining(const Request& request, const char* how_in_slices);

}  // namespace partita::collective
