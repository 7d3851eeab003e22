#include "shallow_water/equations.hpp"

#include <algorithm>
#include <utility>

#include "shallow_water/formulas.hpp"

// The loops of a row go in parallel: what is written is apart from all that is read, which compilers cannot
// know.
#if defined(__clang__)
#define INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif
// All of a sweep is compiled into its callers, one of which is for processors with longer vectors.
#define ALWAYS_INLINE [[gnu::always_inline]] inline

namespace shallow_water {
namespace {

/// What the cells of one row give their neighbours, from one column before to one behind.
template <class T>
struct Fluxes {
  T* vorticity;  ///< q, on corners
  T* northward;  ///< h v
  T* eastward;   ///< h u
  T* energy;     ///< g h + (u^2 + v^2) / 2, in the middle
};

/// u and v of one row after the step, before friction.
template <class T>
struct Velocities {
  T *east, *north;
};

template <class T>
class Sweep {
 public:
  ALWAYS_INLINE Sweep(const Part<T>& part, const Coefficients<T>& coefficients, Workspace<T>& workspace,
                      std::int64_t from, std::int64_t to)
      : part_(part), with_(coefficients), from_(from), to_(to), free_(workspace.values.data() + 4) {
    for (Fluxes<T>* one : {&south_, &here_, &north_}) *one = {row(), row(), row(), row()};
    for (Velocities<T>* one : {&new_south_, &new_here_, &new_north_}) *one = {row(), row()};
  }

  // Friction of a row needs the new velocities of those on both sides: one row and column more than is asked
  // for is made on each side, and friction is one row behind.
  ALWAYS_INLINE void run(std::int64_t from_row, std::int64_t to_row) {
    const std::int64_t first = std::max(from_row - 1, -part_.first_row);
    const std::int64_t end = std::min(to_row + 1, part_.all_rows - part_.first_row);
    fluxes_north(south_, first - 1);
    fluxes_east(here_, first);
    for (std::int64_t j = first; j < end; ++j) {
      fluxes_north(here_, j);
      fluxes_east(north_, j + 1);
      if (j >= from_row && j < to_row) advance_height(j);
      advance_velocity(j);
      if (j > from_row) diffuse(j - 1);
      std::swap(south_, here_);
      std::swap(here_, north_);
      std::swap(new_south_, new_here_);
      std::swap(new_here_, new_north_);
    }
    if (end == to_row) {  // the wall: nothing is made behind it
      diffuse(to_row - 1);
    }
  }

 private:
  ALWAYS_INLINE T* row() {
    T* const begin = free_;
    free_ += part_.columns + 8;
    return begin;
  }
  ALWAYS_INLINE bool is_last(std::int64_t j) const { return part_.first_row + j == part_.all_rows - 1; }

  ALWAYS_INLINE void fluxes_north(const Fluxes<T>& to, std::int64_t j) const {
    const T f = with_.coriolis_of(static_cast<double>(part_.first_row + j));
    const T *const h = part_.at(part_.now, height, j), *const h_north = part_.at(part_.now, height, j + 1);
    const T *const u = part_.at(part_.now, east, j), *const u_north = part_.at(part_.now, east, j + 1);
    const T *const v = part_.at(part_.now, north, j), per_cell = with_.per_cell;
    T *const q = to.vorticity, *const flux = to.northward;
    INDEPENDENT_ITERATIONS
    for (std::int64_t i = from_ - 2; i <= to_ + 1; ++i) flux[i] = formulas::flux(h[i], h_north[i], v[i]);
    INDEPENDENT_ITERATIONS
    for (std::int64_t i = from_ - 2; i <= to_; ++i) {
      q[i] = formulas::vorticity(f, h[i], h[i + 1], h_north[i], h_north[i + 1], u[i], u_north[i], v[i],
                                 v[i + 1], per_cell);
    }
  }

  ALWAYS_INLINE void fluxes_east(const Fluxes<T>& to, std::int64_t j) const {
    const T *const h = part_.at(part_.now, height, j), *const u = part_.at(part_.now, east, j);
    const T *const v = part_.at(part_.now, north, j), *const v_south = part_.at(part_.now, north, j - 1);
    const T g = with_.gravity;
    T *const flux = to.eastward, *const energy = to.energy;
    INDEPENDENT_ITERATIONS
    for (std::int64_t i = from_ - 2; i <= to_; ++i) flux[i] = formulas::flux(h[i], h[i + 1], u[i]);
    INDEPENDENT_ITERATIONS
    for (std::int64_t i = from_ - 1; i <= to_ + 1; ++i) {
      energy[i] = formulas::energy(g, h[i], u[i], u[i - 1], v[i], v_south[i]);
    }
  }

  ALWAYS_INLINE void advance_height(std::int64_t j) const {
    const T *const hu = here_.eastward, *const hv = here_.northward, *const hv_south = south_.northward;
    const T* const now = part_.at(part_.now, height, j);
    const T* const rate = part_.rate(part_.now, height, j);
    T *const next = part_.at(part_.next, height, j), *const next_rate = part_.rate(part_.next, height, j);
    const T per_cell = with_.per_cell, newest = with_.newest, before = with_.before;
    INDEPENDENT_ITERATIONS
    for (std::int64_t i = from_; i < to_; ++i) {
      const T new_rate = formulas::rate_of_height(hu[i - 1], hu[i], hv_south[i], hv[i], per_cell);
      next[i] = formulas::stepped(now[i], new_rate, rate[i], newest, before);
      next_rate[i] = new_rate;
    }
  }

  ALWAYS_INLINE void advance_velocity(std::int64_t j) const {
    const T *const q = here_.vorticity, *const q_south = south_.vorticity;
    const T *const hv = here_.northward, *const hv_south = south_.northward;
    const T *const hu = here_.eastward, *const hu_north = north_.eastward;
    const T *const e = here_.energy, *const e_north = north_.energy;
    const T *const u = part_.at(part_.now, east, j), *const v = part_.at(part_.now, north, j);
    const T *const u_rate = part_.rate(part_.now, east, j), *const v_rate = part_.rate(part_.now, north, j);
    T *const new_u_rate = part_.rate(part_.next, east, j), *const new_v_rate =
                                                               part_.rate(part_.next, north, j);
    T *const new_u = new_north_.east, *const new_v = new_north_.north;
    const T per_cell = with_.per_cell, newest = with_.newest, before = with_.before;
    const T open = is_last(j) ? 0 : 1;  // the wall
    INDEPENDENT_ITERATIONS
    for (std::int64_t i = from_ - 1; i <= to_; ++i) {
      const T eastward = formulas::rate_of_east(e[i], e[i + 1], q[i] * (hv[i] + hv[i + 1]),
                                                q_south[i] * (hv_south[i] + hv_south[i + 1]), per_cell);
      const T northward = open * formulas::rate_of_north(e[i], e_north[i], q[i] * (hu[i] + hu_north[i]),
                                                         q[i - 1] * (hu[i - 1] + hu_north[i - 1]), per_cell);
      new_u[i] = formulas::stepped(u[i], eastward, u_rate[i], newest, before);
      new_v[i] = formulas::stepped(v[i], northward, v_rate[i], newest, before);
      new_u_rate[i] = eastward;
      new_v_rate[i] = northward;
    }
  }

  // None through the walls.
  ALWAYS_INLINE void diffuse(std::int64_t j) const {
    const T rate = with_.friction;
    const T to_south = part_.first_row + j == 0 ? 0 : rate, to_north = is_last(j) ? 0 : rate;
    diffuse_row(new_south_.east, new_here_.east, new_north_.east, part_.at(part_.next, east, j), to_south,
                to_north);
    T* const v = part_.at(part_.next, north, j);
    diffuse_row(new_south_.north, new_here_.north, new_north_.north, v, to_south, to_north);
    if (is_last(j)) std::fill(v + from_, v + to_, T(0));
  }

  ALWAYS_INLINE void diffuse_row(const T* south, const T* here, const T* north, T* to, T to_south,
                                 T to_north) const {
    const T rate = with_.friction;
    INDEPENDENT_ITERATIONS
    for (std::int64_t i = from_; i < to_; ++i) {
      to[i] = here[i] + formulas::friction_along(here[i], here[i - 1], here[i + 1], rate) +
              formulas::friction_across(here[i], south[i], north[i], to_south, to_north);
    }
  }

  const Part<T>& part_;
  const Coefficients<T>& with_;
  std::int64_t from_, to_;  // columns
  T* free_;
  Fluxes<T> south_, here_, north_;
  Velocities<T> new_south_, new_here_, new_north_;  // of the rows two before, before, and last made
};

template <class T>
ALWAYS_INLINE void sweep(const Part<T>& part, const Coefficients<T>& coefficients, Workspace<T>& workspace,
                         std::int64_t from_row, std::int64_t to_row, std::int64_t from, std::int64_t to) {
  Sweep<T>(part, coefficients, workspace, from, to).run(from_row, to_row);
}

#if defined(__x86_64__)
template <class T>
__attribute__((target("avx2"))) void sweep_avx2(const Part<T>& part, const Coefficients<T>& coefficients,
                                                Workspace<T>& workspace, std::int64_t from_row,
                                                std::int64_t to_row, std::int64_t from, std::int64_t to) {
  sweep(part, coefficients, workspace, from_row, to_row, from, to);
}
#endif

}  // namespace

template <class T>
void advance(const Part<T>& part, const Coefficients<T>& coefficients, Workspace<T>& workspace,
             std::int64_t from_row, std::int64_t to_row, std::int64_t from, std::int64_t to) {
  if (from_row >= to_row || from >= to) return;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0)
    return sweep_avx2(part, coefficients, workspace, from_row, to_row, from, to);
#endif
  sweep(part, coefficients, workspace, from_row, to_row, from, to);
}

template void advance(const Part<float>&, const Coefficients<float>&, Workspace<float>&, std::int64_t,
                      std::int64_t, std::int64_t, std::int64_t);
template void advance(const Part<double>&, const Coefficients<double>&, Workspace<double>&, std::int64_t,
                      std::int64_t, std::int64_t, std::int64_t);

}  // namespace shallow_water
