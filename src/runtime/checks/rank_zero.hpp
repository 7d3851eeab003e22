// What a rank may not do while the others wait for it in `rank_zero`: call what waits for them.
#pragma once

#include <string_view>
#include <vector>

namespace partita::runtime {

struct Runtime;

/// While it lives, this thread is inside `rank_zero` of the context. They nest, as blocks do.
class RankZeroScope {
 public:
  explicit RankZeroScope(const Runtime& state) noexcept;
  ~RankZeroScope();
  RankZeroScope(const RankZeroScope&) = delete;
  RankZeroScope& operator=(const RankZeroScope&) = delete;

 private:
  friend void refuse_in_rank_zero(const Runtime&, std::string_view, const std::vector<int>&);
  /// Whether a call of these ranks of `called` has to wait for a rank that waits here.
  bool holds_up(const Runtime& called, const std::vector<int>& members) const;

  const Runtime& state_;
  const RankZeroScope* outer_;
};

/// Whether this thread is inside `rank_zero` of any context.
bool in_rank_zero() noexcept;

/// Throws ArgumentError where this thread is inside `rank_zero` of this context, or of one from which it was
/// split or with which it was split, and ranks that wait there would have to take part in `operation`. That
/// is a call of `members`, ranks of the context; empty: of all. Costs one look at a variable of the thread
/// elsewhere.
void refuse_in_rank_zero(const Runtime& state, std::string_view operation,
                         const std::vector<int>& members = {});

}  // namespace partita::runtime
