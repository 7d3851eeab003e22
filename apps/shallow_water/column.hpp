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

/// What the threads of a block tell each other.
template <class T, std::size_t threads>
struct Shared {
  T height[threads], east[threads], north[threads];  // of the row to the north, now
  T new_east[threads], new_north[threads];           // of the row to the south, before friction
  T eastward[threads], energy[threads];              // h u, and its energy, of the row to the north
  T northward[threads], turned[threads];             // h v, and q (h u + h u to the north), of this row
};

/// One thread of the block. For each row: `read_row`, all of them, `make_fluxes`, all of them, `make_row`.
template <class T>
class Column {
 public:
  HOST_AND_DEVICE Column(const Part<T>& part, const Coefficients<T>& with, const Tile& tile, int thread)
      : part_(part), with_(with), tile_(tile), thread_(thread), column_(tile.from - 2 + thread) {
    seen_ = column_ <= tile.to + 1 ? column_ : tile.to + 1;
    rated_ = column_ < tile.from ? tile.from - 1 : column_ <= tile.to ? column_ : tile.to;
    first_ = tile.from_row - 1 > -part.first_row ? tile.from_row - 1 : -part.first_row;
    const std::int64_t wall = part.all_rows - part.first_row;
    end_ = tile.to_row + 1 < wall ? tile.to_row + 1 : wall;
    row_ = first_ - 2;
    state_ = (row_ + 2) * part.state_pitch() + 2;
    rates_ = (row_ + 1) * part.rate_pitch() + 1;
    height_rates_ = row_ * part.columns;
    ahead_ = read(1);
  }

  /// Not yet all rows. Behind the last row before a wall comes one more turn, for its friction.
  HOST_AND_DEVICE bool goes_on() const { return row_ < end_ || (end_ == tile_.to_row && row_ == end_); }

  template <std::size_t threads>
  HOST_AND_DEVICE void read_row(Shared<T, threads>& shared) {
    to_north_ = ahead_;
    shared.height[thread_] = to_north_.height;
    shared.east[thread_] = to_north_.east;
    shared.north[thread_] = to_north_.north;
    shared.new_east[thread_] = made_.east;
    shared.new_north[thread_] = made_.north;
    if (row_ + 2 <= end_) ahead_ = read(2);
    if (!makes_velocity()) return;
    const T* const rates = part_.now.rates + rates_ + rated_;
    rate_ = {rates[0], rates[part_.rate_plane()]};
    if (makes_height()) height_rate_ = part_.rates_of_height[height_rates_ + column_];
  }

  template <std::size_t threads>
  HOST_AND_DEVICE void make_fluxes(Shared<T, threads>& shared) {
    const int w = west(), e = east_of<threads>();
    friction_.east =
        formulas::friction_along(made_.east, shared.new_east[w], shared.new_east[e], with_.friction);
    friction_.north =
        formulas::friction_along(made_.north, shared.new_north[w], shared.new_north[e], with_.friction);
    const T height_ne = shared.height[e], east_nw = shared.east[w], north_ne = shared.north[e];
    if (makes_fluxes()) {
      const Cell &h = here_, &n = to_north_;
      vorticity_ =
          formulas::vorticity(with_.coriolis_of(part_.first_row + row_), h.height, height_e_, n.height,
                              height_ne, h.east, n.east, h.north, north_e_, with_.per_cell);
      northward_ = formulas::flux(h.height, n.height, h.north);
      eastward_n_ = formulas::flux(n.height, height_ne, n.east);
      energy_n_ = formulas::energy(with_.gravity, n.height, n.east, east_nw, n.north, h.north);
      shared.northward[thread_] = northward_;
      shared.turned[thread_] = turned_ = vorticity_ * (eastward_ + eastward_n_);
      shared.eastward[thread_] = eastward_n_;
      shared.energy[thread_] = energy_n_;
    }
    height_e_ = height_ne;
    north_e_ = north_ne;
  }

  template <std::size_t threads>
  HOST_AND_DEVICE void make_row(const Shared<T, threads>& shared) {
    const int w = west(), e = east_of<threads>();
    Velocity made = {0, 0};
    if (makes_fluxes()) {
      const T turned_here = vorticity_ * (northward_ + shared.northward[e]);
      if (makes_velocity()) {
        if (makes_height()) advance_height();
        made = advance_velocity(turned_here, shared.turned[w]);
      }
      turned_s_ = turned_here;
      northward_s_ = northward_;
      eastward_ = eastward_n_;
      eastward_w_ = shared.eastward[w];
      energy_ = energy_n_;
      energy_e_ = shared.energy[e];
    }
    if (row_ > tile_.from_row && is_own_column()) diffuse(made);
    made_s_ = made_;
    made_ = made;
    here_ = to_north_;
    ++row_;
    state_ += part_.state_pitch();
    rates_ += part_.rate_pitch();
    height_rates_ += part_.columns;
  }

 private:
  struct Cell {
    T height, east, north;
  };
  struct Velocity {
    T east, north;
  };

  /// So many rows further north.
  HOST_AND_DEVICE Cell read(int rows) const {
    const T* const state = part_.now.state + state_ + rows * part_.state_pitch() + seen_;
    return {state[0], state[part_.state_plane()], state[2 * part_.state_plane()]};
  }
  HOST_AND_DEVICE int west() const { return thread_ > 0 ? thread_ - 1 : 0; }
  template <std::size_t threads>
  HOST_AND_DEVICE int east_of() const {
    return thread_ + 1 < static_cast<int>(threads) ? thread_ + 1 : thread_;
  }
  // The same for the whole block.
  HOST_AND_DEVICE bool makes_fluxes() const { return row_ + 1 >= first_ && row_ < end_; }
  HOST_AND_DEVICE bool makes_velocity() const { return row_ >= first_ && row_ < end_; }
  HOST_AND_DEVICE bool is_own_row() const { return row_ >= tile_.from_row && row_ < tile_.to_row; }
  HOST_AND_DEVICE bool is_last(std::int64_t row) const { return part_.first_row + row == part_.all_rows - 1; }

  HOST_AND_DEVICE bool is_own_column() const { return column_ >= tile_.from && column_ < tile_.to; }
  HOST_AND_DEVICE bool makes_height() const { return is_own_row() && is_own_column(); }
  /// Those around the part are what this rank's friction needs, and nobody else's tile.
  HOST_AND_DEVICE bool keeps_rates() const {
    const bool row = is_own_row() || row_ == -1 || row_ == part_.rows;
    const bool beside =
        (column_ == -1 && tile_.from == 0) || (column_ == part_.columns && tile_.to == part_.columns);
    return row && (is_own_column() || beside);
  }

  HOST_AND_DEVICE void advance_height() const {
    const T rate = formulas::rate_of_height(eastward_w_, eastward_, northward_s_, northward_, with_.per_cell);
    part_.next.state[state_ + column_] =
        formulas::stepped(here_.height, rate, height_rate_, with_.newest, with_.before);
    part_.rates_of_height[height_rates_ + column_] = rate;
  }

  HOST_AND_DEVICE Velocity advance_velocity(T turned_here, T turned_w) const {
    const T open = is_last(row_) ? T(0) : T(1);  // the wall
    const T to_east = formulas::rate_of_east(energy_, energy_e_, turned_here, turned_s_, with_.per_cell);
    const T to_north = open * formulas::rate_of_north(energy_, energy_n_, turned_, turned_w, with_.per_cell);
    if (keeps_rates()) {
      T* const rates = part_.next.rates + rates_ + column_;
      rates[0] = to_east;
      rates[part_.rate_plane()] = to_north;
    }
    return {formulas::stepped(here_.east, to_east, rate_.east, with_.newest, with_.before),
            formulas::stepped(here_.north, to_north, rate_.north, with_.newest, with_.before)};
  }

  /// Of the row to the south, in which `made` is to the north. None through the walls.
  HOST_AND_DEVICE void diffuse(const Velocity& made) const {
    const std::int64_t row = row_ - 1;
    const T to_south = part_.first_row + row == 0 ? T(0) : with_.friction;
    const T to_north = is_last(row) ? T(0) : with_.friction;
    const T new_east = made_.east + friction_.east +
                       formulas::friction_across(made_.east, made_s_.east, made.east, to_south, to_north);
    const T new_north = made_.north + friction_.north +
                        formulas::friction_across(made_.north, made_s_.north, made.north, to_south, to_north);
    T* const state = part_.next.state + state_ - part_.state_pitch() + column_;
    state[part_.state_plane()] = new_east;
    state[2 * part_.state_plane()] = is_last(row) ? T(0) : new_north;
  }

  const Part<T>& part_;
  const Coefficients<T>& with_;
  Tile tile_;
  int thread_;
  std::int64_t column_, seen_, rated_;         // its own; that whose numbers, and whose rates, it reads
  std::int64_t first_, end_, row_;             // rows whose velocities are made; the one that it is at
  std::int64_t state_, rates_, height_rates_;  // where that begins

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
