// Linear algebra in device memory: operands on both sides, and the order of streams.
#include "support/fakes/fake_device.hpp"
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

#define DEVICE_LINEAR_TEST(name) DEVICE_TEST_OF(DeviceLinear, name)

constexpr std::int64_t device_side = 23;

DEVICE_LINEAR_TEST(OperandsInHostAndDeviceMemory) {
  const DenseMatrix matrix = random_numbers(device_side, device_side, Dtype::c64, 1),
                    many = random_numbers(device_side, 5, Dtype::c64, 2);
  const auto space_of = [](int bit, int bits) {
    return (bits >> bit) % 2 == 0 ? MemorySpace::host : MemorySpace::device;
  };
  for (int bits = 0; bits < 8; ++bits) {
    SCOPED_TRACE(bits);
    const Array a = array_of(context, matrix, Slab(1), Dtype::c64, {.space = space_of(0, bits)});
    Array b = array_of(context, many, Slab(0), Dtype::c64, {.space = space_of(1, bits)});
    const Lu lu(a, {.block = 3});
    const Array x = lu.solve(b, {.space = space_of(2, bits)});
    EXPECT_EQ(x.operand().space, space_of(2, bits));
    expect_solves(matrix, dense_of(x), many, Dtype::c64);
    EXPECT_EQ(lu.packed().operand().space, a.operand().space);
    expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), Dtype::c64);
    Array other = empty(context, {device_side, 5}, Slab(1), Dtype::c64, {.space = space_of(2, bits)});

    lu.solve_into(b, other, {.op = Op::conjugate_transpose});
    expect_solves(adjoint(matrix), dense_of(other), many, Dtype::c64);
    lu.solve_into(b, b);
    expect_solves(matrix, dense_of(b), many, Dtype::c64);
    expect_least_squares(matrix, dense_of(lstsq(a, other)), dense_of(other), Dtype::c64);
  }
}

/// Right-hand sides of two kinds, which take turns in one array.
class SolvesInTurns {
 public:
  SolvesInTurns(Context& context, const DenseMatrix& matrix)
      : context_(context),
        matrix_(matrix),
        b_(empty(context, {matrix.rows, 4}, Slab(0), Dtype::f64)),
        x_(empty(context, {matrix.columns, 4}, Slab(1), Dtype::f64)) {
    for (std::uint64_t kind = 0; kind < 2; ++kind) {
      numbers_.push_back(random_numbers(matrix.rows, 4, Dtype::f64, 3 + kind));
      kinds_.push_back(array_of(context, numbers_.back(), Slab(0), Dtype::f64));
    }
  }

  /// What is read and what is written is overwritten in stream order.
  template <class Factors>
  void solve(const Factors& factors, Stream stream) {
    copy(kinds_[results_.size() % 2], b_, stream);
    factors.solve_into(b_, x_, {.stream = stream});
    fill(b_, std::numeric_limits<double>::quiet_NaN(), stream);
    results_.push_back(clone(x_, {.stream = stream}));
    fill(x_, std::numeric_limits<double>::quiet_NaN(), stream);
  }

  void expect() const {
    context_.synchronize();
    for (std::size_t round = 0; round < results_.size(); ++round) {
      SCOPED_TRACE(round);
      expect_least_squares(matrix_, dense_of(results_[round]), numbers_[round % 2], Dtype::f64);
    }
  }

 private:
  Context& context_;
  DenseMatrix matrix_;
  Array b_, x_;
  std::vector<DenseMatrix> numbers_;
  std::vector<Array> kinds_, results_;
};

template <class Factors>
void solve_in_stream_order(Context& context, const DenseMatrix& matrix, std::int64_t block = 3) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  const Factors factors(array_of(context, matrix, Slab(0), Dtype::f64), {.block = block});
  SolvesInTurns solves(context, matrix);
  for (int round = 0; round < 12; ++round) {
    solves.solve(factors, Stream{});
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  }
  solves.expect();
}

/// Panels of whole blocks of rows: with devices of their own, in one launch for each triangle.
template <class Factors>
void solve_few_sides(Context& context, const DenseMatrix& matrix, Dtype dtype) {
  const std::int64_t n = matrix.rows;
  const Array a = array_of(context, matrix, Slab(0), dtype);
  for (const std::int64_t width : {64, 128}) {
    const Factors factors(a, {.block = width});
    for (const std::int64_t count : {1, 5, 16}) {
      for (const Op op : every_op) {
        SCOPED_TRACE(fmt::format("{} {} rows in panels of {}, {} sides, op {}", name(dtype), n, width, count,
                                 static_cast<int>(op)));
        const DenseMatrix sides = random_numbers(n, count, dtype, 12);
        Array b = array_of(context, sides, Slab(0), dtype);
        expect_solves(op_of(matrix, op), dense_of(factors.solve(b, {.op = op})), sides, dtype);
        factors.solve_into(b, b, {.op = op});
        expect_solves(op_of(matrix, op), dense_of(b), sides, dtype);
      }
    }
  }
}

DEVICE_LINEAR_TEST(SolvesForFewSidesByTheTrianglesOfSeveralDevices) {
  for (const std::int64_t n : {1, 64, 130, 150, 200}) {
    const Dtype dtype = n == 130 ? Dtype::c128 : n == 150 ? Dtype::f32 : n == 64 ? Dtype::c64 : Dtype::f64;
    solve_few_sides<Lu>(context, random_numbers(n, n, dtype, 10), dtype);
    solve_few_sides<Cholesky>(context, positive_definite(n, dtype, 11), dtype);
  }
}

DEVICE_LINEAR_TEST(SolvesInStreamOrder) {
  solve_in_stream_order<Lu>(context, random_numbers(device_side, device_side, Dtype::f64, 5));
  solve_in_stream_order<Cholesky>(context, positive_definite(device_side, Dtype::f64, 6));
  solve_in_stream_order<Lu>(context, random_numbers(200, 200, Dtype::f64, 9), 64);
  solve_in_stream_order<Qr>(context, random_numbers(30, device_side, Dtype::f64, 7));
}

DEVICE_LINEAR_TEST(StreamsTakeTurns) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream one, other;
  const DenseMatrix matrix = random_numbers(device_side, device_side, Dtype::f64, 8);
  const Lu lu(array_of(context, matrix, Slab(0), Dtype::f64), {.block = 3});
  SolvesInTurns solves(context, matrix);
  for (int round = 0; round < 9; ++round) {
    const Stream stream = round % 3 == 0 ? one.stream() : round % 3 == 1 ? other.stream() : context.stream();
    solves.solve(lu, stream);
    if (round % 3 == context.rank() % 3) delay_fake_stream(stream, std::chrono::milliseconds(2));
  }
  solves.expect();
}

// A factorization waits for what the context's stream does with the matrix, and solves for both.
DEVICE_LINEAR_TEST(FactorizesWhatTheStreamHasWritten) {
  const DenseMatrix many = random_numbers(device_side, 4, Dtype::f64, 9);
  const Array b = array_of(context, many, Slab(0), Dtype::f64);
  Array a = empty(context, {device_side, device_side}, Slab(0), Dtype::f64);
  std::optional<Lu> lu;
  for (std::uint64_t seed = 10; seed < 14; ++seed) {
    const DenseMatrix matrix = random_numbers(device_side, device_side, Dtype::f64, seed);
    const Array given = array_of(context, matrix, Slab(0), Dtype::f64);
    if (tests_fake_devices()) delay_fake_stream(context.stream(), std::chrono::milliseconds(2));
    copy(given, a, Stream{});
    lu ? lu->factorize(a) : static_cast<void>(lu.emplace(a, FactorOptions{.block = 3}));
    const Array x = lu->solve(b, {.stream = Stream{}});
    context.synchronize();
    expect_solves(matrix, dense_of(x), many, Dtype::f64);
  }
}

}  // namespace
}  // namespace partita::testing
