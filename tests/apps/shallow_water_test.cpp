// The ocean: any distribution gives the same, nothing is lost, and its time step has the order that it
// should.
#include "shallow_water/program.hpp"
#include "shallow_water/tile_kernels.hpp"
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

using shallow_water::Ocean;
using shallow_water::Settings;

Settings small() {
  Settings settings{.rows = 26, .columns = 41};
  settings.spacing = 3e5;  // the jet is some cells wide
  return settings;
}

template <class T>
Array after(const Context& context, const Settings& settings, const Distribution& distribution, int steps) {
  Ocean<T> ocean(context, settings, distribution);
  for (int i = 0; i < steps; ++i) ocean.step();
  return redistribute(ocean.state(), Replicated());
}

/// This rank's part.
template <class T>
std::vector<T> numbers_of(const Array& array) {
  std::vector<T> numbers(static_cast<std::size_t>(array.local_size()));
  copy(array, view(numbers, array.local_shape()));
  return numbers;
}

// Up to rounding: every cell is computed in the same way wherever it is.
template <class T>
void check_distributions(Context& context) {
  const Settings settings = small();
  const Context alone = context.subgroup({context.rank()});
  Ocean<T> serial(alone, settings, shallow_water::squares(1));
  for (int i = 0; i < 25; ++i) serial.step();
  const std::vector<T> wanted = numbers_of<T>(redistribute(serial.state(), Replicated()));
  const int last = context.size();
  std::vector<std::int64_t> cuts{0, 3};  // thin parts, and empty ones
  while (static_cast<int>(cuts.size()) < last) cuts.push_back(3);
  cuts.push_back(settings.columns);
  if (last == 1) cuts = {0, settings.columns};
  const std::vector<Distribution> distributions{shallow_water::squares(last), Slab(1), Slab(2),
                                                Box::from_cuts({{0, 3}, {0, settings.rows}, cuts})};
  for (const Distribution& distribution : distributions) {
    const std::vector<T> found = numbers_of<T>(after<T>(context, settings, distribution, 25));
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(found[i] - wanted[i])));
    }
    EXPECT_LT(worst, 1000 * std::numeric_limits<T>::epsilon()) << distribution.to_string();  // of some 100 m
  }
}

RANK_TEST(ShallowWater, IsTheSameInAnyDistribution) {
  check_distributions<double>(context);
  check_distributions<float>(context);
}

/// A part of an ocean, in separate memory: random numbers where it is now.
template <class T>
struct RandomPart {
  std::vector<T> memory;
  shallow_water::Part<T> shape = {};  // without addresses

  RandomPart(std::mt19937& random, std::int64_t rows, std::int64_t columns) {
    std::uniform_real_distribution<T> any(-1, 1);
    const auto south = static_cast<std::int64_t>(random() % 3),
               north = static_cast<std::int64_t>(random() % 3);
    shape = {rows, columns, south, south + rows + north, {}, {}};
    memory.resize(2 * static_cast<std::size_t>(shape.moment_size()));
    for (T& number : memory) number = any(random);
    for (std::int64_t j = -2; j < rows + 2; ++j) {
      for (std::int64_t i = -2; i < columns + 2; ++i)
        shape.in(memory.data()).at(shape.in(memory.data()).now, shallow_water::height, j)[i] += 100;
    }
  }
};

// Bit for bit, unless this compiler fuses products and sums.
#if defined(__x86_64__) && !defined(__FMA__)
constexpr double rounding = 0;
#else
constexpr double rounding = 16;
#endif

// What a device makes tile by tile, and the host in one sweep; walls on either side, on both, on none.
template <class T>
void check_tiles(const Context& context, std::mt19937& random, std::int64_t rows, std::int64_t columns) {
  const shallow_water::Coefficients<T> with{2e-4, 1e-6, T(9.81), T(1e-2), T(1.6), T(-0.6), T(1e-3)};
  RandomPart<T> part(random, rows, columns);
  const auto items = static_cast<std::int64_t>(part.memory.size());
  const SymmetricMemory memory =
      SymmetricMemory::make_symmetric(context, items * static_cast<std::int64_t>(sizeof(T)));
  const View there = memory.view(dtype_of<T>(), {items});
  copy(context, view(part.memory), there);
  const auto moved = part.shape.in(static_cast<T*>(memory.data()));
  for (const auto where : {shallow_water::Where::inside, shallow_water::Where::edges}) {
    shallow_water::advance_tiles(on_device::Queue::of(context), moved, with, where);
  }
  std::vector<T> found(part.memory.size());
  copy(context, there, view(found));

  shallow_water::Workspace<T> workspace(columns);
  shallow_water::advance(part.shape.in(part.memory.data()), with, workspace, 0, rows, 0, columns);
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double wanted = static_cast<double>(part.memory[i]), off = static_cast<double>(found[i]) - wanted;
    worst = std::max(worst, std::abs(off) / (100 + std::abs(wanted)));
  }
  EXPECT_LE(worst, rounding * static_cast<double>(std::numeric_limits<T>::epsilon()))
      << rows << " x " << columns << " from row " << part.shape.first_row << " of " << part.shape.all_rows;
}

RANK_TEST(ShallowWater, TilesAreMadeAsTheHostMakesItsSweep) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));  // the same on all ranks
  const auto below = [&](unsigned most) { return 1 + static_cast<std::int64_t>(random() % most); };
  for (int round = 0; round < 20; ++round) {
    check_tiles<double>(context, random, below(30), below(60));
    check_tiles<float>(context, random, below(30), below(60));
  }
  check_tiles<float>(context, random, 200, 1030);  // several of a GPU's, too
  check_tiles<double>(context, random, 200, 1030);
}

RANK_TEST(ShallowWater, KeepsItsMassAndMostOfItsEnergy) {
  Ocean<double> ocean(context, small(), shallow_water::squares(context.size()));
  const shallow_water::Budget before = ocean.budget();
  for (int i = 0; i < 200; ++i) ocean.step();
  const shallow_water::Budget now = ocean.budget();
  EXPECT_NEAR(now.mass / before.mass, 1, 1e-12);
  EXPECT_NEAR(now.energy / before.energy, 1, 0.01);
  EXPECT_GT(norm(ocean.state().window({2, 0, 0}, {1, 26, 41})), 0.1);  // and it flows
}

// As many ranks as before, or one: bit for bit.
RANK_TEST(ShallowWater, GoesOnFromItsCheckpointAsIfItHadNeverStopped) {
  const SharedDirectory directory(context);
  const std::string checkpoint = directory / "checkpoint.h5";
  const Settings settings = small();
  const Distribution squares = shallow_water::squares(context.size());
  Ocean<float> whole(context, settings, squares);
  for (int i = 0; i < 7; ++i) whole.step();
  whole.write(checkpoint);
  Ocean<float> again(context, settings, squares, checkpoint), columns(context, settings, Slab(2), checkpoint);
  EXPECT_EQ(again.steps(), 7);
  for (int i = 0; i < 6; ++i) {
    whole.step();
    again.step();
    columns.step();
  }
  const Array wanted = redistribute(whole.state(), Replicated());
  EXPECT_TRUE(compare(redistribute(again.state(), Replicated()), wanted).equal);
  EXPECT_TRUE(compare(redistribute(columns.state(), Replicated()), wanted).equal);
  Settings other = settings;
  other.depth = 50;
  EXPECT_THROW(Ocean<float>(context, other, squares, checkpoint), ArgumentError);
}

// f grows with y: the jet of a wide ocean stands on a slope that is deeper than the water.
RANK_TEST(ShallowWater, RefusesToBeginWithoutWater) {
  Settings settings{.rows = 360, .columns = 720, .spacing = 5e4};
  const auto begin = [&] { Ocean<float>(context, settings, shallow_water::squares(context.size())); };
  EXPECT_TRUE(contains(caught<ArgumentError>(begin), "the least depth would be -"));
  EXPECT_FALSE(context.failed());
}

// Waves that cross more than a cell in a step grow without bound.
RANK_TEST(ShallowWater, RefusesWhatIsNoOcean) {
  const auto text_of = [&](std::int64_t rows, std::int64_t columns, const Distribution& distribution) {
    Settings settings = small();
    settings.rows = rows;
    settings.columns = columns;
    return caught<ArgumentError>([&] { Ocean<float>(context, settings, distribution); });
  };
  const Distribution usual = shallow_water::squares(context.size());
  for (const std::int64_t extent : {0, 1}) {
    EXPECT_TRUE(contains(text_of(extent, 8, usual), "at least 2 x 2"));
    EXPECT_TRUE(contains(text_of(8, extent, usual), "at least 2 x 2"));
  }
  if (context.size() > 1) {
    EXPECT_TRUE(contains(text_of(26, 41, Slab(0)), "not between its fields"));
  }
  shallow_water::Program program;
  program.settings = small();
  program.look_every = 0;
  EXPECT_TRUE(
      contains(caught<ArgumentError>([&] { shallow_water::run(context, program); }), "every 0 steps"));
}

RANK_TEST(ShallowWater, ARunWithoutNumbersIsAnError) {
  const SharedDirectory directory(context);
  shallow_water::Program program;
  program.settings = small();
  program.settings.courant = 20;
  program.steps = program.look_every = 100;
  program.output = directory / "output";
  EXPECT_ERROR(Error, shallow_water::run(context, program), "after 100 steps");
}

RANK_TEST(ShallowWater, RunsAsAProgram) {
  const SharedDirectory directory(context);
  shallow_water::Program program;
  program.settings = small();
  program.steps = 4;
  program.look_every = 2;
  program.snapshots = program.checkpoints = program.trace = true;
  program.output = directory / "output";
  shallow_water::run(context, program);
  program.restart = true;
  program.steps = 6;
  shallow_water::run(context, program);
  context.barrier();
  for (const char* const name : {"surface-000004.png", "surface-000006.png", "budget.txt", "trace.json"}) {
    EXPECT_TRUE(std::filesystem::exists(program.output + "/" + name)) << name;
  }
  const Array state = read_npy(context, program.output + "/state-000006.npy", Slab(2));
  EXPECT_GT(norm(state), 0);
}

// Weights of 1.6 and -0.6 instead of 1.5 and -0.5 make it of first order: each halving of the step halves
// what it is off by.
RANK_TEST(ShallowWater, ConvergesAsItsTimeStepShould) {
  const auto at_time = [&](int refinement) {
    Settings settings = small();
    settings.courant /= refinement;
    return after<double>(context, settings, shallow_water::squares(context.size()), 16 * refinement);
  };
  const Array coarse = at_time(16), middle = at_time(32), fine = at_time(64);
  const double first = norm(coarse - middle), second = norm(middle - fine);
  EXPECT_GT(second, 0);
  EXPECT_NEAR(first / second, 2, 0.2);
}

}  // namespace
}  // namespace partita::testing
