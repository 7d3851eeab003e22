// Systems whose solutions are known: factorized once, solved with any op and any distribution.
#include <memory>
#include <partita/linalg.hpp>
#include <partita/redistribute.hpp>

#include "stress/turn.hpp"
#include "support/models/any_memory.hpp"
#include "support/models/array_model.hpp"
#include "support/models/dense_matrix.hpp"
#include "support/models/wide.hpp"

namespace partita::testing {
namespace {

/// A X = B by one object, with new numbers each time.
class LinearSystem {
 public:
  explicit LinearSystem(Turn& turn) : turn_(turn), kind_(turn.pick(kinds)), dtype_(turn.pick(dtypes)) {
    RandomLayouts& random = turn.random;
    n_ = turn.pick(std::array{0, 1, 2, 5, 17, 33});
    m_ = n_ + (kind_ == Factorization::qr ? turn.pick(std::array{0, 3, 20}) : 0);
    count_ = turn.pick(std::array{1, 2, 7});
    const bool any_op = kind_ != Factorization::qr || !is_complex(dtype_);
    op_ = any_op ? static_cast<Op>(random.number(0, 3))
                 : turn.pick(std::array{Op::none, Op::conjugate_transpose});
    options_.block = turn.pick(std::array{0, 1, 3, 8});
    refined_ = kind_ != Factorization::qr && random.maybe(0.3);
    on_device_ = turn.on_device() && random.maybe(0.7);
    if (kind_ != Factorization::qr && !refined_ && !on_device_ && random.maybe()) options_.grid = some_grid();
    a_ = make(random.layout({m_, n_}, turn.context.size()));
    const Shape of_b{transposes() ? n_ : m_, count_}, of_x{transposes() ? m_ : n_, count_};
    in_place_ = of_b == of_x && random.maybe();
    const Layout layout = whole_layout(random, of_x, turn.context.size());
    b_ = make(in_place_ ? layout : random.layout(of_b, turn.context.size()));
    x_ = in_place_ ? b_ : make(layout);
    turn.call = fmt::format("solve by factorization {}{}, block {}, grid {}, op {}{}{}: A {}, B {}, X {}",
                            static_cast<int>(kind_), refined_ ? " refined" : "", options_.block,
                            to_string(options_.grid), static_cast<int>(op_), in_place_ ? " in place" : "",
                            on_device_ ? " on the device" : "", text(a_), text(b_), text(x_));
  }

  void run_round() {
    write_numbers();
    turn_.delay();
    const SolveOptions options{.op = op_};
    if (refined_) {
      solve_and_refine();
    } else if (kind_ == Factorization::cholesky) {
      factorize_and_solve(cholesky_, options);
    } else if (kind_ == Factorization::lu) {
      factorize_and_solve(lu_, options);
    } else {
      factorize_and_solve(qr_, options);
    }
    turn_.delay();
    expect_right();
  }

 private:
  static constexpr std::array kinds{Factorization::cholesky, Factorization::lu, Factorization::qr};
  static constexpr std::array dtypes{Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};

  Extents some_grid() {
    const int ranks = turn_.context.size();
    int rows = turn_.random.number(1, ranks);
    while (ranks % rows != 0) --rows;
    return {rows, ranks / rows};
  }
  bool transposes() const { return op_ == Op::transpose || op_ == Op::conjugate_transpose; }
  static std::string text(const Wrapped& array) { return array.array.operand().to_string(); }

  Wrapped make(const Layout& layout) {
    const int kind = on_device_ ? turn_.pick(std::array{0, 1, 2, 4}) : turn_.random.number(0, 4);
    return make_array(turn_.context, layout, dtype_, kind,
                      on_device_ ? MemorySpace::device : MemorySpace::host);
  }

  /// Well-conditioned, by a dominant element in each column. They are not on the diagonal, so that LU
  /// exchanges rows; but for Cholesky, for which the matrix is Hermitian.
  DenseMatrix random_matrix_of_kind(std::mt19937_64& random) const {
    DenseMatrix a = random_matrix(random, m_, n_, is_complex(dtype_));
    if (kind_ == Factorization::cholesky) a = hermitian_of(a);
    const std::int64_t shift = kind_ == Factorization::cholesky ? 0 : m_ / 2;
    for (std::int64_t j = 0; j < n_; ++j) a((j + shift) % m_, j) += 3.0 * static_cast<double>(m_);
    return a;
  }
  /// With op and without: for QR with m > n, the X in the range of A has the least norm.
  void write_numbers() {
    std::mt19937_64 random(static_cast<std::uint64_t>(turn_.random.number(0, 1 << 30)));
    const DenseMatrix a = random_matrix_of_kind(random), of_a = op_of(a, op_);
    wanted_ = random_matrix(random, transposes() && m_ > n_ ? n_ : of_a.columns, count_, is_complex(dtype_));
    if (transposes() && m_ > n_)
      wanted_ = op_of(of_a, is_complex(dtype_) ? Op::conjugate_transpose : Op::transpose) * wanted_;
    write(a_.array, a);
    write(b_.array, of_a * wanted_);
    if (!in_place_) write_constant(x_.array, 1);
  }
  /// Contributions but the first are 0.
  void write(Array& array, const DenseMatrix& dense) const {
    const bool first = contribution_of(array.layout(), turn_.context.rank()) <= 0;
    each_element(array, [&](std::int64_t number, auto& element) {
      using T = std::decay_t<decltype(element)>;
      const Entry value = first ? dense(number / dense.columns, number % dense.columns) : 0;
      element = narrow_to<T>(Wide(value));
    });
  }

  template <class Object>
  void factorize_and_solve(std::unique_ptr<Object>& object, const SolveOptions& options) {
    if (object == nullptr) {
      object = std::make_unique<Object>(a_.array, options_);
    } else {
      object->factorize(a_.array);
    }
    if constexpr (!std::is_same_v<Object, Qr>) {
      if (turn_.random.maybe(0.3)) expect_condition(*object);
    }
    write_constant(a_.array, 2);
    object->solve_into(b_.array, x_.array, options);
    if (!in_place_) write_constant(b_.array, 3);
  }

  void solve_and_refine() {
    RefineOptions options;
    options.op = op_;
    options.method = kind_;
    const RefinedSolution found = solve_refined(a_.array, b_.array, options);
    turn_.expect(!found.refinement.fell_back, "not refined: " + found.refinement.reason);
    write_constant(a_.array, 2);
    if (!in_place_) write_constant(b_.array, 3);
    redistribute_into(found.x, x_.array);
  }

  template <class Object>
  void expect_condition(const Object& object) {
    const double norm = matrix_norm(a_.array), condition = object.condition(norm);
    turn_.expect(n_ == 0 ? condition == 0 : condition > 0.99 && condition < 1e3,
                 fmt::format("the condition number is estimated as {}, and the norm is {}", condition, norm));
  }

  void expect_right() const {
    const double tolerance = 1e4 * epsilon_of(dtype_) * std::max(1.0, wanted_.norm());
    std::int64_t wrong = 0;
    each_element(x_.array, [&](std::int64_t number, auto& element) {
      const Wide found = widened(element);
      const Entry wanted = wanted_(number / count_, number % count_);
      wrong += !(std::abs(Entry(static_cast<double>(found.real()), static_cast<double>(found.imag())) -
                          wanted) < tolerance);
    });
    turn_.expect(wrong == 0, fmt::format("{} elements of X are wrong", wrong));
  }

  Turn& turn_;
  Factorization kind_;
  Dtype dtype_;
  std::int64_t m_ = 0, n_ = 0, count_ = 1;
  Op op_ = Op::none;
  FactorOptions options_;
  bool on_device_ = false, in_place_ = false, refined_ = false;
  Wrapped a_, b_, x_;
  DenseMatrix wanted_;
  std::unique_ptr<Cholesky> cholesky_;
  std::unique_ptr<Lu> lu_;
  std::unique_ptr<Qr> qr_;
};

}  // namespace

After linear_systems(Turn& turn) {
  LinearSystem system(turn);
  const int rounds = turn.random.number(1, 3);
  for (int round = 0; round < rounds; ++round) system.run_round();
  return After::goes_on;
}

}  // namespace partita::testing
