// NVSHMEM as the backing of the heap: on GPUs, and on fake devices with a fake library.
#include "memory/nvshmem_node_memory.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/fakes/fake_nvshmem.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// A fake device for each rank, and their library, for as long as this lives.
class FakeNvshmem {
 public:
  explicit FakeNvshmem(int devices = ranks().count) {
    if (!tests_fake_devices()) return;
    install_fake_devices(devices);
    give_fake_nvshmem(true);
  }
  ~FakeNvshmem() {
    if (!tests_fake_devices()) return;
    give_fake_nvshmem(false);
    install_fake_devices(usual_fake_devices);
  }
  FakeNvshmem(const FakeNvshmem&) = delete;
  FakeNvshmem& operator=(const FakeNvshmem&) = delete;
};

ContextOptions options_of_tests() {
  return {.device = test_device()};
}

/// How a start ends: "", or the class and the text of the error.
std::string start() {
  try {
    if (ranks().kind == GroupKind::threads) {
      ThreadGroup::run(
          ranks().count, [](Context&) {}, options_of_tests());
    } else {
      initialize(options_of_tests());
    }
  } catch (const ArgumentError& error) {
    return std::string("argument: ") + error.what();
  } catch (const UnsupportedError& error) {
    return std::string("unsupported: ") + error.what();
  }
  return "";
}

bool lies_in_nvshmem(const Context& context) {
  return dynamic_cast<const memory::NvshmemNodeMemory*>(context.state()->device_memory.get()) != nullptr;
}

void check_rows_to_columns(Context& context) {
  for (const std::int64_t columns : {std::int64_t{31}, std::int64_t{2051}}) {
    Array source = empty(context, {1029, columns}, Slab(0), Dtype::f32);
    write_known(source);
    EXPECT_EQ(count_wrong(redistribute(source, Slab(1)), source.layout()), 0);
  }
}

/// PARTITA_DEVICE_HEAP=nvshmem on processes, or a reason why that cannot be tested here.
#define NEEDS_NVSHMEM()                                                                           \
  NEEDS_DEVICES();                                                                                \
  if (ranks().kind != GroupKind::mpi) GTEST_SKIP() << "needs ranks that are processes";           \
  const FakeNvshmem fake;                                                                         \
  const Setting heap("PARTITA_DEVICE_HEAP", "nvshmem");                                           \
  if (const std::string why = start(); !tests_fake_devices() && contains(why, "unsupported: ")) { \
    GTEST_SKIP() << why;                                                                          \
  }

TEST(Nvshmem, ABadSettingIsOneClearError) {
  NEEDS_DEVICES();
  const Setting heap("PARTITA_DEVICE_HEAP", "pigeon");
  const std::string text = start();
  EXPECT_TRUE(contains(text, "argument: ")) << text;
  EXPECT_TRUE(contains(text, "PARTITA_DEVICE_HEAP is \"pigeon\"; known: automatic, driver, nvshmem")) << text;
}

TEST(Nvshmem, IsRefusedWhereThereIsNone) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const Setting heap("PARTITA_DEVICE_HEAP", "nvshmem");
  const std::string text = start();
  EXPECT_TRUE(contains(text, "unsupported: ")) << text;
  EXPECT_TRUE(contains(text, "does not support NVSHMEM")) << text;
}

TEST(Nvshmem, ThreadsAreRefused) {
  NEEDS_DEVICES();
  if (ranks().kind != GroupKind::threads || ranks().count == 1) GTEST_SKIP() << "needs threads as ranks";
  const FakeNvshmem fake;
  const Setting heap("PARTITA_DEVICE_HEAP", "nvshmem");
  const std::string text = start();
  EXPECT_TRUE(contains(text, "unsupported: ")) << text;
  EXPECT_TRUE(contains(text, "threads of one process")) << text;
}

TEST(Nvshmem, RanksThatShareADeviceAreRefused) {
  NEEDS_DEVICES();
  if (!tests_fake_devices() || ranks().kind != GroupKind::mpi || ranks().count == 1) {
    GTEST_SKIP() << "needs processes on fake devices";
  }
  const FakeNvshmem fake(ranks().count - 1);
  const Setting heap("PARTITA_DEVICE_HEAP", "nvshmem");
  const std::string text = start();
  EXPECT_TRUE(contains(text, "unsupported: NVSHMEM cannot be used: ranks 0 and ")) << text;
  EXPECT_TRUE(contains(text, "share a device")) << text;
}

TEST(Nvshmem, HoldsTheHeap) {
  NEEDS_NVSHMEM();
  on_ranks(
      [](Context& context) {
        EXPECT_TRUE(lies_in_nvshmem(context));
        EXPECT_EQ(context.state()->device_topology.node_count(), context.topology().node_count());
        check_rows_to_columns(context);
      },
      options_of_tests());
  EXPECT_EQ(std::getenv("NVSHMEM_MAX_MEMORY_PER_GPU"), nullptr);  // as it was
}

// One after the other, each with all of the memory; at the same time, each with a part of it.
TEST(Nvshmem, ServesManyContexts) {
  NEEDS_NVSHMEM();
  std::int64_t first = 0;
  for (int turn = 0; turn < 5; ++turn) {
    on_ranks(
        [&](Context& context) {
          const std::int64_t stride = context.state()->device_memory->stride();
          if (turn == 0) first = stride;
          EXPECT_EQ(stride, first);
          check_rows_to_columns(context);
          std::vector<int> everybody;
          for (int rank = context.size() - 1; rank >= 0; --rank) everybody.push_back(rank);
          Context backwards = context.subgroup(everybody);
          EXPECT_TRUE(lies_in_nvshmem(backwards));
          EXPECT_LT(backwards.state()->device_memory->stride(), stride);
          check_rows_to_columns(backwards);
          check_rows_to_columns(context);
          if (turn % 2 == 0) context.close();
        },
        options_of_tests());
  }
}

TEST(Nvshmem, ServesGroupsOfItsProcesses) {
  NEEDS_NVSHMEM();
  on_ranks(
      [](Context& context) {
        for (int turn = 0; turn < 3; ++turn) {
          std::vector<int> group;
          for (int rank = 0; rank < context.size(); ++rank) {
            if (rank % 2 == context.rank() % 2) group.push_back(rank);
          }
          Context half = context.subgroup(group);
          EXPECT_TRUE(lies_in_nvshmem(half));
          check_rows_to_columns(half);
          context.barrier();
        }
        check_rows_to_columns(context);
      },
      options_of_tests());
}

TEST(Nvshmem, TooMuchIsAnErrorOnAllRanks) {
  NEEDS_NVSHMEM();
  on_ranks(
      [](Context& context) {
        const std::int64_t stride = context.state()->device_memory->stride();
        EXPECT_ERROR(MemoryError, SymmetricMemory::allocate(context, stride + 1), "out of memory");
        SymmetricMemory::allocate(context, stride / 2).free();
      },
      options_of_tests());
}

TEST(Nvshmem, IsTakenWherePeersCannotMapTheDriversMemory) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeNvshmem fake;
  refuse_fake_peers(true);
  const bool one_by_one = ranks().per_node == 1 || ranks().count == 1;
  for (const char* const wanted : {"", "automatic", "driver"}) {
    const Setting heap("PARTITA_DEVICE_HEAP", wanted);
    const bool taken = ranks().kind == GroupKind::mpi && !one_by_one && *wanted != 'd';
    on_ranks(
        [&](Context& context) {
          EXPECT_EQ(lies_in_nvshmem(context), taken);
          EXPECT_EQ(context.state()->device_topology.node_count(),
                    taken ? context.topology().node_count() : context.size());
          check_rows_to_columns(context);
        },
        options_of_tests());
  }
  refuse_fake_peers(false);
}

// The last one: NVSHMEM is not started any more in these processes.
TEST(Nvshmem, AStartThatHangsEndsWithinTheDeadline) {
  NEEDS_DEVICES();
  if (!tests_fake_devices() || ranks().kind != GroupKind::mpi || ranks().count == 1 ||
      ranks().per_node == 1) {
    GTEST_SKIP() << "needs processes on fake devices that could share memory";
  }
  const FakeNvshmem fake;
  memory::NvshmemWorld::forget();
  let_fake_nvshmem_hang(true);
  refuse_fake_peers(true);
  ContextOptions options = options_of_tests();
  options.deadline = std::chrono::seconds(2);
  on_ranks(
      [](Context& context) {
        EXPECT_FALSE(lies_in_nvshmem(context));
        EXPECT_EQ(context.state()->device_topology.node_count(), context.size());
        check_rows_to_columns(context);
      },
      options);
  refuse_fake_peers(false);
  const Setting heap("PARTITA_DEVICE_HEAP", "nvshmem");
  const std::string text = start();
  EXPECT_TRUE(contains(text, "unsupported: NVSHMEM: an earlier start in this process failed: ")) << text;
  EXPECT_TRUE(contains(text, "it does not return")) << text;
  let_fake_nvshmem_hang(false);
}

}  // namespace
}  // namespace partita::testing
