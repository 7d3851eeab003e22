// Contexts with a device: on the GPUs of the machine (PARTITA_TEST_DEVICE=cuda) or on fake ones.
#include "array/transfer.hpp"
#include "device/copy_way.hpp"
#include "device/product_choices.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

DEVICE_TEST(ArraysLieInItsMemoryUnlessTheySayOtherwise) {
  EXPECT_EQ(context.device().kind, Device::Kind::cuda);
  EXPECT_GE(context.device().index, 0);
  EXPECT_NE(context.stream().handle, nullptr);
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    const Array there = zeros(context, {7, 5}, Slab(0), Dtype::f64, {.residency = residency});
    EXPECT_EQ(there.local().space, MemorySpace::device);
    EXPECT_EQ(there.operand().space, MemorySpace::device);
    EXPECT_EQ(count_others(there, 0), 0);
    const Array here =
        zeros(context, {7, 5}, Slab(0), Dtype::f64, {.residency = residency, .space = MemorySpace::host});
    EXPECT_EQ(here.local().space, MemorySpace::host);
    EXPECT_TRUE(compare(here, there).equal);
  }
}

DEVICE_TEST(ASubgroupCostsNoStreamAndNoThreadBeforeItIsUsed) {
  (void)context.stream();
  context.barrier();
  const int before = fake_queues_made();
  context.barrier();
  std::vector<int> all(static_cast<std::size_t>(context.size()));
  std::iota(all.begin(), all.end(), 0);
  Context group = context.subgroup(all);
  context.barrier();
  EXPECT_EQ(fake_queues_made(), before);
  EXPECT_EQ(group.state()->watchdog, nullptr);
  context.barrier();
  Array numbers = empty(group, {3 * group.size(), 5}, Slab(0), Dtype::f64);
  fill_random(numbers, 7);
  EXPECT_TRUE(compare(numbers, redistribute(numbers, Slab(1))).equal);
  EXPECT_NE(group.state()->watchdog, nullptr);
}

DEVICE_TEST(FillRandomGivesTheNumbersOfTheHost) {
  for (const Dtype dtype : {Dtype::boolean, Dtype::i8, Dtype::bf16, Dtype::f32, Dtype::c128}) {
    Array there = empty(context, {13, 9}, BlockCyclic({1, context.size()}, {2, 2}), dtype);
    Array here = empty(context, {13, 9}, Slab(0), dtype, {.space = MemorySpace::host});
    fill_random(there, 5);
    fill_random(here, 5);
    EXPECT_TRUE(compare(here, there).equal);
    EXPECT_TRUE(compare(there, here).equal);
  }
}

// Larger than what crosses the bus at once, but not a whole multiple of it.
DEVICE_TEST(FillsAndComparesInSeveralPieces) {
  const Shape shape{5, 1000, 1001};
  for (const Order order : {Order::row_major, Order::column_major}) {
    Array here = empty(context, shape, Slab(1), Dtype::f64,
                       {.residency = Residency::ordinary, .order = order, .space = MemorySpace::host});
    Array there =
        empty(context, shape, Slab(1), Dtype::f64, {.residency = Residency::ordinary, .order = order});
    fill_random(here, 7);
    fill_random(there, 7);
    Array back = empty(context, shape, Slab(1), Dtype::f64);
    copy(there, back);
    EXPECT_TRUE(compare(back, there).equal);
    Array copied = empty(context, shape, Slab(1), Dtype::f64,
                         {.residency = Residency::ordinary, .order = order, .space = MemorySpace::host});
    copy(there, copied);
    EXPECT_TRUE(compare(copied, here).equal);
    set_at(there, {4, 999, 1000}, 2.0);
    const Comparison comparison = compare(there, back);
    EXPECT_EQ(comparison.differing, 1);
    EXPECT_EQ(comparison.first_difference, (Index{4, 999, 1000}));
  }
}

// Written into each other's memory, which for so little is done when asked for.
DEVICE_TEST(MatricesByRowsBecomeMatricesByColumns) {
  RedistributeOptions options{.method = RedistributeMethod::pushed};
  for (const Dtype dtype : {Dtype::i8, Dtype::bf16, Dtype::f32, Dtype::c64, Dtype::c128}) {
    for (const Shape& shape : {Shape{150, 131}, Shape{70, 3, 90}}) {
      Array rows = empty(context, shape, Slab(0), dtype);
      Array columns = empty(context, shape, Slab(shape.size() - 1), dtype, {.order = Order::column_major});
      write_known(rows);
      write_constant(columns, 1);
      redistribute(rows, columns, options);
      EXPECT_EQ(count_wrong(columns, rows.layout()), 0);
      write_constant(rows, 1);
      redistribute(columns, rows, options);
      EXPECT_EQ(count_wrong(rows, rows.layout()), 0);
    }
  }
}

DEVICE_TEST(FillAndCopyEveryDtypeAndOrder) {
  const Dtype all[] = {Dtype::boolean, Dtype::i8,  Dtype::u8,  Dtype::i16, Dtype::u16,
                       Dtype::i32,     Dtype::u32, Dtype::i64, Dtype::u64, Dtype::f16,
                       Dtype::bf16,    Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};
  for (const Dtype dtype : all) {
    Array rows = empty(context, {11, 6, 5}, Slab(1), dtype);
    Array columns = empty(context, {11, 6, 5}, Slab(1), dtype,
                          {.residency = Residency::ordinary, .order = Order::column_major});
    Array here =
        empty(context, {11, 6, 5}, Slab(1), dtype,
              {.residency = Residency::ordinary, .order = Order::column_major, .space = MemorySpace::host});
    write_known(rows);
    copy(rows, columns);
    EXPECT_EQ(count_wrong(columns, columns.layout()), 0);
    copy(rows, here);
    EXPECT_EQ(count_wrong(here, here.layout()), 0);
    write_constant(rows, 1);
    copy(here, rows);
    EXPECT_EQ(count_wrong(rows, rows.layout()), 0);
  }
}

DEVICE_TEST(RedistributesBetweenHostAndDevice) {
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    Array here =
        empty(context, {19, 14}, Slab(0), Dtype::f32, {.residency = residency, .space = MemorySpace::host});
    Array there = empty(context, {19, 14}, BlockCyclic({context.size(), 1}, {3, 2}), Dtype::f32,
                        {.residency = residency, .order = Order::column_major});
    write_known(here);
    redistribute(here, there);
    EXPECT_EQ(count_wrong(there, here.layout()), 0);
    write_constant(here, 2);
    redistribute(there, here);
    EXPECT_EQ(count_wrong(here, there.layout()), 0);
    const Array again = redistribute(here, Slab(1));
    EXPECT_EQ(again.local().space, MemorySpace::host);
    EXPECT_EQ(redistribute(there, Slab(1)).local().space, MemorySpace::device);
  }
}

DEVICE_TEST(SymmetricMemoryLiesOnTheDeviceAndGrows) {
  std::vector<SymmetricMemory> blocks;
  for (const std::int64_t bytes : {std::int64_t{100}, std::int64_t{1} << 20, std::int64_t{150} << 20}) {
    blocks.push_back(SymmetricMemory::allocate(context, bytes));
    View part = View::dense(blocks.back().data(), Dtype::u8, {64});
    part.space = MemorySpace::device;
    Array array = wrap(context, part, Slab(0), {64 * context.size()});
    EXPECT_EQ(array.operand().residency, Residency::heap);
    write_known(array);
    EXPECT_EQ(count_wrong(redistribute(array, Slab(0)), array.layout()), 0);
  }
  for (SymmetricMemory& block : blocks) block.free();
}

/// The method that is chosen from rows to columns.
std::string method_between(Context& context, const Shape& shape, Dtype dtype) {
  const Array source = zeros(context, shape, Slab(0), dtype);
  const Array destination = zeros(context, shape, Slab(1), dtype);
  const Redistribute plan(context, source.operand(), destination.operand());
  EXPECT_TRUE(plan.explain().find(plan.plan().method) != std::string::npos) << plan.explain();
  return plan.plan().method;
}

DEVICE_TEST(PushesMuchAndSendsLittleInPackets) {
  const bool one_node = context.state()->device_topology.node_count() == 1;
  if (context.size() == 1 || !one_node) GTEST_SKIP() << "needs several ranks whose devices reach each other";
  EXPECT_EQ(method_between(context, {2048, 2048}, Dtype::f32), "pushed");
  const std::string little = context.state()->options.copy_way == CopyWay::automatic ? "packets" : "pushed";
  EXPECT_EQ(method_between(context, {64, 64}, Dtype::f32), little);
  EXPECT_EQ(method_between(context, {37, 29}, Dtype::u8), little);
}

// Large enough for a stream a peer.
DEVICE_TEST(LargeRowsToColumns) {
  const std::int64_t rows = 1031, columns = 4099;
  Array source = empty(context, {rows, columns}, Slab(0), Dtype::f64);
  Array destination = empty(context, {rows, columns}, Slab(1), Dtype::f64);
  fill_random(source, 3);
  Redistribute there(context, source.operand(), destination.operand());
  Redistribute back(context, destination.operand(), source.operand());
  for (int i = 0; i < 3; ++i) {
    there.execute(source, destination);
    const double zero = 0;
    fill(source, zero);
    back.execute(destination, source);
  }
  Array expected = empty(context, {rows, columns}, Slab(0), Dtype::f64);
  fill_random(expected, 3);
  EXPECT_TRUE(compare(source, expected).equal);
}

DEVICE_TEST(WrapAsksTheDriverWhoseMemoryItIs) {
  const Layout layout(Slab(0), {8 * context.size(), 3}, context.size());
  const Array there =
      empty(context, layout, Dtype::f64, {.residency = Residency::ordinary, .space = MemorySpace::device});
  View view = there.local();
  EXPECT_EQ(wrap(context, view, layout).local().space, MemorySpace::device);
  // On one rank it is wrong; all are notified.
  const bool odd_one = context.rank() == context.size() - 1;
  std::vector<double> here(24);
  view = View::dense(odd_one ? there.local().data : here.data(), Dtype::f64, {8, 3});
  EXPECT_ERROR(ArgumentError, wrap(context, view, layout),
               "is declared as host memory, but it is memory of device");
  EXPECT_FALSE(context.failed());
  // Pinned memory is of both.
  devices::PhysicalDevice& device = context.state()->device->physical();
  void* const pinned = device.allocate_pinned(24 * 8);
  view = View::dense(pinned, Dtype::f64, {8, 3});
  EXPECT_EQ(wrap(context, view, layout).local().space, MemorySpace::host);
  view.space = MemorySpace::device;
  EXPECT_EQ(wrap(context, view, layout).local().space, MemorySpace::device);
  device.release_pinned(pinned);
}

/// On one rank it begins at an odd byte; a kernel that touched it would leave the process without CUDA.
DEVICE_TEST(MisalignedMemoryIsRefusedOnAllRanks) {
  const int guilty = context.size() - 1;
  const SymmetricMemory memory = SymmetricMemory::allocate(context, 4 * 16 + 16);
  for (const Dtype dtype : {Dtype::f16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    const std::int64_t item = size_of(dtype);
    View view{static_cast<char*>(memory.data()) + (context.rank() == guilty ? item / 2 : 0),
              dtype,
              {4},
              {1},
              MemorySpace::device};
    const auto expect_refused = [&](const auto& action) {
      const std::string text = caught<ArgumentError>(action);
      EXPECT_TRUE(contains(text, fmt::format("of rank {} begins at address", guilty))) << text;
      EXPECT_TRUE(contains(text, fmt::format("not a multiple of {} bytes", item))) << text;
      EXPECT_FALSE(context.failed());
    };
    const Layout layout(Slab(0), {4 * context.size()}, context.size());
    expect_refused([&] { (void)wrap(context, view, layout); });
    expect_refused([&] { all_reduce(context, view, view); });
    expect_refused([&] { broadcast(context, view, 0); });
    expect_refused([&] { (void)wrap(context, view, Slab(0), layout.shape()); });
    Operand operand = Operand::of(layout, dtype, Order::row_major, Residency::ordinary);
    operand.space = MemorySpace::device;
    if (context.rank() == guilty) {
      Array array = empty(context, layout, dtype);
      EXPECT_THROW((void)wrap(context, view, operand), ArgumentError);
      EXPECT_THROW(copy(array, view), ArgumentError);
    } else {
      (void)empty(context, layout, dtype);
    }
  }
}

/// The algorithm of a product depends on the model of a device, and not on which one of its host it is.
TEST(Device, WaysOfProductsAreThoseOfAModel) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  devices::Accelerators& all = devices::Accelerators::of_process();
  ASSERT_GE(all.count(), 2);
  const auto one = all.device(0), other = all.device(1);
  EXPECT_NE(one->name(), other->name());
  const devices::DeviceGemm product;
  EXPECT_EQ(words_of(product, "a library 1", *one), words_of(product, "a library 1", *other));
  EXPECT_NE(words_of(product, "a library 1", *one), words_of(product, "a library 2", *one));
  EXPECT_TRUE(contains(words_of(product, "a library 1", *one), one->model()));
}

DEVICE_TEST(WrapRefusesMemoryOfAnotherDevice) {
  devices::Accelerators& all = devices::Accelerators::of_process();
  if (all.count() < 2) GTEST_SKIP() << "needs two devices";
  const auto other = all.device((context.device().index + 1) % all.count());
  other->use();
  void* const memory = other->allocate(24 * 8);
  View view = View::dense(memory, Dtype::f64, {8, 3});
  view.space = MemorySpace::device;
  EXPECT_ERROR(ArgumentError, wrap(context, view, Slab(0), {8 * context.size(), 3}),
               "but the context's is device");
  other->use();
  other->release(memory);
}

DEVICE_TEST(ViewsNameTheirDevice) {
  const int own = context.device().index;
  const Array there = zeros(context, {8 * context.size(), 3}, Slab(0), Dtype::f64);
  EXPECT_EQ(there.local().device, own);
  EXPECT_EQ(there.window({0, 1}, {8 * context.size(), 2}).local().device, own);
  EXPECT_EQ(zeros(context, {4}, Slab(0), Dtype::f64, {.space = MemorySpace::host}).local().device, -1);
  const SymmetricMemory memory = SymmetricMemory::allocate(context, 24 * 8);
  EXPECT_EQ(memory.view(Dtype::f64, {24}).device, own);
  // On one rank it is wrong; all are notified.
  View view = there.local();
  view.device = context.rank() == context.size() - 1 ? own + 1 : -1;
  std::string text = caught<ArgumentError>([&] { (void)wrap(context, view, there.layout()); });
  EXPECT_TRUE(contains(text, "is declared as memory of device")) << text;
  view.device = own;
  EXPECT_EQ(wrap(context, view, there.layout()).local().device, own);
  view.device = own + 1;
  text = caught<ArgumentError>([&] { all_reduce(context, view, view); });
  EXPECT_TRUE(contains(text, "but the context's is device")) << text;
  text = caught<ArgumentError>([&] { copy(there, view); });
  EXPECT_TRUE(contains(text, "but the context's is device")) << text;
  EXPECT_FALSE(context.failed());
}

TEST(Device, WrapRefusesHostMemoryThatIsSaidToBeADevices) {
  NEEDS_DEVICES();
  if (tests_fake_devices()) fake_memory_is_separate(true);
  on_ranks([](Context& context) {
    std::vector<double> memory(24);
    View view = View::dense(memory.data(), Dtype::f64, {8, 3});
    view.space = MemorySpace::device;
    EXPECT_ERROR(ArgumentError, wrap(context, view, Slab(0), {8 * context.size(), 3}),
                 "is declared as device memory");
  });
  fake_memory_is_separate(false);
}

DEVICE_TEST(RefusesMixedOperandsInStreams) {
  const Array here = zeros(context, {8, 8}, Slab(0), Dtype::f32, {.space = MemorySpace::host});
  Array there = zeros(context, {8, 8}, Slab(1), Dtype::f32);
  Redistribute plan(context, here.operand(), there.operand());
  EXPECT_THROW(plan.execute(here, there, Stream{}), UnsupportedError);
  Array also_here = zeros(context, {8, 8}, Slab(1), Dtype::f32, {.space = MemorySpace::host});
  Redistribute of_host(context, here.operand(), also_here.operand());
  EXPECT_THROW(of_host.execute(here, also_here, Stream{}), UnsupportedError);
  EXPECT_THROW((void)redistribute(here, Slab(1), {.stream = Stream{}}), UnsupportedError);
  EXPECT_THROW((void)redistribute(there, Slab(0), {.stream = Stream{}, .space = MemorySpace::host}),
               UnsupportedError);
  EXPECT_FALSE(context.failed());
}

/// A small redistribution of rows to columns.
struct RowsToColumns {
  explicit RowsToColumns(const Context& context)
      : rows(zeros(context, {64, 64}, Slab(0), Dtype::f32)),
        columns(zeros(context, {64, 64}, Slab(1), Dtype::f32)),
        plan(context, rows.operand(), columns.operand()) {}

  void execute() { plan.execute(rows, columns); }
  /// Into the context's stream; does not wait.
  void enqueue() { plan.execute(rows, columns, Stream{}); }

  Array rows, columns;
  Redistribute plan;
};

/// Until the context has failed, or for so long.
void wait_for_failure(const Context& context, std::chrono::milliseconds longest) {
  const auto limit = std::chrono::steady_clock::now() + longest;
  while (!context.failed() && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

RANK_TEST_WITH(Device, ARankThatNeverCallsIsATimeoutAndNotAHang,
               {.device = test_device(), .deadline = std::chrono::seconds(1)}) {
  NEEDS_DEVICES();
  if (ranks().count < 2 || ranks().per_node != 0) GTEST_SKIP() << "needs several ranks of one node";
  RowsToColumns small(context);
  if (context.rank() != 0) {
    EXPECT_THROW(small.execute(), Error);
    EXPECT_TRUE(context.failed());
    EXPECT_THROW(context.synchronize(), FailedContextError);
  }
  texts_of_all(context.rank(), "");  // rank 0 stays until the others have given up
}

// The memory is the caller's again, or that through which gaps of a window are closed.
TEST(Device, ACopyToTheHostIsOverBeforeItsFailureIsSaid) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const std::chrono::milliseconds delay(700);
  for (const bool dense : {true, false}) {
    on_ranks(
        [delay, dense](Context& context) {
          const Array there = zeros(context, {7, 5}, Slab(0), Dtype::f64);
          const Array some = dense ? there : there.window({0, 1}, {7, 3});
          context.barrier();
          delay_fake_copies(delay);
          context.barrier();
          if (some.local().extents[0] == 0) return;
          const auto begin = std::chrono::steady_clock::now();
          EXPECT_THROW(arrays::copied_to_host(some), Error);
          EXPECT_GE(std::chrono::steady_clock::now() - begin, delay);
          EXPECT_TRUE(context.failed());
        },
        {.device = test_device(), .deadline = delay / 3});
    delay_fake_copies({});
  }
}

// Nobody waits in a call of ours; the streams are let go all the same, and the next call says why.
RANK_TEST_WITH(Device, AWatchdogSeesWhatNobodyWaitsFor,
               {.device = test_device(), .deadline = std::chrono::seconds(1)}) {
  NEEDS_DEVICES();
  if (ranks().count < 2 || ranks().per_node != 0) GTEST_SKIP() << "needs several ranks of one node";
  RowsToColumns small(context);
  small.enqueue();
  context.synchronize();
  if (context.rank() != 0) {
    small.enqueue();
    wait_for_failure(context, std::chrono::seconds(10));
  }
  texts_of_all(context.rank(), "");
  if (context.rank() == 0 && !context.failed()) return;
  EXPECT_TRUE(context.failed());
  EXPECT_THROW(context.synchronize(), FailedContextError);
  if (context.rank() == 1) {
    EXPECT_TRUE(contains(context.failure(), "redistribute")) << context.failure();
  }
}

// Long before the deadline.
RANK_TEST_WITH(Device, AWatchdogSeesThatANeighbourHasFailed,
               {.device = test_device(), .deadline = std::chrono::seconds(100)}) {
  NEEDS_DEVICES();
  if (ranks().count < 2 || ranks().per_node != 0) GTEST_SKIP() << "needs several ranks of one node";
  RowsToColumns small(context);
  small.enqueue();
  context.synchronize();
  if (context.rank() == 0) return context.state()->fail("a rank has had enough");
  small.enqueue();
  wait_for_failure(context, std::chrono::seconds(20));
  EXPECT_TRUE(context.failed());
  EXPECT_TRUE(contains(context.failure(), "a rank has had enough")) << context.failure();
  EXPECT_THROW(context.synchronize(), FailedContextError);
}

TEST(Device, AnyIsTheCpuWhereThereIsNoDevice) {
  if (has_devices()) GTEST_SKIP() << "there are devices";
  if (!devices::Accelerators::of_process().why_none().empty()) {
    ContextOptions options{.device = Device::any()};
    on_ranks([](Context& context) { EXPECT_EQ(context.device().kind, Device::Kind::cpu); }, options);
    options.device = Device::cuda();
    // The same error on all ranks: initialize throws it before there is a context.
    if (ranks().kind == GroupKind::threads) {
      EXPECT_THROW(ThreadGroup::run(
                       ranks().count, [](Context&) {}, options),
                   UnsupportedError);
    }
  }
}

TEST(Device, AMissingIndexIsRefused) {
  NEEDS_DEVICES();
  if (ranks().kind != GroupKind::threads) GTEST_SKIP() << "needs threads as ranks";
  EXPECT_THROW(ThreadGroup::run(ranks().count, [](Context&) {}, {.device = Device::cuda(1000)}),
               UnsupportedError);
}

// Where peers' memory cannot be mapped, everything still works: through messages.
TEST(Device, FallsBackWherePeersCannotBeReached) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  refuse_fake_peers(true);
  on_ranks(
      [](Context& context) {
        EXPECT_EQ(context.state()->device_topology.node_count(), context.size());
        Array source = empty(context, {29, 31}, Slab(0), Dtype::f32);
        write_known(source);
        EXPECT_EQ(count_wrong(redistribute(source, Slab(1)), source.layout()), 0);
      },
      {.device = test_device()});
  refuse_fake_peers(false);
}

}  // namespace
}  // namespace partita::testing
