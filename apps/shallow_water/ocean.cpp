#include "shallow_water/ocean.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <numbers>
#include <utility>

#include "shallow_water/tile_kernels.hpp"

namespace shallow_water {
namespace pt = partita;
namespace {

// One for the rates, and one for friction, which needs u and v after the step.
const char* const dataset = "ocean";
const pt::ArrayOptions ordinary{.residency = pt::Residency::ordinary, .space = pt::MemorySpace::host};
const pt::HaloOptions two_around{.lower = {0, 2, 2}, .upper = {0, 2, 2}, .periodic = {false, false, true}};

/// Waves and widths need a neighbour of each cell; all fields of a cell are computed together.
pt::Layout layout_of(const pt::Context& context, const Settings& settings,
                     const pt::Distribution& distribution) {
  if (settings.rows < 2 || settings.columns < 2)
    throw pt::ArgumentError("an ocean of " + std::to_string(settings.rows) + " x " +
                            std::to_string(settings.columns) + " cells: it has at least 2 x 2");
  pt::Layout layout(distribution, {fields, settings.rows, settings.columns}, context.size());
  for (int rank = 0; rank < context.size(); ++rank) {
    const std::int64_t held = layout.local_shape(rank)[0];
    if (held != 0 && held != fields)
      throw pt::ArgumentError("an ocean is distributed along rows and columns, not between its fields: " +
                              distribution.to_string());
  }
  return layout;
}

pt::Operand operand_of(const pt::Context& context, const pt::Layout& layout, pt::Dtype dtype) {
  pt::Operand operand = pt::Operand::of(layout, dtype);
  const bool on_device = context.device().kind == pt::Device::Kind::cuda;
  operand.space = on_device ? pt::MemorySpace::device : pt::MemorySpace::host;
  return operand;
}

/// u = 10 m/s exp(-(y - L/2)^2 / (0.02 W)^2), h in balance with it: g dh/dy = -f u; and a disturbance of h,
/// a product of a wave along x and one along y.
struct Jet {
  std::vector<double> speed, depth, wave_in_y;  // by row of the ocean
  std::vector<double> wave_in_x;                // by column

  static constexpr double disturbed = 0.2;  // metres

  explicit Jet(const Settings& settings) {
    const double spacing = settings.spacing, width = static_cast<double>(settings.columns - 1) * spacing,
                 length = static_cast<double>(settings.rows - 1) * spacing;
    double sum = 0, mean = 0;
    for (std::int64_t j = 0; j < settings.rows; ++j) {
      const double y = static_cast<double>(j) * spacing;
      speed.push_back(10 * std::exp(-std::pow((y - length / 2) / (0.02 * width), 2)));
      sum -= spacing * speed.back() * (settings.coriolis + settings.beta * y) / settings.gravity;
      depth.push_back(sum);
      mean += sum / static_cast<double>(settings.rows);
      wave_in_y.push_back(std::cos(y / length * 8 * std::numbers::pi));
    }
    for (std::int64_t i = 0; i < settings.columns; ++i) {
      const double x = static_cast<double>(i) * spacing;
      wave_in_x.push_back(disturbed * std::sin(x / width * 10 * std::numbers::pi));
    }
    for (double& one : depth) one = settings.depth + one - mean;
    const double least = *std::min_element(depth.begin(), depth.end()) - disturbed;
    if (!(least > 0)) {
      throw pt::ArgumentError("the jet needs deeper water: in balance with it the least depth would be " +
                              std::to_string(least) + " m");
    }
  }
};

}  // namespace

template <class T>
Ocean<T>::Ocean(const pt::Context& context, const Settings& settings, const pt::Distribution& distribution)
    : context_(context),
      settings_(settings),
      layout_(layout_of(context, settings, distribution)),
      halo_(context, operand_of(context, layout_, pt::dtype_of<T>()), two_around),
      rows_(layout_.local_shape(context.rank())[1]),
      columns_(layout_.local_shape(context.rank())[2]),
      workspace_(columns_),
      side_(on_device::Queue::of(context)) {
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

// On the context's heap, whose pages are large: a sweep reads 12 fields at once.
template <class T>
void Ocean<T>::allocate() {
  memory_ = pt::SymmetricMemory::make_symmetric(context_, items() * static_cast<std::int64_t>(sizeof(T)));
  part_ = part_in(static_cast<T*>(memory_.data()));
  for (const Moment<T>& moment : {part_.now, part_.next}) {
    pt::View extended =
        pt::View::dense(part_.at(moment, height, -2) - 2, pt::dtype_of<T>(), halo_.extended_shape());
    extended.strides = {part_.pitch, part_.row_pitch, 1};
    extended.space = memory_.space();
    extended_.push_back(extended);
    states_.push_back(pt::wrap(context_, halo_.interior(extended_.back()), layout_));
  }
}

template <class T>
std::int64_t Ocean<T>::items() const {
  return 2 * Part<T>{rows_, columns_, 0, 0, {}, {}}.moment_size();
}

template <class T>
Part<T> Ocean<T>::part_in(T* memory) const {
  Part<T> part = Part<T>{rows_, columns_, first_row_, settings_.rows, {}, {}}.in(memory);
  if (parity() != 0) std::swap(part.now, part.next);
  return part;
}

template <class T>
typename Ocean<T>::OnHost Ocean<T>::on_host() const {
  if (!is_on_device()) return {{}, part_};
  OnHost image{std::vector<T>(static_cast<std::size_t>(items()))};
  image.part = part_in(image.copy.data());
  pt::copy(context_, memory_.view(pt::dtype_of<T>(), {items()}), pt::view(image.copy), pt::Stream());
  return image;
}

template <class T>
void Ocean<T>::put_back(const OnHost& image) {
  if (is_on_device())
    pt::copy(context_, pt::view(image.copy), memory_.view(pt::dtype_of<T>(), {items()}), pt::Stream());
}

// Beyond the walls there is water at rest, which nothing reaches.
template <class T>
void Ocean<T>::begin() {
  const Jet jet(settings_);
  if (rows_ == 0 || columns_ == 0) return;
  OnHost image{std::vector<T>(static_cast<std::size_t>(is_on_device() ? items() : 0))};
  image.part = is_on_device() ? part_in(image.copy.data()) : part_;
  const Part<T>& part = image.part;
  std::fill_n(part.now.values, items(), T(0));
  for (const Moment<T>& moment : {part.now, part.next}) {
    for (std::int64_t j = -2; j < rows_ + 2; ++j)
      std::fill_n(part.at(moment, height, j) - Part<T>::before, part.pitch, static_cast<T>(settings_.depth));
  }
  for (std::int64_t j = 0; j < rows_; ++j) {
    const auto row = static_cast<std::size_t>(first_row_ + j);
    for (std::int64_t i = 0; i < columns_; ++i) {
      const double disturbance =
          jet.wave_in_x[static_cast<std::size_t>(first_column_ + i)] * jet.wave_in_y[row];
      part.at(part.now, height, j)[i] = static_cast<T>(jet.depth[row] + disturbance);
      part.at(part.now, east, j)[i] = static_cast<T>(jet.speed[row]);
    }
  }
  put_back(image);
}

template <class T>
void Ocean<T>::write(const std::string& checkpoint) const {
  using Complex = std::complex<T>;
  pt::Array both = pt::empty(context_, layout_, pt::dtype_of<Complex>(), ordinary);
  Complex* to = both.data<Complex>();
  const OnHost image = on_host();
  const Part<T>& part = image.part;
  for (const Field field : {height, east, north}) {
    for (std::int64_t j = 0; j < rows_; ++j) {
      const T* const value = part.at(part.now, field, j);
      const T* const rate = part.rate(part.now, field, j);
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
    throw pt::ArgumentError(checkpoint + " belongs to another ocean: its settings differ");
  steps_ = std::get<std::int64_t>(attributes.at("step"));
  const pt::Array both = pt::read_hdf5(context_, checkpoint, dataset, layout_.distribution(), ordinary);
  pt::Halo around(context_, both.operand(),
                  {.lower = {0, 1, 1}, .upper = {0, 1, 1}, .periodic = {false, false, true}});
  std::vector<Complex> extended(static_cast<std::size_t>(pt::volume(around.extended_shape())));
  around.execute(both, pt::view(extended, around.extended_shape()));
  const Complex* from = extended.data();
  if (extended.empty()) return;
  part_ = part_in(static_cast<T*>(memory_.data()));
  OnHost image = on_host();
  const Part<T>& part = image.part;
  for (const Field field : {height, east, north}) {
    for (std::int64_t j = -1; j <= rows_; ++j) {
      for (std::int64_t i = -1; i <= columns_; ++i, ++from) {
        const bool own = j >= 0 && j < rows_ && i >= 0 && i < columns_;
        if (own) part.at(part.now, field, j)[i] = from->real();
        part.rate(part.now, field, j)[i] = from->imag();
      }
    }
  }
  put_back(image);
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

template <class T>
void Ocean<T>::step() {
  const Coefficients<T> with = coefficients();
  is_on_device() ? step_on_device(with) : step_on_host(with);
  std::swap(part_.now, part_.next);
  ++steps_;
}

// Cells that are two away from those of other ranks need no ghost cell: one for the rates, and one for
// friction, from u and v after the step.
template <class T>
void Ocean<T>::step_on_host(const Coefficients<T>& with) {
  const std::int64_t top = std::min<std::int64_t>(2, rows_), bottom = std::max(top, rows_ - 2);
  const std::int64_t left = std::min<std::int64_t>(2, columns_), right = std::max(left, columns_ - 2);
  halo_.start(extended_[parity()]);
  advance(part_, with, workspace_, top, bottom, left, right);
  halo_.finish();
  advance(part_, with, workspace_, 0, top, 0, columns_);
  advance(part_, with, workspace_, top, bottom, 0, left);
  advance(part_, with, workspace_, top, bottom, right, columns_);
  advance(part_, with, workspace_, bottom, rows_, 0, columns_);
}

// The exchange and what waits for it run concurrently with the tiles in the midst, and first.
template <class T>
void Ocean<T>::step_on_device(const Coefficients<T>& with) {
  const on_device::Queue own = on_device::Queue::of(context_), &beside = side_.queue();
  side_.fork();
  advance_tiles(own, part_, with, Where::inside);
  halo_.start(extended_[parity()], beside.stream);
  halo_.finish(beside.stream);
  advance_tiles(beside, part_, with, Where::edges);
  side_.join();
}

template <class T>
Budget Ocean<T>::budget() const {
  std::array<double, 2> sums{};
  std::vector<T> copy(static_cast<std::size_t>(is_on_device() ? state().local_size() : 0));
  pt::View local = state().local();
  if (is_on_device()) {
    local = pt::view(copy, local.extents);
    pt::copy(state(), local, pt::Stream());
  }
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
