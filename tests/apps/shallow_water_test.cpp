// The ocean: any distribution gives the same, nothing is lost, and its time step has the order that it
// should.
#include "context/context_state.hpp"
#include "ranks/rank_test.hpp"
#include "ranks/shared_directory.hpp"
#include "shallow_water/ocean.hpp"

namespace partita::testing {
namespace {

using shallow_water::Ocean;
using shallow_water::Settings;

Settings small() {
  Settings settings;
  settings.rows = 26;
  settings.columns = 41;
  settings.spacing = 3e5;  // the jet is some cells wide
  return settings;
}

template <class T>
Array after(const Context& context, const Settings& settings, const Distribution& distribution, int steps) {
  Ocean<T> ocean(context, settings, distribution);
  for (int i = 0; i < steps; ++i) ocean.step();
  return redistribute(ocean.state(), Replicated());
}

// Up to rounding: every cell is computed in the same way wherever it is.
template <class T>
void check_distributions(Context& context) {
  const Settings settings = small();
  const Context alone = context.subgroup({context.rank()});
  Ocean<T> serial(alone, settings, shallow_water::squares(1));
  for (int i = 0; i < 25; ++i) serial.step();
  const Array wanted = redistribute(serial.state(), Replicated());
  const int last = context.size();
  std::vector<std::int64_t> cuts{0, 3};  // thin parts, and empty ones
  while (static_cast<int>(cuts.size()) < last) cuts.push_back(3);
  cuts.push_back(settings.columns);
  if (last == 1) cuts = {0, settings.columns};
  const std::vector<Distribution> distributions{shallow_water::squares(last), Slab(1), Slab(2),
                                                Box::from_cuts({{0, 3}, {0, settings.rows}, cuts})};
  for (const Distribution& distribution : distributions) {
    const Array found = after<T>(context, settings, distribution, 25);
    double worst = 0;
    for (std::int64_t i = 0; i < found.local_size(); ++i) {
      const auto difference = static_cast<double>(found.data<T>()[i] - wanted.template data<T>()[i]);
      worst = std::max(worst, std::abs(difference));
    }
    EXPECT_LT(worst, 1000 * std::numeric_limits<T>::epsilon()) << distribution.to_string();  // of some 100 m
  }
}

RANK_TEST(ShallowWater, IsTheSameInAnyDistribution) {
  check_distributions<double>(context);
  check_distributions<float>(context);
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
