#include "execute/works/bound_work.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using Number = std::complex<long double>;

/// A region of an array's local part on one rank of a slab.
struct Fixture {
  Plan plan;
  Twiddle work;
  std::vector<Strides> strides;

  Fixture(const Shape& shape, int ranks, int rank, Dtype dtype, Order order) {
    const Operand operand = Operand::of(Layout(Slab(1), shape, ranks), dtype, order);
    plan.operation = "twiddle";
    plan.topology = Topology::regular(1);
    plan.buffers = {{"array", BufferKind::operand, operand, 0, {}}};
    work.part.region = operand.layout.region(rank);
    work.part.place.rank = rank;
    strides = {operand.local_strides(rank)};
  }
};

template <class Real>
void expect_twiddled(Fixture& fixture, long double tolerance) {
  const Twiddle& work = fixture.work;
  const Region& region = work.part.region;
  const Shape local = fixture.plan.buffers[0].operand->layout.local_shape(work.part.place.rank);
  std::vector<std::complex<Real>> values(static_cast<std::size_t>(volume(local)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {static_cast<Real>(i % 7) - 3, static_cast<Real>(i % 5)};
  }
  const auto before = values;
  const auto bound = execution::bind_twiddle(work, {fixture.plan, fixture.strides});
  bound->run([&](const Place& /*place*/) { return reinterpret_cast<char*>(values.data()); }, {});
  for (std::int64_t a = 0; a < local[0]; ++a) {
    for (std::int64_t b = 0; b < local[1]; ++b) {
      for (std::int64_t c = 0; c < local[2]; ++c) {
        const Index global{region.sets[0].at(a), region.sets[1].at(b), region.sets[2].at(c)};
        const auto product =
            static_cast<long double>(global[work.axis]) * static_cast<long double>(global[work.other]);
        const auto length = static_cast<long double>(work.length);
        const Number root = std::polar(
            1.0L, work.sign * 2 * std::numbers::pi_v<long double> * std::fmod(product, length) / length);
        const auto at = static_cast<std::size_t>(a * fixture.strides[0][0] + b * fixture.strides[0][1] +
                                                 c * fixture.strides[0][2]);
        EXPECT_LE(std::abs(Number(values[at]) - Number(before[at]) * root),
                  tolerance * std::abs(Number(before[at])))
            << a << "," << b << "," << c;
      }
    }
  }
}

TEST(Twiddle, MultipliesByRootsOfUnity) {
  for (const Order order : {Order::row_major, Order::column_major}) {
    for (const int sign : {-1, 1}) {
      for (const auto& [axis, other] : {std::pair{0, 1}, {1, 2}, {2, 0}, {1, 0}}) {
        Fixture fixture({5, 17, 6}, 3, 1, Dtype::c128, order);
        fixture.work.axis = axis;
        fixture.work.other = other;
        fixture.work.sign = sign;
        fixture.work.length = 17 * 6;
        expect_twiddled<double>(fixture, 1e-15L);
      }
    }
  }
}

TEST(Twiddle, SinglePrecisionAndLongLengths) {
  Fixture fixture({5, 17, 6}, 3, 2, Dtype::c64, Order::row_major);
  fixture.work.length = 1'000'003;
  expect_twiddled<float>(fixture, 3e-7L);
  Fixture far({5, 17, 6}, 3, 2, Dtype::c128, Order::row_major);
  far.work.part.region.sets[0] = IndexSet::range(0, 5);
  far.work.length = (std::int64_t{1} << 30) + 7;
  expect_twiddled<double>(far, 1e-15L);
}

TEST(Twiddle, RefusesRealNumbersAndUnknownAxes) {
  Fixture real({4, 4, 4}, 1, 0, Dtype::f64, Order::row_major);
  real.work.length = 16;
  EXPECT_THROW(execution::bind_twiddle(real.work, {real.plan, real.strides}), ArgumentError);
  Fixture fixture({4, 4, 4}, 1, 0, Dtype::c128, Order::row_major);
  EXPECT_THROW(execution::bind_twiddle(fixture.work, {fixture.plan, fixture.strides}),
               ArgumentError);  // length 0
  fixture.work.length = 16;
  fixture.work.other = 3;
  EXPECT_THROW(execution::bind_twiddle(fixture.work, {fixture.plan, fixture.strides}), ArgumentError);
  fixture.work.other = 0;
  EXPECT_THROW(execution::bind_twiddle(fixture.work, {fixture.plan, fixture.strides}), ArgumentError);
}

}  // namespace
}  // namespace partita
