// The works of factorizations on column-major parts, against residuals and against their definitions.
#include "base/visit_dtype.hpp"
#include "execute/works/bound_work.hpp"
#include "plan/verify/numeric_execution.hpp"
#include "plan/work.hpp"
#include "support/models/wide.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using Entry = std::complex<double>;

/// A matrix of numbers, column-major.
struct DenseMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Entry> numbers;

  DenseMatrix(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), numbers(static_cast<std::size_t>(m * n)) {}
  Entry& operator()(std::int64_t i, std::int64_t j) {
    return numbers[static_cast<std::size_t>(i + j * rows)];
  }
  Entry operator()(std::int64_t i, std::int64_t j) const {
    return numbers[static_cast<std::size_t>(i + j * rows)];
  }
  /// The largest sum of absolute values of a column.
  double norm() const {
    double largest = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += std::abs((*this)(i, j));
      largest = std::isnan(sum) ? sum : std::max(largest, sum);
    }
    return largest;
  }
};

DenseMatrix operator*(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix c(a.rows, b.columns);
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t l = 0; l < a.columns; ++l) {
      for (std::int64_t i = 0; i < a.rows; ++i) c(i, j) += a(i, l) * b(l, j);
    }
  }
  return c;
}

DenseMatrix operator-(DenseMatrix a, const DenseMatrix& b) {
  for (std::size_t i = 0; i < a.numbers.size(); ++i) a.numbers[i] -= b.numbers[i];
  return a;
}

DenseMatrix adjoint(const DenseMatrix& a) {
  DenseMatrix b(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) b(j, i) = std::conj(a(i, j));
  }
  return b;
}

DenseMatrix op_of(const DenseMatrix& a, Op op) {
  DenseMatrix b = op == Op::none || op == Op::conjugate ? a : adjoint(a);
  for (Entry& x : b.numbers) {
    if (op == Op::transpose || op == Op::conjugate) x = std::conj(x);
  }
  return b;
}

DenseMatrix part_of(const DenseMatrix& a, std::int64_t rows, std::int64_t columns) {
  DenseMatrix b(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) b(i, j) = a(i, j);
  }
  return b;
}

DenseMatrix triangle_of(const DenseMatrix& a, bool upper, bool unit) {
  DenseMatrix t(a.rows, a.columns);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (upper ? i <= j : i >= j) t(i, j) = i == j && unit ? 1 : a(i, j);
    }
  }
  return t;
}

/// One rank's memory of several operands, and works on it. Numbers that a dtype cannot represent are rounded.
class Works {
 public:
  explicit Works(Dtype dtype) : dtype_(dtype) {
    plan_.operation = "factorizations";
    plan_.topology = Topology::regular(1);
  }

  /// A matrix [m, n] in memory with `gap` elements between columns.
  Part matrix(std::int64_t m, std::int64_t n, std::int64_t gap = 0) {
    const Layout layout(Replicated(), {m, n}, 1);
    return add(layout, dtype_, {1, m + gap}, (m + gap) * n, gap == 0);
  }
  /// Columns [from, n) of a matrix [m, n] on rank 0 of three, which owns blocks of three columns; `skipped`:
  /// one column in between.
  Part cyclic_columns(std::int64_t m, std::int64_t n, std::int64_t from, std::int64_t skipped) {
    const Layout layout(BlockCyclic({1, 3}, {std::max<std::int64_t>(m, 1), 3}), {m, n}, 3);
    Part part = add(layout, dtype_, {1, m}, m * layout.local_shape(0)[1], true);
    const IndexSet kept = IndexSet::of({{from, skipped - from, 1, 1}, {skipped + 1, n - skipped - 1, 1, 1}});
    part.region.sets[1] = intersect(part.region.sets[1], kept);
    return part;
  }
  Part line(std::int64_t n, Dtype dtype) { return add(Layout(Replicated(), {n}, 1), dtype, {1}, n, true); }

  void set(const Part& part, const DenseMatrix& numbers) {
    each(part, [&](std::int64_t i, std::int64_t j, char* at) { store(part, at, numbers(i, j)); });
  }
  DenseMatrix get(const Part& part) {
    const Shape shape = part.region.shape();
    DenseMatrix result(shape[0], shape.size() > 1 ? shape[1] : 1);
    each(part, [&](std::int64_t i, std::int64_t j, char* at) { result(i, j) = load(part, at); });
    return result;
  }

  void run(const Work& work) {
    const auto bound = execution::bind_work(work, {plan_, strides_});
    bound->run([&](const Place& place) { return memory_[static_cast<std::size_t>(place.buffer)].data(); },
               parameters);
  }

  /// What the definition of the work makes of the memory as it is.
  std::vector<DenseMatrix> by_definition(const Work& work, const std::vector<Part>& results) {
    Plan plan = plan_;
    plan.works = {work};
    Step step;
    step.kind = StepKind::compute;
    step.work = 0;
    plan.steps = {step};
    const verification::Plans plans{{plan}};
    verification::Faults faults;
    verification::NumericExecution execution(plans, {}, faults, parameters);
    planning::for_each_part(
        work, [&](const Part& part, planning::Use) { execution.store(part, row_major(get(part))); });
    EXPECT_TRUE(execution.advance(0)) << join(faults);
    EXPECT_TRUE(faults.empty()) << join(faults);
    std::vector<DenseMatrix> all;
    for (const Part& part : results) {
      const DenseMatrix shape = get(part);
      all.push_back(from_row_major(shape.rows, shape.columns, execution.load(part)));
    }
    return all;
  }

  Dtype dtype() const { return dtype_; }
  double epsilon() const { return dtype_ == Dtype::f32 || dtype_ == Dtype::c64 ? 6e-8 : 1.2e-16; }
  Entry random() {
    const auto next = [&] { return std::uniform_real_distribution<double>(-1, 1)(random_); };
    const double real = next();
    return {real, is_complex(dtype_) ? next() : 0};
  }
  DenseMatrix random(std::int64_t m, std::int64_t n) {
    DenseMatrix result(m, n);
    for (Entry& x : result.numbers) x = random();
    return result;
  }

  Parameters parameters;

 private:
  static std::string join(const verification::Faults& faults) {
    std::string all;
    for (const std::string& line : faults.lines()) all += line + "\n";
    return all;
  }
  static verification::Numbers row_major(const DenseMatrix& dense) {
    verification::Numbers numbers;
    for (std::int64_t i = 0; i < dense.rows; ++i) {
      for (std::int64_t j = 0; j < dense.columns; ++j) numbers.push_back(dense(i, j));
    }
    return numbers;
  }
  static DenseMatrix from_row_major(std::int64_t m, std::int64_t n, const verification::Numbers& numbers) {
    DenseMatrix dense(m, n);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) dense(i, j) = numbers[static_cast<std::size_t>(i * n + j)];
    }
    return dense;
  }

  Part add(const Layout& layout, Dtype dtype, const Strides& strides, std::int64_t elements, bool dense) {
    Operand operand = Operand::of(layout, dtype, Order::column_major);
    operand.dense = dense;
    plan_.buffers.push_back({"x", BufferKind::operand, operand, 0});
    strides_.push_back(strides);
    memory_.emplace_back(static_cast<std::size_t>(elements * size_of(dtype) + 16), '\xff');
    return {layout.region(0), {static_cast<int>(plan_.buffers.size()) - 1, 0, 0, {}}};
  }

  template <class Visit>
  void each(const Part& part, const Visit& visit) {
    const auto buffer = static_cast<std::size_t>(part.place.buffer);
    const Operand& operand = *plan_.buffers[buffer].operand;
    const Region owned = operand.layout.region(0);
    const std::vector<IndexSet>& sets = part.region.sets;
    for (std::int64_t j = 0; j < (sets.size() > 1 ? sets[1].size() : 1); ++j) {
      for (std::int64_t i = 0; i < sets[0].size(); ++i) {
        std::int64_t offset = owned.sets[0].position(sets[0].at(i)) * strides_[buffer][0];
        if (sets.size() > 1) offset += owned.sets[1].position(sets[1].at(j)) * strides_[buffer][1];
        visit(i, j, memory_[buffer].data() + offset * size_of(operand.dtype));
      }
    }
  }
  template <class Body>
  void as(const Part& part, const Body& body) {
    visit_dtype(plan_.buffers[static_cast<std::size_t>(part.place.buffer)].operand->dtype, body);
  }
  void store(const Part& part, char* at, Entry number) {
    as(part, [&](auto tag) {
      const auto value = narrow_to<typename decltype(tag)::type>(widened(number));
      std::memcpy(at, &value, sizeof value);
    });
  }
  Entry load(const Part& part, const char* at) {
    Entry number;
    as(part, [&](auto tag) {
      typename decltype(tag)::type value;
      std::memcpy(&value, at, sizeof value);
      const Wide wide(widened(value));
      number = {static_cast<double>(wide.real()), static_cast<double>(wide.imag())};
    });
    return number;
  }

  Dtype dtype_;
  Plan plan_;
  std::vector<Strides> strides_;
  std::vector<std::vector<char>> memory_;
  std::mt19937_64 random_{7};
};

constexpr std::array dtypes{Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};
constexpr double most_ratio = 30;  // of LAPACK's tests

/// |difference| / (|scale| size epsilon), as LAPACK's tests have it.
double ratio(const DenseMatrix& difference, const DenseMatrix& scale, std::int64_t size, double epsilon) {
  const double of = scale.norm() * static_cast<double>(std::max<std::int64_t>(size, 1)) * epsilon;
  return of == 0 ? difference.norm() : difference.norm() / of;
}

void expect_close(const Works& works, const DenseMatrix& found, const DenseMatrix& wanted,
                  double factor = 500) {
  ASSERT_EQ(found.numbers.size(), wanted.numbers.size());
  const double off = (found - wanted).norm();
  EXPECT_LE(off, factor * works.epsilon() * std::max(1.0, wanted.norm()));
}

DenseMatrix exchanged(DenseMatrix a, const DenseMatrix& pivots, bool backward = false) {
  for (std::int64_t step = 0; step < pivots.rows; ++step) {
    const std::int64_t i = backward ? pivots.rows - 1 - step : step;
    const auto other = static_cast<std::int64_t>(pivots(i, 0).real());
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a(i, j), a(other, j));
  }
  return a;
}

template <class Test>
void for_panels(const Test& test) {
  for (const Dtype dtype : dtypes) {
    for (const auto& [m, n] : {std::pair{1, 1}, {7, 7}, {40, 17}, {17, 40}, {5, 0}, {0, 5}, {130, 70}}) {
      for (const std::int64_t gap : {0, 3}) {
        SCOPED_TRACE(fmt::format("{} {}x{} gap {}", name(dtype), m, n, gap));
        Works works(dtype);
        test(works, m, n, gap);
      }
    }
  }
}

TEST(FactorizationWorks, Lu) {
  for_panels([](Works& works, std::int64_t m, std::int64_t n, std::int64_t gap) {
    const std::int64_t k = std::min(m, n);
    const FactorPanel work{Factorization::lu, works.matrix(m, n, gap), works.line(k, Dtype::i32),
                           works.line(1, Dtype::i32)};
    works.set(work.panel, works.random(m, n));
    const DenseMatrix a = works.get(work.panel);
    const auto defined = gap > 0 ? std::vector<DenseMatrix>()
                                 : works.by_definition(work, {work.panel, work.pivots, work.status});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel), pivots = works.get(work.pivots);
    const DenseMatrix l = triangle_of(part_of(packed, m, k), false, true);
    const DenseMatrix u = triangle_of(part_of(packed, k, n), true, false);
    EXPECT_LT(ratio(exchanged(a, pivots) - l * u, a, n, works.epsilon()), most_ratio);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(0));
    if (gap > 0) return;
    expect_close(works, packed, defined[0]);
    expect_close(works, pivots, defined[1]);
  });
}

TEST(FactorizationWorks, LuOfASingularMatrixIsComplete) {
  for (const Dtype dtype : dtypes) {
    Works works(dtype);
    const FactorPanel work{Factorization::lu, works.matrix(6, 5), works.line(5, Dtype::i32),
                           works.line(1, Dtype::i32)};
    DenseMatrix a = works.random(6, 5);
    for (std::int64_t i = 0; i < 6; ++i) a(i, 2) = 0;
    works.set(work.panel, a);
    a = works.get(work.panel);
    const auto defined = works.by_definition(work, {work.panel, work.pivots, work.status});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(3));
    EXPECT_EQ(defined[2](0, 0), Entry(3));
    expect_close(works, packed, defined[0]);
    const DenseMatrix product =
        triangle_of(packed, false, true) * triangle_of(part_of(packed, 5, 5), true, false);
    expect_close(works, product, exchanged(a, works.get(work.pivots)));
  }
}

DenseMatrix positive_definite(Works& works, std::int64_t m, std::int64_t n) {
  const DenseMatrix some = works.random(n, n);
  DenseMatrix block = some * adjoint(some);
  DenseMatrix a = works.random(m, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) a(i, j) = block(i, j) + (i == j ? static_cast<double>(n) : 0);
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::numeric_limits<double>::quiet_NaN();
  }
  return a;
}

TEST(FactorizationWorks, Cholesky) {
  for_panels([](Works& works, std::int64_t m, std::int64_t n, std::int64_t gap) {
    if (m < n) return;
    const FactorPanel work{Factorization::cholesky, works.matrix(m, n, gap), {}, works.line(1, Dtype::i32)};
    works.set(work.panel, positive_definite(works, m, n));
    const DenseMatrix a = works.get(work.panel);
    const auto defined =
        gap > 0 ? std::vector<DenseMatrix>() : works.by_definition(work, {work.panel, work.status});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel);
    const DenseMatrix l = triangle_of(packed, false, false), wanted = triangle_of(a, false, false);
    const DenseMatrix found = triangle_of(l * adjoint(part_of(l, n, n)), false, false);
    EXPECT_LT(ratio(found - wanted, wanted, n, works.epsilon()), most_ratio);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(0));
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) EXPECT_TRUE(std::isnan(packed(i, j).real()));
    }
    if (gap == 0) expect_close(works, l, triangle_of(defined[0], false, false));
  });
}

TEST(FactorizationWorks, CholeskyNamesTheMinorThatIsNotPositiveDefinite) {
  for (const Dtype dtype : dtypes) {
    for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
      Works works(dtype);
      const FactorPanel work{Factorization::cholesky, works.matrix(9, 6), {}, works.line(1, Dtype::i32)};
      DenseMatrix a = positive_definite(works, 9, 6);
      a(3, 3) = bad;
      works.set(work.panel, a);
      EXPECT_EQ(works.by_definition(work, {work.status})[0](0, 0), Entry(4));
      works.run(work);
      EXPECT_EQ(works.get(work.status)(0, 0), Entry(4));
    }
  }
}

TEST(FactorizationWorks, QrAndItsReflectors) {
  for_panels([](Works& works, std::int64_t m, std::int64_t n, std::int64_t gap) {
    const std::int64_t k = std::min(m, n);
    const FactorPanel work{Factorization::qr, works.matrix(m, n, gap), works.line(k, works.dtype()),
                           works.line(1, Dtype::i32)};
    works.set(work.panel, works.random(m, n));
    const DenseMatrix a = works.get(work.panel);
    const auto defined =
        gap > 0 ? std::vector<DenseMatrix>() : works.by_definition(work, {work.panel, work.pivots});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(0));
    ApplyReflectors apply{work.panel, work.pivots, works.matrix(m, m, gap), false};
    apply.reflectors.region.sets[1] = IndexSet::range(0, k);
    DenseMatrix identity(m, m);
    for (std::int64_t i = 0; i < m; ++i) identity(i, i) = 1;
    works.set(apply.to, identity);
    works.run(apply);
    const DenseMatrix q = works.get(apply.to);
    EXPECT_LT(ratio(adjoint(q) * q - identity, identity, m, works.epsilon()), most_ratio);
    EXPECT_LT(ratio(a - q * triangle_of(packed, true, false), a, std::max(m, n), works.epsilon()),
              most_ratio);
    apply.adjoint = true;
    works.run(apply);
    EXPECT_LT(ratio(works.get(apply.to) - identity, identity, m, works.epsilon()), most_ratio);
    if (gap > 0) return;
    expect_close(works, packed, defined[0]);
    expect_close(works, works.get(work.pivots), defined[1]);
  });
}

TEST(FactorizationWorks, ReflectorsOnUnevenColumns) {
  for (const Dtype dtype : dtypes) {
    for (const bool adjoint_one : {false, true}) {
      Works works(dtype);
      const std::int64_t m = 90, k = 75;
      const FactorPanel work{Factorization::qr, works.matrix(m, k), works.line(k, dtype),
                             works.line(1, Dtype::i32)};
      works.set(work.panel, works.random(m, k));
      works.run(work);
      const ApplyReflectors apply{work.panel, work.pivots, works.cyclic_columns(m, 40, 4, 10), adjoint_one};
      works.set(apply.to, works.random(m, apply.to.region.sets[1].size()));
      const DenseMatrix wanted = works.by_definition(apply, {apply.to})[0];
      works.run(apply);
      expect_close(works, works.get(apply.to), wanted);
    }
  }
}

TEST(FactorizationWorks, RowsAreExchangedForwardAndBackward) {
  for (const Dtype dtype : dtypes) {
    Works works(dtype);
    ExchangeRows work{works.cyclic_columns(11, 40, 4, 10), works.line(6, Dtype::i32), false};
    constexpr std::array order{3., 1., 10., 9., 4., 10.};
    DenseMatrix pivots(6, 1);
    for (std::int64_t i = 0; i < 6; ++i) pivots(i, 0) = order[static_cast<std::size_t>(i)];
    works.set(work.pivots, pivots);
    works.set(work.to, works.random(11, work.to.region.sets[1].size()));
    const DenseMatrix before = works.get(work.to);
    EXPECT_EQ(works.by_definition(work, {work.to})[0].numbers, exchanged(before, pivots).numbers);
    works.run(work);
    EXPECT_EQ(works.get(work.to).numbers, exchanged(before, pivots).numbers);
    work.backward = true;
    EXPECT_EQ(works.by_definition(work, {work.to})[0].numbers, before.numbers);
    works.run(work);
    EXPECT_EQ(works.get(work.to).numbers, before.numbers);
  }
}

void solve(Works& works, TriangularSolve work, std::int64_t n) {
  DenseMatrix t = works.random(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      t(i, j) = i == j ? t(i, j) + 2.0 : t(i, j) / static_cast<double>(n);
      const bool unread = work.upper ? i > j : i < j;
      if (unread || (i == j && work.unit_diagonal)) t(i, j) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  works.set(work.triangle, t);
  works.set(work.to, works.random(work.to.region.sets[0].size(), work.to.region.sets[1].size()));
  const DenseMatrix b = works.get(work.to);
  const DenseMatrix wanted = works.by_definition(work, {work.to})[0];
  works.run(work);
  const DenseMatrix x = works.get(work.to);
  expect_close(works, x, wanted);
  const DenseMatrix whole =
      op_of(triangle_of(works.get(work.triangle), work.upper, work.unit_diagonal), work.op);
  expect_close(works, work.from_right ? x * whole : whole * x, b);
}

TEST(FactorizationWorks, TriangularSolves) {
  for (const Dtype dtype : dtypes) {
    for (int kind = 0; kind < 32; ++kind) {
      const Op op = static_cast<Op>(kind % 4);
      const bool upper = (kind & 4) != 0, unit = (kind & 8) != 0, right = (kind & 16) != 0;
      for (const std::int64_t n : {0, 1, 13}) {
        SCOPED_TRACE(fmt::format("{} kind {} n {}", name(dtype), kind, n));
        Works works(dtype);
        const Part triangle = works.matrix(n, n), to = right ? works.matrix(5, n) : works.matrix(n, 1);
        solve(works, {triangle, to, op, upper, unit, right}, n);
        if (!right) solve(works, {triangle, works.cyclic_columns(n, 30, 2, 10), op, upper, unit, false}, n);
      }
    }
  }
}

TEST(FactorizationWorks, NumbersThatAreNotNumbersDoNotHang) {
  for (const Dtype dtype : dtypes) {
    for (const Factorization kind : {Factorization::lu, Factorization::qr}) {
      Works works(dtype);
      const FactorPanel work{kind, works.matrix(40, 20),
                             works.line(20, kind == Factorization::lu ? Dtype::i32 : dtype),
                             works.line(1, Dtype::i32)};
      DenseMatrix a = works.random(40, 20);
      a(5, 3) = std::numeric_limits<double>::quiet_NaN();
      works.set(work.panel, a);
      works.run(work);
      EXPECT_TRUE(std::isnan(works.get(work.panel).norm()));
      if (kind == Factorization::qr) continue;
      for (const Entry& pivot : works.get(work.pivots).numbers) {
        EXPECT_GE(pivot.real(), 0);
        EXPECT_LT(pivot.real(), 40);
      }
    }
  }
}

TEST(FactorizationWorks, OtherDtypesAreRefused) {
  Works works(Dtype::i32);
  const FactorPanel work{Factorization::lu, works.matrix(3, 3), works.line(3, Dtype::i32),
                         works.line(1, Dtype::i32)};
  EXPECT_TRUE(contains(caught<UnsupportedError>([&] { works.run(work); }), "no factorization in i32"));
}

}  // namespace
}  // namespace partita::testing
