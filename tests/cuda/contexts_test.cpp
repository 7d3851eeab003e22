// Contexts of ranks that are threads, made, grown and ended over and over: what each does to the driver and
// to the process's heap meets what the others do.
#include "device/accelerator.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

constexpr int ranks = 4;

/// PARTITA_TEST_ROUNDS: how often.
int rounds() {
  const char* const text = std::getenv("PARTITA_TEST_ROUNDS");
  return text == nullptr ? 50 : std::stoi(text);
}

/// Threads come and go, so that the order in which the ranks are in the driver is another one each time.
void pause(std::mt19937& random) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
}

/// The heap grows twice, the second time by more than there is to begin with, and everybody reads what
/// everybody has written.
void live(Context& context, int round) {
  std::mt19937 random(static_cast<unsigned>(ranks * round + context.rank()));
  Array numbers = empty(context, {1021, 7}, Slab(0), Dtype::f32);
  fill_random(numbers, static_cast<std::uint64_t>(round));
  const Array columns = redistribute(numbers, Slab(1));
  pause(random);
  const std::int64_t elements = std::int64_t{17} << 20;
  const Array large = empty(context, {ranks, elements}, Slab(0), Dtype::f32);
  pause(random);
  const Array rows = redistribute(columns, Slab(0));
  EXPECT_TRUE(compare(rows, numbers).equal) << "round " << round;
  context.barrier();
  pause(random);
}

TEST(CudaContexts, AreMadeGrowAndEndInFourThreads) {
  if (devices::Accelerators::built_in().count() == 0)
    GTEST_SKIP() << "no GPU: " << devices::Accelerators::built_in().why_none();
  for (int round = 0; round < rounds(); ++round) {
    ThreadGroup::run(ranks, [round](Context& context) { live(context, round); },
                     {.device = Device::cuda(), .deadline = std::chrono::seconds(30)});
  }
}

}  // namespace
}  // namespace partita::testing
