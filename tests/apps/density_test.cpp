// The particle-mesh universe against what is known of it.
#include "density/deposit.hpp"
#include "density/program.hpp"
#include "device/host_copy.hpp"
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

using density::Particle;
using density::Settings;
using density::State;
using density::Universe;

double scale_factor(double redshift) {
  return 1 / (1 + redshift);
}

void go(Universe& universe, double to, int steps) {
  const double from = universe.scale_factor();
  for (int i = 1; i <= steps; ++i) universe.step(from * std::pow(to / from, static_cast<double>(i) / steps));
}

Settings small() {
  return {.box = 60, .cells = 17, .particles = 16};
}

// Of linear waves the amplitude grows as D does.
RANK_TEST(Density, WavesGrowAsLinearTheorySays) {
  Settings settings;
  settings.cells = settings.particles = 64;
  Universe universe(context, settings);
  const density::Power before = power_spectrum(context, universe.mesh(), settings.box);
  const double first = settings.cosmology.growth(universe.scale_factor());
  go(universe, scale_factor(20), 6);
  const density::Power after = power_spectrum(context, universe.mesh(), settings.box);
  const double growth = settings.cosmology.growth(universe.scale_factor()) / first;
  ASSERT_GT(growth, 2);
  for (std::size_t i = 0; before.k[i] < 0.1; ++i) {
    const double ratio = after.power[i] / before.power[i] / (growth * growth);
    EXPECT_NEAR(ratio, 1, 0.03) << "k = " << before.k[i];
  }
}

// The waves that it begins with are those of linear theory, as far as so few may be.
RANK_TEST(Density, BeginsWithTheLinearSpectrum) {
  Settings settings;
  settings.cells = settings.particles = 48;
  Universe universe(context, settings);
  const density::Power power = power_spectrum(context, universe.mesh(), settings.box);
  const density::LinearSpectrum linear(settings.cosmology);
  const double growth = settings.cosmology.growth(universe.scale_factor());
  double found = 0, wanted = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    found += power.power[i] * static_cast<double>(power.modes[i]);
    wanted += growth * growth * linear(power.k[i]) * static_cast<double>(power.modes[i]);
  }
  EXPECT_NEAR(found / wanted, 1, 0.1);
}

// Zel'dovich (1970): in one dimension, before shells cross, x = q + D(a) psi(q) is exact. Without a
// cosmological constant D = a. Eight sheets of particles a cell, or the mesh would see them one by one.
RANK_TEST(Density, APancakeFoldsAsZeldovichSays) {
  constexpr std::int64_t cells = 16, sheets = 128;
  constexpr double n = cells, wave = 2 * std::numbers::pi / n, first = 0.02, last = 0.5;  // they cross at 1
  Settings settings;
  settings.cosmology.matter = 1;
  settings.cells = cells;
  settings.particles = 2 * cells;  // 8 a cell
  const auto psi = [](double q) { return -std::sin(wave * q) / wave; };
  State state;
  state.a = first;
  const Layout lattice(Slab(1), {sheets, cells, cells}, context.size());
  for (const std::int64_t j : local_indices(lattice, 1, context.rank())) {
    for (std::int64_t i = 0; i < sheets; ++i) {
      for (std::int64_t k = 0; k < cells; ++k) {
        const double q = n * static_cast<double>(i) / sheets;
        const double x = std::fmod(q + first * psi(q) + n, n);
        // a^2 dD/dt = a^3 H, H = a^(-3/2)
        state.particles.push_back(
            {{x, static_cast<double>(j), static_cast<double>(k)}, {std::pow(first, 1.5) * psi(q), 0, 0}});
      }
    }
  }
  Universe universe(context, settings, state);
  go(universe, last, 24);
  double worst = 0, fastest = 0;
  const density::Particles particles = universe.particles();
  for (const Particle& particle : particles) {
    double q = particle.position[0];  // by Newton's method, the one for this x
    for (int i = 0; i < 50; ++i) {
      q -= (q + last * psi(q) - particle.position[0]) / (1 - last * std::cos(wave * q));
    }
    const double sheet = n / sheets * std::round(q * sheets / n);
    worst = std::max(worst, std::abs(sheet + last * psi(sheet) - particle.position[0]));
    fastest = std::max(fastest, std::abs(particle.momentum[0] - std::pow(last, 1.5) * psi(sheet)));
    EXPECT_NEAR(particle.position[1], std::round(particle.position[1]), 1e-9);
  }
  EXPECT_LT(worst, 0.03 * last / wave);  // of the distance that the fastest have travelled
  EXPECT_LT(fastest, 0.03 * std::pow(last, 1.5) / wave);
}

/// Units of mass in a block of 20^3 cells, by the pass of devices.
std::vector<std::int64_t> deposited(const Context& context, const density::Particles& particles,
                                    std::int64_t unit) {
  constexpr std::int64_t cells = 20 * 20 * 20, group = density::passes::Deposit::threads;
  const auto count = static_cast<std::int64_t>(particles.size());
  std::vector<double> numbers;
  for (const Particle& particle : particles) {
    numbers.insert(numbers.end(), particle.position.begin(), particle.position.end());
    numbers.insert(numbers.end(), particle.momentum.begin(), particle.momentum.end());
  }
  std::vector<std::int64_t> mass(cells, 0);
  const SymmetricMemory there = SymmetricMemory::make_symmetric(context, 6 * count * 8),
                        memory = SymmetricMemory::make_symmetric(context, cells * 8);
  copy(context, view(numbers), there.view(Dtype::f64, {6 * count}));
  copy(context, view(mass), memory.view(Dtype::i64, {cells}));
  on_device::for_each_group(on_device::Queue::of(context), (count + group - 1) / group,
                            density::passes::Deposit{static_cast<const double*>(there.data()),
                                                     count,
                                                     {},
                                                     {20, 20},
                                                     unit,
                                                     static_cast<std::int64_t*>(memory.data())});
  copy(context, memory.view(Dtype::i64, {cells}), view(mass));
  return mass;
}

// A group whose particles are all in one place, one around a place, one on both ends of the box, and others
// anywhere.
RANK_TEST(Density, DepositsTheSameUnitsInAnyOrder) {
  constexpr std::int64_t unit = std::int64_t{1} << 44;
  std::mt19937 random(7);
  const auto below = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
  density::Particles particles(512, {{3, 4, 5}, {}});
  for (int i = 0; i < 512; ++i) particles.push_back({{7 + below(9), 8 + below(8), 6 + below(10)}, {}});
  for (int i = 0; i < 512; ++i)
    particles.push_back({{i % 2 == 0 ? below(1) : 18 + below(1), below(2), below(19)}, {}});
  for (int i = 0; i < 700; ++i) particles.push_back({{below(19), below(19), below(19)}, {}});
  const std::vector<std::int64_t> mass = deposited(context, particles, unit);
  std::shuffle(particles.begin(), particles.end(), random);
  EXPECT_EQ(deposited(context, particles, unit), mass);

  EXPECT_EQ(std::accumulate(mass.begin(), mass.end(), std::int64_t{0}),
            unit * static_cast<std::int64_t>(particles.size()));
  std::vector<double> wanted(mass.size(), 0);
  for (const Particle& particle : particles) {
    for (int corner = 0; corner < 8; ++corner) {
      double share = 1;
      std::size_t cell = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const double whole = std::floor(particle.position[d]), part = particle.position[d] - whole;
        const bool upper = (corner >> d & 1) != 0;
        share *= upper ? part : 1 - part;
        cell = 20 * cell + static_cast<std::size_t>(whole) + (upper ? 1 : 0);
      }
      wanted[cell] += share;
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < mass.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(mass[i]) / static_cast<double>(unit) - wanted[i]));
  EXPECT_LT(worst, 1e-11);
}

RANK_TEST(Density, MassAndMomentumAreConserved) {
  const Settings settings = small();
  Universe universe(context, settings);
  go(universe, scale_factor(0), 8);
  const density::Particles particles = universe.particles();
  EXPECT_EQ(count(context, particles), 16 * 16 * 16);
  EXPECT_NEAR(sum<double>(universe.mesh().density()), 17. * 17 * 17, 1e-8);
  const density::Cells own(universe.mesh().layout(), context.rank());
  double sizes = 0;
  for (const Particle& particle : particles) {
    EXPECT_TRUE(own.contain(particle.position));
    sizes += std::abs(particle.momentum[0]);
  }
  all_reduce(context, view(sizes), view(sizes));
  for (const double component : momentum(context, particles)) {
    EXPECT_NEAR(component, 0, 1e-11 * sizes);
  }
}

// Up to rounding, whatever the number of ranks.
RANK_TEST(Density, IsTheSameOnOneRank) {
  const Settings settings = small();
  Universe together(context, settings);
  go(together, scale_factor(5), 6);
  const Context alone = context.subgroup({context.rank()});
  Universe serial(alone, settings);
  go(serial, scale_factor(5), 6);
  const Array ours = redistribute(on_device::host_copy(together.mesh().density()), Replicated());
  const Array alone_only = on_device::host_copy(serial.mesh().density());
  double worst = 0;
  for (std::int64_t i = 0; i < ours.local_size(); ++i) {
    worst = std::max(worst, std::abs(ours.data<double>()[i] - alone_only.data<double>()[i]));
  }
  EXPECT_LT(worst, 1e-9);
}

RANK_TEST(Density, GoesOnFromACheckpoint) {
  const SharedDirectory directory(context);
  const std::string file = directory / "checkpoint.h5";
  const Settings settings = small();
  Universe universe(context, settings);
  go(universe, scale_factor(20), 2);
  universe.write(file);
  Universe other(context, settings, file);
  EXPECT_EQ(other.steps(), 2);
  go(universe, scale_factor(5), 3);
  go(other, scale_factor(5), 3);
  const density::Particles wanted = universe.particles(), found = other.particles();
  ASSERT_EQ(found.size(), wanted.size());
  EXPECT_EQ(std::memcmp(found.data(), wanted.data(), wanted.size() * sizeof(Particle)), 0);

  // On one rank.
  const Context alone = context.subgroup({context.rank()});
  Universe serial(alone, settings, file);
  EXPECT_EQ(serial.particles().size(), 16U * 16 * 16);
  context.barrier();

  Settings different = settings;
  different.seed = 7;
  EXPECT_THROW(Universe(context, different, file), ArgumentError);
}

RANK_TEST(Density, RunsAsAProgram) {
  const SharedDirectory directory(context);
  density::Program program;
  program.settings = small();
  program.steps = 4;
  program.checkpoint_every = 2;
  program.trace = true;
  program.output = directory / "output";
  density::run(context, program);
  program.restart = true;
  density::run(context, program);  // it has all steps
  program.steps = 5;
  density::run(context, program);
  context.barrier();
  for (const char* const name : {"density.png", "power.txt", "trace.json"}) {
    EXPECT_TRUE(std::filesystem::exists(program.output + "/" + name)) << name;
  }
}

// Mass is counted in whole units there: in any order, on any number of ranks.
DEVICE_TEST_OF(Density, DepositsTheSameBitsOnAnyNumberOfRanks) {
  const Settings settings = small();
  const Context alone = context.subgroup({context.rank()});
  State everything = initial_state(alone, settings, Layout(Slab(0), {17, 17, 17}, 1)), mine = everything;
  mine.particles.clear();
  for (std::size_t i = 0; i < everything.particles.size(); ++i) {
    if (i % static_cast<std::size_t>(context.size()) == static_cast<std::size_t>(context.rank()))
      mine.particles.push_back(everything.particles[i]);
  }
  Universe together(context, settings, mine);
  std::shuffle(everything.particles.begin(), everything.particles.end(), std::mt19937(1));
  Universe serial(alone, settings, everything);
  const Array ours = redistribute(on_device::host_copy(together.mesh().density()), Replicated());
  const Array wanted = on_device::host_copy(serial.mesh().density());
  EXPECT_EQ(std::memcmp(ours.data<double>(), wanted.data<double>(), 17 * 17 * 17 * sizeof(double)), 0);
}

// As on the host, in any order. Some ranks have none to begin with; in some rounds many leave one rank, and
// few the others.
DEVICE_TEST_OF(Density, ParticlesMigrateOnDevicesAsOnTheHost) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  const Layout mesh(Slab(0), {11, 5, 7}, context.size());
  density::Particles particles(random() % 3 == 0 ? 0 : random() % 5000);
  const auto scatter = [&](Particle& particle) {
    for (std::size_t d = 0; d < 3; ++d) {
      const std::array<double, 3> lengths{11, 5, 7};
      particle.position[d] = std::uniform_real_distribution<double>(0, lengths[d])(random);
      particle.momentum[d] = std::uniform_real_distribution<double>(-1, 1)(random);
    }
  };
  for (Particle& particle : particles) scatter(particle);
  density::DeviceSwarm swarm(context, mesh, particles);
  for (int round = 0; round < 4; ++round) {  // the later ones from where they are, and few of them
    swarm.migrate();
    migrate(context, mesh, particles);
    const density::Particles found = swarm.on_host();
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(found)), std::as_bytes(std::span(particles))));
    const unsigned one_of = round % 2 == context.rank() % 2 ? 2 : 20;
    for (Particle& particle : particles) {
      if (random() % one_of == 0) scatter(particle);
    }
    swarm = density::DeviceSwarm(context, mesh, particles);
  }
  if (context.size() > 1) {
    const Layout columns(Slab(1), {11, 12, 7}, context.size());
    EXPECT_THROW(density::DeviceSwarm(context, columns, particles), UnsupportedError);
  }
}

// Of jax-cosmo 0.1.0, whose background is a little warmer and has radiation; without a cosmological constant
// D = a.
TEST(DensityCosmology, AgreesWithOthers) {
  const density::Cosmology cosmology;
  EXPECT_NEAR(density::transfer(cosmology, 0.01) / 0.7807878, 1, 1e-3);
  EXPECT_NEAR(density::transfer(cosmology, 0.1) / 0.13179507, 1, 1e-3);
  EXPECT_NEAR(density::transfer(cosmology, 1) / 0.00471833, 1, 1e-3);
  EXPECT_NEAR(density::LinearSpectrum(cosmology)(0.1) / 5614.81738777, 1, 5e-3);
  EXPECT_DOUBLE_EQ(cosmology.growth(1), 1);
  EXPECT_NEAR(cosmology.growth(0.5) / 0.60796701, 1, 3e-4);
  density::Cosmology matter_alone = cosmology;
  matter_alone.matter = 1;
  EXPECT_NEAR(matter_alone.growth(0.3), 0.3, 1e-9);
  EXPECT_NEAR(matter_alone.growth_rate(0.3), 1, 1e-7);
}

}  // namespace
}  // namespace partita::testing
