// Messages of device memory: through pinned host memory and, where the transport takes device memory,
// without.
#include "runtime/groups/mpi_group.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/models/random_layouts.hpp"
#include "support/models/stream_order.hpp"
#include "support/on_ranks.hpp"
#include "support/rank_run.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

ContextOptions nodes_of(int ranks_per_node) {
  return {.device = test_device(), .deadline = deadline(), .ranks_per_node = ranks_per_node};
}

bool takes_device_memory() {
  return ranks().kind == GroupKind::mpi && runtime::mpi_takes_device_memory();
}

bool may_go_direct() {
  return tests_fake_devices() || takes_device_memory();
}

/// Ranks share no GPU, or are threads with fake devices: there may be a library.
bool may_have_library() {
  return tests_fake_devices() ? ranks().kind == GroupKind::threads : report_devices().devices.size() >= 2;
}

/// On every rank, with each way of handing messages over and of copying what they carry.
void in_all_ways(const std::function<void(Context&)>& body, const ContextOptions& options = nodes_of(1)) {
  struct Way {
    const char* messages;
    const char* copies;
  };
  for (const Way way : {Way{"staged", "automatic"}, Way{"staged", "engine"}, Way{"direct", "automatic"},
                        Way{"automatic", "automatic"}}) {
    const bool direct = way.messages == std::string("direct");
    const bool grouped = way.messages == std::string("automatic");
    if ((direct && !may_go_direct()) || (grouped && !may_have_library())) continue;
    const FakeLibraryGiven library(grouped ? FakeLibrary::moves : FakeLibrary::none);
    const Setting messages("PARTITA_DEVICE_MESSAGES", way.messages);
    const Setting copies("PARTITA_COPY_WAY", way.copies);
    on_ranks(
        [&](Context& context) {
          EXPECT_EQ(context.state()->device_messages_direct, direct || (grouped && takes_device_memory()));
          body(context);
        },
        options);
  }
}

/// An array in device memory, with the memory behind it.
struct Held {
  Array memory;
  Array array;
};

/// 0: dense rows; 1: dense columns, on no heap; 2: every second element along each row of memory.
Held make_any_array(const Context& context, const Layout& layout, Dtype dtype, int kind) {
  if (kind < 2) {
    return {{},
            empty(context, layout, dtype,
                  {.residency = kind == 0 ? Residency::heap : Residency::ordinary,
                   .order = kind == 0 ? Order::row_major : Order::column_major})};
  }
  Held held;
  const std::int64_t elements = 2 * layout.largest_local_size() + 1;
  held.memory =
      empty(context, {elements * context.size()}, Slab(0), dtype, {.residency = Residency::ordinary});
  const Shape extents = layout.local_shape(context.rank());
  Strides strides = dense_strides(extents);
  for (std::int64_t& stride : strides) stride *= 2;
  held.array =
      wrap(context, {held.memory.local().data, dtype, extents, strides, MemorySpace::device}, layout);
  return held;
}

TEST(DeviceMessages, RandomPairsOfEverything) {
  NEEDS_DEVICES();
  constexpr std::array dtypes{Dtype::boolean, Dtype::i8, Dtype::f16, Dtype::f32, Dtype::i64, Dtype::c128};
  in_all_ways([&](Context& context) {
    RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
    for (int i = 0; i < 60; ++i) {
      const int dimensions = random.number(1, 3);
      const Shape shape = random.shape(dimensions, dimensions > 2 ? 9 : 40);
      RedistributeOptions options;
      Shape result = shape;
      if (random.maybe(0.3)) {
        options.axes = random.permutation(dimensions);
        for (int d = 0; d < dimensions; ++d) result[d] = shape[options.axes[static_cast<std::size_t>(d)]];
      }
      if (random.maybe()) options.staging_bytes = random.number(1, 4) * 1024;
      const Dtype dtype = dtypes[static_cast<std::size_t>(random.number(0, 5))];
      const Layout from = random.layout(shape, context.size());
      const Layout to = random.layout(result, context.size());
      Held source = make_any_array(context, from, dtype, random.number(0, 2));
      Held destination = make_any_array(context, to, dtype, random.number(0, 2));
      write_known(source.array);
      write_constant(destination.array, 1);
      redistribute(source.array, destination.array, options);
      EXPECT_EQ(count_wrong(destination.array, from, options.axes), 0)
          << from.to_string() << " -> " << to.to_string() << " " << name(dtype);
    }
  });
}

// Long rows, short rows, a transposition: every way over the bus, with many messages to a peer.
TEST(DeviceMessages, LargeArrays) {
  NEEDS_DEVICES();
  in_all_ways([](Context& context) {
    const Shape shape{1031, 2053};
    struct Movement {
      Distribution from, to;
      std::vector<int> axes;
    };
    const Movement movements[] = {{Slab(0), Slab(1), {}},
                                  {BlockCyclic({context.size(), 1}, {7, 2053}), Slab(1), {}},
                                  {Slab(0), Slab(0), {1, 0}}};
    for (const Movement& movement : movements) {
      for (const std::int64_t staging : {std::int64_t{0}, std::int64_t{3} << 20}) {
        Array source = empty(context, shape, movement.from, Dtype::f32);
        const Shape result = movement.axes.empty() ? shape : Shape{shape[1], shape[0]};
        Array destination = empty(context, result, movement.to, Dtype::f32);
        write_known(source);
        RedistributeOptions options{.axes = movement.axes, .staging_bytes = staging};
        redistribute(source, destination, options);
        EXPECT_EQ(count_wrong(destination, source.layout(), options.axes), 0);
      }
    }
  });
}

Layout contributions(const Shape& shape, int ranks) {
  PartitionSpec spec;
  spec.dimensions.resize(static_cast<std::size_t>(shape.size()));
  spec.partial_axes = {"ranks"};
  spec.partial_reduction = Reduction::sum;
  return {Partitioned{Mesh({{"ranks", ranks}}), spec}, shape, ranks};
}

TEST(DeviceMessages, ContributionsAreJoinedInOrder) {
  NEEDS_DEVICES();
  for (const int per_node : {1, 2}) {
    in_all_ways(
        [](Context& context) {
          const Layout partial = contributions({301, 97}, context.size());
          for (const std::int64_t staging : {0, 1 << 16}) {
            Array source = empty(context, partial, Dtype::f32);
            Array destination = empty(context, {301, 97}, Slab(0), Dtype::f32);
            write_known(source);
            Redistribute plan(context, source.operand(), destination.operand(), {.staging_bytes = staging});
            for (int i = 0; i < 3; ++i) plan.execute(source, destination);
            EXPECT_EQ(count_wrong(destination, partial), 0);
          }
        },
        nodes_of(per_node));
  }
}

/// A small window, so that its places are used again and again within an execution.
RedistributeOptions small_window() {
  return {.staging_bytes = 2048};
}

// Every rank is late now and then. In stream order the source may be overwritten right after each execute.
TEST(DeviceMessages, ManyExecutionsInStreamOrder) {
  NEEDS_DEVICES();
  for (const int per_node : {1, 2}) {
    in_all_ways([](Context& context) { check_stream_order(context, small_window(), 60); },
                nodes_of(per_node));
  }
}

TEST(DeviceMessages, TheInputChangesEachTime) {
  NEEDS_DEVICES();
  in_all_ways([](Context& context) {
    std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
    Array source = empty(context, {41, 23}, Slab(0), Dtype::i64);
    Array destination = empty(context, {41, 23}, Slab(1), Dtype::i64);
    Redistribute plan(context, source.operand(), destination.operand(), small_window());
    for (std::int64_t round = 0; round < 100; ++round) {
      const auto value = [&](std::int64_t number) { return static_cast<double>(number + 5000 * round); };
      write_values(source, value);
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
      plan.execute(source, destination);
      write_constant(source, -1);
      ASSERT_EQ(count_others(destination, value), 0) << "round " << round;
    }
  });
}

// A plan may go while its streams still unpack.
TEST(DeviceMessages, PlansAreDroppedEarly) {
  NEEDS_DEVICES();
  in_all_ways([](Context& context) {
    Array source = empty(context, {301, 203}, Slab(0), Dtype::f32);
    Array destination = empty(context, {301, 203}, Slab(1), Dtype::f32);
    write_known(source);
    for (int round = 0; round < 20; ++round) {
      Redistribute plan(context, source.operand(), destination.operand());
      plan.execute(source, destination, Stream{});
    }
    context.synchronize();
    EXPECT_EQ(count_wrong(destination, source.layout()), 0);
  });
}

// --- failures

/// Within a deadline NCCL has to start, which takes GPUs seconds where other programs start it, too.
std::chrono::milliseconds longest_start() {
  return tests_fake_devices() ? 1s : 8s;
}

TEST(DeviceMessages, ARankThatNeverCallsIsATimeoutAndNotAHang) {
  NEEDS_DEVICES();
  if (ranks().count < 2) GTEST_SKIP() << "needs several ranks";
  ContextOptions options = nodes_of(1);
  options.deadline = longest_start();
  in_all_ways(
      [](Context& context) {
        const Array source = zeros(context, {64, 64}, Slab(0), Dtype::f32);
        Array destination = zeros(context, {64, 64}, Slab(1), Dtype::f32);
        Redistribute plan(context, source.operand(), destination.operand());
        if (context.rank() != 0) {
          // Who gives up first is noticed by the others, who then need not wait any longer.
          const std::string text = [&] {
            try {
              plan.execute(source, destination);
              return std::string("nothing was thrown");
            } catch (const TimeoutError& error) {
              return std::string("waited: ") + error.what();
            } catch (const LostPeerError& error) {
              return std::string("lost: ") + error.what();
            }
          }();
          EXPECT_TRUE(contains(text, "rank")) << text;
          if (context.size() == 2) {
            EXPECT_TRUE(contains(text, "waited")) << text;
          }
          EXPECT_TRUE(context.failed());
          EXPECT_THROW(context.synchronize(), FailedContextError);
        }
        texts_of_all(context.rank(), "");  // rank 0 stays until the others have given up
      },
      options);
}

TEST(DeviceMessages, DifferentPlansAreFoundOut) {
  NEEDS_DEVICES();
  if (ranks().count < 2) GTEST_SKIP() << "needs several ranks";
  ContextOptions options = nodes_of(1);
  options.deadline = 4 * longest_start();
  in_all_ways(
      [](Context& context) {
        Array rows = zeros(context, {40, 24}, Slab(0), Dtype::f64);
        Array columns = zeros(context, {40, 24}, Slab(1), Dtype::f64);
        Redistribute there(context, rows.operand(), columns.operand());
        Redistribute back(context, columns.operand(), rows.operand());
        const std::string text = text_of_error<Error>(
            [&] { context.rank() == 0 ? there.execute(rows, columns) : back.execute(columns, rows); });
        EXPECT_TRUE(contains(text, "different plans") || contains(text, "rank")) << text;
        EXPECT_TRUE(context.failed());
      },
      options);
}

/// What making a context says, where the same is said on every rank.
std::string refused() {
  const ContextOptions options = nodes_of(0);
  try {
    if (ranks().kind == GroupKind::threads) {
      ThreadGroup::run(
          ranks().count, [](Context&) {}, options);
    } else {
      initialize(options);
    }
  } catch (const ArgumentError& error) {
    return std::string("argument: ") + error.what();
  } catch (const UnsupportedError& error) {
    return std::string("unsupported: ") + error.what();
  }
  return "nothing was thrown";
}

TEST(DeviceMessages, ABadSettingIsOneClearError) {
  NEEDS_DEVICES();
  const Setting messages("PARTITA_DEVICE_MESSAGES", "pigeon");
  const std::string text = refused();
  EXPECT_TRUE(contains(text, "argument: ")) << text;
  EXPECT_TRUE(contains(text, "PARTITA_DEVICE_MESSAGES is \"pigeon\"; known: automatic, staged, direct"))
      << text;
}

TEST(DeviceMessages, DirectIsRefusedWhereTheTransportTakesNoDeviceMemory) {
  NEEDS_DEVICES();
  if (tests_fake_devices()) fake_memory_is_separate(true);
  const Setting messages("PARTITA_DEVICE_MESSAGES", "direct");
  const bool takes = ranks().kind == GroupKind::mpi && runtime::mpi_takes_device_memory();
  const std::string text = refused();
  EXPECT_EQ(contains(text, "unsupported: "), !takes) << text;
  EXPECT_EQ(contains(text, "PARTITA_DEVICE_MESSAGES is \"direct\""), !takes) << text;
  fake_memory_is_separate(false);
}

}  // namespace
}  // namespace partita::testing
