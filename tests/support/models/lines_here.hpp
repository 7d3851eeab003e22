// Transforms of lines as a device's kernels make them, by plain code.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/line_tiles.hpp"
#include "kernels/cuda/plane_transform.hpp"

namespace partita::testing {

using kernels::cuda::LineAccess;

/// The threads of a block, one after the other.
template <class Value, int n, LineAccess access>
class HostTeam {
 public:
  using Thread = kernels::cuda::LineThread<Value, n, access>;

  HostTeam(const kernels::cuda::LineTransform& what, const kernels::cuda::WideAccess& wide) {
    for (int thread = 0; thread < Thread::Factors::threads; ++thread)
      members_.push_back({Thread(what, *shared_, *targets_, thread, wide), {}});
  }

  template <class Work>
  void for_each(const Work& work) {
    for (Member& member : members_) work(member.thread, member.values);
  }
  void meet() {}
  void prepare() {
    for (Member& member : members_) member.thread.prepare();
  }

 private:
  struct Member {
    Thread thread;
    typename Thread::Values values;
  };
  std::unique_ptr<kernels::cuda::LineShared<Value, n>> shared_ =
      std::make_unique<kernels::cuda::LineShared<Value, n>>();
  std::unique_ptr<kernels::cuda::LineTargets<n>> targets_ = std::make_unique<kernels::cuda::LineTargets<n>>();
  std::vector<Member> members_;
};

template <class Value, int n, LineAccess access>
void transform_tiles_here(const kernels::cuda::LineTransform& what, const kernels::cuda::WideAccess& wide) {
  HostTeam<Value, n, access> team(what, wide);
  kernels::cuda::transform_tiles<n>(team, 0, 1, kernels::cuda::tiles_of<Value, n>(what));
}

template <class Value>
void transform_values_here(const kernels::cuda::LineTransform& what) {
  kernels::cuda::with_length<kernels::cuda::LineTransform::longest>(what.length, [&](auto length) {
    constexpr int n = decltype(length)::value;
    const kernels::cuda::WideAccess wide = kernels::cuda::wide_access(what);
    wide.whole ? transform_tiles_here<Value, n, LineAccess::whole>(what, wide)
               : transform_tiles_here<Value, n, LineAccess::any>(what, wide);
  });
}

inline void transform_lines_here(const kernels::cuda::LineTransform& what) {
  if (what.single) return transform_values_here<kernels::cuda::TwoSingles>(what);
  transform_values_here<kernels::cuda::OneDouble>(what);
}

/// As the one block of a device that has room for no more. Throws where a column would wait for ever.
template <class Value, int n, LineAccess of_rows, LineAccess of_columns>
void transform_plane_tiles_here(const kernels::cuda::PlaneTransform& what, std::int64_t ahead) {
  HostTeam<Value, n, of_rows> rows(what.rows, kernels::cuda::wide_access(what.rows));
  HostTeam<Value, n, of_columns> columns(what.columns, kernels::cuda::wide_access(what.columns));
  rows.prepare();
  columns.prepare();
  const std::int64_t planes = kernels::cuda::planes_of(what);
  if (planes == 0) return;
  const kernels::cuda::PlaneOrder order(planes, kernels::cuda::tiles_of<Value, n>(what.rows) / planes,
                                        kernels::cuda::tiles_of<Value, n>(what.columns) / planes, ahead);
  std::uint32_t* const done = what.counters + 2;
  for (std::int64_t turn = 0; turn < order.tiles(); ++turn) {
    const auto tile = order.at(turn);
    const std::int64_t band = order.band_of(tile);
    if (tile.column) {
      if (done[band] != order.rows_of_band(band)) throw std::logic_error("a column before its rows");
      kernels::cuda::transform_tile<n>(columns, tile.number);
    } else {
      kernels::cuda::transform_tile<n>(rows, tile.number);
      ++done[band];
    }
  }
  std::fill_n(what.counters, kernels::cuda::counters_of(planes), 0U);
}

template <class Value, int n, LineAccess of_rows>
void transform_rows_and_columns_here(const kernels::cuda::PlaneTransform& what, std::int64_t ahead) {
  kernels::cuda::wide_access(what.columns).whole
      ? transform_plane_tiles_here<Value, n, of_rows, LineAccess::whole>(what, ahead)
      : transform_plane_tiles_here<Value, n, of_rows, LineAccess::any>(what, ahead);
}

template <class Value>
void transform_plane_values_here(const kernels::cuda::PlaneTransform& what, std::int64_t ahead) {
  kernels::cuda::with_length<kernels::cuda::PlaneTransform::longest>(what.rows.length, [&](auto length) {
    constexpr int n = decltype(length)::value;
    if (!what.rows.of_reals) return transform_rows_and_columns_here<Value, n, LineAccess::any>(what, ahead);
    if constexpr (kernels::cuda::transforms_planes_of(n, true))
      return transform_rows_and_columns_here<Value, n, LineAccess::reals>(what, ahead);
    throw std::logic_error("rows of reals that are too short");
  });
}

inline void transform_planes_here(const kernels::cuda::PlaneTransform& what, std::int64_t ahead = 3) {
  if (what.rows.single) return transform_plane_values_here<kernels::cuda::TwoSingles>(what, ahead);
  transform_plane_values_here<kernels::cuda::OneDouble>(what, ahead);
}

}  // namespace partita::testing
