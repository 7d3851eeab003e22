// One rank has no memory for its part of a plan: all ranks get the same error and go without the plan, and
// the same call goes well when there is memory again.
#include <optional>
#include <partita/collectives.hpp>
#include <partita/fft.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>

#include "context/context_state.hpp"
#include "ranks/array_model.hpp"
#include "ranks/caught.hpp"
#include "ranks/memory_checks.hpp"
#include "ranks/needs_devices.hpp"
#include "ranks/rank_test.hpp"
#include "ranks/refused_memory.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

/// Where every rank is a node of its own, what moves lies in private scratch.
void on_nodes(const std::function<void(Context&)>& body) {
  if (ranks().count == 1) GTEST_SKIP() << "one rank moves nothing";
  if (has_devices() && !tests_fake_devices()) GTEST_SKIP() << "a GPU's memory cannot be refused here";
  ContextOptions options;
  options.device = test_device();
  options.ranks_per_node = 1;
  options.deadline = 10s;
  on_ranks(body, options);
}

/// `call` makes a plan: it fails where the last rank gets no memory, and then goes well.
void expect_all_go_without(const Context& context, const char* what, const std::function<void()>& call) {
  const std::string poor = "rank " + std::to_string(context.size() - 1) + ": ";
  const contexts::PlanCache& plans = context.state()->plans;
  {
    std::optional<RefusedMemory> refused;
    if (context.rank() == context.size() - 1) refused.emplace();
    const std::string text = same_error<MemoryError>(context, call);
    EXPECT_TRUE(contains(text, poor)) << what << ": " << text;
  }
  EXPECT_FALSE(context.failed()) << what;
  expect_same_on_all(context, std::to_string(plans.size()));
  EXPECT_NO_THROW(call()) << what;
  expect_same_on_all(context, std::to_string(plans.size()));
}

TEST(OutOfMemory, Redistributions) {
  on_nodes([](Context& context) {
    Array rows = empty(context, {13, 29}, Slab(0), Dtype::f64);
    Array columns = empty(context, {13, 29}, Slab(1), Dtype::f64);
    write_known(rows);
    expect_all_go_without(context, "a new array", [&] {
      const Array moved = redistribute(rows, Slab(1));
      EXPECT_EQ(count_wrong(moved, rows.layout()), 0);
    });
    expect_all_go_without(context, "the caller's array", [&] { redistribute(rows, columns); });
    EXPECT_EQ(count_wrong(columns, rows.layout()), 0);
    expect_all_go_without(context, "the object", [&] {
      Redistribute plan(context, columns.operand(), rows.operand());
      plan.execute(columns, rows);
      EXPECT_EQ(count_wrong(rows, columns.layout()), 0);
    });
  });
}

TEST(OutOfMemory, Collectives) {
  on_nodes([](Context& context) {
    const std::int64_t ranks = context.size();
    Array from = empty(context, {ranks * ranks, 5}, Slab(0), Dtype::f64);
    Array to = empty(context, {ranks * ranks, 5}, Slab(0), Dtype::f64);
    Array sums = empty(context, {ranks, 5}, Slab(0), Dtype::f64);
    expect_all_go_without(context, "all_to_all", [&] { all_to_all(context, from.local(), to.local()); });
    expect_all_go_without(context, "all_reduce", [&] { all_reduce(context, from.local(), to.local()); });
    expect_all_go_without(context, "reduce_scatter",
                          [&] { reduce_scatter(context, from.local(), sums.local()); });
  });
}

TEST(OutOfMemory, HaloExchanges) {
  on_nodes([](Context& context) {
    const Array field = empty(context, {4 * context.size(), 6}, Slab(0), Dtype::f64);
    HaloOptions options;
    options.lower = {1, 0};
    options.upper = {1, 0};
    const Shape extents = halo_shape(field.layout(), context.rank(), options);
    const Array extended = empty(context, {6 * context.size(), 6}, Slab(0), Dtype::f64);
    View view = extended.local();
    view.extents = extents;
    expect_all_go_without(context, "halo", [&] { halo_exchange(field, view, options); });
  });
}

/// A byte of every rank in the memory of each device.
TEST(OutOfMemory, BarriersOfStreams) {
  NEEDS_DEVICES();
  if (!tests_fake_devices()) GTEST_SKIP() << "a GPU is not told to refuse memory";
  on_nodes([](Context& context) {
    expect_all_go_without(context, "barrier", [&] { barrier(context, Stream{}); });
  });
}

TEST(OutOfMemory, Products) {
  if (has_devices() && !tests_fake_devices()) GTEST_SKIP() << "a GPU is not told to refuse memory";
  on_nodes([](Context& context) {
    Array a = empty(context, {21, 34}, Slab(0), Dtype::f64),
          b = empty(context, {34, 27}, Slab(1), Dtype::f64);
    Array d = empty(context, {21, 27}, Slab(0), Dtype::f64);
    fill_random(a, 1);
    fill_random(b, 2);
    expect_all_go_without(context, "a new array", [&] { d = matmul(a, b); });
    expect_all_go_without(context, "the object", [&] {
      Matmul plan(context, {a.operand(), b.operand(), {}, d.operand(), {}, {}, {}});
      plan.reset(a, b, nullptr, d);
      plan.execute();
    });
  });
}

TEST(OutOfMemory, Transforms) {
  if (has_devices()) GTEST_SKIP() << "transforms are of the host";
  on_nodes([](Context& context) {
    Array a = empty(context, {12, 10, 6}, Slab(0), Dtype::c128);
    Array b = empty(context, {12, 10, 6}, Slab(1), Dtype::c128);
    fill_random(a, 1);
    expect_all_go_without(context, "a new array", [&] { (void)fft(a); });
    FFT plan(context, a.operand(), b.operand());
    expect_all_go_without(context, "the object", [&] { plan.execute(a, b); });
    expect_all_go_without(context, "the inverse", [&] { plan.inverse(b, a); });
    Array expected = empty(context, {12, 10, 6}, Slab(0), Dtype::c128);
    fill_random(expected, 1);
    for (std::int64_t i = 0; i < a.local_size(); ++i) {
      EXPECT_LT(std::abs(a.data<std::complex<double>>()[i] - expected.data<std::complex<double>>()[i]),
                1e-13);
    }
  });
}

}  // namespace
}  // namespace partita::testing
