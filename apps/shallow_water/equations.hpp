// The equations and their step, on one rank's part: nothing here knows that there are others.
#pragma once

#include <cstdint>
#include <vector>

#include "device/host_device.hpp"

namespace shallow_water {

enum Field : int { height, east, north };  ///< h, u, v
constexpr std::int64_t fields = 3;

/// A part of the ocean at one time, and how it came there. Row and column 0 are its first ones, and two more
/// are on each side. Of each row there are the fields and then, of the step that led here, their rates of
/// change: of u and v also in the nearest cells around the part. So what is needed at one time is contiguous.
template <class T>
struct Moment {
  T* values;
};

template <class T>
struct Part {
  std::int64_t rows, columns;
  std::int64_t first_row, all_rows;  ///< its first row in the ocean, and the ocean's rows
  Moment<T> now, next;

  // Elements from one field of a row to the next, so many that column 0 is at a multiple of 32 bytes, and
  // from one row to the next.
  static constexpr std::int64_t unit = 32 / static_cast<std::int64_t>(sizeof(T)), before = unit;
  std::int64_t pitch = (before + columns + 2 + unit - 1) / unit * unit, row_pitch = 2 * fields * pitch;

  std::int64_t moment_size() const { return (rows + 4) * row_pitch; }
  /// The same part, with the two moments behind each other from there on.
  Part in(T* memory) const {
    Part part = *this;
    part.now = {memory};
    part.next = {memory + moment_size()};
    return part;
  }
  HOST_AND_DEVICE std::int64_t offset(std::int64_t row, std::int64_t column) const {
    return (row + 2) * row_pitch + before + column;
  }
  T* at(const Moment<T>& moment, Field field, std::int64_t row) const {
    return moment.values + offset(row, 0) + field * pitch;
  }
  T* rate(const Moment<T>& moment, Field field, std::int64_t row) const {
    return at(moment, field, row) + fields * pitch;
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
