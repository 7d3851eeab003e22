// What is particular about transforms in device memory; all else is tested by the suites of fft and spectral,
// which run on devices, too.
#include <fmt/format.h>

#include "execute/message_use.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/fakes/fake_transforms.hpp"
#include "support/models/fft_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

#define DEVICE_FFT_TEST(name) DEVICE_TEST_OF(DeviceFft, name)

Array random_array(Context& context, const Shape& shape, const Distribution& how, Dtype dtype,
                   ArrayOptions options = {}) {
  Array array = empty(context, shape, how, dtype, options);
  fill_random(array, 9);
  return array;
}

void spoil(Array& array) {
  if (array.dtype() == Dtype::c64) {
    fill(array, std::complex<float>(std::numeric_limits<float>::quiet_NaN()));
  } else {
    fill(array, std::complex<double>(std::numeric_limits<double>::quiet_NaN()));
  }
}

DEVICE_FFT_TEST(ResultsLieWhereTheInputDoes) {
  const Array input = random_array(context, {8, 9, 10}, Slab(0), Dtype::c128);
  const Array there = fft(input);
  EXPECT_EQ(there.local().space, MemorySpace::device);
  EXPECT_LT(relative_error(there, transformed(random_whole(context, {8, 9, 10}, Dtype::c128, 9), {})),
            tolerance(Dtype::c128, {8, 9, 10}));
  const Array on_host = random_array(context, {8, 9, 10}, Slab(0), Dtype::c128, {.space = MemorySpace::host});
  EXPECT_EQ(fft(on_host).local().space, MemorySpace::host);
}

/// As a new array, into one, and back by a plan; along one axis and along all.
DEVICE_FFT_TEST(HalfSpectraStayUnlessTheyMayBeOverwritten) {
  const Shape shape{6, 7, 10};
  for (const std::vector<int>& axes : {std::vector<int>{0, 1, 2}, std::vector<int>{2}}) {
    const Array field = random_array(context, shape, Slab(1), Dtype::f64);
    const Array spectrum = rfft(field, {.axes = axes});
    const Array kept = rfft(field, {.axes = axes});
    const auto is_field = [&](const Array& other) {
      return compare(other, field).largest_difference < 1e-13;
    };
    EXPECT_TRUE(is_field(irfft(spectrum, {.axes = axes})));
    EXPECT_EQ(compare(spectrum, kept).largest_difference, 0);
    EXPECT_TRUE(is_field(irfft(spectrum, {.axes = axes, .overwrite_input = true})));
    FFT plan(context, field.operand(), {.kind = FftKind::r2c, .axes = axes, .overwrite_input = true});
    Array there = empty(context, plan.output().layout, plan.output().dtype);
    Array back = empty(context, shape, Slab(1), Dtype::f64);
    for (int turn = 0; turn < 3; ++turn) {
      plan.execute(field, there);
      EXPECT_EQ(compare(there, kept).largest_difference, 0);
      plan.inverse(there, back);
      EXPECT_TRUE(is_field(back));
    }
  }
}

/// The first element of a half spectrum, and the last one of an even line, count as real: cuFFT reads their
/// imaginary parts at some lengths.
DEVICE_FFT_TEST(WhatIsRealInAHalfSpectrumCountsAsReal) {
  for (const Dtype dtype : {Dtype::c64, Dtype::c128}) {
    for (const std::int64_t length : {1, 2, 7, 10, 96, 8192, 16384}) {
      for (const std::vector<int>& axes :
           {std::vector<int>{2}, std::vector<int>{1, 2}, std::vector<int>{0, 1, 2}}) {
        const Shape shape{4, 3, length / 2 + 1};
        const Array spectrum = random_array(context, shape, Slab(0), dtype);
        FftOptions options{.axes = axes, .last_length = length};
        const Array expected =
            irfft(random_array(context, shape, Slab(0), dtype, {.space = MemorySpace::host}), options);
        for (const bool overwrite : {false, true}) {
          options.overwrite_input = overwrite;
          const Array result = irfft(spectrum, options);
          EXPECT_LT(compare(expected, result).largest_difference, dtype == Dtype::c64 ? 1e-5 : 1e-13)
              << length << ", overwritten " << overwrite;
        }
      }
    }
  }
}

/// One side on the host, the other on the device, in all kinds of memory.
DEVICE_FFT_TEST(WhatLiesOnTheHostCrosses) {
  const Shape shape{7, 12};
  const NumberArray expected = transformed(random_whole(context, shape, Dtype::c64, 9), {});
  for (const bool from_host : {true, false}) {
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      const auto made = [&](bool host) {
        return ArrayOptions{.residency = residency,
                            .order = Order::column_major,
                            .space = host ? MemorySpace::host : MemorySpace::device};
      };
      const Array input = random_array(context, shape, Slab(0), Dtype::c64, made(from_host));
      Array output = random_array(context, shape, Slab(1), Dtype::c64, made(!from_host));
      fft_into(input, output);
      EXPECT_LT(relative_error(output, expected), tolerance(Dtype::c64, shape));
      FFT plan(context, input.operand(), output.operand());
      plan.execute(input, output, 2);
      plan.execute(input, output);
      EXPECT_LT(relative_error(output, expected), tolerance(Dtype::c64, shape));
      EXPECT_ERROR_ON_ALL(UnsupportedError, plan.execute(input, output, 1, Stream{}),
                          "stream-ordered calls require device arrays");
      EXPECT_FALSE(context.failed());
    }
  }
}

/// Launches of this rank in one execution, about: what is not on the context's own stream takes events, too.
int events_of(FFT& plan, const Array& input, Array& output) {
  plan.execute(input, output);
  const int before = fake_events_put();
  plan.execute(input, output, 1, Stream{});
  const int put = fake_events_put() - before;
  input.context().synchronize();
  return put;
}

/// In one launch, without streams in addition to the context's own.
DEVICE_FFT_TEST(LittleChangesHandsInPackets) {
  // A machine of the tests may prefer stores, or parts of any size.
  if (std::getenv("PARTITA_MACHINE") != nullptr) return;
  const bool reaches_peers = context.state()->device_topology.node_count() == 1 && context.size() > 1;
  for (const Shape& shape : {Shape{8, 12, 10}, Shape{7, 5, 3}}) {
    for (const Output result : {Output::cheapest, Output::as_input}) {
      const Array input = random_array(context, shape, Slab(0), Dtype::c64);
      FftOptions options{.output = result};
      FFT in_packets(context, input.operand(), options);
      options.exchange = FftExchange::copies;
      FFT by_copies(context, input.operand(), options);
      EXPECT_EQ(contains(in_packets.plan().reason, "in packets"), reaches_peers) << in_packets.plan().reason;
      EXPECT_FALSE(contains(by_copies.plan().reason, "in packets"));
      Array one = empty(context, in_packets.output().layout, Dtype::c64);
      Array other = empty(context, by_copies.output().layout, Dtype::c64);
      const int of_packets = events_of(in_packets, input, one);
      const int of_copies = events_of(by_copies, input, other);
      EXPECT_LT(compare(one, other).largest_difference, 1e-4);
      if (tests_fake_devices() && reaches_peers) {
        EXPECT_LT(of_packets, of_copies);
      }
      Array back = empty(context, input.layout(), Dtype::c64);
      in_packets.inverse(one, back);
      EXPECT_LT(compare(back, input).largest_difference, 1e-5);
    }
  }
}

/// Lines with strides that no plan knows.
DEVICE_FFT_TEST(StridedMemory) {
  const Shape shape{9, 6, 10};
  for (const FftKind kind : {FftKind::c2c, FftKind::r2c, FftKind::c2r, FftKind::dct2, FftKind::dst4}) {
    FftOptions options{.kind = kind, .last_length = 18, .output = Output::given};
    const Dtype dtype = kind == FftKind::c2c || kind == FftKind::c2r ? Dtype::c128 : Dtype::f64;
    Shape after = shape;
    if (kind == FftKind::r2c) after[2] = 6;
    if (kind == FftKind::c2r) after[2] = 18;
    const Layout from(Slab(0), shape, context.size()), to(Slab(1), after, context.size());
    WrappedSymmetric input = spread(context, from, dtype, 3);
    WrappedSymmetric output = spread(context, to, result_dtype(dtype, kind), 2);
    fill_random(input.array, 9);
    FFT plan(context, input.array.operand(), output.array.operand(), options);
    plan.execute(input.array, output.array);
    const NumberArray whole = random_whole(context, shape, dtype, 9);
    EXPECT_LT(relative_error(output.array, transformed(whole, options)), tolerance(dtype, shape));
    EXPECT_EQ(relative_error(input.array, whole), 0);
  }
}

/// Real numbers in memory that begins anywhere.
DEVICE_FFT_TEST(RealNumbersNeedNoAlignment) {
  const Layout layout(Slab(0), {6, 8}, context.size());
  const std::int64_t items = layout.largest_local_size() + 1;
  const SymmetricMemory memory =
      SymmetricMemory::allocate(context, items * static_cast<std::int64_t>(sizeof(float)));
  const View view{static_cast<char*>(memory.data()) + sizeof(float), Dtype::f32,
                  layout.local_shape(context.rank()), dense_strides(layout.local_shape(context.rank())),
                  MemorySpace::device};
  Array input = wrap(context, view, layout);
  fill_random(input, 9);
  const NumberArray whole = random_whole(context, {6, 8}, Dtype::f32, 9);
  const Array half = rfft(input);
  EXPECT_LT(relative_error(half, transformed(whole, {.kind = FftKind::r2c})), tolerance(Dtype::f32, {6, 8}));
  irfft_into(half, input);
  EXPECT_LT(relative_error(input, whole), tolerance(Dtype::f32, {6, 8}));
}

/// From slabs along the first axis into those along `cut`, and back; in place, too, where both are the same.
/// Gives the plan.
Plan expect_stored(Context& context, const Shape& shape, Dtype dtype, int cut) {
  FftOptions options{.kind = !is_complex(dtype) ? FftKind::r2c : FftKind::c2c,
                     .distribution = Slab(cut),
                     .exchange = FftExchange::stores};
  const Array input = random_array(context, shape, Slab(0), dtype);
  FFT plan(context, input.operand(), options);
  EXPECT_TRUE(contains(plan.plan().method, "+stores")) << plan.plan().method;
  Array output = empty(context, plan.output().layout, plan.output().dtype);
  const NumberArray whole = random_whole(context, shape, dtype, 9);
  const NumberArray wanted = transformed(whole, options);
  for (int round = 0; round < 3; ++round) {
    spoil(output);
    plan.execute(input, output);
    EXPECT_LT(relative_error(output, wanted), tolerance(dtype, shape))
        << to_string(shape) << " " << name(dtype) << " " << plan.plan().method;
  }
  Array back = empty(context, shape, Slab(0), dtype);
  plan.inverse(output, back);
  EXPECT_LT(relative_error(back, whole), 2 * tolerance(dtype, shape)) << to_string(shape);
  if (cut == 0 && is_complex(dtype)) {
    fft_into(back, back, options);
    EXPECT_LT(relative_error(back, wanted), 3 * tolerance(dtype, shape));
  }
  return plan.plan();
}

bool has_peers_to_store_to(const Context& context) {
  return context.size() > 1 && context.state()->device_topology.node_count() == 1;
}

/// Powers of two and odd extents, ranks without lines, real numbers; and there and back in place.
DEVICE_FFT_TEST(ResultsAreStoredWhereTheyBelong) {
  if (!has_peers_to_store_to(context)) GTEST_SKIP() << "needs several ranks of one node";
  for (const Shape& shape : {Shape{16, 32, 9}, Shape{2, 64, 35}, Shape{128, 4, 16}, Shape{5, 8, 32},
                             Shape{8, 256}, Shape{512, 2, 2}, Shape{33, 16, 16}}) {
    for (const Dtype dtype : {Dtype::c64, Dtype::c128, Dtype::f32}) {
      if (!is_complex(dtype) && shape.size() < 3) continue;  // the halved axis is not stored
      for (const int cut : {1, 0}) expect_stored(context, shape, dtype, cut);
    }
  }
}

/// Whose columns go to owners of some of their rows' elements: one after the other.
DEVICE_FFT_TEST(PlanesThatAreCutAlongTheirRowsAreStoredWhereTheyBelong) {
  if (!has_peers_to_store_to(context)) GTEST_SKIP() << "needs several ranks of one node";
  const Plan plan = expect_stored(context, {8 * context.size(), 16, 16}, Dtype::c64, 2);
  const auto row = [](const Part& part) { return part.region.sets[2].size(); };
  const bool cut = std::ranges::any_of(plan.works, [&](const Work& work) {
    const auto* const into = std::get_if<TransformInto>(&work);
    return into != nullptr && into->first && row(into->to.front()) < row(into->from);
  });
  EXPECT_TRUE(cut) << plan.method;
}

/// Rows of reals two at a time, and the columns that cross them: they are long, and fake devices slow.
DEVICE_FFT_TEST(PlanesOfRealsAreStoredWhereTheyBelong) {
  if (!has_peers_to_store_to(context)) GTEST_SKIP() << "needs several ranks of one node";
  if (tests_fake_devices() && context.size() > 2) GTEST_SKIP() << "needs two fake devices";
  expect_stored(context, {8 * context.size() - 1, 256, 256}, Dtype::f64, 1);
}

DEVICE_FFT_TEST(WhatCannotBeStoredIsCopied) {
  FftOptions options{.exchange = FftExchange::stores};
  const Array input = random_array(context, {9, 15, 7}, Slab(0), Dtype::c128);
  FFT plan(context, input.operand(), options);
  EXPECT_FALSE(contains(plan.plan().method, "stores")) << plan.plan().method;
  Array output = empty(context, plan.output().layout, Dtype::c128);
  plan.execute(input, output);
  EXPECT_LT(relative_error(output, transformed(random_whole(context, {9, 15, 7}, Dtype::c128, 9), options)),
            tolerance(Dtype::c128, {9, 15, 7}));
}

DEVICE_FFT_TEST(WithoutAKernelForItsLinesADeviceCopies) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const Array input = random_array(context, {8, 16, 4}, Slab(0), Dtype::c128);
  context.barrier();
  fake_transforms_have_lines(false);
  context.barrier();
  FFT plan(context, input.operand(), {.exchange = FftExchange::stores});
  EXPECT_FALSE(contains(plan.plan().method, "stores")) << plan.plan().method;
  context.barrier();
  fake_transforms_have_lines(true);
  context.barrier();
  Array output = empty(context, plan.output().layout, Dtype::c128);
  plan.execute(input, output);
  EXPECT_LT(relative_error(output, transformed(random_whole(context, {8, 16, 4}, Dtype::c128, 9), {})),
            tolerance(Dtype::c128, {8, 16, 4}));
}

DEVICE_FFT_TEST(WorkspaceOfTheCaller) {
  const Shape shape{12, 10, 9};
  const Array input = random_array(context, shape, Slab(0), Dtype::f64);
  Array output = empty(context, shape, Slab(1), Dtype::f64);
  FftOptions options{.kind = FftKind::dct2};
  FFT plan(context, input.operand(), output.operand(), options);
  const NumberArray expected = transformed(random_whole(context, shape, Dtype::f64, 9), options);
  const std::int64_t own = plan.workspace_size();
  EXPECT_GT(own, 0);
  const std::int64_t bytes = std::ranges::max(runtime::exchange_values(*context.state(), "workspace", own));
  const Array workspace = empty(context, {bytes * context.size()}, Slab(0), Dtype::u8);
  const Array on_host =
      empty(context, {bytes * context.size()}, Slab(0), Dtype::u8, {.space = MemorySpace::host});
  EXPECT_ERROR_ON_ALL(ArgumentError, plan.set_workspace(on_host));
  plan.set_workspace(workspace);
  EXPECT_EQ(plan.workspace_size(), own);
  for (int round = 0; round < 2; ++round) {
    fill_random(output, 3);
    plan.execute(input, output);
    EXPECT_LT(relative_error(output, expected), tolerance(Dtype::f64, shape));
  }
  plan.release();
  plan.execute(input, output);
  EXPECT_LT(relative_error(output, expected), tolerance(Dtype::f64, shape));
}

// Messages that are staged leave from host memory, so they are not in the caller's workspace.
TEST(DeviceFft, AWorkspaceHoldsNoStagedMessages) {
  NEEDS_DEVICES();
  const Setting messages("PARTITA_DEVICE_MESSAGES", "staged");
  on_ranks(
      [](Context& context) {
        if (context.size() == 1 || context.state()->device_messages_direct) return;
        const Shape shape{48, 64};
        const Array input = random_array(context, shape, Slab(0), Dtype::c128);
        Array output = empty(context, shape, Slab(1), Dtype::c128);
        FFT plan(context, input.operand(), output.operand());
        const std::int64_t largest =
            std::ranges::max(runtime::exchange_values(*context.state(), "workspace", plan.workspace_size()));
        Array workspace =
            empty(context, {context.size() * std::max<std::int64_t>(largest, 1)}, Slab(0), Dtype::u8);
        plan.set_workspace(workspace);
        const NumberArray expected = transformed(random_whole(context, shape, Dtype::c128, 9), {});
        for (int round = 0; round < 2; ++round) {
          plan.execute(input, output);
          EXPECT_LT(relative_error(output, expected), tolerance(Dtype::c128, shape));
        }
        std::int64_t of_messages = 0;
        const std::vector<bool> is_of_messages = execution::message_buffers(plan.plan());
        for (std::size_t b = 0; b < is_of_messages.size(); ++b)
          if (is_of_messages[b]) of_messages += plan.plan().buffers[b].bytes;
        EXPECT_GT(of_messages, 0);
        EXPECT_LT(largest, of_messages);
      },
      {.device = test_device(), .deadline = deadline(), .ranks_per_node = 1});
}

DEVICE_FFT_TEST(WithoutALibraryItIsRefusedAndTheContextLivesOn) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const Array input = random_array(context, {8, 8}, Slab(0), Dtype::c128);
  context.barrier();
  fake_devices_compute(false);
  context.barrier();
  EXPECT_ERROR_ON_ALL(UnsupportedError, fft(input), "no transform library is available for this device");
  context.barrier();
  fake_devices_compute(true);
  context.barrier();
  EXPECT_LT(relative_error(fft(input), transformed(random_whole(context, {8, 8}, Dtype::c128, 9), {})),
            tolerance(Dtype::c128, {8, 8}));
}

}  // namespace
}  // namespace partita::testing
