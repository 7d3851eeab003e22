// The step as a device makes it. A warp of threads makes a tile: each thread has a few columns, as many as
// are 16 bytes, and moves north row by row, with what it has read and made of the last rows in registers. It
// gets what it needs of adjacent columns from the threads that have them, twice per row. What is before the
// step is on its way from memory some rows ahead of where it is needed. So each field is read once and
// written once, but for two cells around each tile, and no thread waits for others than its warp's.
#pragma once

#include "shallow_water/ahead.hpp"
#include "shallow_water/equations.hpp"
#include "shallow_water/formulas.hpp"
#include "shallow_water/tiles.hpp"

namespace shallow_water {

// What a thread tells that to its west, of its first column, and that to its east, of its last. `all(f)` is
// f of each.

/// Once `read_row` is done: of the row to the north now, and (new) of the row to the south after the step,
/// before friction.
template <class T>
struct RowToWest {
  T height, north, new_east, new_north;
  template <class F>
  HOST_AND_DEVICE RowToWest all(const F& f) const {
    return {f(height), f(north), f(new_east), f(new_north)};
  }
};
template <class T>
struct RowToEast {
  T east, new_east, new_north;
  template <class F>
  HOST_AND_DEVICE RowToEast all(const F& f) const {
    return {f(east), f(new_east), f(new_north)};
  }
};

/// Once `make_fluxes` is.
template <class T>
struct FluxesToWest {
  T northward;  // h v, of this row
  T energy;     // of the row to the north
  template <class F>
  HOST_AND_DEVICE FluxesToWest all(const F& f) const {
    return {f(northward), f(energy)};
  }
};
template <class T>
struct FluxesToEast {
  T turned;    // q (h u + h u to the north)
  T eastward;  // h u, of the row to the north
  template <class F>
  HOST_AND_DEVICE FluxesToEast all(const F& f) const {
    return {f(turned), f(eastward)};
  }
};

/// One thread of the warp. For each row: `read_row`; with what it says then, all of them, `make_fluxes`; with
/// these values, all of them, `make_row`. If the row is `in_midst` these may assume it, and do not ask
/// again where they are. Rows are counted from the tile's first one.
template <class T, Where where, int rows_ahead, int threads>
class Columns {
  static constexpr bool inside = where == Where::inside;  // no wall is near, nor columns that are not whole

 public:
  static constexpr int each = Several<T>::count;  // columns
  /// A tile has so many columns at most: those of the first and the last thread are made by the next one.
  static constexpr int most_columns = each * (threads - 2);
  using Memory = Ahead<T, std::size_t{rows_ahead}, std::size_t{threads}>;

  HOST_AND_DEVICE Columns(const Part<T>& part, const Coefficients<T>& with, const Tile& tile, int thread,
                          Memory& memory)
      : part_(part),
        with_(with),
        memory_(memory),
        thread_(thread),
        rows_(static_cast<int>(tile.to_row - tile.from_row)) {
    const auto width = static_cast<int>(tile.to - tile.from), column = each * (thread - 1);
    own_ = {within(-column), within(width - column)};
    if constexpr (!inside) {
      kept_ = {within(-column - (tile.from == 0 ? 1 : 0)),
               within(width - column + (tile.to == part.columns ? 1 : 0))};
      first_kept_ = tile.from_row == 0 ? -1 : 0;
      end_kept_ = tile.to_row == part.rows ? rows_ + 1 : rows_;
      to_south_wall_ = clamp(part.first_row + tile.from_row);
      to_north_wall_ = clamp(part.all_rows - 1 - part.first_row - tile.from_row);
    }
    first_ = !inside && to_south_wall_ == 0 ? 0 : -1;
    end_ = !inside && to_north_wall_ == rows_ - 1 ? rows_ : rows_ + 1;
    row_ = first_ - 2;

    const std::int64_t from_row = tile.from_row + row_, own = tile.from + column;
    const std::int64_t last = part.pitch - part.before - each;
    ocean_row_ = static_cast<double>(part.first_row + from_row);
    seen_ = part.now.values + part.offset(from_row, own < last ? own : last);
    made_at_ = part.next.values + part.offset(from_row, own);
    for (int ahead = 0; ahead < rows_ahead; ++ahead) read_ahead<false>(row_ + ahead);
  }

  /// Not yet all rows. Behind the last row before a wall comes one more turn, for its friction.
  HOST_AND_DEVICE bool goes_on() const { return row_ <= rows_; }

  /// So many from this row on are in the tile's midst: everything of them, of their neighbours and of those
  /// that are read is the tile's, and no wall is near.
  HOST_AND_DEVICE int in_midst() const { return row_ >= 2 ? rows_ - 1 - rows_ahead - row_ : 0; }

  template <bool midst>
  HOST_AND_DEVICE void read_row() {
    read_ahead<midst>(row_ + rows_ahead);
    memory_.wait();
    to_north_ = {taken(0), taken(1), taken(2)};
  }
  HOST_AND_DEVICE RowToWest<T> row_to_west() const {
    return {to_north_.height[0], to_north_.north[0], made_.east[0], made_.north[0]};
  }
  HOST_AND_DEVICE RowToEast<T> row_to_east() const {
    return {to_north_.east[each - 1], made_.east[each - 1], made_.north[each - 1]};
  }

  template <bool midst>
  HOST_AND_DEVICE void make_fluxes(const RowToWest<T>& e, const RowToEast<T>& w) {
    made_e_ = {e.new_east, e.new_north};
    made_w_ = {w.new_east, w.new_north};
    if (midst || makes_fluxes()) {
      const T f = with_.coriolis_of(ocean_row_);
      const Cells &h = here_, &n = to_north_;
      for (int c = 0; c < each; ++c) {
        const T height_ne = east_of(n.height, c, e.height);
        vorticity_[c] = formulas::vorticity(f, h.height[c], east_of(h.height, c, height_e_), n.height[c],
                                            height_ne, h.east[c], n.east[c], h.north[c],
                                            east_of(h.north, c, north_e_), with_.per_cell);
        northward_[c] = formulas::flux(h.height[c], n.height[c], h.north[c]);
        eastward_n_[c] = formulas::flux(n.height[c], height_ne, n.east[c]);
        energy_n_[c] = formulas::energy(with_.gravity, n.height[c], n.east[c], west_of(n.east, c, w.east),
                                        n.north[c], h.north[c]);
        turned_[c] = vorticity_[c] * (eastward_[c] + eastward_n_[c]);
      }
    }
    height_e_ = e.height;
    north_e_ = e.north;
  }
  HOST_AND_DEVICE FluxesToWest<T> fluxes_to_west() const { return {northward_[0], energy_n_[0]}; }
  HOST_AND_DEVICE FluxesToEast<T> fluxes_to_east() const {
    return {turned_[each - 1], eastward_n_[each - 1]};
  }

  template <bool midst>
  HOST_AND_DEVICE void make_row(const FluxesToWest<T>& e, const FluxesToEast<T>& w) {
    Velocities made = {};
    if (midst || makes_fluxes()) {
      Row turned_here;
      for (int c = 0; c < each; ++c)
        turned_here[c] = vorticity_[c] * (northward_[c] + east_of(northward_, c, e.northward));
      if (midst || makes_velocity()) {
        if (midst || is_own_row()) advance_heights();
        made = advance_velocities<midst>(turned_here, w.turned);
      }
      turned_s_ = turned_here;
      northward_s_ = northward_;
      eastward_ = eastward_n_;
      eastward_w_ = w.eastward;
      energy_ = energy_n_;
      energy_e_ = e.energy;
    }
    if (midst || row_ > 0) diffuse<midst>(made);
    made_s_ = made_;
    made_ = made;
    here_ = to_north_;
    go_north();
  }

 private:
  using Row = Several<T>;
  struct Cells {
    Row height, east, north;
  };
  struct Velocities {
    Row east, north;
  };
  /// Of the columns of this thread.
  struct Range {
    int first, end;
  };

  HOST_AND_DEVICE static int within(int column) { return column < 0 ? 0 : column < each ? column : each; }
  /// Rows to a wall, where it is within reach of a tile.
  HOST_AND_DEVICE static int clamp(std::int64_t rows) {
    constexpr std::int64_t far = 1 << 30;
    return static_cast<int>(rows < far ? rows : far);
  }
  HOST_AND_DEVICE static T east_of(const Row& row, int c, T beside) {
    return c + 1 < each ? row[c + 1 < each ? c + 1 : 0] : beside;
  }
  HOST_AND_DEVICE static T west_of(const Row& row, int c, T beside) {
    return c > 0 ? row[c > 0 ? c - 1 : 0] : beside;
  }

  /// What the row `of` needs: the fields to its north, and its own rates.
  template <bool midst>
  HOST_AND_DEVICE void read_ahead(int of) {
    const T* const rates = seen_ + fields * part_.pitch;
    seen_ += part_.row_pitch;
    if (midst || of + 1 <= end_) {
      for (int field = 0; field < fields; ++field)
        memory_.request(next_slot_, field, thread_, seen_ + field * part_.pitch);
    }
    if (midst || (of >= first_ && of < end_)) {
      for (int field = 0; field < fields; ++field)
        memory_.request(next_slot_, fields + field, thread_, rates + field * part_.pitch);
    }
    memory_.commit();
    next_slot_ = memory_.after(next_slot_);
  }
  HOST_AND_DEVICE Row taken(int field) const { return memory_.taken(slot_, field, thread_); }

  HOST_AND_DEVICE void go_north() {
    ++row_;
    slot_ = memory_.after(slot_);
    ocean_row_ += 1;
    made_at_ += part_.row_pitch;
  }
  // The same for the whole warp.
  HOST_AND_DEVICE bool makes_fluxes() const { return row_ + 1 >= first_ && row_ < end_; }
  HOST_AND_DEVICE bool makes_velocity() const { return row_ >= first_ && row_ < end_; }
  HOST_AND_DEVICE bool is_own_row() const { return row_ >= 0 && row_ < rows_; }
  /// Also those around the part, which this rank's friction needs and no other tile has.
  HOST_AND_DEVICE bool is_kept_row() const {
    return inside ? is_own_row() : row_ >= first_kept_ && row_ < end_kept_;
  }
  HOST_AND_DEVICE bool is_first_row(int row) const { return !inside && row == -to_south_wall_; }
  HOST_AND_DEVICE bool is_last_row(int row) const { return !inside && row == to_north_wall_; }

  HOST_AND_DEVICE static void put(T* to, const Row& row, const Range& range) {
    if (range.end - range.first == each) {
      *reinterpret_cast<Row*>(to) = row;
    } else if (!inside) {
      for (int c = 0; c < each; ++c) {
        if (c >= range.first && c < range.end) to[c] = row[c];
      }
    }
  }
  HOST_AND_DEVICE void put_rates(int field, const Row& row) const {
    put(made_at_ + (fields + field) * part_.pitch, row, inside || field == height ? own_ : kept_);
  }

  HOST_AND_DEVICE void advance_heights() const {
    const Row before = taken(fields + height);
    Row rates, next;
    for (int c = 0; c < each; ++c) {
      rates[c] = formulas::rate_of_height(west_of(eastward_, c, eastward_w_), eastward_[c], northward_s_[c],
                                          northward_[c], with_.per_cell);
      next[c] = formulas::stepped(here_.height[c], rates[c], before[c], with_.newest, with_.before);
    }
    put(made_at_, next, own_);
    put_rates(height, rates);
  }

  template <bool midst>
  HOST_AND_DEVICE Velocities advance_velocities(const Row& turned_here, T turned_w) const {
    const T open = !midst && is_last_row(row_) ? T(0) : T(1);
    const Velocities before = {taken(fields + east), taken(fields + north)};
    Velocities rates, made;
    for (int c = 0; c < each; ++c) {
      rates.east[c] = formulas::rate_of_east(energy_[c], east_of(energy_, c, energy_e_), turned_here[c],
                                             turned_s_[c], with_.per_cell);
      const T to_north = formulas::rate_of_north(energy_[c], energy_n_[c], turned_[c],
                                                 west_of(turned_, c, turned_w), with_.per_cell);
      rates.north[c] = midst ? to_north : open * to_north;
      made.east[c] =
          formulas::stepped(here_.east[c], rates.east[c], before.east[c], with_.newest, with_.before);
      made.north[c] =
          formulas::stepped(here_.north[c], rates.north[c], before.north[c], with_.newest, with_.before);
    }
    if (midst || is_kept_row()) {
      put_rates(east, rates.east);
      put_rates(north, rates.north);
    }
    return made;
  }

  /// Of the row to the south, in which `made` is to the north. None through the walls.
  template <bool midst>
  HOST_AND_DEVICE void diffuse(const Velocities& made) const {
    const bool is_last = !midst && is_last_row(row_ - 1);
    const T to_south = !midst && is_first_row(row_ - 1) ? T(0) : with_.friction;
    const T to_north = is_last ? T(0) : with_.friction;
    Velocities next;
    for (int c = 0; c < each; ++c) {
      next.east[c] = diffused(made_.east, c, made_w_.east, made_e_.east, made_s_.east[c], made.east[c],
                              to_south, to_north);
      const T north = diffused(made_.north, c, made_w_.north, made_e_.north, made_s_.north[c], made.north[c],
                               to_south, to_north);
      next.north[c] = is_last ? T(0) : north;
    }
    T* const to = made_at_ - part_.row_pitch;
    put(to + east * part_.pitch, next.east, own_);
    put(to + north * part_.pitch, next.north, own_);
  }

  HOST_AND_DEVICE T diffused(const Row& made, int c, T west, T east, T south, T north, T to_south,
                             T to_north) const {
    return made[c] +
           formulas::friction_along(made[c], west_of(made, c, west), east_of(made, c, east), with_.friction) +
           formulas::friction_across(made[c], south, north, to_south, to_north);
  }

  const Part<T>& part_;
  const Coefficients<T>& with_;
  Memory& memory_;
  int thread_, slot_ = 0, next_slot_ = 0;  // where in the memory this row is, and the next that is read
  int rows_;
  Range own_, kept_ = {};                      // columns that are the tile's, and those whose rates are kept
  int first_, end_, row_;                      // rows whose velocities are made; the one that it is at
  int first_kept_ = 0, end_kept_ = 0;          // rows whose rates are kept
  int to_south_wall_ = 0, to_north_wall_ = 0;  // from the tile's first row
  double ocean_row_;
  const T* seen_;  // of the row that is read next
  T* made_at_;     // of this one

  // Names as in formulas.hpp: _n is of the row to the north, _s of that to the south, _e and _w of a column.
  Cells here_ = {}, to_north_ = {};
  T height_e_ = 0, north_e_ = 0;
  Row vorticity_ = {}, turned_ = {}, turned_s_ = {};
  Row northward_ = {}, northward_s_ = {}, eastward_ = {}, eastward_n_ = {};
  Row energy_ = {}, energy_n_ = {};
  T eastward_w_ = 0, energy_e_ = 0;
  Velocities made_ = {}, made_s_ = {};  // of the rows to the south, before friction
  struct {
    T east, north;
  } made_e_ = {}, made_w_ = {};
};

}  // namespace shallow_water
