#include "shallow_water/tile_kernels.hpp"

#include <algorithm>
#include <vector>

#include "shallow_water/columns.hpp"

namespace shallow_water {
namespace {

/// What each thread gets from the one to its east (1), or to its west (-1); the last one from itself.
template <class Columns, class Told>
std::vector<Told> told(const std::vector<Columns>& columns, Told (Columns::*say)() const, int by) {
  std::vector<Told> all;
  for (int thread = 0; thread < static_cast<int>(columns.size()); ++thread) {
    const int who = std::clamp(thread + by, 0, static_cast<int>(columns.size()) - 1);
    all.push_back((columns[static_cast<std::size_t>(who)].*say)());
  }
  return all;
}

template <bool midst, class Columns>
void make(std::vector<Columns>& columns) {
  for (Columns& one : columns) one.template read_row<midst>();
  const auto rows_e = told(columns, &Columns::row_to_west, 1);
  const auto rows_w = told(columns, &Columns::row_to_east, -1);
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].template make_fluxes<midst>(rows_e[i], rows_w[i]);
  const auto fluxes_e = told(columns, &Columns::fluxes_to_west, 1);
  const auto fluxes_w = told(columns, &Columns::fluxes_to_east, -1);
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].template make_row<midst>(fluxes_e[i], fluxes_w[i]);
}

/// A warp's threads one after the other, in small tiles, so that small oceans have several.
template <Where where, class T>
void advance_tiles_on_host(const Part<T>& part, const Coefficients<T>& coefficients) {
  constexpr int threads = 2 + 12 / Several<T>::count;
  using ThreadColumns = Columns<T, where, 2, threads>;
  const Tiling tiling(part.rows, part.columns, 9, ThreadColumns::most_columns, ThreadColumns::each);
  for (std::int64_t number = 0; number < tiling.count(where); ++number) {
    typename ThreadColumns::Memory memory;
    std::vector<ThreadColumns> columns;
    for (int thread = 0; thread < threads; ++thread) {
      columns.emplace_back(part, coefficients, tiling.tile(where, number), thread, memory);
    }
    while (columns.front().goes_on()) {
      columns.front().in_midst() > 0 ? make<true>(columns) : make<false>(columns);
    }
  }
}

}  // namespace

template <class T>
void advance_tiles(const on_device::Queue& queue, const Part<T>& part, const Coefficients<T>& coefficients,
                   Where where) {
  if (part.rows == 0 || part.columns == 0) return;  // there are no tiles, and none across
  on_device::launch(
      queue,
      [=] {
        where == Where::inside ? advance_tiles_on_host<Where::inside>(part, coefficients)
                               : advance_tiles_on_host<Where::edges>(part, coefficients);
      },
      [&](void* stream) { cuda::advance_tiles(part, coefficients, where, stream); });
}

template void advance_tiles(const on_device::Queue&, const Part<float>&, const Coefficients<float>&, Where);
template void advance_tiles(const on_device::Queue&, const Part<double>&, const Coefficients<double>&, Where);

}  // namespace shallow_water
