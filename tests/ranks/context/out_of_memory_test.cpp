// One rank has no memory for its part of a plan: all ranks get the same error and have no plan, and
// the same call succeeds when there is memory again.
#include "support/fakes/refused_memory.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

/// If every rank is a separate node, what moves is in private scratch.
void on_nodes(const std::function<void(Context&)>& body) {
  if (ranks().count == 1) GTEST_SKIP() << "one rank moves nothing";
  if (has_devices() && !tests_fake_devices()) GTEST_SKIP() << "a GPU's memory cannot be refused here";
  on_ranks(body, {.device = test_device(), .deadline = 10s, .ranks_per_node = 1});
}

/// `call` makes a plan: it fails if the last rank gets no memory, and then succeeds.
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
    HaloOptions options{.lower = {1, 0}, .upper = {1, 0}};
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
      Matmul plan(context, {a.operand(), b.operand(), {}, d.operand()});
      plan.reset(a, b, nullptr, d);
      plan.execute();
    });
  });
}

TEST(OutOfMemory, LinearSystems) {
  if (has_devices() && !tests_fake_devices()) GTEST_SKIP() << "a GPU is not told to refuse memory";
  on_nodes([](Context& context) {
    const Array a = eye(context, 34, 34, Slab(0), Dtype::f64);
    Array b = empty(context, {34, 5}, Slab(0), Dtype::f64);
    fill_random(b, 1);
    expect_all_go_without(context, "the factorization", [&] { (void)Lu(a, {.block = 3}); });
    const Cholesky factors(a, {.block = 3});
    expect_all_go_without(context, "a new array", [&] { (void)factors.solve(b); });
    expect_all_go_without(context, "the caller's array", [&] { factors.solve_into(b, b); });
  });
}

TEST(OutOfMemory, ComposedLinearAlgebra) {
  on_nodes([](Context& context) {
    const Array a = eye(context, 34, 34, Slab(0), Dtype::f64);
    Array b = empty(context, {34, 5}, Slab(0), Dtype::f64);
    fill_random(b, 1);
    expect_all_go_without(context, "the refined solution", [&] { (void)solve_refined(a, b); });
    expect_all_go_without(context, "the condition number", [&] { (void)condition(a); });
    Array batch = empty(context, {9, 4, 4}, Slab(1), Dtype::f64);
    fill_random(batch, 2);
    expect_all_go_without(context, "the inverses", [&] { (void)inverse(batch); });
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

// --- calls whose plans are there, but which take more memory this time: arrays of other strides, device
// memory of what works on the host, ...

using Call = std::function<void()>;

struct Again {
  const char* name;
  bool on_devices;                                         ///< devices do it, too
  std::function<std::pair<Call, Call>(Context&)> prepare;  ///< the call, and the same again
};

std::ostream& operator<<(std::ostream& out, const Again& again) {
  return out << again.name;
}

/// Arrays on the same memory with every third and every second element.
struct Strided {
  static constexpr std::int64_t n = 62;
  explicit Strided(Context& context)
      : room(zeros(context, {n, 3 * n}, Slab(0), Dtype::c128)),
        thirds(seen(context, 3)),
        halves(seen(context, 2)),
        columns(zeros(context, {n, n}, Slab(1), Dtype::c128)),
        rows(zeros(context, {n, n}, Slab(0), Dtype::c128)) {}
  Array seen(Context& context, std::int64_t apart) const {
    View view = room.local();
    view.extents[1] = n;
    view.strides = {3 * n, apart};
    return wrap(context, view, Slab(0), {n, n});
  }
  Array room, thirds, halves, columns, rows;
};

std::pair<Call, Call> redistribution_of_other_strides(Context& context) {
  const auto arrays = std::make_shared<Strided>(context);
  const auto plan = std::make_shared<Redistribute>(context, arrays->thirds.operand(),
                                                   arrays->columns.operand(), RedistributeOptions{});
  return {[=] { plan->execute(arrays->thirds, arrays->columns); },
          [=] { plan->execute(arrays->halves, arrays->columns); }};
}

std::pair<Call, Call> transform_of_other_strides(Context& context) {
  const auto arrays = std::make_shared<Strided>(context);
  const auto plan =
      std::make_shared<FFT>(context, arrays->thirds.operand(), arrays->columns.operand(), FftOptions{});
  return {[=] { plan->execute(arrays->thirds, arrays->columns); },
          [=] { plan->execute(arrays->halves, arrays->columns); }};
}

std::pair<Call, Call> product_of_other_strides(Context& context) {
  const auto arrays = std::make_shared<Strided>(context);
  const auto plan = std::make_shared<Matmul>(
      context,
      MatmulOperands{arrays->thirds.operand(), arrays->columns.operand(), {}, arrays->rows.operand()});
  const auto call = [=](const Array& a) {
    return [=] {
      plan->reset(a, arrays->columns, nullptr, arrays->rows);
      plan->execute();
    };
  };
  return {call(arrays->thirds), call(arrays->halves)};
}

std::pair<Call, Call> collective_of_other_strides(Context& context) {
  const auto room = std::make_shared<Array>(zeros(context, {3 * context.size(), 100}, Slab(0), Dtype::f64));
  const auto call = [&context, room](std::int64_t apart) {
    View view = room->local();
    view.extents = {3, 30};
    view.strides = {100, apart};
    return [&context, room, view] { all_reduce(context, view, view); };
  };
  return {call(1), call(3)};
}

/// Calls on fields of f64.
std::function<std::pair<Call, Call>(Context&)> called_twice(
    const std::function<void(Context&, Array&, Array&)>& call) {
  return [call](Context& context) {
    const auto field = std::make_shared<Array>(zeros(context, {6, 8}, Slab(0), Dtype::f64));
    const auto result = std::make_shared<Array>(zeros(context, {6, 8}, Slab(0), Dtype::f64));
    const Call made = [=, &context] { call(context, *field, *result); };
    return std::pair(made, made);
  };
}

std::function<std::pair<Call, Call>(Context&)> once_more(
    const std::function<void(Context&, Array&, Array&)>& call) {
  return [call](Context& context) {
    auto calls = called_twice(call)(context);
    calls.first = [] {};
    return calls;
  };
}

void apply_ones(Context&, Array& field, Array& result) {
  spectral_apply_into(field, result, [](const WaveVector&) { return std::complex<double>(1, 0); });
}

void solve_after_gradient(Context& context, Array& field, Array& result) {
  Array other = empty(context, field.layout(), field.dtype());
  std::vector<Array> results{result, other};
  gradient_into(field, results);
}

const Again again_cases[] = {
    {"Redistribution", true, redistribution_of_other_strides},
    {"Transform", false, transform_of_other_strides},
    {"Product", true, product_of_other_strides},
    {"Collective", true, collective_of_other_strides},
    {"SpectralApply", true, called_twice(apply_ones)},
    {"FirstSymbol", true,
     [](Context& context) {
       auto calls = called_twice(solve_after_gradient)(context);
       calls.second =
           called_twice([](Context&, Array& f, Array& r) { solve_poisson_into(f, r); })(context).first;
       return calls;
     }},
    {"Reduction", true, once_more([](Context&, Array& f, Array&) { (void)reduce(f, ArrayReduction::sum); })},
    {"InnerProduct", true, once_more([](Context&, Array& f, Array& r) { (void)inner_product(f, r, false); })},
    {"Comparison", true, once_more([](Context&, Array& f, Array& r) { (void)compare(f, r); })},
    {"Conversion", true, once_more([](Context&, Array& f, Array&) { (void)astype(f, Dtype::f32); })},
    {"Text", true, once_more([](Context&, Array& f, Array&) { (void)to_string(f); })},
    {"Element", true, once_more([](Context&, Array& f, Array&) {
       (void)at<double>(f, {3, 0});
     })},
    {"Gathering", true, once_more([](Context&, Array& f, Array&) { (void)gather(f, 0); })},
    {"Resizing", true, once_more([](Context& context, Array&, Array&) {
       const Array modes = zeros(context, {6, 6}, Slab(0), Dtype::c128);
       Array more = zeros(context, {9, 9}, Slab(0), Dtype::c128);
       resize_spectrum_into(modes, more, {6, 6}, {9, 9});
     })},
};

class OutOfMemoryLater : public ::testing::TestWithParam<Again> {};

TEST_P(OutOfMemoryLater, IsToldToAllAtOnce) {
  if (has_devices() && (!tests_fake_devices() || !GetParam().on_devices))
    GTEST_SKIP() << "memory that cannot be refused here";
  if (ranks().count == 1) GTEST_SKIP() << "one rank has nobody to tell";
  on_ranks(
      [](Context& context) {
        const auto [call, again] = GetParam().prepare(context);
        call();
        context.synchronize();
        context.barrier();
        const auto start = std::chrono::steady_clock::now();
        std::string said = "it is done";
        try {
          std::optional<RefusedMemory> refused;
          if (context.rank() == context.size() - 1) refused.emplace();
          again();
          context.synchronize();
        } catch (const MemoryError& error) {
          said = error.what();
        } catch (const std::exception& error) {
          ADD_FAILURE() << "another exception: " << error.what();
          said = error.what();
        }
        EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
        expect_same_text_on_all(context.rank(), said);
      },
      {.deadline = 60s});
}

INSTANTIATE_TEST_SUITE_P(Of, OutOfMemoryLater, ::testing::ValuesIn(again_cases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace partita::testing
