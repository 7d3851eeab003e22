// The wavenumbers of a rank's part of a spectrum, and what is made of them alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>
#include <partita/spectral.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_memory.hpp"
#include "device/last_use.hpp"
#include "device/stream_work.hpp"
#include "fft/spectral.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::spectral {
namespace {

AxisModes modes_of(const IndexSet& indices, std::int64_t length, bool halved, double period) {
  AxisModes modes;
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    const std::int64_t index = indices.at(i);
    const std::int64_t frequency = halved ? index : signed_frequency(index, length);
    modes.k.push_back(2 * std::numbers::pi * static_cast<double>(frequency) / period);
    modes.at_nyquist.push_back(length % 2 == 0 && index == length / 2);
  }
  return modes;
}

/// What the modes of one dimension add to the sum of which a symbol is made.
using Terms = std::vector<std::vector<double>>;

Terms terms_of(kernels::Symbol symbol, std::optional<int> axis, const std::vector<AxisModes>& modes) {
  Terms terms(modes.size());
  for (std::size_t d = 0; d < modes.size(); ++d) {
    if (symbol == kernels::Symbol::derivative && static_cast<int>(d) != axis) continue;
    for (std::size_t i = 0; i < modes[d].k.size(); ++i) {
      const double k = modes[d].k[i];
      const bool odd_without_sign = symbol == kernels::Symbol::derivative && modes[d].at_nyquist[i];
      terms[d].push_back(symbol == kernels::Symbol::inverse_laplacian ? k * k : odd_without_sign ? 0 : k);
    }
  }
  return terms;
}

/// Terms in device memory, behind each other. The context keeps them as it keeps plans.
struct TermsThere {
  devices::DeviceMemory memory;
  devices::LastUse use;              // of it
  std::vector<const double*> first;  // by dimension; null: none

  TermsThere(ContextState& context, const Terms& terms) : use(context, "symbol") {
    std::vector<double> all;
    for (const auto& one : terms) all.insert(all.end(), one.begin(), one.end());
    memory = devices::DeviceMemory(
        *context.device, std::max<std::int64_t>(static_cast<std::int64_t>(all.size() * sizeof(double)), 1));
    const Extents extent{static_cast<std::int64_t>(all.size())};
    const View here{all.data(), Dtype::f64, extent, {1}, MemorySpace::host};
    const View there{memory.data(), Dtype::f64, extent, {1}, MemorySpace::device};
    if (!all.empty()) arrays::copy_view(context, here, there);
    const auto* at = static_cast<const double*>(memory.data());
    for (const auto& one : terms) {
      first.push_back(one.empty() ? nullptr : at);
      at += one.size();
    }
  }
};

kernels::SymbolPass pass_over(kernels::Symbol symbol, const View& from, const View& to,
                              const std::vector<const double*>& terms) {
  kernels::SymbolPass pass;
  pass.symbol = symbol;
  pass.dtype = to.dtype;
  pass.data = {to.data, from.data};
  for (int d = 0; d < to.extents.size(); ++d) {
    if (to.extents[d] == 1 && terms[static_cast<std::size_t>(d)] == nullptr) continue;
    pass.loops.push_back(
        {to.extents[d], {to.strides[d], from.strides[d]}, terms[static_cast<std::size_t>(d)]});
  }
  std::ranges::stable_sort(pass.loops, [](const kernels::SymbolLoop& one, const kernels::SymbolLoop& other) {
    return one.strides[kernels::SymbolPass::to] > other.strides[kernels::SymbolPass::to];
  });
  return pass;
}

}  // namespace

std::vector<AxisModes> local_modes(const Array& spectrum, const Samples& samples,
                                   const SpectralOptions& options) {
  const auto& [lengths, halved_axis] = samples;
  const std::vector<int> axes = all_or(options.axes, lengths.size());
  check(options.lengths.empty() || options.lengths.size() == axes.size(), "{} periods for {} axes",
        options.lengths.size(), axes.size());
  const Region region = spectrum.layout().region(spectrum.context_state()->rank());
  std::vector<AxisModes> result(static_cast<std::size_t>(lengths.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = axes[i];
    const double period = options.lengths.empty() ? 2 * std::numbers::pi : options.lengths[i];
    const std::int64_t n = lengths[axis], extent = axis == halved_axis ? n / 2 + 1 : n;
    check(spectrum.shape()[axis] == extent, "a spectrum of {} samples along axis {} has {} modes, not {}", n,
          axis, extent, spectrum.shape()[axis]);
    if (region.empty()) continue;
    result[static_cast<std::size_t>(axis)] =
        modes_of(region.sets[static_cast<std::size_t>(axis)], n, axis == halved_axis, period);
  }
  return result;
}

void multiply_by(kernels::Symbol symbol, std::optional<int> axis, const Array& from, Array& to,
                 const Samples& samples, const SpectralOptions& options, Stream stream) {
  ContextState& context = *to.context_state();
  const auto terms = [&] { return terms_of(symbol, axis, local_modes(from, samples, options)); };
  if (to.local().space == MemorySpace::host) {
    if (to.local_size() == 0) return;
    const Terms here = terms();
    std::vector<const double*> first;
    for (const auto& one : here) first.push_back(one.empty() ? nullptr : one.data());
    return kernels::multiply(pass_over(symbol, from.local(), to.local(), first));
  }
  contexts::PlanKey key("symbol");
  key.add(symbol, axis, from.layout(), samples.lengths, samples.halved_axis, options.axes, options.lengths);
  // Ranks without a part keep it, too: the plan that is freed for it must be the same on all ranks.
  const auto there = context.plans.find_or_make<TermsThere>(key, [&] {
    std::shared_ptr<TermsThere> made;
    runtime::collectively(context, "symbol", [&] { made = std::make_shared<TermsThere>(context, terms()); });
    return made;
  });
  if (to.local_size() == 0) return;
  devices::put_into_stream(context, "symbol", stream, [&](Stream used, bool captured) {
    context.device->multiply(pass_over(symbol, from.local(), to.local(), there->first), used);
    there->use.note(used, captured);
  });
}

}  // namespace partita::spectral
