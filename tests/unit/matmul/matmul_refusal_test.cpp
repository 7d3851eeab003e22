// Multiplies that are refused, and in what words.
#include "support/models/matmul_case.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::MatmulCase;

class MatmulRefusal : public ::testing::Test {
 protected:
  template <class Refusal = ArgumentError>
  void refuses(const std::string& text) {
    EXPECT_ERROR(Refusal, test.plan(0), text);
  }
  Operand vector(std::int64_t length, Dtype dtype = Dtype::f64) {
    return Operand::of(Layout(Slab(0), {length}, 2), dtype);
  }
  Operand matrix(std::int64_t rows, std::int64_t columns, Dtype dtype = Dtype::f64, int ranks = 2) {
    return Operand::of(Layout(Slab(0), {rows, columns}, ranks), dtype);
  }
  MatmulCase test = testing::square(8, Slab(0), Topology::regular(2));
};

TEST_F(MatmulRefusal, ShapesThatDoNotMultiply) {
  test.operands.a = matrix(8, 7);
  refuses("columns of op(A)");
  test.operands.a = matrix(7, 8);
  refuses("rows of op(A)");
  test.operands.a = vector(8);
  refuses("one dimension less than the matrix");
  test.operands.a = Operand::of(Layout(Replicated(), {}, 2), Dtype::f64);
  refuses("at least two dimensions");
  test.operands.a = Operand::of(Layout(Slab(0), {2, 8, 8}, 2), Dtype::f64);
  refuses("leading dimensions");
}

TEST_F(MatmulRefusal, DtypesThatAreNotSupportedTogether) {
  test.operands.b = matrix(8, 8, Dtype::f32);
  refuses("supported are f32");
  test.operands.a = test.operands.b = matrix(8, 8, Dtype::i32);
  refuses("matrices of i32");
  test.operands.a = test.operands.b = matrix(8, 8, Dtype::bf16);
  refuses("into one of f64");
}

TEST_F(MatmulRefusal, ComputeTypesAndScalesThatTheDtypesDoNotHave) {
  test.options.compute = ComputeType::f32;
  refuses<UnsupportedError>("cannot compute in f32 with matrices of f64: supported: f64");
  test.options.compute = ComputeType::automatic;
  test.options.scale = Dtype::f32;
  refuses<UnsupportedError>("alpha and beta in f32 with matrices of f64 computed in f64: supported: f64");
  test.operands.a = test.operands.b = test.operands.d = matrix(8, 8, Dtype::bf16);
  test.options.scale = {};
  test.options.compute = ComputeType::tf32;
  refuses<UnsupportedError>("in tf32 with matrices of bf16: supported: f32");
  test.operands.a = test.operands.b = test.operands.d = matrix(8, 8, Dtype::f16);
  test.options.compute = ComputeType::f32;
  test.options.scale = Dtype::f16;
  refuses<UnsupportedError>("in f16 with matrices of f16 computed in f32: supported: f32");
}

TEST_F(MatmulRefusal, ComputeTypesThatTheDtypesHaveAreKeptInTheSteps) {
  const auto planned = [&](Dtype dtype, ComputeType compute, std::optional<Dtype> scale = {}) {
    test.operands.a = test.operands.b = test.operands.d = matrix(8, 8, dtype);
    test.options.compute = compute;
    test.options.scale = scale;
    const Plan plan = test.plan(0);
    return std::get<Multiply>(plan.works.front()).compute;
  };
  for (const Dtype dtype : {Dtype::f32, Dtype::c64}) {
    for (const ComputeType compute : {ComputeType::f32, ComputeType::tf32, ComputeType::bf16x9})
      EXPECT_EQ(planned(dtype, compute, dtype), compute);
  }
  EXPECT_EQ(planned(Dtype::f16, ComputeType::f16, Dtype::f16), ComputeType::f16);
  EXPECT_EQ(planned(Dtype::bf16, ComputeType::f32, Dtype::f32), ComputeType::f32);
  EXPECT_EQ(planned(Dtype::c128, ComputeType::f64, Dtype::c128), ComputeType::f64);
  EXPECT_EQ(planned(Dtype::f64, ComputeType::automatic), ComputeType::automatic);
  EXPECT_FALSE(contains(explain(test.plan(0)), "in f64"));
  (void)planned(Dtype::f32, ComputeType::tf32);
  EXPECT_TRUE(contains(explain(test.plan(0), {.steps = true}), " in tf32"));
}

TEST_F(MatmulRefusal, LayoutsOfAnotherGroup) {
  test.operands.a = matrix(8, 8, Dtype::f64, 3);
  refuses("over the 2 ranks");
}

TEST_F(MatmulRefusal, ArraysThatDoNotSuitTheEpilogue) {
  test.operands.epilogue.bias = vector(8);
  refuses("has no bias");
  test.options.epilogue = Epilogue::bias;
  test.operands.epilogue.bias = vector(7);
  refuses("bias has shape");
  test.operands.epilogue.bias = std::nullopt;
  refuses("needs a bias");
  test.options.epilogue = Epilogue::all_reduce;
  refuses("all_reduce");
}

TEST_F(MatmulRefusal, ActivationsOfComplexNumbers) {
  test.operands.a = test.operands.b = test.operands.d = matrix(8, 8, Dtype::c128);
  test.options.epilogue = Epilogue::relu;
  refuses("not defined for c128");
}

TEST_F(MatmulRefusal, ALimitTooSmallForAnyMethod) {
  test.topology = Topology::regular(2, 1);
  test.options.memory_limit = 8;
  refuses("memory");
}

}  // namespace
}  // namespace partita
