// Device memory of ranks that are threads, on a driver that is not there.
#include "context/context_state.hpp"
#include "cuda/fake_driver.hpp"
#include "memory/cuda_node_memory.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

constexpr int ranks = 3;

class CudaNodeMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override { driver_.reset(); }

  /// Each rank has a separate device.
  memory::CudaNodeMemory memory_of(Context& context) const {
    ContextState& state = *context.state();
    return {state, state.topology(), context.rank(), memory_};
  }
  FakeDriver& driver_ = FakeDriver::get();
  const cuda::CudaVirtualMemory memory_{driver_.calls()};
};

void grow(memory::NodeMemory& memory, std::int64_t bytes) {
  memory.grow(bytes);
  memory.share_growth();
}

TEST_F(CudaNodeMemoryTest, OneThreadOfTheProcessIsInTheDriverAtATime) {
  ThreadGroup::run(ranks, [&](Context& context) {
    for (int round = 0; round < 5; ++round) {
      memory::CudaNodeMemory memory = memory_of(context);
      grow(memory, 1);
      grow(memory, 65 * mebibyte);
    }
  });
  EXPECT_EQ(driver_.met(), 0);
  EXPECT_EQ(driver_.handles(), 0U);
  EXPECT_EQ(driver_.mappings(), 0U);
}

TEST_F(CudaNodeMemoryTest, EveryChunkIsMappedByEveryRank) {
  ThreadGroup::run(ranks, [&](Context& context) {
    memory::CudaNodeMemory memory = memory_of(context);
    grow(memory, 1);
    grow(memory, 65 * mebibyte);
    grow(memory, 65 * mebibyte);
    EXPECT_EQ(driver_.handles(), std::size_t{2} * ranks);
    EXPECT_EQ(driver_.mappings(), std::size_t{2} * ranks * ranks);
    context.barrier();
  });
}

TEST_F(CudaNodeMemoryTest, WhoAsksForLittleTakesLittle) {
  ThreadGroup::run(ranks, [&](Context& context) {
    memory::CudaNodeMemory memory = memory_of(context);
    grow(memory, 1000);
    EXPECT_EQ(driver_.bytes(), std::size_t{2 * mebibyte * ranks});
    context.barrier();
  });
}

TEST_F(CudaNodeMemoryTest, AGrowthThatCannotBeMappedIsNoGrowth) {
  ThreadGroup::run(ranks, [&](Context& context) {
    memory::CudaNodeMemory memory = memory_of(context);
    grow(memory, 1);
    context.barrier();
    if (context.rank() == 1) {
      driver_.refuse_access(1);
      EXPECT_THROW(memory.grow(65 * mebibyte), Error);
      EXPECT_EQ(driver_.handles(), std::size_t{ranks});
      EXPECT_EQ(driver_.mappings(), std::size_t{ranks * ranks});
    }
    context.barrier();
    grow(memory, 65 * mebibyte);
    EXPECT_EQ(driver_.handles(), std::size_t{2} * ranks);
    EXPECT_EQ(driver_.mappings(), std::size_t{2} * ranks * ranks);
    context.barrier();
  });
}

TEST_F(CudaNodeMemoryTest, AGrowthThatOneRankCannotMapIsSharedAnewByAll) {
  ThreadGroup::run(ranks, [&](Context& context) {
    memory::CudaNodeMemory memory = memory_of(context);
    grow(memory, 1);
    memory.grow(65 * mebibyte);
    context.barrier();
    if (context.rank() == 2) driver_.refuse_access(2);
    EXPECT_THROW(memory.share_growth(), Error);
    EXPECT_NE(memory.segment(0), nullptr);
    context.barrier();
    EXPECT_EQ(driver_.mappings(), std::size_t{ranks * ranks + ranks});
    context.barrier();
    memory.share_growth();
    EXPECT_EQ(driver_.mappings(), std::size_t{2} * ranks * ranks);
    context.barrier();
  });
}

}  // namespace
}  // namespace partita::testing
