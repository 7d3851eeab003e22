// Solves of few right-hand sides and exchanges of their rows on a GPU, against their definitions.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "cuda/math_case.hpp"
#include "device/device_factorizations.hpp"

namespace partita::testing {
namespace {

class CudaFewSides : public CudaMathTest {
 protected:
  void SetUp() override {
    CudaMathTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    factorizations_ = device_->factorizations();
    if (factorizations_ == nullptr) GTEST_SKIP() << device_->why_no_factorizations();
  }

  devices::DeviceTriangularSolve random_solve(Dtype dtype) {
    devices::DeviceTriangularSolve what;
    what.dtype = dtype;
    what.op = std::array{Op::none, Op::transpose, Op::conjugate_transpose}.at(
        static_cast<std::size_t>(number(0, 2)));
    what.upper = number(0, 1) == 1;
    what.unit_diagonal = number(0, 1) == 1;
    what.m = number(0, 3) == 0 ? number(1, 200) : number(1, 3000);
    what.n = number(0, 2) == 0 ? number(9, 70) : number(1, 8);
    what.leading = what.m + number(0, 3);
    what.leading_triangle = what.m + number(0, 3);
    return what;
  }

  /// With a dominant diagonal if it has many rows, otherwise with ill-conditioned blocks. What is not read is
  /// NaN.
  Memory random_triangle(const devices::DeviceTriangularSolve& what) {
    std::vector<Precise> numbers =
        widened(random_numbers(what.leading_triangle * what.m, what.dtype), what.dtype);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double size = (what.m <= 200 ? 16 : 1) / std::sqrt(static_cast<double>(what.m));
    for (std::int64_t j = 0; j < what.m; ++j) {
      for (std::int64_t i = 0; i < what.leading_triangle; ++i) {
        Precise& one = numbers[static_cast<std::size_t>(i + j * what.leading_triangle)];
        const bool unread = i >= what.m || (what.upper ? i > j : i < j) || (i == j && what.unit_diagonal);
        one = unread ? Precise(nan) : i == j ? one + 2.0 : one * size;
      }
    }
    return narrowed(numbers, what.dtype);
  }

  static Memory narrowed(const std::vector<Precise>& numbers, Dtype dtype) {
    Memory memory(numbers.size() * static_cast<std::size_t>(size_of(dtype)));
    auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double real = numbers[i].real();
      const auto at = static_cast<std::int64_t>(i);
      if (is_complex(dtype)) {
        kernels::store_run(&numbers[i], 1, bytes, dtype, at, 1);
      } else {
        kernels::store_run(&real, 1, bytes, dtype, at, 1);
      }
    }
    return memory;
  }

  /// The largest |b - op(T) x| of an element over |op(T)| |x| + |b|, in units of the rounding.
  static double backward_error(const devices::DeviceTriangularSolve& what, const Memory& triangle,
                               const Memory& before, const Memory& after) {
    const std::vector<Precise> t = widened(triangle, what.dtype), b = widened(before, what.dtype),
                               x = widened(after, what.dtype);
    double worst = 0;
    const bool transposes = what.op == Op::transpose || what.op == Op::conjugate_transpose;
    const bool conjugates = what.op == Op::conjugate || what.op == Op::conjugate_transpose;
    for (std::int64_t c = 0; c < what.n; ++c) {
      for (std::int64_t i = 0; i < what.m; ++i) {
        Precise rest = b[static_cast<std::size_t>(i + c * what.leading)];
        double scale = std::abs(rest);
        for (std::int64_t j = 0; j < what.m; ++j) {
          const std::int64_t row = transposes ? j : i, column = transposes ? i : j;
          if (what.upper ? row > column : row < column) continue;
          Precise a = row == column && what.unit_diagonal
                          ? Precise(1)
                          : t[static_cast<std::size_t>(row + column * what.leading_triangle)];
          if (conjugates) a = std::conj(a);
          const Precise product = a * x[static_cast<std::size_t>(j + c * what.leading)];
          rest -= product;
          scale += std::abs(product);
        }
        const double error = std::abs(rest) / (scale * rounding(what.dtype));
        if (!(error <= worst)) worst = error;
      }
    }
    return worst;
  }

  void solve(const devices::DeviceTriangularSolve& what, const Uploaded& triangle, const Uploaded& sides) {
    const auto call = factorizations_->prepare(what);
    const devices::DeviceMemory workspace(*device_, call->workspace_bytes() + 1);
    factorizations_->solve(*call, triangle.memory.data(), sides.memory.data(), workspace.data(),
                           device_->stream());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  static std::int64_t multiprocessors() {
    int count = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
    return count;
  }

  /// What each of several ranks has, all of them on this device: columns of the triangle, and rows of the
  /// sides in memory of the same leading dimension as the triangle's.
  struct Sharer {
    std::vector<std::int64_t> indices;
    Uploaded columns, sides;
    devices::DeviceMemory words;
    cudaStream_t stream = nullptr;
  };

  /// Rows of column-major matrices, or their columns.
  static Memory picked(const Memory& from, std::int64_t item, std::int64_t leading, std::int64_t columns,
                       const std::vector<std::int64_t>& indices, bool picks_rows) {
    const std::int64_t rows = picks_rows ? std::ssize(indices) : leading;
    const std::int64_t count = picks_rows ? columns : std::ssize(indices);
    Memory to(static_cast<std::size_t>(std::max<std::int64_t>(rows * count, 1) * item));
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t row = picks_rows ? indices[static_cast<std::size_t>(i)] : i;
        const std::int64_t column = picks_rows ? j : indices[static_cast<std::size_t>(j)];
        std::memcpy(to.data() + (i + j * rows) * item, from.data() + (row + column * leading) * item,
                    static_cast<std::size_t>(item));
      }
    }
    return to;
  }

  /// X of `before`, of which the ranks get their rows, or all of it as what is given.
  Memory solved_by(int ranks, std::int64_t width, const devices::DeviceTriangularSolve& what,
                   const Memory& triangle, const Memory& before, bool given) {
    const std::int64_t item = size_of(what.dtype);
    devices::DeviceSharedSolve shared{what, 0, ranks, width};
    const std::int64_t bytes = factorizations_->shared_bytes(shared);
    EXPECT_GT(bytes, 0);
    std::vector<Sharer> all(static_cast<std::size_t>(ranks));
    std::vector<void*> words;
    const Uploaded whole = upload(before);
    for (int rank = 0; rank < ranks; ++rank) {
      Sharer& one = all[static_cast<std::size_t>(rank)];
      for (std::int64_t i = 0; i < what.m; ++i) {
        if (i / width % ranks == rank) one.indices.push_back(i);
      }
      one.columns = upload(picked(triangle, item, what.leading_triangle, what.m, one.indices, false));
      one.sides = upload(picked(before, item, what.leading, what.n, one.indices, true));
      one.words = devices::DeviceMemory(*device_, bytes);
      words.push_back(one.words.data());
      EXPECT_EQ(cudaStreamCreateWithFlags(&one.stream, cudaStreamNonBlocking), cudaSuccess);
      factorizations_->clear_words(one.words.data(), bytes, device_->stream());
    }
    const Uploaded never = upload(Memory(sizeof(std::uint64_t)));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int rank = 0; rank < ranks; ++rank) {
      const Sharer& one = all[static_cast<std::size_t>(rank)];
      shared.rank = rank;
      shared.own.leading = std::max<std::int64_t>(std::ssize(one.indices), 1);
      factorizations_->solve_shared(
          shared,
          {one.columns.memory.data(), one.sides.memory.data(), given ? whole.memory.data() : nullptr, words,
           static_cast<const std::uint64_t*>(never.memory.data())},
          Stream(one.stream));
    }
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    Memory after = before;
    for (Sharer& one : all) {
      const Memory rows = download(one.sides);
      for (std::size_t i = 0; i < one.indices.size(); ++i) {
        for (std::int64_t c = 0; c < what.n; ++c)
          std::memcpy(after.data() + (one.indices[i] + c * what.leading) * item,
                      rows.data() + (static_cast<std::int64_t>(i) + c * std::ssize(one.indices)) * item,
                      static_cast<std::size_t>(item));
      }
      EXPECT_EQ(cudaStreamDestroy(one.stream), cudaSuccess);
    }
    return after;
  }

  devices::DeviceFactorizations* factorizations_ = nullptr;
};

TEST_F(CudaFewSides, AreSolvedForBySeveralRanks) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    for (int round = 0; round < 16; ++round) {
      devices::DeviceTriangularSolve what = random_solve(dtype);
      if (number(0, 3) == 0) what.op = Op::conjugate;
      what.n = number(0, 1) == 0 ? 1 : number(2, 16);
      const int ranks = static_cast<int>(number(2, 4));
      // All ranks find room at a time, also where each thread block takes a multiprocessor for itself, and
      // two columns.
      what.m = std::min(what.m, 64 * (multiprocessors() / (ranks * ((what.n + 1) / 2))));
      what.leading = what.m;
      what.leading_triangle = std::max(what.leading_triangle, what.m);
      const std::int64_t width = 64 * number(1, 4);
      const bool given = number(0, 1) == 1;
      SCOPED_TRACE(fmt::format("{} op {} upper {} unit {} n {} columns {} by {} ranks, width {} given {}",
                               name(dtype), static_cast<int>(what.op), what.upper, what.unit_diagonal, what.m,
                               what.n, ranks, width, given));
      const Memory triangle = random_triangle(what), before = random_numbers(what.leading * what.n, dtype);
      const Memory after = solved_by(ranks, width, what, triangle, before, given);
      EXPECT_LT(backward_error(what, triangle, before, after), 100);
    }
  }
}

TEST_F(CudaFewSides, AreSolvedFor) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    for (int round = 0; round < 10; ++round) {
      const devices::DeviceTriangularSolve what = random_solve(dtype);
      SCOPED_TRACE(fmt::format("{} op {} upper {} unit {} n {} columns {}", name(dtype),
                               static_cast<int>(what.op), what.upper, what.unit_diagonal, what.m, what.n));
      const Memory triangle = random_triangle(what), before = random_numbers(what.leading * what.n, dtype);
      const Uploaded there = upload(triangle), sides = upload(before);
      solve(what, there, sides);
      const Memory after = download(sides);
      EXPECT_LT(backward_error(what, triangle, before, after), 100);
      put(before, sides);
      solve(what, there, sides);
      EXPECT_EQ(download(sides), after) << "other bits than the first time";
    }
  }
}

/// With more blocks than run at a time.
TEST_F(CudaFewSides, OfALargeTriangleAreSolvedFor) {
  constexpr std::int64_t n = 30000;
  devices::DeviceTriangularSolve what;
  what.dtype = Dtype::f32;
  what.m = what.leading = what.leading_triangle = n;
  what.n = 1;
  // Ones on and below the diagonal: x is (1, 0, 0, ..) for b of ones.
  const Memory ones = narrowed(std::vector<Precise>(n, 1.0), Dtype::f32);
  const Uploaded sides = upload(ones);
  const devices::DeviceMemory triangle(*device_, n * n * 4);
  for (std::int64_t j = 0; j < n; ++j)
    ASSERT_EQ(cudaMemcpyAsync(static_cast<char*>(triangle.data()) + j * n * 4, ones.data(), n * 4,
                              cudaMemcpyDefault),
              cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto call = factorizations_->prepare(what);
  const devices::DeviceMemory workspace(*device_, call->workspace_bytes() + 1);
  factorizations_->solve(*call, triangle.data(), sides.memory.data(), workspace.data(), device_->stream());
  const std::vector<Precise> x = widened(download(sides), Dtype::f32);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], Precise(i == 0 ? 1 : 0)) << i;
}

TEST_F(CudaFewSides, ExchangeTheirRows) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c128}) {
    for (const std::int64_t rows : {300, 2500, 9000, 40000}) {
      devices::DeviceRowExchange what{dtype,          number(0, 1) == 1, rows,
                                      number(1, 150), rows + 1,          number(257, rows)};
      SCOPED_TRACE(fmt::format("{} {} exchanges of {} rows", name(dtype), what.count, rows));
      std::vector<std::int32_t> pivots;
      for (std::int64_t i = 0; i < what.count; ++i)
        pivots.push_back(static_cast<std::int32_t>(number(std::max<std::int64_t>(i - 100, 0), rows - 1)));
      const Memory before = random_numbers(what.leading * what.n, dtype);
      Memory wanted = before;
      const std::int64_t item = size_of(dtype);
      for (std::int64_t k = 0; k < what.count; ++k) {
        const std::int64_t i = what.backward ? what.count - 1 - k : k;
        for (std::int64_t c = 0; c < what.n; ++c) {
          char* const column = wanted.data() + c * what.leading * item;
          std::swap_ranges(column + i * item, column + (i + 1) * item,
                           column + pivots[static_cast<std::size_t>(i)] * item);
        }
      }
      Memory of_pivots(pivots.size() * sizeof(std::int32_t));
      std::memcpy(of_pivots.data(), pivots.data(), of_pivots.size());
      const Uploaded there = upload(of_pivots), sides = upload(before);
      const devices::DeviceMemory workspace(*device_, factorizations_->workspace_bytes(what) + 1);
      factorizations_->exchange(what, there.memory.data(), sides.memory.data(), workspace.data(),
                                device_->stream());
      EXPECT_EQ(download(sides), wanted);
    }
  }
}

}  // namespace
}  // namespace partita::testing
