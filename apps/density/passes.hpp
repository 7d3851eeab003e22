// What devices do with particles and cells: bodies of `on_device::for_each`, with addresses in the device's
// memory. A particle is six numbers, position and momentum.
#pragma once

#include <cstdint>

#include "density/formulas.hpp"
#include "device/for_each.hpp"

namespace density::passes {

constexpr std::int64_t particle_numbers = 6;

/// Read and written as the widest accesses of a device: a warp's are then few.
struct alignas(16) TwoNumbers {
  double first, second;
};

/// One particle, taken from an array of them and put back.
struct Numbers {
  double position[3], momentum[3];

  HOST_AND_DEVICE static Numbers read(const double* particles, std::int64_t i) {
    const auto* const from = reinterpret_cast<const TwoNumbers*>(particles + particle_numbers * i);
    const TwoNumbers a = from[0], b = from[1], c = from[2];
    return {{a.first, a.second, b.first}, {b.second, c.first, c.second}};
  }
  HOST_AND_DEVICE void write(double* particles, std::int64_t i) const {
    auto* const to = reinterpret_cast<TwoNumbers*>(particles + particle_numbers * i);
    to[0] = {position[0], position[1]};
    to[1] = {position[2], momentum[0]};
    to[2] = {momentum[1], momentum[2]};
  }
};

/// This rank's cells, and those around it that a block has too.
struct Corner {
  std::int64_t at[3];  // of the block, in the mesh
};

struct Clear {
  std::int64_t* mass;
  HOST_AND_DEVICE void operator()(std::int64_t i) const { mass[i] = 0; }
};

/// The own cells of a block of mass become the density.
struct Weigh {
  const std::int64_t* mass;
  Block block, own;
  double each;  // density of a unit
  double* density;

  HOST_AND_DEVICE void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    density[own.at(i, j, k)] = each * static_cast<double>(mass[block.at(i, j, k)]);
  }
};

/// The spectrum of the density becomes that of the potential.
struct Solve {
  double* spectrum;         // complex numbers
  std::int64_t strides[3];  // in complex numbers; from the outermost dimension in memory to the innermost
  std::int64_t first[3];    // global index
  const double* squares;    // of wavenumbers, by index
  const double* clouds;     // likewise

  HOST_AND_DEVICE void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const std::int64_t local[3] = {i, j, k};
    double square = 0, cloud = 1;
    std::int64_t at = 0;
    for (int d = 2; d >= 0; --d) {
      const std::int64_t index = first[d] + local[d];
      at += local[d] * strides[d];
      square += squares[index];
      cloud *= clouds[index];
    }
    const double factor = formulas::potential(square, cloud);
    spectrum[2 * at] *= factor;
    spectrum[2 * at + 1] *= factor;
  }
};

/// The gradient in all cells of a block, from a larger one, two cells more before it.
struct Differentiate {
  const double* potential;
  Block from, to;
  Gradient<double> gradient;

  HOST_AND_DEVICE void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const double* const u = potential + from.at(i + 2, j + 2, k + 2);
    const std::int64_t cell = to.at(i, j, k);
    gradient.at(cell, 0) = formulas::slope(u, from.at(1, 0, 0));
    gradient.at(cell, 1) = formulas::slope(u, from.at(0, 1, 0));
    gradient.at(cell, 2) = formulas::slope(u, 1);
  }
};

struct Push {
  double* particles;
  Gradient<const double> gradient;
  Corner corner;
  Block block;
  double length, kick, drift;

  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    Numbers particle = Numbers::read(particles, i);
    formulas::push(particle.position, particle.momentum, gradient, block, corner.at, length, kick, drift);
    particle.write(particles, i);
  }
};

// --- sorting particles by where they go: a counting sort that keeps their order. Places are 0 for those that
// stay, and 1, 2, ... for the other ranks.

/// So many particles are counted by one.
constexpr std::int64_t chunk = 64;

struct Mark {
  const double* particles;
  const std::int32_t* place_of;  // by cell along dimension 0
  std::int32_t* places;
  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    places[i] = place_of[static_cast<std::int64_t>(particles[particle_numbers * i])];
  }
};

/// Of each chunk, by place: counts[place][chunk].
struct Count {
  const std::int32_t* places;
  std::int64_t particles, chunks, ranks;
  std::int64_t* counts;
  HOST_AND_DEVICE void operator()(std::int64_t number) const {
    for (std::int64_t place = 0; place < ranks; ++place) counts[place * chunks + number] = 0;
    const std::int64_t first = number * chunk, end = first + chunk < particles ? first + chunk : particles;
    for (std::int64_t i = first; i < end; ++i) ++counts[places[i] * chunks + number];
  }
};

/// Numbers become the sums of all before them, in three passes: `Sums` of each group, `Scan` once over those,
/// `Spread` in each group.
constexpr std::int64_t group = 1024;

struct Sums {
  const std::int64_t* numbers;
  std::int64_t count;
  std::int64_t* sums;
  HOST_AND_DEVICE void operator()(std::int64_t number) const {
    const std::int64_t first = number * group, end = first + group < count ? first + group : count;
    std::int64_t sum = 0;
    for (std::int64_t i = first; i < end; ++i) sum += numbers[i];
    sums[number] = sum;
  }
};

struct Scan {
  std::int64_t* numbers;
  std::int64_t count;
  HOST_AND_DEVICE void operator()(std::int64_t /*the only one*/) const {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t number = numbers[i];
      numbers[i] = sum;
      sum += number;
    }
  }
};

struct Spread {
  std::int64_t* numbers;
  std::int64_t count;
  const std::int64_t* sums;
  HOST_AND_DEVICE void operator()(std::int64_t number) const {
    const std::int64_t first = number * group, end = first + group < count ? first + group : count;
    std::int64_t sum = sums[number];
    for (std::int64_t i = first; i < end; ++i) {
      const std::int64_t one = numbers[i];
      numbers[i] = sum;
      sum += one;
    }
  }
};

/// Those that stay to `staying`, the others behind each other to `leaving`.
struct Scatter {
  const double* particles;
  const std::int32_t* places;
  const std::int64_t* starts;  // counts[place][chunk], summed
  std::int64_t chunks, kept;
  double *staying, *leaving;
  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t number = i / chunk, place = places[i];
    std::int64_t to = starts[place * chunks + number];
    for (std::int64_t j = number * chunk; j < i; ++j) to += places[j] == place ? 1 : 0;
    const Numbers particle = Numbers::read(particles, i);
    place == 0 ? particle.write(staying, to) : particle.write(leaving, to - kept);
  }
};

}  // namespace density::passes
