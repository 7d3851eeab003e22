#include "shallow_water/ocean.hpp"

#include <algorithm>
#include <array>
#include <numbers>
#include <utility>

namespace shallow_water {
namespace pt = partita;
namespace {

enum Field : int { height, east, north };  // h, u, v
constexpr std::int64_t fields = 3;

// Two cells around: of one the step needs the new u and v for friction, and for these another one.
const pt::HaloOptions two_around{{0, 2, 2}, {0, 2, 2}, {false, false, true}};

pt::Layout layout_of(const pt::Context& context, const Settings& settings,
                     const pt::Distribution& distribution) {
  return {distribution, {fields, settings.rows, settings.columns}, context.size()};
}

/// The formula of Adams and Bashforth. What is written is apart from all that is read, or compilers go one by
/// one.
template <class T, class Rate>
void advance_row(T* __restrict next, T* __restrict last_rate, const T* now, std::int64_t from,
                 std::int64_t to, T newest, T before, const Rate& rate) {
  for (std::int64_t i = from; i < to; ++i) {
    const T new_rate = rate(i);
    next[i] = now[i] + newest * new_rate + before * last_rate[i];
    last_rate[i] = new_rate;
  }
}

}  // namespace

/// What the cells of one row give their neighbours, from one column before to one behind.
template <class T>
struct Ocean<T>::Rows {
  explicit Rows(std::int64_t columns)
      : vorticity(static_cast<std::size_t>(columns) + 4),
        northward(vorticity),
        eastward(vorticity),
        energy(vorticity) {}
  T* at(std::vector<T>& values) { return values.data() + 2; }
  const T* at(const std::vector<T>& values) const { return values.data() + 2; }
  std::vector<T> vorticity;  ///< q, on corners
  std::vector<T> northward;  ///< h v
  std::vector<T> eastward;   ///< h u
  std::vector<T> energy;     ///< (u^2 + v^2) / 2, in the middle
};

template <class T>
Ocean<T>::Ocean(const pt::Context& context, const Settings& settings, const pt::Distribution& distribution)
    : context_(context),
      settings_(settings),
      layout_(layout_of(context, settings, distribution)),
      halo_(context, pt::Operand::of(layout_, pt::dtype_of<T>()), two_around) {
  const pt::Shape part = layout_.local_shape(context.rank());
  const pt::Region region = layout_.region(context.rank());
  rows_ = part[1];
  columns_ = part[2];
  if (!region.empty()) {
    first_row_ = region.sets[1].front();
    first_column_ = region.sets[2].front();
  }
  now_.resize(static_cast<std::size_t>(pt::volume(halo_.extended_shape())));
  tendencies_.resize(static_cast<std::size_t>(fields * (rows_ + 2) * (columns_ + 2)));
  begin();
  next_ = now_;  // beyond the walls, too
  const pt::View inside = halo_.interior(pt::view(now_, halo_.extended_shape()));
  state_ = pt::wrap(context, inside, layout_);
}

// u = 10 m/s exp(-(y - L/2)^2 / (0.02 W)^2), h in balance with it: g dh/dy = -f u. Beyond the walls there is
// water at rest, which nothing reaches.
template <class T>
void Ocean<T>::begin() {
  if (now_.empty()) return;
  const double width = static_cast<double>(settings_.columns - 1) * settings_.spacing;
  const double length = static_cast<double>(settings_.rows - 1) * settings_.spacing;
  std::vector<double> jet, slope;
  double sum = 0, mean = 0;
  for (std::int64_t j = 0; j < settings_.rows; ++j) {
    const double y = static_cast<double>(j) * settings_.spacing;
    jet.push_back(10 * std::exp(-std::pow((y - length / 2) / (0.02 * width), 2)));
    sum -= settings_.spacing * jet.back() * (settings_.coriolis + settings_.beta * y) / settings_.gravity;
    slope.push_back(sum);
    mean += sum / static_cast<double>(settings_.rows);
  }
  std::fill_n(row(now_, height, -2) - 2, (rows_ + 4) * (columns_ + 4), static_cast<T>(settings_.depth));
  for (std::int64_t j = 0; j < rows_; ++j) {
    const auto at = static_cast<std::size_t>(first_row_ + j);
    const double y = static_cast<double>(first_row_ + j) * settings_.spacing;
    for (std::int64_t i = 0; i < columns_; ++i) {
      const double x = static_cast<double>(first_column_ + i) * settings_.spacing;
      const double disturbance =
          0.2 * std::sin(x / width * 10 * std::numbers::pi) * std::cos(y / length * 8 * std::numbers::pi);
      row(now_, height, j)[i] = static_cast<T>(settings_.depth + slope[at] - mean + disturbance);
      row(now_, east, j)[i] = static_cast<T>(jet[at]);
    }
  }
}

// Own cells from the second to the last but one need no ghost cell. One row and column more than the own is
// made on each side, as the neighbours make it: friction needs it.
template <class T>
void Ocean<T>::step() {
  const pt::View extended = pt::view(now_, halo_.extended_shape());
  const std::int64_t top = std::min<std::int64_t>(1, rows_), bottom = std::max(top, rows_ - 1);
  const std::int64_t left = std::min<std::int64_t>(1, columns_), right = std::max(left, columns_ - 1);
  halo_.start(extended);
  if (!now_.empty()) advance(top, bottom, left, right);
  halo_.finish();
  if (!now_.empty()) {
    advance(-1, top, -1, columns_ + 1);
    advance(top, bottom, -1, left);
    advance(top, bottom, right, columns_ + 1);
    advance(bottom, rows_ + 1, -1, columns_ + 1);
    rub();
  }
  ++steps_;
}

/// New values of these rows and columns into next_; of those that are in the ocean.
template <class T>
void Ocean<T>::advance(std::int64_t from_row, std::int64_t to_row, std::int64_t from, std::int64_t to) {
  from_row = std::max(from_row, -first_row_);
  to_row = std::min(to_row, settings_.rows - first_row_);
  if (from_row >= to_row || from >= to) return;
  Rows south(columns_), here(columns_), north(columns_);
  fluxes_north(south, from_row - 1, from, to);
  fluxes_east(here, from_row, from, to);
  for (std::int64_t j = from_row; j < to_row; ++j) {
    fluxes_north(here, j, from, to);
    fluxes_east(north, j + 1, from, to);
    combine(south, here, north, j, from, to);
    std::swap(south, here);
    std::swap(here, north);
  }
}

template <class T>
void Ocean<T>::fluxes_north(Rows& rows, std::int64_t j, std::int64_t from, std::int64_t to) {
  const double y = static_cast<double>(first_row_ + j) * settings_.spacing;
  const T f = static_cast<T>(settings_.coriolis + settings_.beta * y),
          per_cell = static_cast<T>(1 / settings_.spacing);
  const T *const h = row(now_, height, j), *const h_north = row(now_, height, j + 1);
  const T *const u = row(now_, east, j), *const u_north = row(now_, east, j + 1),
                 *const v = row(now_, Field::north, j);
  T *const q = rows.at(rows.vorticity), *const flux = rows.at(rows.northward);
  for (std::int64_t i = from - 1; i <= to; ++i) flux[i] = T(0.5) * (h[i] + h_north[i]) * v[i];
  for (std::int64_t i = from - 1; i < to; ++i) {
    const T relative = ((v[i + 1] - v[i]) - (u_north[i] - u[i])) * per_cell;
    q[i] = (f + relative) / (T(0.25) * ((h[i] + h[i + 1]) + (h_north[i] + h_north[i + 1])));
  }
}

template <class T>
void Ocean<T>::fluxes_east(Rows& rows, std::int64_t j, std::int64_t from, std::int64_t to) {
  const T *const h = row(now_, height, j), *const u = row(now_, east, j);
  const T *const v = row(now_, Field::north, j), *const v_south = row(now_, Field::north, j - 1);
  T *const flux = rows.at(rows.eastward), *const energy = rows.at(rows.energy);
  for (std::int64_t i = from - 1; i < to; ++i) flux[i] = T(0.5) * (h[i] + h[i + 1]) * u[i];
  for (std::int64_t i = from; i <= to; ++i) {
    energy[i] = T(0.25) * ((u[i] * u[i] + u[i - 1] * u[i - 1]) + (v[i] * v[i] + v_south[i] * v_south[i]));
  }
}

template <class T>
void Ocean<T>::combine(const Rows& south, const Rows& here, const Rows& north, std::int64_t j,
                       std::int64_t from, std::int64_t to) {
  const T per_cell = static_cast<T>(1 / settings_.spacing), g = static_cast<T>(settings_.gravity);
  const T newest = static_cast<T>(settings_.time_step() * (steps_ == 0 ? 1 : 1.6));
  const T before = static_cast<T>(settings_.time_step() * (steps_ == 0 ? 0 : -0.6));
  const T open = first_row_ + j == settings_.rows - 1 ? 0 : 1;  // the wall
  const T *const h = row(now_, height, j), *const h_north = row(now_, height, j + 1);
  const T *const q = here.at(here.vorticity), *const q_south = south.at(south.vorticity);
  const T *const hv = here.at(here.northward), *const hv_south = south.at(south.northward);
  const T *const hu = here.at(here.eastward), *const hu_north = north.at(north.eastward);
  const T *const e = here.at(here.energy), *const e_north = north.at(north.energy);
  const auto advance_field = [&](int field, const auto& rate) {
    advance_row(row(next_, field, j), tendency(field, j), row(now_, field, j), from, to, newest, before,
                rate);
  };
  advance_field(height,
                [=](std::int64_t i) { return ((hu[i - 1] - hu[i]) + (hv_south[i] - hv[i])) * per_cell; });
  advance_field(east, [=](std::int64_t i) {
    return ((g * h[i] + e[i]) - (g * h[i + 1] + e[i + 1])) * per_cell +
           T(0.25) * (q[i] * (hv[i] + hv[i + 1]) + q_south[i] * (hv_south[i] + hv_south[i + 1]));
  });
  advance_field(Field::north, [=](std::int64_t i) {
    return open * (((g * h[i] + e[i]) - (g * h_north[i] + e_north[i])) * per_cell -
                   T(0.25) * (q[i] * (hu[i] + hu_north[i]) + q[i - 1] * (hu[i - 1] + hu_north[i - 1])));
  });
}

/// Friction, from next_ back into now_. None at the walls.
template <class T>
void Ocean<T>::rub() {
  const T rate =
      static_cast<T>(settings_.time_step() * settings_.viscosity() / (settings_.spacing * settings_.spacing));
  for (std::int64_t j = 0; j < rows_; ++j) {
    std::copy_n(row(next_, height, j), columns_, row(now_, height, j));
    const bool at_south = first_row_ + j == 0, at_north = first_row_ + j == settings_.rows - 1;
    for (const int field : {east, Field::north}) {
      const T to_south = at_south ? 0 : rate, to_north = at_north ? 0 : rate;
      const T wall = at_north && field == Field::north ? 0 : 1;
      const T *const here = row(next_, field, j), *const south = row(next_, field, j - 1),
                     *const north = row(next_, field, j + 1);
      T* const to = row(now_, field, j);
      for (std::int64_t i = 0; i < columns_; ++i) {
        to[i] = wall * (here[i] + rate * ((here[i + 1] - here[i]) - (here[i] - here[i - 1])) +
                        (to_north * (north[i] - here[i]) - to_south * (here[i] - south[i])));
      }
    }
  }
}

template <class T>
Budget Ocean<T>::budget() const {
  std::array<double, 2> sums{};
  const pt::View& local = state_.local();
  const auto at = [&](int field, std::int64_t j) {
    return static_cast<const T*>(local.data) + field * local.strides[0] + j * local.strides[1];
  };
  for (std::int64_t j = 0; j < rows_; ++j) {
    const T *const h = at(height, j), *const u = at(east, j), *const v = at(Field::north, j);
    for (std::int64_t i = 0; i < columns_; ++i) {
      const auto depth = static_cast<double>(h[i]), x = static_cast<double>(u[i]),
                 y = static_cast<double>(v[i]);
      sums[0] += depth;
      sums[1] += depth * (settings_.gravity * depth + x * x + y * y) / 2;
    }
  }
  pt::all_reduce(context_, pt::view(sums), pt::view(sums));
  return {sums[0], sums[1]};
}

template class Ocean<float>;
template class Ocean<double>;

pt::Distribution squares(int ranks) {
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return pt::BlockNonCyclic(pt::ProcessGrid({1, rows, ranks / rows}));
}

}  // namespace shallow_water
