// The mass of particles, added to the cells of a block: a pass of devices.
#pragma once

#include <cstdint>

#include "density/formulas.hpp"
#include "density/passes.hpp"

namespace density::passes {

/// Mass is counted in whole units, so many a particle: sums of integers are the same in any order, so that
/// the density has the same bits however particles are distributed.
///
/// Particles that follow each other are near each other, much as they began. So a group of them first adds
/// its mass in local memory, a window on the cells around them, and then each cell of it once to the
/// block. What is outside of the window is added to the block at once.
struct Deposit {
  static constexpr int threads = 512;
  /// Of the window: the 9 cells of 8 particles in a row, and some more; along the last dimension those of two
  /// bricks, for where particles have left a group begins within one.
  static constexpr int width = 12, length = 20;
  static constexpr int cells = width * width * length;
  /// A share, of 2^44 units at most, is cut in two, so that 32 bits hold the sums of the group; what rounding
  /// has left for a last cell may be below 0, so the higher sum has a sign.
  static constexpr int low_bits = 23;
  static_assert(threads <= (1 << (32 - low_bits)) && threads < (1 << (31 - (44 - low_bits))));

  struct Shared {
    std::int64_t corner[3];  // of the window, in the block
    std::uint32_t low[cells], high[cells];
  };

  const double* particles;
  std::int64_t count;
  Corner corner;
  Block block;
  std::int64_t unit;  // 2^44 at most
  std::int64_t* mass;

  HOST_AND_DEVICE void begin(Shared& shared, std::int64_t number, int thread) const {
    for (int cell = thread; cell < cells; cell += threads) shared.low[cell] = shared.high[cell] = 0;
    if (thread >= 3) return;
    const std::int64_t start = number * threads, end = start + threads;
    const auto first = static_cast<std::int64_t>(particles[particle_numbers * start + thread]),
               last = static_cast<std::int64_t>(
                   particles[particle_numbers * ((end < count ? end : count) - 1) + thread]);
    const int most = extent(thread);
    const bool near = last - first < most && first - last < most;  // not on both ends of the box
    shared.corner[thread] = (near ? (first + last) / 2 : first) - most / 2 + 1 - corner.at[thread];
  }

  HOST_AND_DEVICE void middle(Shared& shared, std::int64_t number, int thread) const {
    const std::int64_t particle = number * threads + thread;
    if (particle >= count) return;
    const Cloud cloud(Numbers::read(particles, particle).position, corner.at);
    const std::int64_t at[3] = {cloud.cell[0] - shared.corner[0], cloud.cell[1] - shared.corner[1],
                                cloud.cell[2] - shared.corner[2]};
    bool inside = true;
    for (int d = 0; d < 3; ++d) inside = inside && at[d] >= 0 && at[d] + 1 < extent(d);
    if (inside) {
      const auto first = static_cast<int>((at[0] * width + at[1]) * length + at[2]);
      share_out(cloud, [&](int i, int j, int k, std::int64_t part) {
        const int cell = first + (i * width + j) * length + k;
        add(shared.low[cell], static_cast<std::uint32_t>(part & ((1 << low_bits) - 1)));
        add(shared.high[cell], static_cast<std::uint32_t>(part >> low_bits));
      });
    } else {
      const std::int64_t first = block.at(cloud.cell[0], cloud.cell[1], cloud.cell[2]);
      share_out(cloud,
                [&](int i, int j, int k, std::int64_t part) { add(mass[first + block.at(i, j, k)], part); });
    }
  }

  HOST_AND_DEVICE void end(const Shared& shared, std::int64_t /*number*/, int thread) const {
    for (int cell = thread; cell < cells; cell += threads) {
      const std::int64_t units =
          std::int64_t{static_cast<std::int32_t>(shared.high[cell])} * (1 << low_bits) + shared.low[cell];
      if (units == 0) continue;
      const int row = cell / length;
      add(mass[block.at(shared.corner[0] + row / width, shared.corner[1] + row % width,
                        shared.corner[2] + cell % length)],
          units);
    }
  }

 private:
  HOST_AND_DEVICE static constexpr int extent(int dimension) { return dimension == 2 ? length : width; }

  /// Shares are rounded, their sum is not: the last cell gets what is left.
  template <class Visit>
  HOST_AND_DEVICE void share_out(const Cloud& cloud, const Visit& visit) const {
    std::int64_t left = unit;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const double both = cloud.share[0][i] * cloud.share[1][j];
        for (int k = 0; k < 2; ++k) {
          const auto rounded =
              static_cast<std::int64_t>(both * cloud.share[2][k] * static_cast<double>(unit) + 0.5);
          const std::int64_t part = i + j + k < 3 ? rounded : left;
          left -= part;
          visit(i, j, k, part);
        }
      }
    }
  }
};

}  // namespace density::passes
