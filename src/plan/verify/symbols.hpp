// Symbols in memory cells in place of numbers: the element and the set of reduced contributions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::verification {

using SetId = std::int32_t;
inline constexpr SetId unwritten = 0;
inline constexpr SetId identity = 1;  ///< the empty set: the identity of the reduction

struct Symbol {
  std::int64_t element = -1;  ///< row-major number of the global index
  SetId set = unwritten;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// Numbers for sets of contributions, so that a cell holds a number.
class ContributionSets {
 public:
  ContributionSets();
  SetId of(int contribution) { return intern({contribution}); }
  SetId first(int count);  ///< {0, ..., count - 1}
  /// The union; nothing where the two have a contribution in common.
  std::optional<SetId> join(SetId a, SetId b);
  /// Whether b is one contribution, and behind all of a: sums are then the same numbers in all plans.
  bool in_order(SetId a, SetId b) const;
  std::string describe(SetId set) const;

 private:
  using Members = std::vector<int>;  // increasing
  SetId intern(const Members& members);

  std::vector<Members> members_;  // by id
  std::map<Members, SetId> ids_;
  std::map<std::pair<SetId, SetId>, std::optional<SetId>> joined_;
};

}  // namespace partita::verification
