// Public calls that consist of several steps are named in errors as the program called them: one rank makes
// such a call, the others a barrier.
#include <partita/array_reductions.hpp>
#include <partita/create.hpp>
#include <partita/eigen.hpp>
#include <partita/fft.hpp>
#include <partita/linalg.hpp>
#include <partita/nan_reductions.hpp>
#include <partita/print.hpp>
#include <partita/quantiles.hpp>
#include <partita/spectral.hpp>
#include <partita/statistics.hpp>

#include "support/withdrawal.hpp"

namespace partita::testing::names_of_calls {
namespace {

using namespace std::chrono_literals;

/// What they compute with.
struct Given {
  Array a, spd, tall, batch, vector, complex;
};

Given given_in(Context& context) {
  const auto of = [&](const Shape& shape, Dtype dtype = Dtype::f64) {
    return random(context, shape, Slab(0), 7, dtype);
  };
  return {of({9, 9}),  eye(context, 9, 9, Slab(0), Dtype::f64),
          of({40, 3}), of({4, 3, 3}),
          of({9}),     of({9, 9}, Dtype::c128)};
}

struct Call {
  const char* name;
  void (*make)(Context&, const Given&);
};

const Call calls[] = {
    {"inverse", [](Context&, const Given& g) { static_cast<void>(inverse(g.spd)); }},
    {"slogdet", [](Context&, const Given& g) { static_cast<void>(slogdet(g.spd)); }},
    {"solve", [](Context&, const Given& g) { static_cast<void>(solve(g.spd, g.vector)); }},
    {"solve_refined", [](Context&, const Given& g) { static_cast<void>(solve_refined(g.spd, g.vector)); }},
    {"solve_triangular",
     [](Context&, const Given& g) { static_cast<void>(solve_triangular(g.spd, g.vector)); }},
    {"cholesky", [](Context&, const Given& g) { static_cast<void>(cholesky(g.spd)); }},
    {"qr", [](Context&, const Given& g) { static_cast<void>(qr(g.a)); }},
    {"qr", [](Context&, const Given& g) { static_cast<void>(qr(g.tall)); }},
    {"lstsq", [](Context&, const Given& g) { static_cast<void>(lstsq(g.spd, g.vector)); }},
    {"condition", [](Context&, const Given& g) { static_cast<void>(condition(g.spd)); }},
    {"matrix_norm", [](Context&, const Given& g) { static_cast<void>(matrix_norm(g.a)); }},
    {"log_determinants", [](Context&, const Given& g) { static_cast<void>(log_determinants(g.batch)); }},
    {"eigh", [](Context&, const Given& g) { static_cast<void>(eigh(g.spd)); }},
    {"eigvalsh", [](Context&, const Given& g) { static_cast<void>(eigvalsh(g.spd)); }},
    {"svd", [](Context&, const Given& g) { static_cast<void>(svd(g.a)); }},
    {"svdvals", [](Context&, const Given& g) { static_cast<void>(svdvals(g.a)); }},
    {"polar", [](Context&, const Given& g) { static_cast<void>(polar(g.spd)); }},
    {"zeros", [](Context& c, const Given&) { static_cast<void>(zeros(c, {5}, Slab(0))); }},
    {"ones", [](Context& c, const Given&) { static_cast<void>(ones(c, {5}, Slab(0))); }},
    {"full", [](Context& c, const Given&) { static_cast<void>(full(c, {5}, Slab(0), 2.0)); }},
    {"arange", [](Context& c, const Given&) { static_cast<void>(arange(c, 5, Slab(0))); }},
    {"linspace", [](Context& c, const Given&) { static_cast<void>(linspace(c, 0, 1, 5, Slab(0))); }},
    {"random", [](Context& c, const Given&) { static_cast<void>(random(c, {5}, Slab(0), 3)); }},
    {"eye", [](Context& c, const Given&) { static_cast<void>(eye(c, 5, 5, Slab(0), Dtype::f64)); }},
    {"zeros_like", [](Context&, const Given& g) { static_cast<void>(zeros_like(g.a)); }},
    {"empty_like", [](Context&, const Given& g) { static_cast<void>(empty_like(g.a)); }},
    {"concatenate",
     [](Context&, const Given& g) {
       static_cast<void>(concatenate({g.a, g.a}, 0));
     }},
    {"var", [](Context&, const Given& g) { static_cast<void>(var(g.a)); }},
    {"stddev", [](Context&, const Given& g) { static_cast<void>(stddev(g.a)); }},
    {"ptp", [](Context&, const Given& g) { static_cast<void>(ptp(g.a)); }},
    {"count_nonzero", [](Context&, const Given& g) { static_cast<void>(count_nonzero(g.a)); }},
    {"nansum", [](Context&, const Given& g) { static_cast<void>(nansum(g.a)); }},
    {"nanproduct", [](Context&, const Given& g) { static_cast<void>(nanproduct(g.a)); }},
    {"nanmin", [](Context&, const Given& g) { static_cast<void>(nanmin(g.a)); }},
    {"nanmax", [](Context&, const Given& g) { static_cast<void>(nanmax(g.a)); }},
    {"nanmean", [](Context&, const Given& g) { static_cast<void>(nanmean(g.a)); }},
    {"nanvar", [](Context&, const Given& g) { static_cast<void>(nanvar(g.a)); }},
    {"nanstddev", [](Context&, const Given& g) { static_cast<void>(nanstddev(g.a)); }},
    {"nanargmax", [](Context&, const Given& g) { static_cast<void>(nanargmax(g.a)); }},
    {"nanargmin", [](Context&, const Given& g) { static_cast<void>(nanargmin(g.a)); }},
    {"nanmedian", [](Context&, const Given& g) { static_cast<void>(nanmedian(g.a)); }},
    {"allclose", [](Context&, const Given& g) { static_cast<void>(allclose(g.a, g.a)); }},
    {"to_string", [](Context&, const Given& g) { static_cast<void>(to_string(g.a)); }},
    {"fft", [](Context&, const Given& g) { static_cast<void>(fft(g.complex)); }},
    {"ifft", [](Context&, const Given& g) { static_cast<void>(ifft(g.complex)); }},
    {"rfft", [](Context&, const Given& g) { static_cast<void>(rfft(g.a)); }},
    {"dct", [](Context&, const Given& g) { static_cast<void>(dct(g.a)); }},
    {"solve_poisson", [](Context&, const Given& g) { static_cast<void>(solve_poisson(g.a)); }},
    {"gradient", [](Context&, const Given& g) { static_cast<void>(gradient(g.a)); }},
    {"convolve", [](Context&, const Given& g) { static_cast<void>(convolve(g.a, g.a)); }},
};

/// All calls, in one context for as long as it goes on. `known`: their plans are kept.
void check_all(bool known) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  for (std::size_t next = 0; next < std::size(calls) && !::testing::Test::HasFailure();) {
    std::atomic<std::size_t> done = next;
    on_ranks(
        [&](Context& context) {
          const Given given = given_in(context);
          for (std::size_t at = next; at < std::size(calls) && !context.failed(); ++at) {
            const Call& call = calls[at];
            SCOPED_TRACE(call.name);
            if (known) call.make(context, given);
            const int one = context.size() - 1;
            const std::string text = caught<DisagreementError>([&] {
              context.rank() == one ? call.make(context, given) : context.barrier();
              context.synchronize();
              context.barrier();
            });
            expect_same_text_on_all(context.rank(), text);
            EXPECT_TRUE(contains(text, "the ranks called different operations: barrier on rank")) << text;
            EXPECT_TRUE(contains(text, fmt::format("; {} on rank {}", call.name, one))) << text;
            done = at + 1;
          }
        },
        {.device = test_device(), .deadline = 60s});
    next = done;
  }
}

TEST(NamesOfCalls, NewOnesOfOneRank) {
  check_all(false);
}

TEST(NamesOfCalls, KnownOnesOfOneRank) {
  check_all(true);
}

}  // namespace
}  // namespace partita::testing::names_of_calls
