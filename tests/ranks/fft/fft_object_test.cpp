// The object: many transforms of one plan, its scratch, and what holds for arrays of any size.
#include "support/models/fft_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Over all elements of a whole array: the sum of |x|^2, from the parts that every rank holds.
long double energy(const Array& array) {
  const Array whole = redistribute(array, Replicated());
  long double sum = 0;
  each_number(whole, [&](std::size_t, auto& element) { sum += std::norm(number_of(element)); });
  return sum;
}

// Larger than what the definition could check: the norm is kept, and the transform is linear.
RANK_TEST(FftObject, ParsevalAndLinearity) {
  const Shape shape{61, 36, 50};
  Array a = empty(context, shape, Slab(0), Dtype::c128);
  Array b = empty(context, shape, Slab(0), Dtype::c128);
  fill_random(a, 1);
  fill_random(b, 2);
  FFT plan(context, a.operand(), {.norm = Norm::ortho, .output = Output::cheapest});
  std::vector<Array> outputs;
  for (int i = 0; i < 2; ++i) outputs.push_back(empty(context, plan.output().layout, Dtype::c128));
  plan.execute_batch({a, b}, outputs);
  const long double before = energy(a);
  EXPECT_LT(std::abs(energy(outputs[0]) - before) / before, 1e-13L);

  Array sum = empty(context, shape, Slab(0), Dtype::c128);
  const std::complex<double> factor(0.5, -2);
  copy(a, sum);
  axpy(factor, b, sum);
  Array transformed_sum = empty(context, plan.output().layout, Dtype::c128);
  plan.execute(sum, transformed_sum);
  axpy(factor, outputs[1], outputs[0]);
  EXPECT_LT(compare(transformed_sum, outputs[0]).largest_difference, 1e-13);
}

RANK_TEST(FftObject, ScaleAndManyTransformsOfOnePlan) {
  const Shape shape{12, 6, 5};
  std::vector<Array> inputs;
  std::vector<Array> outputs;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(empty(context, shape, Slab(0), Dtype::c128));
    outputs.push_back(empty(context, shape, Slab(1), Dtype::c128));
    fill_random(inputs.back(), static_cast<std::uint64_t>(i));
  }
  FFT plan(context, inputs[0].operand(), outputs[0].operand());
  plan.execute_batch(inputs, outputs, 0.5);
  for (int i = 0; i < 3; ++i) {
    NumberArray expected =
        transformed(random_whole(context, shape, Dtype::c128, static_cast<std::uint64_t>(i)), {});
    for (Number& value : expected.values) value *= 0.5L;
    EXPECT_LT(relative_error(outputs[static_cast<std::size_t>(i)], expected), tolerance(Dtype::c128, shape));
  }
}

RANK_TEST(FftObject, WorkspaceReleaseAndAutotune) {
  const Shape shape{9, 8, 7};
  Array input = empty(context, shape, Slab(0), Dtype::c128);
  Array output = empty(context, shape, Slab(1), Dtype::c128);
  fill_random(input, 2);
  const NumberArray whole = random_whole(context, shape, Dtype::c128, 2);
  const NumberArray expected = transformed(whole, {});
  const double most = tolerance(Dtype::c128, shape);
  FFT plan(context, input.operand(), output.operand());
  plan.reset(input, output);
  const auto right = [&] {
    fill_random(output, 3);
    plan.execute();
    EXPECT_LT(relative_error(output, expected), most);
  };
  right();
  plan.release();
  right();
  Array workspace = empty(context, Shape{context.size(), plan.workspace_size() + 65536}, Slab(0), Dtype::u8);
  plan.set_workspace(workspace);
  right();
  fill_random(input, 4);
  plan.inverse(output, input);
  EXPECT_LT(relative_error(input, whole), most);
  EXPECT_FALSE(plan.autotune(2).empty());
  right();
  EXPECT_TRUE(contains(plan.explain(), "fft"));
}

RANK_TEST(FftObject, ARefusedOperandLeavesNothingBehind) {
  const Shape shape{12, 6, 5};
  const Layout slabs(Slab(0), shape, context.size());
  WrappedSymmetric first = spread(context, slabs, Dtype::c128, 2),
                   second = spread(context, slabs, Dtype::c128, 3);
  Array output = empty(context, shape, Slab(1), Dtype::c128);
  Array wrong = empty(context, shape, Slab(1), Dtype::c64);
  fill_random(first.array, 1);
  fill_random(second.array, 1);
  const NumberArray expected = transformed(random_whole(context, shape, Dtype::c128, 1), {});
  FFT plan(context, first.array.operand(), output.operand());
  plan.execute(first.array, output);
  EXPECT_LT(relative_error(output, expected), tolerance(Dtype::c128, shape));
  EXPECT_THROW(plan.execute(second.array, wrong), ArgumentError);
  fill(output, std::complex<double>(0));
  plan.execute(second.array, output);
  EXPECT_LT(relative_error(output, expected), tolerance(Dtype::c128, shape)) << "after a refused call";
}

}  // namespace
}  // namespace partita::testing
