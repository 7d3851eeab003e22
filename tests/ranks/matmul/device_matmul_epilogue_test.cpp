// What follows the sums of a product comes with it where the device has both together.
#include <algorithm>
#include <array>
#include <partita/astype.hpp>

#include "support/fakes/fake_math.hpp"
#include "support/models/device_matmul.hpp"

namespace partita::testing {
namespace {

/// A bias along the rows of what is stored by columns, and any activation. Shards of A bring parts of D,
/// whose sums follow each other only by rows, if they are stored apart from D.
void expect_ends_with_sums(Context& context, const Distribution& of_a) {
  const bool moves = of_a == Distribution(Slab(0)) && context.size() > 1;
  const std::int64_t m = 64 * context.size();  // the bias of each shard is aligned
  for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) {
    for (const Order order : {Order::row_major, Order::column_major}) {
      for (const Epilogue epilogue : {Epilogue::relu, Epilogue::gelu, Epilogue::relu_bias, Epilogue::bias}) {
        const ArrayOptions how{.order = order};
        const Array a = random_array(context, {m, 40}, of_a, 1, how, dtype);
        const Array b = random_array(context, {40, 48 * context.size()}, Slab(1), 2, how, dtype);
        const Array bias = random_array(context, {m}, Replicated(), 3, {}, dtype);
        MatmulOptions options{.epilogue = epilogue, .distribution = Slab(1), .order = order};
        EpilogueArrays arrays;
        const bool biased = epilogue == Epilogue::relu_bias || epilogue == Epilogue::bias;
        if (biased) arrays.bias = &bias;
        context.barrier();
        const int before = FakeMath::ended_products();
        context.barrier();
        const Array d = matmul(a, b, options, arrays);
        context.barrier();
        const bool by_columns = order == Order::column_major;
        const bool together = (!biased || by_columns) && !(moves && by_columns && dtype == Dtype::bf16);
        if (tests_fake_devices()) {
          EXPECT_EQ(FakeMath::ended_products() > before, together);
        }
        const Array wide_a = astype(a, Dtype::f64), wide_b = astype(b, Dtype::f64);
        const Array wide_bias = astype(bias, Dtype::f64);
        if (biased) arrays.bias = &wide_bias;
        const Array expected = matmul(wide_a, wide_b, options, arrays);
        const double bound = dtype == Dtype::bf16 ? 0.1 : 1e-4;
        EXPECT_LE(compare(astype(d, Dtype::f64), expected).largest_difference, bound);
      }
    }
  }
}

DEVICE_MATMUL_TEST(WhatFollowsTheSumsComesWithThem) {
  expect_ends_with_sums(context, Replicated());
}

// Each shard's part of D is final when it has been multiplied.
DEVICE_MATMUL_TEST(WhatFollowsTheSumsComesWithThemWhereShardsMove) {
  expect_ends_with_sums(context, Slab(0));
}

/// What an epilogue reads and writes in addition to D and C.
struct Beside {
  Array bias, auxiliary, gradient, c;
  EpilogueArrays arrays;

  Beside(Context& context, const Array& d, Dtype dtype, ArrayOptions how, Order of_auxiliary,
         std::uint64_t seed)
      : bias(random_array(context, {d.shape()[d.shape().size() - 2]}, Replicated(), seed, {}, dtype)),
        auxiliary(random_array(context, d.shape(), d.layout().distribution(), seed + 1,
                               {.order = of_auxiliary}, dtype)),
        gradient(random_array(context, bias.shape(), Replicated(), seed + 2, {}, dtype)),
        c(random_array(context, d.shape(), d.layout().distribution(), seed + 3, how, dtype)) {}

  void use(Epilogue epilogue) {
    const auto is_one_of = [epilogue](auto... of) { return ((epilogue == of) || ...); };
    arrays = {};
    if (is_one_of(Epilogue::bias, Epilogue::gelu_bias_aux, Epilogue::relu_bias_aux)) arrays.bias = &bias;
    if (!is_one_of(Epilogue::bias, Epilogue::none)) arrays.auxiliary = &auxiliary;
    if (is_one_of(Epilogue::dgelu_bias_gradient, Epilogue::drelu_bias_gradient)) arrays.gradient = &gradient;
  }
};

struct EndedCase {
  Epilogue epilogue;
  bool with_c = false;
};

constexpr std::array ended_cases{
    EndedCase{Epilogue::gelu_aux},      EndedCase{Epilogue::gelu_bias_aux},
    EndedCase{Epilogue::dgelu},         EndedCase{Epilogue::dgelu_bias_gradient},
    EndedCase{Epilogue::none, true},    EndedCase{Epilogue::bias, true},
    EndedCase{Epilogue::dgelu, true},   EndedCase{Epilogue::gelu_bias_aux, true},
    EndedCase{Epilogue::relu_bias_aux}, EndedCase{Epilogue::drelu_bias_gradient, true},
    EndedCase{Epilogue::relu_aux},
};

bool is_of_relu(Epilogue epilogue) {
  using enum Epilogue;
  return epilogue == relu_bias_aux || epilogue == relu_aux || epilogue == drelu_bias_gradient;
}

/// One matrix by columns, or three by rows, where no bias comes with a product; against f64. `alike`: the
/// auxiliary array has D's layout.
void expect_ended(Context& context, const EndedCase& one, bool batches, std::int64_t rows, bool in_place,
                  bool alike) {
  const auto shape = [&](std::int64_t r, std::int64_t c) { return batches ? Shape{3, r, c} : Shape{r, c}; };
  const Order order = batches ? Order::row_major : Order::column_major;
  const Order other = batches ? Order::column_major : Order::row_major;
  const ArrayOptions how{.order = order};
  const Dtype dtype = Dtype::bf16;
  const Distribution of_d = Slab(batches ? 2 : 1);
  const std::int64_t n = 16 * context.size();
  const Array a = random_array(context, {rows, 40}, Replicated(), 1, how, dtype);
  const Array b = random_array(context, shape(40, n), of_d, 2, how, dtype);
  Array d = empty(context, shape(rows, n), of_d, dtype, how);
  Beside beside(context, d, dtype, how, alike ? order : other, 3);
  MatmulOptions options{.alpha = 0.25, .epilogue = one.epilogue};
  if (one.with_c) options.beta = -0.5;
  beside.use(one.epilogue);
  Beside wide = beside;
  for (Array* const array : {&wide.bias, &wide.auxiliary, &wide.gradient, &wide.c})
    *array = astype(*array, Dtype::f64);
  wide.use(one.epilogue);
  Array wide_d = empty(context, d.shape(), of_d, Dtype::f64);
  matmul_into(astype(a, Dtype::f64), astype(b, Dtype::f64), one.with_c ? &wide.c : nullptr, wide_d, options,
              wide.arrays);
  context.barrier();
  const int before = FakeMath::ended_products();
  context.barrier();
  matmul_into(a, b, one.with_c ? &beside.c : nullptr, in_place ? beside.c : d, options, beside.arrays);
  context.barrier();
  const bool biased = beside.arrays.bias != nullptr;
  const bool of_gelu = beside.arrays.auxiliary != nullptr && !is_of_relu(one.epilogue);
  const bool lies = !of_gelu || (alike && (batches || rows % 8 == 0));
  // What relu does follows what has been rounded; C alone, in place, is the sums' own.
  const bool adds_c = one.with_c && !(in_place && one.epilogue == Epilogue::none);
  const bool has_more = biased || of_gelu || adds_c;
  if (tests_fake_devices()) {
    EXPECT_EQ(FakeMath::ended_products() > before, lies && has_more && !(batches && biased))
        << static_cast<int>(one.epilogue) << (one.with_c ? " with C" : "") << (batches ? " batches" : "");
  }
  const auto expect_near = [&](const Array& got, const Array& expected, double bound) {
    EXPECT_LE(compare(astype(got, Dtype::f64), expected).largest_difference, bound)
        << static_cast<int>(one.epilogue) << (one.with_c ? " with C" : "") << (in_place ? " in place" : "")
        << ", " << rows << " rows" << (batches ? ", batches" : "");
  };
  expect_near(in_place ? beside.c : d, wide_d, 0.03);
  expect_near(beside.auxiliary, wide.auxiliary, 0.03);
  if (beside.arrays.gradient != nullptr) expect_near(beside.gradient, wide.gradient, 0.5);
}

// Auxiliary matrices, derivatives and a separate C; and where memory has another layout, as ever.
DEVICE_MATMUL_TEST(AuxiliaryMatricesAndCComeWithTheSums) {
  for (const EndedCase& one : ended_cases) {
    for (const std::int64_t rows : {64, 61}) {
      for (const bool alike : {true, false}) {
        expect_ended(context, one, false, rows, false, alike);
        expect_ended(context, one, true, rows, false, alike);
        if (one.with_c) expect_ended(context, one, false, rows, true, alike);
      }
    }
  }
}

// relu of what has been rounded is what relu of the sums is rounded to, so D is the auxiliary array's.
DEVICE_MATMUL_TEST(WhatReluLeavesIsWhatItWasMadeOf) {
  const ArrayOptions how{};
  const Array a = random_array(context, {48, 40}, Slab(0), 1, how, Dtype::bf16);
  const Array b = random_array(context, {40, 32}, Replicated(), 2, how, Dtype::bf16);
  Array d = empty(context, {48, 32}, Slab(0), Dtype::bf16, how);
  Array auxiliary = empty(context, {48, 32}, Slab(0), Dtype::bf16, how);
  matmul_into(a, b, nullptr, d, {.epilogue = Epilogue::relu_aux}, {.auxiliary = &auxiliary});
  const Whole whole(d), before(auxiliary);
  for (std::int64_t i = 0; i < 48; ++i) {
    for (std::int64_t j = 0; j < 32; ++j)
      ASSERT_EQ(whole.at(0, i, j).real(), std::max(before.at(0, i, j).real(), 0.0L)) << i << "," << j;
  }
}

}  // namespace
}  // namespace partita::testing
