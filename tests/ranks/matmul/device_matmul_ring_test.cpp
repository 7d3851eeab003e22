// Matrix multiply on devices whose sums go around the ring of ranks: too large for packets.
#include <fmt/format.h>
#include <unistd.h>

#include "device/packet_exchange.hpp"
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// On a machine whose links count for more than starts, so that the ring is the cheaper way.
void on_ranks_of_slow_links(const std::function<void(Context&)>& body) {
  on_ranks(body, {.machine = "laptop"});
}

#define MATMUL_RING_TEST(name)                                                       \
  static void name(Context& context);                                                \
  TEST(DeviceMatmulRing, name) {                                                     \
    NEEDS_DEVICES();                                                                 \
    on_ranks_of_slow_links([](Context& on_this_context) { name(on_this_context); }); \
  }                                                                                  \
  static void name(Context& context)

struct RingCase {
  Dtype dtype = Dtype::f64;
  Distribution result = Slab(0);
  Residency residency = Residency::heap;
  Epilogue epilogue = Epilogue::none;
  bool adds_c = false;
  std::string way = "around the ring";  ///< as plans say it
};

/// A and B cut along k alike, and what is made of them.
struct RingArrays {
  static constexpr std::int64_t rows = 600, depth = 12;
  std::int64_t columns;
  Array a, b, c, d, bias;

  RingArrays(Context& context, const RingCase& test)
      : columns(devices::PacketSlots::most_given_at_once / size_of(test.dtype) / rows + 9),
        a(cut(context, test, {rows, depth}, Slab(1))),
        b(cut(context, test, {depth, columns}, Slab(0))),
        c(cut(context, test, {rows, columns}, test.result)),
        d(cut(context, test, {rows, columns}, test.result)),
        bias(empty(context, {rows}, Replicated(), test.dtype)) {
    fill_random(c, 3);
    fill_random(bias, 4);
  }

  static Array cut(Context& context, const RingCase& test, const Shape& shape, const Distribution& how) {
    return empty(context, shape, how, test.dtype, {.residency = test.residency});
  }
};

/// The rounding of the sums of all ranks and of D.
double bound_of(Dtype dtype) {
  return dtype == Dtype::bf16 ? 0.25 : dtype == Dtype::f32 ? 1e-4 : 1e-12;
}

// Twice, of other numbers, which are overwritten in stream order.
void expect_product(Context& context, const RingCase& test) {
  RingArrays arrays(context, test);
  MatmulOptions options{.beta = test.adds_c ? 2 : 0, .epilogue = test.epilogue, .reduce_dtype = test.dtype};
  options.method =
      test.result == Distribution(Replicated()) ? MatmulMethod::all_reduce : MatmulMethod::reduce_scatter;
  const auto given = [&](Array& array) { return std::optional<Operand>(array.operand()); };
  const bool biased = test.epilogue == Epilogue::gelu_bias;
  MatmulOperands operands{arrays.a.operand(), arrays.b.operand(), {}, arrays.d.operand()};
  if (test.adds_c) operands.c = given(arrays.c);
  if (biased) operands.epilogue.bias = given(arrays.bias);
  EpilogueArrays beside;
  if (biased) beside.bias = &arrays.bias;
  Matmul plan(context, operands, options);
  if (context.size() > 1 && context.topology().node_count() == 1) {
    EXPECT_TRUE(contains(plan.explain(), test.way)) << plan.explain();
  }
  plan.reset(arrays.a, arrays.b, test.adds_c ? &arrays.c : nullptr, arrays.d, beside);
  MatmulOptions wide{.beta = options.beta, .epilogue = test.epilogue, .distribution = test.result};
  const Array wide_c = astype(arrays.c, Dtype::f64), wide_bias = astype(arrays.bias, Dtype::f64);
  if (biased) beside.bias = &wide_bias;
  const auto not_a_number = [&](const Array& like) {
    const Array wide_like =
        full(context, like.shape(), like.layout().distribution(), std::numeric_limits<double>::quiet_NaN());
    return astype(wide_like, test.dtype);
  };
  const Array no_a = not_a_number(arrays.a), no_b = not_a_number(arrays.b);
  for (const std::uint64_t seed : {1U, 11U}) {
    fill_random(arrays.a, seed);
    fill_random(arrays.b, seed + 1);
    plan.execute(1, options.beta, context.stream());
    copy(no_a, arrays.a, context.stream());
    copy(no_b, arrays.b, context.stream());
    const Array d = astype(arrays.d, Dtype::f64);
    fill_random(arrays.a, seed);
    fill_random(arrays.b, seed + 1);
    const Array a = astype(redistribute(arrays.a, Replicated()), Dtype::f64),
                b = astype(redistribute(arrays.b, Replicated()), Dtype::f64);
    const Array expected = test.adds_c ? matmul(a, b, wide_c, wide, beside) : matmul(a, b, wide, beside);
    EXPECT_LE(compare(d, expected).largest_difference, bound_of(test.dtype)) << plan.explain();
  }
}

MATMUL_RING_TEST(SumsWhatAllRanksMake) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16}) {
    for (const Distribution& result :
         {Distribution(Slab(0)), Distribution(Slab(1)), Distribution(Replicated())})
      expect_product(context, {dtype, result});
  }
}

MATMUL_RING_TEST(DoesTheLastPassBehindTheLastSum) {
  for (const Distribution& result : {Distribution(Slab(0)), Distribution(Replicated())}) {
    for (const Epilogue epilogue : {Epilogue::relu, Epilogue::gelu_bias}) {
      for (const bool adds_c : {false, true})
        expect_product(context, {Dtype::f64, result, Residency::heap, epilogue, adds_c});
    }
  }
}

MATMUL_RING_TEST(TakesOrdinaryMemory) {
  expect_product(context, {Dtype::bf16, Slab(0), Residency::ordinary});
  expect_product(context, {Dtype::f32, Replicated(), Residency::ordinary, Epilogue::relu, true});
}

/// As "laptop" but for signals, so that what waits for many of them takes long.
constexpr auto machine_of_slow_signals = R"({
  "name": "slow-signals",
  "description": "Signals take a millisecond.",
  "ranks_per_node": 2,
  "copy_bandwidth": 12e9,
  "node_copy_bandwidth": 20e9,
  "strided_bandwidth": 6e9,
  "copy_latency": 2e-7,
  "signal_latency": 1e-3,
  "peer_bandwidth": 12e9,
  "network_bandwidth": 5e9,
  "network_latency": 2e-6,
  "flops": 1e11
})";

TEST(DeviceMatmulRing, SumsInChains) {
  NEEDS_DEVICES();
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("partita-slow-signals-{}.json", getpid());
  std::ofstream(file) << machine_of_slow_signals;
  on_ranks(
      [](Context& context) {
        RingCase test;
        if (context.size() > 2) test.way = "chains";
        for (const Distribution& result : {Distribution(Slab(0)), Distribution(Replicated())}) {
          test.result = result;
          for (const bool adds_c : {false, true}) {
            test.adds_c = adds_c;
            test.epilogue = adds_c ? Epilogue::relu : Epilogue::none;
            expect_product(context, test);
          }
        }
      },
      {.machine = file.string()});
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace partita::testing
