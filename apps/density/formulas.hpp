// What becomes of one particle and one cell: for the host's loops and for the passes of devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/host_device.hpp"

namespace density {

/// A row-major block of cells.
struct Block {
  std::int64_t rows, columns;  // along dimensions 1 and 2
  HOST_AND_DEVICE std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (i * rows + j) * columns + k;
  }
};

/// Where a particle is: the first of the 8 cells that it shares in, and its share of them along each
/// dimension.
struct Cloud {
  std::int64_t cell[3];
  double share[3][2];

  /// `corner`: of the block.
  HOST_AND_DEVICE Cloud(const double* position, const std::int64_t* corner) {
    for (int d = 0; d < 3; ++d) {
      const auto below = static_cast<int>(position[d]);
      const double part = position[d] - static_cast<double>(below);
      cell[d] = below - corner[d];
      share[d][0] = 1 - part;
      share[d][1] = part;
    }
  }
  /// Calls `visit(cell, share, next_share)` for the four pairs of cells that are neighbours along
  /// dimension 2.
  template <class Visit>
  HOST_AND_DEVICE void for_each_pair(const Block& block, const Visit& visit) const {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const double both = share[0][i] * share[1][j];
        visit(block.at(cell[0] + i, cell[1] + j, cell[2]), both * share[2][0], both * share[2][1]);
      }
    }
  }
  /// Calls `visit(cell, share)` for each of the cells.
  template <class Visit>
  HOST_AND_DEVICE void for_each(const Block& block, const Visit& visit) const {
    for_each_pair(block, [&](std::int64_t first, double share_of_it, double share_of_next) {
      visit(first, share_of_it);
      visit(first + 1, share_of_next);
    });
  }
};

/// Three numbers a cell: from one cell to the next, and from one direction to the next.
template <class T>
struct Gradient {
  T* numbers;
  std::int64_t cell, direction;
  HOST_AND_DEVICE T& at(std::int64_t which, int d) const { return numbers[which * cell + d * direction]; }
};

namespace formulas {

/// Of u with laplacian(u) = density, in Fourier space: over the squared wavenumber, and over the transforms
/// of the two clouds, of the deposit and of the force. `clouds` is their product over the dimensions.
HOST_AND_DEVICE double potential(double square, double clouds) {
  return square == 0 ? 0 : -1 / (clouds * square);
}

/// Of fourth order; `step`: elements from one cell to the next along the dimension.
HOST_AND_DEVICE double slope(const double* u, std::int64_t step) {
  return (8 * (u[step] - u[-step]) - (u[2 * step] - u[-2 * step])) / 12;
}

/// A place in the periodic box.
HOST_AND_DEVICE double inside(double x, double length) {
  if (x >= 0 && x < length) return x;
  x -= length * std::floor(x / length);
  return x < length ? x : 0;  // what is just below 0 rounds up to the length
}

/// momentum -= kick times the gradient at the particle, then position += drift times momentum.
HOST_AND_DEVICE void push(double* position, double* momentum, const Gradient<const double>& gradient,
                          const Block& block, const std::int64_t* corner, double length, double kick,
                          double drift) {
  double slope[3] = {0, 0, 0};
  Cloud(position, corner).for_each(block, [&](std::int64_t cell, double share) {
    for (int d = 0; d < 3; ++d) slope[d] += share * gradient.at(cell, d);
  });
  for (int d = 0; d < 3; ++d) {
    momentum[d] -= kick * slope[d];
    position[d] = inside(position[d] + drift * momentum[d], length);
  }
}

}  // namespace formulas
}  // namespace density
