// The equations and their step, on one rank's part: nothing here knows that there are others.
#pragma once

#include <cstdint>
#include <vector>

#include "device/host_device.hpp"

namespace shallow_water {

enum Field : int { height, east, north };  ///< h, u, v
constexpr std::int64_t fields = 3;

/// A part of the ocean at one time: row and column 0 are its first ones, and so many more lie on each side.
template <class T>
struct Moment {
  T* state;  ///< h, u, v, with two cells around
  T* rates;  ///< of change of u and v, of the step that led here, with one around
};

template <class T>
struct Part {
  std::int64_t rows, columns;
  std::int64_t first_row, all_rows;  ///< its first row in the ocean, and the ocean's rows
  Moment<T> now, next;
  T* rates_of_height;  ///< of the step before, and then of this one; no cells around

  // Elements from one row to the next, and from one field to the next.
  std::int64_t state_pitch = columns + 4, state_plane = (rows + 4) * state_pitch;
  std::int64_t rate_pitch = columns + 2, rate_plane = (rows + 2) * rate_pitch;

  T* at(const Moment<T>& moment, Field field, std::int64_t row) const {
    return moment.state + field * state_plane + (row + 2) * state_pitch + 2;
  }
  T* rate(const Moment<T>& moment, Field field, std::int64_t row) const {
    return moment.rates + (field - east) * rate_plane + (row + 1) * rate_pitch + 1;
  }
};

/// What the equations are multiplied with.
template <class T>
struct Coefficients {
  double coriolis, coriolis_per_row;  ///< f in the ocean's row 0, and what it grows by
  T gravity, per_cell;                ///< per_cell: 1 over the spacing
  T newest, before;                   ///< weights of Adams and Bashforth, times the time step
  T friction;                         ///< viscosity, times the time step over the spacing's square

  HOST_AND_DEVICE T coriolis_of(double row) const {  ///< of the ocean
    return static_cast<T>(coriolis + coriolis_per_row * row);
  }
};

/// Rows that `advance` needs for itself.
template <class T>
struct Workspace {
  static constexpr std::int64_t rows = 18;
  explicit Workspace(std::int64_t columns) : values(static_cast<std::size_t>(rows * (columns + 8))) {}
  std::vector<T> values;
};

/// h, u and v after one step, of these rows and columns of the part: part.next from part.now, of which it
/// reads two cells around. Regions may be done in any order, each once: at their seams rates of u and v, and
/// u and v before friction, are computed by both. In one sweep from south to north, so that each field is
/// read once and written once.
template <class T>
void advance(const Part<T>& part, const Coefficients<T>& coefficients, Workspace<T>& workspace,
             std::int64_t from_row, std::int64_t to_row, std::int64_t from, std::int64_t to);

}  // namespace shallow_water
