#include "density/particles.hpp"

#include <algorithm>
#include <numeric>

namespace density {
namespace pt = partita;
namespace {

constexpr std::int64_t numbers = sizeof(Particle) / sizeof(double);
constexpr const char* dataset = "particles";

pt::View view_of(const Particle* particles, std::size_t count) {
  return pt::View::dense(const_cast<Particle*>(particles), pt::Dtype::f64,
                         {static_cast<std::int64_t>(count), numbers});
}

pt::Index cell_of(const Particle& particle) {
  pt::Index cell;
  for (const double x : particle.position) cell.push_back(static_cast<std::int64_t>(x));
  return cell;
}

std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// One part a rank, of so many particles each.
pt::Box parts_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> cuts{0};
  for (const std::int64_t count : counts) cuts.push_back(cuts.back() + count);
  return pt::Box::from_cuts({cuts, {0, numbers}});
}

/// The last particles go into holes before them.
void close_holes(Particles& particles, std::span<const std::size_t> holes) {
  const std::size_t then = particles.size() - holes.size();
  std::vector<bool> empty(holes.size());
  for (const std::size_t hole : holes) {
    if (hole >= then) empty[hole - then] = true;
  }
  auto goal = holes.begin();
  for (std::size_t i = then; i < particles.size(); ++i) {
    if (empty[i - then]) continue;
    while (*goal >= then) ++goal;
    particles[*goal++] = particles[i];
  }
  particles.resize(then);
}

}  // namespace

Cells::Cells(const pt::Layout& mesh, int rank) {
  const pt::Region region = mesh.region(rank);
  if (region.empty()) return;
  for (std::size_t d = 0; d < 3; ++d) {
    lower[d] = region.sets[d].front();
    upper[d] = region.sets[d].back() + 1;
  }
}

void migrate(const pt::Context& context, const pt::Layout& mesh, Particles& particles) {
  const Cells own(mesh, context.rank());
  std::vector<std::vector<std::size_t>> leaving(static_cast<std::size_t>(context.size()));
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (!own.contain(particles[i].position))
      leaving[static_cast<std::size_t>(mesh.owner(cell_of(particles[i])))].push_back(i);
  }
  std::vector<std::int64_t> sent, received(leaving.size());
  std::vector<std::size_t> holes;
  Particles parcels;
  for (const std::vector<std::size_t>& to_one : leaving) {
    sent.push_back(static_cast<std::int64_t>(to_one.size()));
    holes.insert(holes.end(), to_one.begin(), to_one.end());
    for (const std::size_t i : to_one) parcels.push_back(particles[i]);
  }
  pt::all_to_all(context, pt::view(sent), pt::view(received));
  Particles arriving(static_cast<std::size_t>(sum_of(received)));
  pt::all_to_all_v(context, view_of(parcels.data(), parcels.size()),
                   view_of(arriving.data(), arriving.size()), sent, received);
  const std::size_t filled = std::min(holes.size(), arriving.size());
  for (std::size_t i = 0; i < filled; ++i) particles[holes[i]] = arriving[i];
  particles.insert(particles.end(), arriving.begin() + static_cast<std::ptrdiff_t>(filled), arriving.end());
  close_holes(particles, std::span(holes).subspan(filled));
}

std::int64_t count(const pt::Context& context, std::span<const Particle> particles) {
  auto total = static_cast<std::int64_t>(particles.size());
  pt::all_reduce(context, pt::view(total), pt::view(total));
  return total;
}

std::array<double, 3> momentum(const pt::Context& context, std::span<const Particle> particles) {
  std::array<double, 3> total{};
  for (const Particle& particle : particles) {
    for (std::size_t d = 0; d < 3; ++d) total[d] += particle.momentum[d];
  }
  pt::all_reduce(context, pt::view(total), pt::view(total));
  return total;
}

void write_checkpoint(const pt::Context& context, const std::string& path, const State& state,
                      const std::string& run) {
  auto own = static_cast<std::int64_t>(state.particles.size());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(context.size()));
  const pt::View one = pt::View::dense(&own, pt::Dtype::i64, {1});
  pt::all_gather(context, one, pt::view(counts));
  const pt::Array array = pt::wrap(context, view_of(state.particles.data(), state.particles.size()),
                                   parts_of(counts), {sum_of(counts), numbers});
  pt::write_hdf5(path, dataset, array,
                 {.attributes = {{"run", run}, {"a", state.a}, {"step", state.step}, {"counts", counts}}});
}

State read_checkpoint(const pt::Context& context, const std::string& path, const pt::Layout& mesh,
                      const std::string& run) {
  pt::Hdf5Attributes attributes = pt::read_hdf5_attributes(path, dataset);
  if (std::get<std::string>(attributes.at("run")) != run) {
    throw pt::ArgumentError(path + " belongs to another run: " + std::get<std::string>(attributes.at("run")) +
                            ", not " + run);
  }
  const auto& counts = std::get<std::vector<std::int64_t>>(attributes.at("counts"));
  const bool as_before = counts.size() == static_cast<std::size_t>(context.size());
  const pt::Distribution parts = as_before ? pt::Distribution(parts_of(counts)) : pt::Slab(0);
  const pt::Array array = pt::read_hdf5(
      context, path, dataset, parts, {.residency = pt::Residency::ordinary, .space = pt::MemorySpace::host});
  State state{Particles(static_cast<std::size_t>(array.local_shape()[0])),
              std::get<double>(attributes.at("a")), std::get<std::int64_t>(attributes.at("step"))};
  pt::copy(array, view_of(state.particles.data(), state.particles.size()));
  if (!as_before) migrate(context, mesh, state.particles);
  return state;
}

}  // namespace density
