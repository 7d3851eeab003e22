// Multiplies that are refused, and in what words.
#include <gtest/gtest.h>

#include <partita/error.hpp>
#include <partita/matmul.hpp>

#include "unit/matmul_case.hpp"

namespace partita {
namespace {

using testing::MatmulCase;

class MatmulRefusal : public ::testing::Test {
 protected:
  void refuses(const std::string& text) {
    try {
      (void)test.plan(0);
      ADD_FAILURE() << "not refused: " << text;
    } catch (const ArgumentError& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
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
  test.operands.a = test.operands.b = matrix(8, 8);
  test.options.compute = Dtype::f32;
  refuses("compute in f32");
}

TEST_F(MatmulRefusal, LayoutsOfAnotherGroup) {
  test.operands.a = matrix(8, 8, Dtype::f64, 3);
  refuses("over the 2 ranks");
}

TEST_F(MatmulRefusal, ArraysThatDoNotSuitTheEpilogue) {
  test.operands.bias = vector(8);
  refuses("has no bias");
  test.options.epilogue = Epilogue::bias;
  test.operands.bias = vector(7);
  refuses("bias has shape");
  test.operands.bias = std::nullopt;
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
