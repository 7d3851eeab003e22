// Calls that do not go together are the same error on every rank.
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

RANK_TEST(CollectiveErrors, OneRankDiffers) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  const bool odd = context.rank() == context.size() - 1;
  Block five(context, Dtype::f32, {5});
  Block six(context, Dtype::f32, {6});
  Block whole(context, Dtype::f64, {5});
  const View shape = odd ? six.view() : five.view();
  const View dtype = odd ? whole.view() : five.view();
  const auto expect = [&](const std::function<void()>& call, const std::string& part) {
    const std::string text = caught<DisagreementError>(call);
    EXPECT_TRUE(contains(text, part)) << text;
    EXPECT_FALSE(context.failed());
  };
  expect([&] { broadcast(context, shape); }, "shape");
  expect([&] { broadcast(context, dtype); }, "dtype");
  expect([&] { broadcast(context, five.view(), odd ? 1 : 0); }, "root");
  expect([&] { all_reduce(context, shape, shape); }, "shape");
  expect(
      [&] {
        all_reduce(context, five.view(), five.view(), {.reduction = odd ? Reduction::min : Reduction::sum});
      },
      "reduction");
  expect([&] { scan(context, five.view(), five.view(), {}, odd ? Scan::exclusive : Scan::inclusive); },
         "kind");
  const std::int64_t mine = odd ? 2 : 1;
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(context.size()), mine);
  Block part(context, Dtype::f32, {mine});
  Block sum(context, Dtype::f32, {mine * context.size()});
  expect([&] { all_gather_v(context, part.view(), sum.view(), counts); }, "counts");
}

RANK_TEST_WITH(CollectiveErrors, DifferentOperations, {.deadline = 5s}) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  Block view(context, Dtype::f32, {5});
  const std::string text = caught<DisagreementError>([&] {
    if (context.rank() == 0) {
      broadcast(context, view.view());
    } else {
      all_reduce(context, view.view(), view.view());
    }
  });
  EXPECT_TRUE(contains(text, "broadcast") && contains(text, "all_reduce")) << text;
}

// Both plans are in the cache: no check is made, and it is found out anyway. (A root that has sent its
// messages has done its part: it is notified in its next call.)
RANK_TEST_WITH(CollectiveErrors, DifferentOperationsFromTheCache, {.deadline = 5s}) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  Block view(context, Dtype::f32, {5});
  for (int i = 0; i < 2; ++i) {
    broadcast(context, view.view());
    all_reduce(context, view.view(), view.view());
  }
  try {
    if (context.rank() == 0) {
      broadcast(context, view.view());
      barrier(context);
    } else {
      all_reduce(context, view.view(), view.view());
    }
    ADD_FAILURE() << "nothing was thrown on rank " << context.rank();
  } catch (const Error&) {
    expect_goes_on_where_it_can(context);
  }
}

RANK_TEST(CollectiveErrors, BadArguments) {
  Block five(context, Dtype::f32, {5});
  Block six(context, Dtype::f32, {6});
  Block doubles(context, Dtype::f64, {5});
  Block complex(context, Dtype::c64, {5});
  const auto refused = [&](const std::function<void()>& call, const std::string& part) {
    for (int i = 0; i < 2; ++i) {
      const std::string text = caught<ArgumentError>(call);
      EXPECT_TRUE(contains(text, part)) << text;
      EXPECT_FALSE(context.failed());
    }
  };
  refused([&] { broadcast(context, five.view(), context.size()); }, "root");
  refused([&] { reduce(context, five.view(), five.view(), {}, -1); }, "root");
  refused([&] { all_reduce(context, five.view(), six.view()); }, "5 is expected");
  refused([&] { all_reduce(context, five.view(), doubles.view()); }, "f32 and f64");
  refused([&] { all_reduce(context, complex.view(), complex.view(), {.reduction = Reduction::min}); },
          "not defined");
  refused([&] { all_reduce(context, five.view(), five.view(), {.reduction = Reduction::bit_xor}); },
          "not defined");
  refused([&] { scan(context, five.view(), five.view(), {.reduction = Reduction::logical_or}); },
          "not defined");
  View nothing = five.view();
  nothing.data = nullptr;
  refused([&] { all_reduce(context, nothing, five.view()); }, "null pointer");
  View shifted = six.view();
  shifted.extents = {5};
  View start = shifted;
  shifted.data = static_cast<float*>(shifted.data) + 1;
  refused([&] { all_reduce(context, start, shifted); }, "overlap");
  refused([&] { all_to_all(context, five.view(), five.view()); }, context.size() == 5 ? "overlap" : "");
  Block scalar(context, Dtype::f32, {});
  refused([&] { all_gather(context, scalar.view(), scalar.view()); }, "is scalar, but ");
}

// The arguments are bad although the plan is there already.
RANK_TEST(CollectiveErrors, BadArgumentsOfAKnownCall) {
  Block five(context, Dtype::f32, {5});
  Block six(context, Dtype::f32, {6});
  all_reduce(context, five.view(), five.view());
  EXPECT_ERROR(ArgumentError, all_reduce(context, five.view(), six.view()), "expected");
  EXPECT_FALSE(context.failed());
  all_reduce(context, five.view(), five.view());
}

/// The others have begun to execute what they know; they are notified why this rank has not.
void refuse_a_bad_view_of_one_rank(Context& context) {
  const Array array = zeros(context, {4 * context.size(), 3}, Slab(0), Dtype::f64);
  Halo halo(context, array.operand(), {.lower = {1, 1}, .periodic = {true, true}});
  Block extended(context, Dtype::f64, halo.extended_shape()), wrong(context, Dtype::f64, {1, 1});
  halo.execute(array, extended.view());
  const bool last = context.rank() + 1 == context.size();
  const auto call = [&] {
    halo.execute(array, last ? wrong.view() : extended.view());
    barrier(context);  // for those that are no neighbours of it
  };
  EXPECT_ERROR(ArgumentError, call(), "is 1x1, but 6x5 is expected");
  expect_goes_on_where_it_can(context, context.size() > 3);
}

TEST(CollectiveErrors, ABadViewOfOneRankInAKnownCall) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (test_device().kind != Device::Kind::cpu) GTEST_SKIP() << "on devices nobody waits in the call";
  on_ranks(refuse_a_bad_view_of_one_rank, {.deadline = 20s});
  // A rank that is late to the check learns its outcome from those that have left it.
  for (int i = 0; i < 4; ++i)
    on_ranks(refuse_a_bad_view_of_one_rank, {.deadline = 20s, .on_wait = slow_waits()});
}

/// A rank without a part has nothing to refuse, and has continued; the others are notified anyway.
RANK_TEST_WITH(CollectiveErrors, ABadViewWhereOneRankHasNone, {.deadline = 20s}) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (test_device().kind != Device::Kind::cpu) GTEST_SKIP() << "on devices nobody waits in the call";
  const Array array = zeros(context, {context.size() - 1, 3}, Slab(0), Dtype::f64);
  Halo halo(context, array.operand(), {.lower = {1, 1}});
  Block wrong(context, Dtype::f64, {1, 1});
  const bool last = context.rank() + 1 == context.size();
  const std::string text = caught<DisagreementError>([&] {
    halo.execute(array, last ? View{} : wrong.view());
    barrier(context);
  });
  EXPECT_TRUE(contains(text, "is 1x1, but 3x5 is expected")) << text;
  EXPECT_TRUE(context.failed());
}

RANK_TEST(CollectiveErrors, BytesBeyondWhatIsCounted) {
  double one = 0;
  const View huge = View::dense(&one, Dtype::f64, {std::int64_t{1} << 62});
  const auto refused = [&](const std::function<void()>& call) {
    const std::string text = caught<ArgumentError>(call);
    EXPECT_TRUE(contains(text, "2^63 - 1")) << text;
  };
  refused([&] { broadcast(context, huge); });
  refused([&] { all_reduce(context, huge, huge); });
  EXPECT_FALSE(context.failed());
}

RANK_TEST(CollectiveErrors, DeviceMemoryNeedsADeviceAndStreamsNeedDeviceMemory) {
  Block five(context, Dtype::f32, {5});
  View there = five.view();
  there.space = MemorySpace::device;
  if (!context.state()->device) {
    EXPECT_ERROR(UnsupportedError, all_reduce(context, there, there));
    EXPECT_ERROR(UnsupportedError, send(context, there, 0));
  }
  int queue = 0;
  EXPECT_ERROR(UnsupportedError, all_reduce(context, five.view(), five.view(), {.stream = Stream{&queue}}));
  EXPECT_ERROR(UnsupportedError, all_reduce(context, there, five.view()));
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
