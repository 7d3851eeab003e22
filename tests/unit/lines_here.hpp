// Transforms of lines as a device's kernels make them, by plain code.
#pragma once

#include <memory>
#include <vector>

#include "kernels/cuda/line_tiles.hpp"

namespace partita::testing {

/// The threads of a block, one after the other.
template <class Value, int n, bool whole>
class HostTeam {
 public:
  using Thread = kernels::cuda::LineThread<Value, n, whole>;

  HostTeam(const kernels::cuda::LineTransform& what, const kernels::cuda::WideAccess& wide) {
    for (int thread = 0; thread < Thread::Factors::threads; ++thread)
      members_.push_back({Thread(what, *shared_, thread, wide), {}});
  }

  template <class Work>
  void for_each(const Work& work) {
    for (Member& member : members_) work(member.thread, member.values);
  }
  void meet() {}

 private:
  struct Member {
    Thread thread;
    typename Thread::Values values;
  };
  std::unique_ptr<kernels::cuda::LineShared<Value, n>> shared_ =
      std::make_unique<kernels::cuda::LineShared<Value, n>>();
  std::vector<Member> members_;
};

template <class Value, int n, bool whole>
void transform_tiles_here(const kernels::cuda::LineTransform& what, const kernels::cuda::WideAccess& wide) {
  HostTeam<Value, n, whole> team(what, wide);
  kernels::cuda::transform_tiles<n>(team, 0, 1, kernels::cuda::tiles_of<Value, n>(what));
}

template <class Value, int n = 2>
void transform_values_here(const kernels::cuda::LineTransform& what) {
  if constexpr (n <= kernels::cuda::LineTransform::longest) {
    if (what.length != n) return transform_values_here<Value, 2 * n>(what);
    const kernels::cuda::WideAccess wide = kernels::cuda::wide_access(what);
    wide.whole ? transform_tiles_here<Value, n, true>(what, wide)
               : transform_tiles_here<Value, n, false>(what, wide);
  }
}

inline void transform_lines_here(const kernels::cuda::LineTransform& what) {
  if (what.single) return transform_values_here<kernels::cuda::TwoSingles>(what);
  transform_values_here<kernels::cuda::OneDouble>(what);
}

}  // namespace partita::testing
