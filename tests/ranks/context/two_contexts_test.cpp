// Arrays of two contexts in one call, and plans with arrays of another context: an error on all ranks,
// whether the contexts number the ranks alike or not.
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

/// Arrays of one context, with parts of different sizes.
struct Own {
  static constexpr ArrayOptions on_host{.space = MemorySpace::host};

  explicit Own(const Context& context)
      : square(eye(context, side, side, Slab(0), Dtype::f64, 0, on_host)),
        columns(zeros(context, {side, side}, Slab(1), Dtype::f64, on_host)),
        row(zeros(context, {side}, Replicated(), Dtype::f64, on_host)),
        complexes(zeros(context, {side, side}, Slab(0), Dtype::c128, on_host)),
        output(zeros(context, {side, side}, Slab(0), Dtype::c128, on_host)) {}

  static constexpr std::int64_t side = 7;
  Array square, columns, row, complexes, output;
};

struct CallOfTwo {
  const char* name;
  std::function<void()> call;
};

/// Everything that takes several arrays, once with one of the other context in each place.
std::vector<CallOfTwo> calls_of_arrays(Own& one, Own& other, const std::string& file) {
  const auto epilogue = [](Epilogue kind) {
    MatmulOptions options{.epilogue = kind};
    return options;
  };
  const auto with_bias = [&] {
    (void)matmul(one.square, one.square, epilogue(Epilogue::bias), {.bias = &other.row});
  };
  return {
      {"copy", [&] { copy(one.square, other.square); }},
      {"compare", [&] { (void)compare(one.square, other.square); }},
      {"redistribute_into", [&] { redistribute_into(one.square, other.columns); }},
      {"add", [&] { (void)(one.square + other.square); }},
      {"add into another context", [&] { add(one.square, one.square, other.square); }},
      {"add of another context", [&] { add(one.square, other.square, one.square); }},
      {"+=", [&] { one.square += other.square; }},
      {"axpy", [&] { axpy(2.0, other.square, one.square); }},
      {"where", [&] { (void)where(one.square > 0.0, one.square, other.square); }},
      {"where into another context", [&] { where(one.square > 0.0, one.square, one.square, other.square); }},
      {"concatenate",
       [&] {
         (void)concatenate({one.square, other.square}, 0);
       }},
      {"convert", [&] { convert(one.square, other.square); }},
      {"allclose", [&] { (void)allclose(one.square, other.square); }},
      {"sort_part", [&] { sort_part(one.row, other.row); }},
      {"dot", [&] { (void)dot<double>(one.square, other.square); }},
      {"vdot", [&] { (void)vdot<double>(one.square, other.square); }},
      {"matmul", [&] { (void)matmul(one.square, other.square); }},
      {"matmul with C", [&] { (void)matmul(one.square, one.square, other.square); }},
      {"matmul_into", [&] { matmul_into(one.square, one.square, nullptr, other.columns); }},
      {"matmul with a bias", with_bias},
      {"solve", [&] { (void)solve(one.square, other.square); }},
      {"solve_triangular", [&] { (void)solve_triangular(one.square, other.square); }},
      {"solve_refined", [&] { (void)solve_refined(one.square, other.square); }},
      {"rank_k_update", [&] { rank_k_update(one.square, other.square); }},
      {"lstsq", [&] { (void)lstsq(one.square, other.square); }},
      {"fft_into", [&] { fft_into(one.complexes, other.complexes); }},
      {"rfft_into", [&] { dct_into(one.square, other.square); }},
      {"solve_poisson_into", [&] { solve_poisson_into(one.square, other.square); }},
      {"gradient_into",
       [&] {
         std::vector<Array> results{one.columns, other.columns};
         gradient_into(one.square, results);
       }},
      {"convolve", [&] { (void)convolve(one.square, other.square); }},
      {"convolve_into", [&] { convolve_into(one.square, one.square, other.square); }},
      {"resize_spectrum_into",
       [&] {
         resize_spectrum_into(one.complexes, other.complexes, {Own::side, Own::side}, {Own::side, Own::side});
       }},
      {"write_hdf5",
       [&] {
         write_hdf5(file, {{"a", one.square, {}}, {"b", other.square, {}}});
       }},
  };
}

/// Plans of `one`, executed with arrays of the other context in each place, or in all.
struct Plans {
  Plans(const Context& context, Own& arrays)
      : redistribution(context, arrays.square.operand(), arrays.columns.operand()),
        product(context,
                {arrays.square.operand(), arrays.square.operand(), std::nullopt, arrays.columns.operand()}),
        transform(context, arrays.complexes.operand(), arrays.output.operand()),
        lu(arrays.square),
        cholesky(arrays.square),
        qr(arrays.square),
        packed(lu.packed()),
        halo(context, arrays.square.operand(), {.lower = {1, 0}, .upper = {1, 0}}),
        extended(static_cast<std::size_t>(volume(halo.extended_shape()))) {}

  Redistribute redistribution;
  Matmul product;
  FFT transform;
  Lu lu;
  Cholesky cholesky;
  Qr qr;
  Array packed;
  Halo halo;
  std::vector<double> extended;
  View cells() { return view(extended, halo.extended_shape()); }
};

std::vector<CallOfTwo> calls_of_plans(Plans& plans, Own& one, Own& other) {
  return {
      {"Redistribute, source", [&] { plans.redistribution.execute(other.square, one.columns); }},
      {"Redistribute, destination", [&] { plans.redistribution.execute(one.square, other.columns); }},
      {"Redistribute", [&] { plans.redistribution.execute(other.square, other.columns); }},
      {"Redistribute::reset", [&] { plans.redistribution.reset(other.square, other.columns); }},
      {"Matmul::reset, A", [&] { plans.product.reset(other.square, one.square, nullptr, one.columns); }},
      {"Matmul::reset, B", [&] { plans.product.reset(one.square, other.square, nullptr, one.columns); }},
      {"Matmul::reset", [&] { plans.product.reset(other.square, other.square, nullptr, other.columns); }},
      {"FFT, input", [&] { plans.transform.execute(other.complexes, one.output); }},
      {"FFT, output", [&] { plans.transform.execute(one.complexes, other.output); }},
      {"FFT", [&] { plans.transform.execute(other.complexes, other.output); }},
      {"FFT::inverse", [&] { plans.transform.inverse(other.output, other.complexes); }},
      {"FFT::reset", [&] { plans.transform.reset(other.complexes, other.output); }},
      {"FFT::execute_batch",
       [&] {
         std::vector<Array> outputs{one.output, other.output};
         plans.transform.execute_batch({one.complexes, other.complexes}, outputs);
       }},
      {"Lu::solve", [&] { (void)plans.lu.solve(other.square); }},
      {"Lu::solve_into", [&] { plans.lu.solve_into(one.square, other.square); }},
      {"Lu::factorize", [&] { plans.lu.factorize(other.square); }},
      {"Lu::packed_into", [&] { plans.lu.packed_into(other.square); }},
      {"Cholesky::solve", [&] { (void)plans.cholesky.solve(other.square); }},
      {"Cholesky::factorize", [&] { plans.cholesky.factorize(other.square); }},
      {"Cholesky::lower_into", [&] { plans.cholesky.lower_into(other.square); }},
      {"Qr::solve", [&] { (void)plans.qr.solve(other.square); }},
      {"Qr::factorize", [&] { plans.qr.factorize(other.square); }},
      {"Halo::execute", [&] { plans.halo.execute(other.square, plans.cells()); }},
      {"Halo::accumulate", [&] { plans.halo.accumulate(plans.cells(), other.square); }},
      {"Halo::start", [&] { plans.halo.start(other.square, plans.cells()); }},
      {"Halo::start_accumulate", [&] { plans.halo.start_accumulate(plans.cells(), other.square); }},
  };
}

void expect_contexts_refused(const Context& context, const std::vector<CallOfTwo>& cases) {
  for (const CallOfTwo& one : cases) {
    const std::string text = same_error<ArgumentError>(context, one.call);
    EXPECT_TRUE(contains(text, "different contexts")) << one.name << ": " << text;
  }
}

/// Contexts of the same ranks, in the same order and in the opposite one.
template <class Body>
void with_another_context(const Context& context, Body&& body) {
  std::vector<int> ranks = all_ranks(context);
  body(context.subgroup(ranks));
  std::ranges::reverse(ranks);
  body(context.subgroup(ranks));
}

RANK_TEST(TwoContexts, ArraysAreNotUsedTogether) {
  const SharedDirectory directory(context);
  const std::string file = directory / "two.h5";
  with_another_context(context, [&](const Context& second) {
    Own one(context), other(second);
    expect_contexts_refused(context, calls_of_arrays(one, other, file));
    expect_contexts_refused(context, calls_of_arrays(other, one, file));
    context.barrier();
    second.barrier();
  });
}

RANK_TEST(TwoContexts, PlansDoNotTakeArraysOfAnother) {
  with_another_context(context, [&](const Context& second) {
    Own one(context), other(second);
    Plans plans(context, one);
    expect_contexts_refused(context, calls_of_plans(plans, one, other));
    fill(one.square, 3.0);
    plans.redistribution.execute(one.square, one.columns);  // all still work
    EXPECT_TRUE(compare(one.square, one.columns).equal);
    plans.halo.execute(one.square, plans.cells());
    second.barrier();
  });
}

/// What one rank does wrong, the others are in another call than it.
RANK_TEST(TwoContexts, TheRankThatMistakesOneTellsAll) {
  const Context second = context.subgroup(all_ranks(context));
  Own one(context), other(second);
  const int last = context.size() - 1;
  const auto wrong_here = [&](Array& right, Array& wrong) -> Array& {
    return context.rank() == last ? wrong : right;
  };
  EXPECT_ERROR_ON_ALL(ArgumentError, redistribute_into(one.square, wrong_here(one.columns, other.columns)),
                      "different contexts");
  EXPECT_FALSE(context.failed());
  second.barrier();
}

/// The list of ranks must be that of the array's context.
RANK_TEST(TwoContexts, ListsOfRanksAreThoseOfTheSubgroup) {
  const std::vector<int> ranks = all_ranks(context);
  std::vector<int> reversed = ranks;
  std::ranges::reverse(reversed);
  const Context opposite = context.subgroup(reversed);
  const Array inner = zeros(opposite, {7}, Slab(0), Dtype::f64),
              outer = zeros(context, {7}, Slab(0), Dtype::f64);
  EXPECT_EQ(embed(context, inner, reversed).local_size(), inner.local_size());
  EXPECT_EQ(restrict_to(opposite, outer, reversed).local_size(), outer.local_size());
  if (context.size() == 1) return;
  EXPECT_TRUE(
      contains(same_error<ArgumentError>(context, [&] { (void)embed(context, inner, ranks); }), "0,1"));
  EXPECT_ERROR_ON_ALL(ArgumentError, restrict_to(opposite, outer, ranks), "0,1");
}

}  // namespace
}  // namespace partita::testing
