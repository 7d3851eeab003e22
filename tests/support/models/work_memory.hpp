// Works on column-major parts in memory of the host, run by whatever computes them, and by their definitions.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/visit_dtype.hpp"
#include "plan/verify/numeric_execution.hpp"
#include "plan/work.hpp"
#include "support/models/dense_matrix.hpp"
#include "support/models/wide.hpp"
#include "support/test.hpp"

namespace partita::testing::factorization_works {

/// A work on memory of the host, of one rank.
struct Job {
  const Plan& plan;
  const std::vector<Strides>& strides;
  std::vector<std::vector<char>>& memory;  // by buffer
  const Work& work;
  const Parameters& parameters;
};
using RunJob = void (*)(const Job& job);

/// One rank's memory of several operands, and works on it. Numbers that a dtype cannot represent are rounded.
class Works {
 public:
  Works(Dtype dtype, RunJob run_job) : dtype_(dtype), run_(run_job) {
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

  void run(const Work& work) { run_({plan_, strides_, memory_, work, parameters}); }

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
  double epsilon() const { return epsilon_of(dtype_); }
  DenseMatrix random(std::int64_t m, std::int64_t n) {
    return random_matrix(random_, m, n, is_complex(dtype_));
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
  RunJob run_;
  Plan plan_;
  std::vector<Strides> strides_;
  std::vector<std::vector<char>> memory_;
  std::mt19937_64 random_{7};
};

}  // namespace partita::testing::factorization_works
