// What is particular about matrix multiply in device memory; all else is tested by the suites of matmul,
// which run on devices, too.
#include "support/models/device_matmul.hpp"

#include <array>
#include <partita/astype.hpp>
#include <partita/memory.hpp>

#include "context/context_state.hpp"
#include "execute/executor.hpp"
#include "support/errors.hpp"

namespace partita::testing {
namespace {

// Sums of the whole depth: the bound is that of one sum in f64, for any order of its terms.
DEVICE_MATMUL_TEST(EveryElementIsRightToTheRoundingOfItsSum) {
  constexpr std::int64_t m = 193, n = 61, k = 1025;
  const int ranks = context.size();
  const std::array<Distribution, 4> ways{Slab(0), Slab(1), BlockCyclic({1, ranks}, {16, 5}), Replicated()};
  for (const Distribution& of_a : ways) {
    for (const Distribution& of_b : ways) {
      const Array a = random_array(context, {m, k}, of_a, 1), b = random_array(context, {k, n}, of_b, 2);
      const Array d = matmul(a, b);
      EXPECT_EQ(d.local().space, MemorySpace::device);
      const Whole whole_a = Whole::random(a, 1), whole_b = Whole::random(b, 2), whole(d);
      const Product product{&whole_a, &whole_b, nullptr, {}, k};
      for (std::int64_t i = context.rank(); i < m; i += 16 * ranks) {
        for (std::int64_t j = 0; j < n; ++j) {
          const long double bound = (k + 2) * 0x1p-53L * product.magnitude(0, i, j);
          ASSERT_LE(std::abs(whole.at(0, i, j) - product.value(0, i, j)), bound)
              << i << "," << j << " A " << of_a.to_string() << " B " << of_b.to_string();
        }
      }
    }
  }
}

// Of a byte an element, along k: no copy in the workspace; any other way has one.
DEVICE_MATMUL_TEST(BytesAlongKAreMultipliedWhereTheyLie) {
  const std::int64_t n = 32 * context.size();
  for (const auto& [dtype, result] :
       {std::pair(Dtype::f8e4m3, Dtype::f32), std::pair(Dtype::f8e4m3, Dtype::bf16),
        std::pair(Dtype::i8, Dtype::i32)}) {
    for (const auto& [order, m] : {std::pair(Order::column_major, 48), std::pair(Order::row_major, 48),
                                   std::pair(Order::column_major, 47)}) {
      const Array a = random_array(context, {m, 64}, Replicated(), 1, {}, dtype);
      const Array b = random_array(context, {64, n}, Slab(1), 2, {.order = order}, dtype);
      Array d = empty(context, {m, n}, Slab(1), result, {});
      const MatmulOperands operands{.a = a.operand(), .b = b.operand(), .d = d.operand()};
      ContextState& state = *context.state();
      const auto executor = execution::Executor::bind(
          state, {plan_matmul(operands, state.topology(MemorySpace::device), context.rank())});
      EXPECT_EQ(executor->local_workspace_bytes() == 0, order == Order::column_major && m == 48)
          << name(dtype) << m;
      matmul_into(a, b, nullptr, d);
      const Array expected = matmul(astype(a, Dtype::f64), astype(b, Dtype::f64));
      const double bound = dtype == Dtype::i8 ? 0 : result == Dtype::bf16 ? 0.1 : 0.01;
      EXPECT_LE(compare(astype(d, Dtype::f64), expected).largest_difference, bound);
    }
  }
}

// Memory of the heap that begins anywhere: as any other memory.
DEVICE_MATMUL_TEST(BytesAtOddPlacesOfTheHeapAreMultiplied) {
  constexpr std::int64_t n = 32;
  const SymmetricMemory memory = SymmetricMemory::allocate(context, n * n + 1);
  const Array even = random_array(context, {n, n * context.size()}, Slab(1), 1,
                                  {.order = Order::column_major}, Dtype::f8e4m3);
  View view = even.local();
  view.data = static_cast<char*>(memory.data()) + 1;
  Array odd = wrap(context, view, even.layout());
  copy(even, odd);
  const Array a = random_array(context, {n, n}, Replicated(), 2, {}, Dtype::f8e4m3);
  const MatmulOptions options{.distribution = Slab(1)};
  EXPECT_EQ(compare(matmul(a, odd, options), matmul(a, even, options)).largest_difference, 0);
}

// Runs that are long enough to be multiplied in place, several of each dimension.
DEVICE_MATMUL_TEST(LongRunsAreMultipliedWhereTheyLie) {
  constexpr std::int64_t m = 610, n = 330, k = 540;
  const int ranks = context.size();
  const BlockCyclic rows({ranks, 1}, {130, 140}), columns({1, ranks}, {150, 135});
  for (const MatmulMethod method : {MatmulMethod::automatic, MatmulMethod::summa_a, MatmulMethod::summa_c}) {
    for (const Op op : {Op::none, Op::conjugate, Op::conjugate_transpose}) {
      MatmulOptions options{.op_a = op, .alpha = {0.5, -0.25}, .beta = {1, 2}, .method = method};
      const Array a = random_array(context, stored_shape({}, m, k, op), rows, 1, {}, Dtype::c128);
      const Array b = random_array(context, {k, n}, columns, 2, {}, Dtype::c128);
      Array c = random_array(context, {m, n}, rows, 3, {}, Dtype::c128);
      const Whole whole_a = Whole::random(a, 1), whole_b = Whole::random(b, 2), whole_c = Whole::random(c, 3);
      matmul_into(a, b, &c, c, options);
      const Whole whole(c);
      const Product product{&whole_a, &whole_b, &whole_c, options, k};
      for (std::int64_t i = context.rank(); i < m; i += 61 * ranks) {
        for (std::int64_t j = 0; j < n; j += 7) {
          const long double bound = 4 * (k + 4) * 0x1p-53L * product.magnitude(0, i, j);
          ASSERT_LE(std::abs(whole.at(0, i, j) - product.value(0, i, j)), bound) << i << "," << j;
        }
      }
    }
  }
}

// f32 is not TF32: that has 11 bits.
DEVICE_MATMUL_TEST(SingleNumbersKeepTheirBits) {
  constexpr std::int64_t n = 256;
  Array a = empty(context, {n, n}, Slab(0), Dtype::f32), b = zeros(context, {n, n}, Slab(0), Dtype::f32);
  write_values(a, [](std::int64_t number) { return 1 + 0x1p-20 * static_cast<double>(number % 1000); });
  write_values(b, [](std::int64_t number) { return number / n == number % n ? 1 : 0; });
  EXPECT_TRUE(compare(a, matmul(a, b)).equal);
}

DEVICE_MATMUL_TEST(TheSameProductGivesTheSameBits) {
  const Array a = random_array(context, {130, 517}, Slab(1), 1),
              b = random_array(context, {517, 90}, Slab(0), 2);
  const Array first = matmul(a, b);
  for (int round = 0; round < 5; ++round) EXPECT_TRUE(compare(first, matmul(a, b)).equal);
}

DEVICE_MATMUL_TEST(WithoutALibraryItIsRefusedAndTheContextLivesOn) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const Array a = random_array(context, {11, 8}, Slab(0), 1), b = random_array(context, {8, 11}, Slab(0), 1);
  context.barrier();
  fake_devices_compute(false);
  context.barrier();
  EXPECT_ERROR(UnsupportedError, matmul(a, b), "no math library is available for this device");
  context.barrier();
  fake_devices_compute(true);
  context.barrier();
  const Whole whole_a = Whole::random(a, 1), whole_b = Whole::random(b, 1);
  expect_product({&whole_a, &whole_b, nullptr, {}, 8}, Whole(matmul(a, b)), Dtype::f64, context.rank(),
                 context.size(), "afterwards");
}

}  // namespace
}  // namespace partita::testing
