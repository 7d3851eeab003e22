#include "shallow_water/tile_kernels.hpp"

#include "shallow_water/column.hpp"

namespace shallow_water {
namespace {

template <bool midst, class T, std::size_t threads>
void make(std::vector<Column<T>>& columns, Shared<T, threads>& shared) {
  for (Column<T>& column : columns) column.template read_row<midst>(shared);
  for (Column<T>& column : columns) column.template make_fluxes<midst>(shared);
  for (Column<T>& column : columns) column.template make_row<midst>(shared);
}

/// A block's threads one after the other, in small tiles, so that small oceans have several.
template <class T>
void advance_tiles_on_host(const Part<T>& part, const Coefficients<T>& coefficients, Where where) {
  constexpr std::size_t threads = 16;
  const Tiling tiling(part.rows, part.columns, 6, static_cast<std::int64_t>(threads) - columns_beside);
  for (std::int64_t number = 0; number < tiling.count(where); ++number) {
    Shared<T, threads> shared = {};
    std::vector<Column<T>> columns;
    for (int thread = 0; thread < static_cast<int>(threads); ++thread) {
      columns.emplace_back(part, coefficients, tiling.tile(where, number), thread);
    }
    while (columns.front().goes_on()) {
      columns.front().is_in_midst() ? make<true>(columns, shared) : make<false>(columns, shared);
    }
  }
}

}  // namespace

template <class T>
void advance_tiles(const on_device::Queue& queue, const Part<T>& part, const Coefficients<T>& coefficients,
                   Where where) {
  on_device::launch(
      queue, [=] { advance_tiles_on_host(part, coefficients, where); },
      [&](void* stream) { cuda::advance_tiles(part, coefficients, where, stream); });
}

template void advance_tiles(const on_device::Queue&, const Part<float>&, const Coefficients<float>&, Where);
template void advance_tiles(const on_device::Queue&, const Part<double>&, const Coefficients<double>&, Where);

}  // namespace shallow_water
