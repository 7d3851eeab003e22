// The local multiply on sets of indices, against sums element by element.
#include "base/hash.hpp"
#include "execute/works/bound_work.hpp"
#include "kernels/host/blas_library.hpp"
#include "support/models/local_array.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

class MultiplyCase {
 public:
  explicit MultiplyCase(std::uint64_t seed) : random_(seed) {}

  /// Whether there was something to multiply.
  bool run() {
    const int batch = random_.maybe(0.3) ? random_.number(1, 2) : 0;
    batch_ = random_.shape(batch, 3);
    const std::int64_t m = extent(), n = extent(), k = extent();
    const std::array<Dtype, 8> dtypes{Dtype::f32, Dtype::f64,  Dtype::c64, Dtype::c128,
                                      Dtype::f16, Dtype::bf16, Dtype::i8,  Dtype::f8e4m3};
    const Dtype dtype = dtypes[static_cast<std::size_t>(random_.number(0, 7))];
    const Dtype result = dtype == Dtype::i8 ? Dtype::i32 : is_small_float(dtype) ? Dtype::f32 : dtype;
    const Dtype dtype_b = dtype == Dtype::f8e4m3 && random_.maybe() ? Dtype::f8e5m2 : dtype;
    work_.transpose_a = random_.maybe(0.3);
    work_.transpose_b = random_.maybe(0.3);
    add("a", random_.maybe(0.7), work_.transpose_a ? k : m, work_.transpose_a ? m : k, dtype);
    add("b", random_.maybe(0.7), work_.transpose_b ? n : k, work_.transpose_b ? k : n, dtype_b);
    add("d", true, m, n, result);
    if (dtype == Dtype::i8) parameters_ = {3, -2, 1};
    choose_work();
    execute();
    compare();
    return work_.to.region.size() > 1 && work_.a.region.size() > 1;
  }

 private:
  std::int64_t extent() {
    const std::array<int, 8> sizes{0, 1, 2, 3, 7, 17, 65, 150};
    return sizes[static_cast<std::size_t>(random_.number(random_.maybe(0.1) ? 0 : 1, 7))];
  }

  void add(const char* name, bool with_batch, std::int64_t rows, std::int64_t columns, Dtype dtype) {
    Shape shape = with_batch ? batch_ : Shape{};
    shape.push_back(rows);
    shape.push_back(columns);
    locals_.push_back(
        add_operand(plan_, strides_, name, random_.layout(shape, 3), dtype, random_.number(0, 2)));
  }

  // What rank 0 has of everything, cut at random.
  void choose_work() {
    work_.conjugate_a = random_.maybe(0.3);
    work_.conjugate_b = random_.maybe(0.3);
    work_.scaled = random_.maybe(0.8);
    work_.beta = static_cast<Beta>(random_.number(0, 2));
    for (std::size_t x = 0; x < 3; ++x) {
      Part& part = x == 0 ? work_.a : x == 1 ? work_.b : work_.to;
      part.place.buffer = static_cast<int>(x);
      part.region = locals_[x].owned;
    }
    const auto set = [](Part& part, int from_end) -> IndexSet& {
      return part.region.sets[part.region.sets.size() - static_cast<std::size_t>(from_end)];
    };
    const auto join = [&](IndexSet& one, IndexSet& other) {
      one = other = intersect(intersect(one, other),
                              random_.maybe(0.3) ? IndexSet::range(1, 40) : IndexSet::range(0, 1000));
    };
    const int m_of_a = work_.transpose_a ? 1 : 2, n_of_b = work_.transpose_b ? 2 : 1;
    join(set(work_.a, m_of_a), set(work_.to, 2));
    join(set(work_.b, n_of_b), set(work_.to, 1));
    join(set(work_.a, 3 - m_of_a), set(work_.b, 3 - n_of_b));
    for (int d = 0; d < batch_.size(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      IndexSet common = work_.to.region.sets[at];
      for (const Part* part : {&work_.a, &work_.b}) {
        if (part->region.sets.size() > 2) common = intersect(common, part->region.sets[at]);
      }
      work_.to.region.sets[at] = common;
      for (Part* part : {&work_.a, &work_.b}) {
        if (part->region.sets.size() > 2) part->region.sets[at] = common;
      }
    }
  }

  void execute() {
    std::uint64_t seed = 1;
    for (std::size_t x = 0; x < 3; ++x) {
      Local& local = locals_[x];
      std::ranges::fill(local.memory, '\xff');  // NaN in every dtype
      if (x == 2 && work_.beta == Beta::zero) continue;
      each_index(local.owned, [&](const Index& index) {
        const std::uint64_t bits = scramble(++seed);
        const long double step = is_integer(local.dtype) ? 1 : 8;
        local.set(index, {static_cast<long double>(bits % 17) / step - 1,
                          static_cast<long double>(bits % 13) / step - .7L});
      });
    }
    if (random_.maybe(0.2)) parameters_.alpha = 0;
    if (random_.maybe(0.2)) parameters_.beta = 0;
    before_ = locals_[2];
    const auto bound = execution::bind_work(work_, {plan_, strides_});
    const auto threads =
        kernels::hold_blas_threads(random_.number(1, 2));  // of one, few columns go another way
    bound->run(
        [&](const Place& place) { return locals_[static_cast<std::size_t>(place.buffer)].memory.data(); },
        parameters_);
  }

  Wide expected(const Index& index) const {
    const bool real = !is_complex(before_.dtype);
    const auto number = [&](std::complex<double> value) {
      return real ? Wide(widened(value.real())) : widened(value);
    };
    const Wide alpha = work_.scaled ? number(parameters_.alpha) : Wide(1);
    const Wide beta = work_.beta == Beta::zero  ? Wide(0)
                      : work_.beta == Beta::one ? Wide(1)
                                                : number(parameters_.beta);
    Wide sum = 0;
    if (alpha != Wide(0)) {
      const std::vector<IndexSet>& sets = work_.a.region.sets;
      const IndexSet& ks = sets[sets.size() - (work_.transpose_a ? 2 : 1)];
      for (std::int64_t p = 0; p < ks.size(); ++p) {
        Wide a = locals_[0].get(at(work_.a, index, index[index.size() - 2], ks.at(p), work_.transpose_a));
        Wide b = locals_[1].get(at(work_.b, index, ks.at(p), index[index.size() - 1], work_.transpose_b));
        sum += (work_.conjugate_a ? std::conj(a) : a) * (work_.conjugate_b ? std::conj(b) : b);
      }
      sum *= alpha;
    }
    return beta == Wide(0) ? sum : sum + beta * before_.get(index);
  }

  static Index at(const Part& part, const Index& index, std::int64_t row, std::int64_t column,
                  bool transposed) {
    if (transposed) std::swap(row, column);
    Index result;
    if (part.region.sets.size() == static_cast<std::size_t>(index.size())) result = index;
    if (result.empty()) return {row, column};
    result[result.size() - 2] = row;
    result[result.size() - 1] = column;
    return result;
  }

  void compare() const {
    const bool single = before_.dtype == Dtype::f32 || before_.dtype == Dtype::c64;
    const long double tolerance = single ? 2e-4L : 1e-12L;
    const Local& after = locals_[2];
    long wrong = 0;
    each_index(work_.to.region, [&](const Index& index) {
      if (!(std::abs(after.get(index) - expected(index)) <= tolerance)) ++wrong;
    });
    EXPECT_EQ(wrong, 0) << plan_.buffers[0].operand->to_string() << " by "
                        << plan_.buffers[1].operand->to_string() << " into "
                        << plan_.buffers[2].operand->to_string();
    long touched = 0;
    each_index(after.owned, [&](const Index& index) {
      for (std::size_t d = 0; d < work_.to.region.sets.size(); ++d) {
        if (work_.to.region.sets[d].contains(index[static_cast<int>(d)])) continue;
        touched += std::memcmp(after.memory.data() + after.offset(index),
                               before_.memory.data() + after.offset(index),
                               static_cast<std::size_t>(size_of(after.dtype))) != 0;
        break;
      }
    });
    EXPECT_EQ(touched, 0) << "outside the region";
  }

  RandomLayouts random_;
  Plan plan_;
  std::vector<Strides> strides_;
  std::vector<Local> locals_;
  Local before_;
  Shape batch_;
  Multiply work_;
  Parameters parameters_{{1.5, -0.5}, {-0.25, 2}, 1};
};

TEST(MultiplyWork, RandomSetsOfEverything) {
  int with_work = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    if (MultiplyCase(seed).run()) ++with_work;
    if (HasFailure()) return;
  }
  EXPECT_GT(with_work, 100);
}

/// Two dense matrices and their product, in one buffer each.
template <class T>
void multiply_dense(Dtype dtype, Dtype result, std::int64_t m, std::int64_t n, std::int64_t k,
                    const std::vector<char>& a, const std::vector<char>& b, std::vector<T>& d,
                    double alpha = 1) {
  Plan plan;
  const auto add = [&](const Shape& shape, Dtype type) {
    plan.buffers.push_back({"x", BufferKind::operand, Operand::of(Layout(Replicated(), shape, 1), type), 0});
    return Part{Layout(Replicated(), shape, 1).region(0),
                {static_cast<int>(plan.buffers.size()) - 1, 0, 0, {}}};
  };
  Multiply work;
  work.a = add({m, k}, dtype);
  work.b = add({k, n}, dtype);
  work.to = add({m, n}, result);
  const std::vector<Strides> strides(3);
  std::vector<const void*> data{a.data(), b.data(), d.data()};
  execution::bind_work(work, {plan, strides})
      ->run(
          [&](const Place& place) {
            return static_cast<char*>(const_cast<void*>(data[static_cast<std::size_t>(place.buffer)]));
          },
          {alpha, 0, 1});
}

template <class T>
std::vector<char> bytes_of(const std::vector<T>& values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(MultiplyWork, NaNAndInfinityPass) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> d(4, nan);
  multiply_dense<double>(Dtype::f64, Dtype::f64, 2, 2, 2, bytes_of<double>({nan, 1, 2, 3}),
                         bytes_of<double>({1, inf, 2, 1}), d);
  EXPECT_TRUE(std::isnan(d[0]) && std::isnan(d[1]));
  EXPECT_EQ(d[2], 8);
  EXPECT_EQ(d[3], inf);
}

TEST(MultiplyWork, HalvesBeyondOneTile) {
  const std::int64_t m = 530, n = 521, k = 1030;
  std::vector<BFloat16> a, b;
  const auto value = [](std::int64_t number) { return static_cast<float>(number * 7 % 9 - 4); };
  for (std::int64_t i = 0; i < m * k; ++i) a.push_back(to_bfloat16(value(i)));
  for (std::int64_t i = 0; i < k * n; ++i) b.push_back(to_bfloat16(value(i + 3)));
  std::vector<float> d(static_cast<std::size_t>(m * n), std::numeric_limits<float>::quiet_NaN());
  multiply_dense<float>(Dtype::bf16, Dtype::f32, m, n, k, bytes_of(a), bytes_of(b), d);
  for (std::int64_t i = 0; i < m; i += 23) {
    for (std::int64_t j = 0; j < n; j += 19) {
      float sum = 0;  // exact: small integers
      for (std::int64_t l = 0; l < k; ++l) sum += value(i * k + l) * value(l * n + j + 3);
      ASSERT_EQ(d[static_cast<std::size_t>(i * n + j)], sum) << i << "," << j;
    }
  }
}

// Sums beyond what a float holds exactly, and beyond 32 bits.
TEST(MultiplyWork, IntegersAreExactAndWrapAround) {
  const std::int64_t m = 3, n = 2, k = 1700;
  std::vector<std::int8_t> a, b;
  for (std::int64_t i = 0; i < m * k; ++i)
    a.push_back(static_cast<std::int8_t>(i < k ? -128 : i * 37 % 255 - 127));
  for (std::int64_t i = 0; i < k * n; ++i)
    b.push_back(static_cast<std::int8_t>(i % n == 0 ? -128 : i * 91 % 255 - 127));
  for (const std::int64_t alpha : {1, 12345}) {
    std::vector<std::int32_t> d(static_cast<std::size_t>(m * n), 7);
    multiply_dense<std::int32_t>(Dtype::i8, Dtype::i32, m, n, k, bytes_of(a), bytes_of(b), d,
                                 static_cast<double>(alpha));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum +=
              std::int64_t{a[static_cast<std::size_t>(i * k + l)]} * b[static_cast<std::size_t>(l * n + j)];
        EXPECT_EQ(d[static_cast<std::size_t>(i * n + j)], static_cast<std::int32_t>(alpha * sum)) << i << j;
      }
    }
  }
}

TEST(MultiplyWork, RefusesDtypesWithoutAKernel) {
  std::vector<float> d(1);
  const auto attempt = [&](Dtype dtype, Dtype result) {
    multiply_dense<float>(dtype, result, 1, 1, 1, std::vector<char>(16), std::vector<char>(16), d);
  };
  EXPECT_THROW(attempt(Dtype::i32, Dtype::i32), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::f16, Dtype::f16), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::i8, Dtype::f32), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::u8, Dtype::i32), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::f8e4m3, Dtype::f8e4m3), UnsupportedError);
  EXPECT_THROW(attempt(Dtype::f32, Dtype::f64), UnsupportedError);
}

}  // namespace
}  // namespace partita::testing
