// Names and forms under which newcomers look for functions: each is called, with its result.
#include <partita/partita.hpp>
#include <sstream>

#include "support/on_ranks.hpp"

namespace pt = partita;

namespace partita::testing {
namespace {

/// 10 x 10: the element (i, j) is i + j / 10.
pt::Array numbers(pt::Context& context) {
  pt::Array a = pt::zeros(context, {10, 10}, pt::Slab(0));
  pt::fill(a, [](int i, int j) { return i + j / 10.0; });
  return a;
}

RANK_TEST(Names, OfFunctionsThatMakeArrays) {
  const pt::Array a = numbers(context);
  EXPECT_EQ(pt::sum(pt::ones(context, {3, 3}, pt::Slab(0), pt::Dtype::f64)), 9);
  EXPECT_TRUE(pt::any(pt::ones(context, {3}, pt::Slab(0), pt::boolean)));
  EXPECT_EQ(pt::norm(pt::zeros_like(a)), 0);
  EXPECT_EQ(pt::empty_like(a.transposed()).shape(), pt::Shape({10, 10}));
  EXPECT_EQ(pt::to_vector<double>(pt::linspace(context, 0.0, 1.0, 5, pt::Slab(0))),
            (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(pt::linspace(context, 2, 3, 1, pt::Slab(0)).sum(), 2);
  EXPECT_THROW((void)pt::linspace(context, 0, 1, -1, pt::Slab(0)), pt::ArgumentError);
  EXPECT_THROW((void)pt::linspace(context, 0, 1, 2, pt::Slab(0), pt::i32), pt::ArgumentError);
  EXPECT_EQ(pt::zeros(context, {3, 3}, pt::Slab(0)).dtype(), pt::f64);
  EXPECT_EQ(pt::zeros(context, {3, 3}, pt::Slab(0), pt::f32).dtype(), pt::f32);
  EXPECT_EQ(pt::zeros<float>(context, {3, 3}, pt::Slab(0)).dtype(), pt::f32);
  EXPECT_EQ(pt::empty<int>(context, {3, 3}, pt::Slab(0)).dtype(), pt::i32);
  const std::vector<int> shape{3, 3};
  const std::vector<std::int64_t> long_shape{3, 3};
  EXPECT_EQ(pt::zeros(context, shape, pt::Slab(0)).shape(), pt::Shape(long_shape));
  pt::Array same = pt::empty(context, {3}, pt::Slab(0));
  pt::fill_random(same, 7);
  EXPECT_TRUE(pt::compare(pt::random(context, {3}, pt::Slab(0), 7), same).equal);
  const pt::Array both = pt::concatenate({a, a.slice(0, 0, 3)}, 0);
  EXPECT_EQ(both.shape(), pt::Shape({13, 10}));
  EXPECT_EQ(pt::at<double>(both, {12, 5}), 2.5);
  EXPECT_EQ(pt::at<double>(both, {9, 5}), 9.5);
  const pt::Array wide = pt::concatenate({a, a.slice(1, 4, 6), a}, 1, pt::Distribution("slab:1"));
  EXPECT_EQ(wide.layout().distribution(), pt::Distribution(pt::Slab(1)));
  EXPECT_EQ(pt::at<double>(wide, {1, 11}), 1.5);
  EXPECT_THROW((void)pt::concatenate({a, both.T()}, 0), pt::ArgumentError);
}

RANK_TEST(Names, OfMembers) {
  pt::Array a = numbers(context);
  EXPECT_NE(a.clone().state(), a.state());
  EXPECT_TRUE(pt::compare(pt::copy(a), a).equal);
  EXPECT_EQ(a.size(), 100);
  EXPECT_EQ(a.ndim(), 2);
  EXPECT_NEAR(a.sum(), 495, 1e-9);
  EXPECT_EQ(a.min(), 0);
  EXPECT_EQ(a.max(), 9.9);
  EXPECT_NEAR(a.mean(), 4.95, 1e-12);
  EXPECT_EQ(a.at<double>({1, 2}), 1.2);
  EXPECT_EQ(a.T().at<double>({1, 2}), 2.1);
  EXPECT_EQ(pt::transpose(a).at<double>({1, 2}), 2.1);
  EXPECT_EQ(a.redistribute(pt::Slab(1)).layout().distribution(), pt::Distribution::parse("slab:1"));
  EXPECT_EQ(pt::redistribute(a, "slab:1").layout().distribution(), pt::Distribution("slab:1"));
  EXPECT_EQ(a.slice(0, 2, 5).shape(), pt::Shape({3, 10}));
  EXPECT_THROW((void)a.slice(0, 2, 11), pt::ArgumentError);
  EXPECT_THROW((void)a.slice(2, 0, 1), pt::ArgumentError);
  EXPECT_EQ(a.astype(pt::f32).dtype(), pt::f32);
  const pt::Array on_host = pt::clone(a, {.space = pt::MemorySpace::host});
  EXPECT_EQ(static_cast<std::int64_t>(on_host.span<double>().size()), a.local_size());
  EXPECT_THROW((void)on_host.span<float>(), pt::ArgumentError);
  if (a.local_size() > 0 && a.local_shape()[0] > 1) {
    EXPECT_THROW((void)on_host.T().span<double>(), pt::ArgumentError);
  }
}

RANK_TEST(Names, OfNumbers) {
  pt::Array a = numbers(context);
  const double total = pt::sum(a);
  EXPECT_NEAR(total, 495, 1e-9);
  const double product = pt::dot(a, a);
  EXPECT_GT(product, total);
  EXPECT_EQ(pt::to_vector<double>(a)[12], 1.2);
  std::ostringstream text;
  text << pt::sum(pt::ones(context, {3}, pt::Slab(0))) << ' ' << pt::Scalar(std::complex<double>(1, -2));
  EXPECT_EQ(text.str(), "3 1-2i");
  EXPECT_THROW((void)static_cast<int>(pt::Scalar(0.5)), pt::ArgumentError);
  EXPECT_TRUE(pt::Scalar(2) == 2.0);
  EXPECT_FALSE(pt::Scalar(2) == 3U);
  EXPECT_FALSE(pt::Scalar(std::uint64_t(-1)) == -1);
  pt::fill(a, 3);
  EXPECT_EQ(pt::max(a), 3);
  pt::fill(a, pt::sum(a));
  EXPECT_EQ(pt::max(a), 300);
  EXPECT_THROW(pt::fill(a, std::complex<double>(1, 1)), pt::ArgumentError);
  EXPECT_THROW(pt::fill(a, [](int i) { return 1.0 * i; }), pt::ArgumentError);
}

RANK_TEST(Names, OfCollectives) {
  std::vector<double> v(10, context.rank());
  const int ranks = context.size();
  const double sum = ranks * (ranks - 1) / 2.0;
  pt::all_reduce(context, v);
  EXPECT_EQ(v, std::vector<double>(10, sum));
  EXPECT_EQ(pt::all_reduce(context, 1.0), ranks);
  EXPECT_EQ(pt::all_reduce(context, context.rank(), {.reduction = pt::Reduction::max}), ranks - 1);
  v[0] = context.rank();
  pt::all_reduce(context, pt::view(v), pt::view(v), pt::Reduction::max);
  EXPECT_EQ(v[0], ranks - 1);
  v[0] = context.rank();
  pt::broadcast(context, v);
  EXPECT_EQ(v[0], 0);
  int number = context.rank();
  pt::broadcast(context, number, ranks - 1);
  EXPECT_EQ(number, ranks - 1);
}

RANK_TEST(Names, OfDistributions) {
  EXPECT_EQ(pt::dims_create(4, 2), pt::Extents({2, 2}));
  EXPECT_EQ(pt::dims_create(12, 2), pt::Extents({4, 3}));
  EXPECT_EQ(pt::dims_create(6, 3), pt::Extents({3, 2, 1}));
  EXPECT_EQ(pt::dims_create(7, 2), pt::Extents({7, 1}));
  EXPECT_EQ(pt::dims_create(4096, 3), pt::Extents({16, 16, 16}));
  EXPECT_THROW((void)pt::dims_create(0, 2), pt::ArgumentError);
  EXPECT_THROW((void)pt::dims_create(4, 9), pt::ArgumentError);
  EXPECT_EQ(pt::BlockCyclic({2, 2}, 64), pt::BlockCyclic({2, 2}, {64, 64}));
  EXPECT_THROW((void)pt::Distribution("slap:1"), pt::ArgumentError);
}

RANK_TEST(Names, OfWrappedContainers) {
  const pt::Layout layout(pt::Slab(0), {7, 3}, context.size());
  std::vector<double> mine(static_cast<std::size_t>(layout.local_size(context.rank())), 1.0);
  pt::Array a = pt::wrap(context, mine, pt::Slab(0), {7, 3});
  EXPECT_EQ(pt::sum(a), 21);
  for (double& x : a.span<double>()) x = 2;
  EXPECT_EQ(pt::sum(a), 42);
  std::vector<double> wrong(mine.size() + (context.rank() == 0 ? 1 : 0));
  EXPECT_ERROR_ON_ALL(pt::ArgumentError, pt::wrap(context, wrong, pt::Slab(0), {7, 3}), "rank 0 passes");
}

RANK_TEST(Names, OfPlansForArrays) {
  pt::Array a = numbers(context), b = pt::zeros(context, {10, 10}, pt::Slab(1));
  pt::Redistribute plan(context, a, b);
  plan.execute();
  EXPECT_TRUE(pt::compare(a, b).equal);
  EXPECT_EQ(pt::Halo(a, {.lower = {1, 1}}).extended_shape(),
            pt::Halo(context, a, {.lower = {1, 1}}).extended_shape());
  const pt::Array z = a.astype(pt::c128);
  EXPECT_EQ(pt::FFT(context, z, {}).output().dtype, pt::c128);
  pt::Context other = context.split(0).value();
  EXPECT_THROW(pt::Redistribute(other, a, b), pt::ArgumentError);
}

}  // namespace
}  // namespace partita::testing
