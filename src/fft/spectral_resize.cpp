// A spectrum with more or fewer modes. Along each axis the modes are a low and a high run of indices; every
// combination of runs is a box that moves, as a redistribution between two windows, straight to its place.
#include <algorithm>
#include <cmath>
#include <partita/redistribute.hpp>
#include <partita/spectral.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "fft/layouts.hpp"
#include "fft/spectral.hpp"
#include "fft/spectral_pair.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

/// `count` indices from `from` on become those from `to` on; `adds`: onto what another run has brought.
struct Run {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
  bool adds = false;
};

/// What happens along one axis. Let s be the smaller length. Signed frequencies below s/2 keep theirs; at an
/// even s the Nyquist frequency is at both ends: if s grows, index s/2 becomes +s/2 and -s/2, half of it
/// each; else the two are added. A half spectrum has one end only: its value is halved, or doubled.
struct AxisRuns {
  std::vector<Run> runs;
  std::vector<std::int64_t> planes;  // of the result, that are multiplied
  double factor = 1;
};

AxisRuns runs_of(std::int64_t n, std::int64_t m, bool halved) {
  if (n == m) return {{{0, 0, halved ? n / 2 + 1 : n, false}}, {}, 1};
  const std::int64_t s = std::min(n, m);
  const bool even = s % 2 == 0, up = m > n;
  if (halved) {
    AxisRuns result{{{0, 0, s / 2 + 1, false}}, {}, up ? 0.5 : 2.0};
    if (even) result.planes = {s / 2};
    return result;
  }
  AxisRuns result;
  result.runs.push_back({0, 0, s / 2 + 1, false});
  const std::int64_t negative = (s - 1) / 2;  // frequencies -negative .. -1
  if (even && up) {
    result.runs.push_back({n - s / 2, m - s / 2, s / 2, false});
    result.planes = {s / 2, m - s / 2};
    result.factor = 0.5;
  } else {
    if (negative > 0) result.runs.push_back({n - negative, m - negative, negative, false});
    if (even) result.runs.push_back({n - s / 2, s / 2, 1, true});
  }
  return result;
}

/// One combination of runs.
struct Corner {
  Index from, to;
  Shape shape;
  bool adds = false;
};

std::vector<Corner> corners_of(const std::vector<AxisRuns>& axes) {
  std::vector<Corner> corners(1);
  for (const AxisRuns& axis : axes) {
    std::vector<Corner> more;
    for (const Corner& corner : corners) {
      for (const Run& run : axis.runs) {
        Corner next = corner;
        next.from.push_back(run.from);
        next.to.push_back(run.to);
        next.shape.push_back(run.count);
        next.adds = corner.adds || run.adds;
        more.push_back(next);
      }
    }
    corners = std::move(more);
  }
  // What is added onto comes first.
  std::ranges::stable_sort(corners, {}, &Corner::adds);
  return corners;
}

void move_corner(const Array& spectrum, const Array& result, const Corner& corner) {
  const Array source = spectrum.window(corner.from, corner.shape);
  Array destination = result.window(corner.to, corner.shape);
  if (!corner.adds) return redistribute(source, destination);
  RedistributeOptions beside;
  beside.space = destination.local().space;
  const Array addend = redistribute(source, destination.layout(), beside);
  spectral::join_local(*result.context_state(), kernels::Arithmetic::add, destination.local(),
                       addend.local());
  devices::finish_device(*result.context_state(), "resize_spectrum");  // before the addend is freed
}

/// The factors of the Nyquist planes and of the norm, in one pass over what is not 1.
template <class Number>
void scale_planes(const View& local, const Region& region, const std::vector<AxisRuns>& axes, double factor) {
  using Real = typename Number::value_type;
  std::vector<std::vector<Real>> factors(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const IndexSet& set = region.sets[d];
    factors[d].assign(static_cast<std::size_t>(set.size()), Real(1));
    for (const std::int64_t plane : axes[d].planes) {
      if (set.contains(plane)) {
        factors[d][static_cast<std::size_t>(set.position(plane))] = static_cast<Real>(axes[d].factor);
      }
    }
  }
  spectral::for_each_local<Number>(local, [&](const Index& at, Number& value) {
    auto all = static_cast<Real>(factor);
    for (std::size_t d = 0; d < factors.size(); ++d) {
      all *= factors[d][static_cast<std::size_t>(at[static_cast<int>(d)])];
    }
    value *= all;
  });
}

double norm_of(const Shape& from, const Shape& to, Norm norm) {
  double ratio = 1;
  for (int d = 0; d < from.size(); ++d) ratio *= static_cast<double>(to[d]) / static_cast<double>(from[d]);
  if (norm == Norm::forward) return 1;
  return norm == Norm::ortho ? std::sqrt(ratio) : ratio;
}

void check_shapes(const Array& spectrum, const Shape& from, const Shape& to, int halved_axis) {
  check(is_complex(spectrum.dtype()), "resize_spectrum: a spectrum is of complex numbers, not {}",
        name(spectrum.dtype()));
  const int dimensions = spectrum.shape().size();
  check(from.size() == dimensions && to.size() == dimensions,
        "resize_spectrum: a spectrum of {} dimensions from {} to {} samples", dimensions, to_string(from),
        to_string(to));
  check(halved_axis >= -1 && halved_axis < dimensions, "resize_spectrum: there is no axis {} to be halved",
        halved_axis);
  for (int d = 0; d < dimensions; ++d) {
    const std::int64_t modes = d == halved_axis ? from[d] / 2 + 1 : from[d];
    check(from[d] > 0 && to[d] > 0 && spectrum.shape()[d] == modes,
          "resize_spectrum: {} samples along axis {} have {} modes; the spectrum has {}", from[d], d, modes,
          spectrum.shape()[d]);
  }
  check<UnsupportedError>(fourier::is_plain(spectrum.layout()),
                          "resize_spectrum: the spectrum must not be replicated or partial: {}",
                          spectrum.layout().to_string());
}

Layout result_layout_of(const Array& spectrum, const Shape& shape,
                        const std::optional<Distribution>& distribution) {
  if (distribution) return Layout(*distribution, shape, spectrum.layout().ranks());
  Layout layout = spectrum.layout();
  for (int d = 0; d < shape.size(); ++d) {
    if (layout.shape()[d] != shape[d]) layout = fourier::with_extent(layout, d, shape[d]);
  }
  return layout;
}

/// The shape of the result of a checked request.
Shape shape_of_modes(const Shape& to, int halved_axis) {
  Shape shape = to;
  if (halved_axis >= 0) shape[halved_axis] = to[halved_axis] / 2 + 1;
  return shape;
}

std::vector<AxisRuns> all_runs(const Shape& from, const Shape& to, int halved_axis) {
  std::vector<AxisRuns> axes;
  for (int d = 0; d < from.size(); ++d) axes.push_back(runs_of(from[d], to[d], d == halved_axis));
  return axes;
}

std::vector<Fact> facts_of_resize(const Shape& from, const Shape& to) {
  return {{"from", to_string(from)}, {"to", to_string(to)}};
}

void check_plain_result(const Layout& layout) {
  check<UnsupportedError>(fourier::is_plain(layout),
                          "resize_spectrum: the result must not be replicated or partial: {}",
                          layout.to_string());
}

void check_given(const Array& spectrum, const Array& result, const Shape& shape,
                 const ResizeOptions& options) {
  check(result.valid(), "resize_spectrum: the result is an empty Array");
  arrays::check_same_context("resize_spectrum", spectrum, "the spectrum", result, "the result");
  check(result.shape() == shape && result.dtype() == spectrum.dtype(),
        "resize_spectrum: the modes are {} of shape {}, but the result is {} of shape {}",
        name(spectrum.dtype()), to_string(shape), name(result.dtype()), to_string(result.shape()));
  check(!arrays::overlap(spectrum, result), "resize_spectrum: spectrum and result overlap in memory");
  arrays::check_written("resize_spectrum", result);
  check(!options.distribution ||
            fourier::same(result.layout(), Layout(*options.distribution, shape, result.layout().ranks())),
        "resize_spectrum: the requested distribution of the result differs from that of the array, {}",
        result.layout().to_string());
  check_plain_result(result.layout());
}

void move_modes(const Array& spectrum, Array& result, const Shape& from, const Shape& to,
                const ResizeOptions& options) {
  const std::vector<AxisRuns> axes = all_runs(from, to, options.halved_axis);
  spectral::with_number(spectrum.dtype(), [&](auto zero) { fill(result, static_cast<const void*>(&zero)); });
  for (const Corner& corner : corners_of(axes)) move_corner(spectrum, result, corner);
  const double factor = norm_of(from, to, options.norm);
  ContextState& context = *result.context_state();
  const Region region = result.layout().region(context.rank());
  const auto scale = [&](const View& local) {
    spectral::with_number(local.dtype, [&]<class Number>(Number /*zero*/) {
      scale_planes<Number>(local, region, axes, factor);
    });
  };
  if (result.local().space == MemorySpace::host) return spectral::scale_local(context, result.local(), scale);
  runtime::collectively(context, "resize_spectrum",
                        [&] { spectral::scale_local(context, result.local(), scale); });
}

}  // namespace

Array resize_spectrum(const Array& spectrum, const Shape& from, const Shape& to, const ResizeOptions& options,
                      SourcePlace where) {
  const runtime::PublicCall call("resize_spectrum");
  check(spectrum.valid(), "resize_spectrum: the spectrum is an empty Array");
  spectral::follow_together(spectrum, "resize_spectrum", options.stream);
  std::optional<Layout> layout;
  runtime::collectively(*spectrum.context_state(), "resize_spectrum", [&]() -> std::vector<Fact> {
    check_shapes(spectrum, from, to, options.halved_axis);
    layout = result_layout_of(spectrum, shape_of_modes(to, options.halved_axis), options.distribution);
    check_plain_result(*layout);
    return facts_of_resize(from, to);
  });
  Array result = empty(spectrum.context(), *layout, spectrum.dtype(),
                       {.residency = options.residency, .space = spectrum.local().space}, where);
  move_modes(spectrum, result, from, to, options);
  return result;
}

void resize_spectrum_into(const Array& spectrum, Array& result, const Shape& from, const Shape& to,
                          const ResizeOptions& options) {
  const runtime::PublicCall call("resize_spectrum");
  check(spectrum.valid(), "resize_spectrum: the spectrum is an empty Array");
  spectral::follow_together(spectrum, "resize_spectrum", options.stream);
  runtime::collectively(*spectrum.context_state(), "resize_spectrum", [&]() -> std::vector<Fact> {
    check_shapes(spectrum, from, to, options.halved_axis);
    check_given(spectrum, result, shape_of_modes(to, options.halved_axis), options);
    return facts_of_resize(from, to);
  });
  move_modes(spectrum, result, from, to, options);
}

}  // namespace partita
