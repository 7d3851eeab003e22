// The step as a device makes it. A block of threads makes a tile: each thread has a column and goes north row
// by row, with what it has read and made of the last rows in registers. What it needs of the columns beside
// it goes through memory that the block shares, twice a row. So each field is read once and written once, but
// for two cells around each tile.
#pragma once

#include "shallow_water/equations.hpp"
#include "shallow_water/formulas.hpp"
#include "shallow_water/tiles.hpp"

namespace shallow_water {

/// A tile has so many columns less than its block has threads: two on each side are made by the next one.
constexpr int columns_beside = 4;

/// What the threads of a block tell each other: thread i at i + 1, so that each has neighbours.
template <class T, std::size_t threads>
struct Shared {
  using Row = T[threads + 2];
  Row height, east, north;  // of the row to the north, now
  Row new_east, new_north;  // of the row to the south, before friction
  Row eastward, energy;     // h u, and its energy, of the row to the north
  Row northward, turned;    // h v, and q (h u + h u to the north), of this row
};

/// One thread of the block. For each row: `read_row`, all of them, `make_fluxes`, all of them, `make_row`;
/// where the row `is_in_midst` these may be told so, and ask no more where they are. Rows are counted from
/// the tile's first one.
template <class T>
class Column {
 public:
  HOST_AND_DEVICE Column(const Part<T>& part, const Coefficients<T>& with, const Tile& tile, int thread)
      : part_(part), with_(with), at_(thread + 1), rows_(static_cast<int>(tile.to_row - tile.from_row)) {
    const auto width = static_cast<int>(tile.to - tile.from), column = thread - 2;
    is_own_ = column >= 0 && column < width;
    const bool beside = (column == -1 && tile.from == 0) || (column == width && tile.to == part.columns);
    keeps_rates_ = is_own_ || beside;
    first_kept_ = tile.from_row == 0 ? -1 : 0;
    end_kept_ = tile.to_row == part.rows ? rows_ + 1 : rows_;
    to_south_wall_ = clamp(part.first_row + tile.from_row);
    to_north_wall_ = clamp(part.all_rows - 1 - part.first_row - tile.from_row);
    first_ = to_south_wall_ == 0 ? 0 : -1;
    end_ = to_north_wall_ == rows_ - 1 ? rows_ : rows_ + 1;
    row_ = first_ - 2;

    const std::int64_t from_row = tile.from_row + row_;
    const std::int64_t seen = tile.from + (column <= width + 1 ? column : width + 1);
    const std::int64_t rated = tile.from + (column < -1 ? -1 : column <= width ? column : width);
    const std::int64_t own = tile.from + column;
    const std::int64_t state = (from_row + 2) * part.state_pitch + 2,
                       rates = (from_row + 1) * part.rate_pitch + 1;
    ocean_row_ = static_cast<double>(part.first_row + from_row);
    ahead_in_ = part.now.state + state + part.state_pitch + seen;
    next_ = part.next.state + state + own;
    rates_in_ = part.now.rates + rates + rated;
    rates_out_ = part.next.rates + rates + own;
    height_rates_ = part.rates_of_height + from_row * part.columns + own;
    ahead_ = read_ahead();
  }

  /// Not yet all rows. Behind the last row before a wall comes one more turn, for its friction.
  HOST_AND_DEVICE bool goes_on() const { return row_ <= rows_; }

  /// Everything of this row, and of those beside it, is this tile's, and no wall is near.
  HOST_AND_DEVICE bool is_in_midst() const { return row_ >= 2 && row_ < rows_ - 1; }

  template <bool midst, std::size_t threads>
  HOST_AND_DEVICE void read_row(Shared<T, threads>& shared) {
    to_north_ = ahead_;
    shared.height[at_] = to_north_.height;
    shared.east[at_] = to_north_.east;
    shared.north[at_] = to_north_.north;
    shared.new_east[at_] = made_.east;
    shared.new_north[at_] = made_.north;
    if (midst || row_ + 2 <= end_) ahead_ = read_ahead();
    if (midst || makes_velocity()) {
      rate_ = {rates_in_[0], rates_in_[part_.rate_plane]};
      if ((midst || is_own_row()) && is_own_) height_rate_ = *height_rates_;
    }
  }

  template <bool midst, std::size_t threads>
  HOST_AND_DEVICE void make_fluxes(Shared<T, threads>& shared) {
    const int w = at_ - 1, e = at_ + 1;
    friction_.east =
        formulas::friction_along(made_.east, shared.new_east[w], shared.new_east[e], with_.friction);
    friction_.north =
        formulas::friction_along(made_.north, shared.new_north[w], shared.new_north[e], with_.friction);
    const T height_ne = shared.height[e], east_nw = shared.east[w], north_ne = shared.north[e];
    if (midst || makes_fluxes()) {
      const Cell &h = here_, &n = to_north_;
      vorticity_ = formulas::vorticity(with_.coriolis_of(ocean_row_), h.height, height_e_, n.height,
                                       height_ne, h.east, n.east, h.north, north_e_, with_.per_cell);
      northward_ = formulas::flux(h.height, n.height, h.north);
      eastward_n_ = formulas::flux(n.height, height_ne, n.east);
      energy_n_ = formulas::energy(with_.gravity, n.height, n.east, east_nw, n.north, h.north);
      shared.northward[at_] = northward_;
      shared.turned[at_] = turned_ = vorticity_ * (eastward_ + eastward_n_);
      shared.eastward[at_] = eastward_n_;
      shared.energy[at_] = energy_n_;
    }
    height_e_ = height_ne;
    north_e_ = north_ne;
  }

  template <bool midst, std::size_t threads>
  HOST_AND_DEVICE void make_row(const Shared<T, threads>& shared) {
    const int w = at_ - 1, e = at_ + 1;
    Velocity made = {0, 0};
    if (midst || makes_fluxes()) {
      const T turned_here = vorticity_ * (northward_ + shared.northward[e]);
      if (midst || makes_velocity()) {
        if ((midst || is_own_row()) && is_own_) advance_height();
        made = advance_velocity<midst>(turned_here, shared.turned[w]);
      }
      turned_s_ = turned_here;
      northward_s_ = northward_;
      eastward_ = eastward_n_;
      eastward_w_ = shared.eastward[w];
      energy_ = energy_n_;
      energy_e_ = shared.energy[e];
    }
    if ((midst || row_ > 0) && is_own_) diffuse<midst>(made);
    made_s_ = made_;
    made_ = made;
    here_ = to_north_;
    go_north();
  }

 private:
  struct Cell {
    T height, east, north;
  };
  struct Velocity {
    T east, north;
  };

  /// Rows to a wall, where it is within reach of a tile.
  HOST_AND_DEVICE static int clamp(std::int64_t rows) {
    constexpr std::int64_t far = 1 << 30;
    return static_cast<int>(rows < far ? rows : far);
  }
  HOST_AND_DEVICE Cell read_ahead() {
    const T* const from = ahead_in_;
    ahead_in_ += part_.state_pitch;
    return {from[0], from[part_.state_plane], from[2 * part_.state_plane]};
  }
  HOST_AND_DEVICE void go_north() {
    ++row_;
    ocean_row_ += 1;
    next_ += part_.state_pitch;
    rates_in_ += part_.rate_pitch;
    rates_out_ += part_.rate_pitch;
    height_rates_ += part_.columns;
  }
  // The same for the whole block.
  HOST_AND_DEVICE bool makes_fluxes() const { return row_ + 1 >= first_ && row_ < end_; }
  HOST_AND_DEVICE bool makes_velocity() const { return row_ >= first_ && row_ < end_; }

  HOST_AND_DEVICE bool is_own_row() const { return row_ >= 0 && row_ < rows_; }
  /// Also those around the part, which this rank's friction needs and no other tile has.
  HOST_AND_DEVICE bool is_kept_row() const { return row_ >= first_kept_ && row_ < end_kept_; }

  HOST_AND_DEVICE void advance_height() const {
    const T rate = formulas::rate_of_height(eastward_w_, eastward_, northward_s_, northward_, with_.per_cell);
    *next_ = formulas::stepped(here_.height, rate, height_rate_, with_.newest, with_.before);
    *height_rates_ = rate;
  }

  template <bool midst>
  HOST_AND_DEVICE Velocity advance_velocity(T turned_here, T turned_w) const {
    const T open = !midst && row_ == to_north_wall_ ? T(0) : T(1);
    const T to_east = formulas::rate_of_east(energy_, energy_e_, turned_here, turned_s_, with_.per_cell);
    const T to_north = open * formulas::rate_of_north(energy_, energy_n_, turned_, turned_w, with_.per_cell);
    if ((midst || is_kept_row()) && keeps_rates_) {
      rates_out_[0] = to_east;
      rates_out_[part_.rate_plane] = to_north;
    }
    return {formulas::stepped(here_.east, to_east, rate_.east, with_.newest, with_.before),
            formulas::stepped(here_.north, to_north, rate_.north, with_.newest, with_.before)};
  }

  /// Of the row to the south, in which `made` is to the north. None through the walls.
  template <bool midst>
  HOST_AND_DEVICE void diffuse(const Velocity& made) const {
    const bool is_last = !midst && row_ - 1 == to_north_wall_;
    const T to_south = !midst && row_ - 1 == -to_south_wall_ ? T(0) : with_.friction;
    const T to_north = is_last ? T(0) : with_.friction;
    const T new_east = made_.east + friction_.east +
                       formulas::friction_across(made_.east, made_s_.east, made.east, to_south, to_north);
    const T new_north = made_.north + friction_.north +
                        formulas::friction_across(made_.north, made_s_.north, made.north, to_south, to_north);
    T* const to = next_ - part_.state_pitch;
    to[part_.state_plane] = new_east;
    to[2 * part_.state_plane] = is_last ? T(0) : new_north;
  }

  const Part<T>& part_;
  const Coefficients<T>& with_;
  int at_, rows_;
  bool is_own_, keeps_rates_;          // its column is the tile's; or one beside the part
  int first_, end_, row_;              // rows whose velocities are made; the one that it is at
  int first_kept_, end_kept_;          // rows whose rates are kept
  int to_south_wall_, to_north_wall_;  // from the tile's first row
  double ocean_row_;
  const T *ahead_in_, *rates_in_;
  T *next_, *rates_out_, *height_rates_;

  // Names as in formulas.hpp: _n is of the row to the north, _s of that to the south, _e and _w of a column.
  Cell here_ = {}, to_north_ = {}, ahead_ = {};
  T height_e_ = 0, north_e_ = 0;
  T height_rate_ = 0;
  T vorticity_ = 0, turned_ = 0, turned_s_ = 0;
  T northward_ = 0, northward_s_ = 0, eastward_ = 0, eastward_w_ = 0, eastward_n_ = 0;
  T energy_ = 0, energy_e_ = 0, energy_n_ = 0;
  Velocity rate_ = {};                                // before this step
  Velocity made_ = {}, made_s_ = {}, friction_ = {};  // of the rows to the south, before friction
};

}  // namespace shallow_water
