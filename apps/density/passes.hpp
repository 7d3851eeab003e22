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

/// To what other threads of the device add, too.
HOST_AND_DEVICE void add(std::int64_t& sum, std::int64_t units) {
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(units));
#else
  sum += units;
#endif
}
HOST_AND_DEVICE void add(std::uint32_t& sum, std::uint32_t units) {
#if defined(__CUDA_ARCH__)
  atomicAdd(&sum, units);
#else
  sum += units;
#endif
}

struct Clear {
  std::int64_t* numbers;
  HOST_AND_DEVICE void operator()(std::int64_t i) const { numbers[i] = 0; }
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
  const double* clouds;     // of the same cells

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

// --- Particles that leave. Places are 0 for those that stay, and 1, 2, ... for the other ranks.

/// So many particles are counted together.
constexpr std::int64_t chunk = 256;

/// Who is where, and how many leave.
struct Departures {
  const std::int32_t* place_of = nullptr;  // by cell along dimension 0
  std::int32_t* places = nullptr;          // of each particle
  std::int64_t* counts = nullptr;          // of those that leave, [place - 1][chunk]: zeros at first
  std::int64_t chunks = 0;

  HOST_AND_DEVICE void note(std::int64_t i, double position) const {
    const std::int32_t place = place_of[static_cast<std::int64_t>(position)];
    places[i] = place;
    if (place > 0) add(counts[(place - 1) * chunks + i / chunk], 1);
  }
};

struct Mark {
  const double* particles;
  Departures departures;
  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    departures.note(i, particles[particle_numbers * i]);
  }
};

struct Push {
  double* particles;
  Gradient<const double> gradient;
  Corner corner;
  Block block;
  double length, kick, drift;
  Departures departures;  // none: not requested

  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    Numbers particle = Numbers::read(particles, i);
    formulas::push(particle.position, particle.momentum, gradient, block, corner.at, length, kick, drift);
    particle.write(particles, i);
    if (departures.places != nullptr) departures.note(i, particle.position[0]);
  }
};

/// Numbers become the sums of all before them, and one more number that of all, in two passes by groups.
struct Sum {
  static constexpr int threads = 256;
  static constexpr int each = 8;  // numbers of a thread
  static constexpr std::int64_t group = threads * each;
  struct Shared {
    std::int64_t sums[threads];
  };

  const std::int64_t* numbers;
  std::int64_t count;
  std::int64_t* sums;  // of each group

  HOST_AND_DEVICE std::int64_t of_thread(std::int64_t number, int thread) const {
    const std::int64_t first = number * group + thread * each;
    std::int64_t sum = 0;
    for (std::int64_t i = first; i < first + each && i < count; ++i) sum += numbers[i];
    return sum;
  }

  HOST_AND_DEVICE void begin(Shared& shared, std::int64_t number, int thread) const {
    shared.sums[thread] = of_thread(number, thread);
  }
  HOST_AND_DEVICE void middle(Shared& shared, std::int64_t number, int thread) const {
    if (thread > 0) return;
    std::int64_t sum = 0;
    for (int i = 0; i < threads; ++i) sum += shared.sums[i];
    sums[number] = sum;
  }
  HOST_AND_DEVICE void end(const Shared& /*shared*/, std::int64_t /*number*/, int /*thread*/) const {}
};

/// Behind `Sum`.
struct Scan {
  static constexpr int threads = Sum::threads;
  struct Shared {
    std::int64_t before[threads], sums[threads];
  };

  std::int64_t* numbers;  // count + 1
  std::int64_t count;
  const std::int64_t* sums;

  HOST_AND_DEVICE void begin(Shared& shared, std::int64_t number, int thread) const {
    std::int64_t before = 0;
    for (std::int64_t i = thread; i < number; i += threads) before += sums[i];
    shared.before[thread] = before;
    shared.sums[thread] = Sum{numbers, count, nullptr}.of_thread(number, thread);
  }
  HOST_AND_DEVICE void middle(Shared& shared, std::int64_t /*number*/, int thread) const {
    if (thread > 0) return;
    std::int64_t sum = 0;
    for (int i = 0; i < threads; ++i) sum += shared.before[i];
    for (int i = 0; i < threads; ++i) {
      const std::int64_t own = shared.sums[i];
      shared.sums[i] = sum;
      sum += own;
    }
  }
  HOST_AND_DEVICE void end(const Shared& shared, std::int64_t number, int thread) const {
    const std::int64_t first = number * Sum::group + thread * Sum::each;
    std::int64_t sum = shared.sums[thread];
    for (std::int64_t i = first; i < first + Sum::each && i < count; ++i) {
      const std::int64_t own = numbers[i];
      numbers[i] = sum;
      sum += own;
      if (i + 1 == count) numbers[count] = sum;
    }
  }
};

/// Those that leave to `leaving`, by place, in their order; where each was becomes a hole.
struct Leave {
  const double* particles;
  const std::int32_t* places;
  const std::int64_t* starts;  // the departures' counts, scanned
  std::int64_t chunks;
  double* leaving;
  std::int64_t* holes;

  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t place = places[i], number = i / chunk;
    if (place == 0) return;
    std::int64_t to = starts[(place - 1) * chunks + number];
    for (std::int64_t j = number * chunk; j < i; ++j) to += places[j] == place ? 1 : 0;
    Numbers::read(particles, i).write(leaving, to);
    holes[to] = i;
  }
};

/// Those that come into the first holes, and beyond those behind the `count` that there were.
struct Arrive {
  const double* arriving;
  const std::int64_t* holes;
  std::int64_t hole_count, count;
  double* particles;
  std::int32_t* places;

  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    const bool fills = i < hole_count;
    const std::int64_t to = fills ? holes[i] : count + i - hole_count;
    Numbers::read(arriving, i).write(particles, to);
    if (fills) places[to] = 0;
  }
};

/// As many holes as are left become as many places behind the particles: those of the last ones that stay go
/// into the holes before them. Three passes over the holes, with a scan of the flags behind the first.
struct Tail {
  const std::int64_t* holes;
  std::int64_t count;            // of the holes that are left
  std::int64_t first;            // of the places behind: all particles but so many
  const std::int32_t* places;    // 0: occupied
  std::int64_t* flags;           // 2 count + 1: whether the place is occupied; whether the hole is before
  std::int64_t *movers, *goals;  // as many as there are

  HOST_AND_DEVICE bool moves(std::int64_t i) const { return places[first + i] == 0; }
  HOST_AND_DEVICE bool before(std::int64_t i) const { return holes[i] < first; }
};

struct FlagTail {
  Tail tail;
  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    tail.flags[i] = tail.moves(i) ? 1 : 0;
    tail.flags[tail.count + i] = tail.before(i) ? 1 : 0;
  }
};

struct MatchTail {
  Tail tail;
  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    if (tail.moves(i)) tail.movers[tail.flags[i]] = tail.first + i;
    if (tail.before(i)) tail.goals[tail.flags[tail.count + i] - tail.flags[tail.count]] = tail.holes[i];
  }
};

struct MoveTail {
  Tail tail;
  double* particles;
  HOST_AND_DEVICE void operator()(std::int64_t i) const {
    if (i < tail.flags[tail.count]) Numbers::read(particles, tail.movers[i]).write(particles, tail.goals[i]);
  }
};

}  // namespace density::passes
