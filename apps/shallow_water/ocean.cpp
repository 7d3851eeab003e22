#include "shallow_water/ocean.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <numbers>
#include <utility>

namespace shallow_water {
namespace pt = partita;
namespace {

// One for the rates, and one for friction, which needs u and v after the step.
const char* const dataset = "ocean";
const pt::HaloOptions two_around{{0, 2, 2}, {0, 2, 2}, {false, false, true}};

pt::Layout layout_of(const pt::Context& context, const Settings& settings,
                     const pt::Distribution& distribution) {
  return {distribution, {fields, settings.rows, settings.columns}, context.size()};
}

}  // namespace

template <class T>
Ocean<T>::Ocean(const pt::Context& context, const Settings& settings, const pt::Distribution& distribution)
    : context_(context),
      settings_(settings),
      layout_(layout_of(context, settings, distribution)),
      halo_(context, pt::Operand::of(layout_, pt::dtype_of<T>()), two_around),
      rows_(layout_.local_shape(context.rank())[1]),
      columns_(layout_.local_shape(context.rank())[2]),
      workspace_(columns_) {
  const pt::Region region = layout_.region(context.rank());
  if (!region.empty()) {
    first_row_ = region.sets[1].front();
    first_column_ = region.sets[2].front();
  }
  allocate();
  begin();
}

template <class T>
Ocean<T>::Ocean(const pt::Context& context, const Settings& settings, const pt::Distribution& distribution,
                const std::string& checkpoint)
    : Ocean(context, settings, distribution) {
  read(checkpoint);
}

// On the context's heap, whose pages are large: a sweep goes through 17 fields at once.
template <class T>
void Ocean<T>::allocate() {
  const pt::Shape extended = halo_.extended_shape();
  const std::int64_t state = pt::volume(extended), rates = 2 * (rows_ + 2) * (columns_ + 2);
  const std::int64_t items = 2 * (state + rates) + rows_ * columns_;
  memory_ = pt::SymmetricMemory::make_symmetric(context_, items * static_cast<std::int64_t>(sizeof(T)),
                                                pt::MemorySpace::host);
  T* next = static_cast<T*>(memory_.data());
  std::fill_n(next, items, T(0));
  const auto take = [&](std::int64_t count) { return std::exchange(next, next + count); };
  part_ = {rows_, columns_, first_row_, settings_.rows, {take(state), take(rates)}, {}, nullptr};
  part_.next = {take(state), take(rates)};
  part_.rates_of_height = take(rows_ * columns_);
  for (const Moment<T>& moment : {part_.now, part_.next}) {
    extended_.push_back(pt::View::dense(moment.state, pt::dtype_of<T>(), extended));
    states_.push_back(pt::wrap(context_, halo_.interior(extended_.back()), layout_));
  }
}

// u = 10 m/s exp(-(y - L/2)^2 / (0.02 W)^2), h in balance with it: g dh/dy = -f u. Beyond the walls there is
// water at rest, which nothing reaches.
template <class T>
void Ocean<T>::begin() {
  if (rows_ == 0 || columns_ == 0) return;
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
  for (const Moment<T>& moment : {part_.now, part_.next}) {
    std::fill_n(part_.at(moment, height, -2) - 2, (rows_ + 4) * (columns_ + 4),
                static_cast<T>(settings_.depth));
  }
  for (std::int64_t j = 0; j < rows_; ++j) {
    const auto at = static_cast<std::size_t>(first_row_ + j);
    const double y = static_cast<double>(first_row_ + j) * settings_.spacing;
    for (std::int64_t i = 0; i < columns_; ++i) {
      const double x = static_cast<double>(first_column_ + i) * settings_.spacing;
      const double disturbance =
          0.2 * std::sin(x / width * 10 * std::numbers::pi) * std::cos(y / length * 8 * std::numbers::pi);
      part_.at(part_.now, height, j)[i] = static_cast<T>(settings_.depth + slope[at] - mean + disturbance);
      part_.at(part_.now, east, j)[i] = static_cast<T>(jet[at]);
    }
  }
}

template <class T>
void Ocean<T>::write(const std::string& checkpoint) const {
  using Complex = std::complex<T>;
  pt::Array both = pt::empty(context_, layout_, pt::dtype_of<Complex>(), {pt::Residency::ordinary});
  Complex* to = both.data<Complex>();
  for (const Field field : {height, east, north}) {
    for (std::int64_t j = 0; j < rows_; ++j) {
      const T* const value = part_.at(part_.now, field, j);
      const T* const rate =
          field == height ? part_.rates_of_height + j * columns_ : part_.rate(part_.now, field, j);
      for (std::int64_t i = 0; i < columns_; ++i) *to++ = {value[i], rate[i]};
    }
  }
  pt::write_hdf5(checkpoint, dataset, both,
                 {.attributes = {{"settings", settings_.numbers()}, {"step", steps_}}});
}

// The rates of the neighbours' nearest cells come along: this rank computes what those become, too.
template <class T>
void Ocean<T>::read(const std::string& checkpoint) {
  using Complex = std::complex<T>;
  const pt::Hdf5Attributes attributes = pt::read_hdf5_attributes(checkpoint, dataset);
  if (std::get<std::vector<double>>(attributes.at("settings")) != settings_.numbers())
    throw pt::ArgumentError(checkpoint + " is of another ocean: its settings differ");
  steps_ = std::get<std::int64_t>(attributes.at("step"));
  const pt::Array both = pt::read_hdf5(context_, checkpoint, dataset, layout_.distribution());
  pt::Halo around(context_, both.operand(), {{0, 1, 1}, {0, 1, 1}, {false, false, true}});
  std::vector<Complex> extended(static_cast<std::size_t>(pt::volume(around.extended_shape())));
  around.execute(both, pt::view(extended, around.extended_shape()));
  const Complex* from = extended.data();
  if (extended.empty()) return;
  if (steps_ % 2 != 0) std::swap(part_.now, part_.next);
  for (const Field field : {height, east, north}) {
    for (std::int64_t j = -1; j <= rows_; ++j) {
      for (std::int64_t i = -1; i <= columns_; ++i, ++from) {
        const bool own = j >= 0 && j < rows_ && i >= 0 && i < columns_;
        if (own) part_.at(part_.now, field, j)[i] = from->real();
        if (field != height) part_.rate(part_.now, field, j)[i] = from->imag();
        if (field == height && own) part_.rates_of_height[j * columns_ + i] = from->imag();
      }
    }
  }
}

template <class T>
Coefficients<T> Ocean<T>::coefficients() const {
  const double dt = settings_.time_step(), spacing = settings_.spacing;
  return {.coriolis = settings_.coriolis,
          .coriolis_per_row = settings_.beta * spacing,
          .gravity = static_cast<T>(settings_.gravity),
          .per_cell = static_cast<T>(1 / spacing),
          .newest = static_cast<T>(dt * (steps_ == 0 ? 1 : 1.6)),
          .before = static_cast<T>(dt * (steps_ == 0 ? 0 : -0.6)),
          .friction = static_cast<T>(dt * settings_.viscosity() / (spacing * spacing))};
}

// Cells that are two away from those of other ranks need no ghost cell: one for the rates, and one for
// friction, from u and v after the step.
template <class T>
void Ocean<T>::step() {
  const std::int64_t top = std::min<std::int64_t>(2, rows_), bottom = std::max(top, rows_ - 2);
  const std::int64_t left = std::min<std::int64_t>(2, columns_), right = std::max(left, columns_ - 2);
  const Coefficients<T> with = coefficients();
  halo_.start(extended_[parity()]);
  advance(part_, with, workspace_, top, bottom, left, right);
  halo_.finish();
  advance(part_, with, workspace_, 0, top, 0, columns_);
  advance(part_, with, workspace_, top, bottom, 0, left);
  advance(part_, with, workspace_, top, bottom, right, columns_);
  advance(part_, with, workspace_, bottom, rows_, 0, columns_);
  std::swap(part_.now, part_.next);
  ++steps_;
}

template <class T>
Budget Ocean<T>::budget() const {
  std::array<double, 2> sums{};
  const pt::View& local = state().local();
  const auto at = [&](Field field, std::int64_t j) {
    return static_cast<const T*>(local.data) + field * local.strides[0] + j * local.strides[1];
  };
  for (std::int64_t j = 0; j < rows_; ++j) {
    const T *const h = at(height, j), *const u = at(east, j), *const v = at(north, j);
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

std::vector<double> Settings::numbers() const {
  return {static_cast<double>(rows),
          static_cast<double>(columns),
          spacing,
          gravity,
          depth,
          coriolis,
          beta,
          courant};
}

pt::Distribution squares(int ranks) {
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return pt::BlockNonCyclic(pt::ProcessGrid({1, rows, ranks / rows}));
}

}  // namespace shallow_water
