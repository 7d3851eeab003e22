// Local transforms of dense arrays in place, and what is refused.
#include "execute/works/bound_work.hpp"
#include "kernels/host/fft_planning.hpp"
#include "kernels/host/transform.hpp"
#include "support/models/naive_transform.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

/// A dense complex array of the shape, transformed along the axes, in place.
struct Dense {
  Plan plan;
  Transform work;
  std::vector<Strides> strides;
  std::vector<std::complex<double>> values;

  Dense(const Shape& shape, const Extents& axes) {
    const Buffer array{
        "array", BufferKind::operand, Operand::of(Layout(Slab(0), shape, 1), Dtype::c128), 0, {}};
    plan.operation = "transform";
    plan.topology = Topology::regular(1);
    plan.buffers = {array, array};
    for (int d = 0; d < shape.size(); ++d) work.from.region.sets.push_back(IndexSet::range(0, shape[d]));
    work.to = work.from;
    work.axes = axes;
    strides = {dense_strides(shape), dense_strides(shape)};
    values.resize(static_cast<std::size_t>(volume(shape)));
  }
  std::unique_ptr<execution::BoundWork> bind() { return execution::bind_transform(work, {plan, strides}); }
  execution::AddressOf address() {
    return [this](const Place& /*place*/) { return reinterpret_cast<char*>(values.data()); };
  }
};

TEST(Transform, InPlaceAndLargerThanTheCacheOfAScale) {
  // 40 x 41 x 30 complex numbers are cut into several calls when scaled.
  const Shape shape{40, 41, 30};
  Dense dense(shape, {0, 2});
  dense.work.scaled = true;
  Numbers numbers{shape, {}};
  for (std::size_t i = 0; i < dense.values.size(); ++i) {
    dense.values[i] = {static_cast<double>(i * 7 % 31) - 15, static_cast<double>(i * 5 % 23) - 11};
    numbers.values.emplace_back(dense.values[i]);
  }
  for (const int axis : {0, 2}) {
    numbers = transform_axis(TransformKind::complex_forward, shape[axis], axis, numbers);
  }
  dense.bind()->run(dense.address(), {{1, 0}, {0, 0}, 0.25});
  long double difference = 0, size = 0;
  for (std::size_t i = 0; i < dense.values.size(); ++i) {
    difference += std::norm(Number(dense.values[i]) - numbers.values[i] * 0.25L);
    size += std::norm(numbers.values[i] * 0.25L);
  }
  EXPECT_LE(std::sqrt(difference / size), 2e-15L);
}

/// Several axes of which some have large prime factors, estimated and measured; some arrays are large
/// enough to be taken plane by plane.
TEST(Transform, AxesWithLargePrimeFactors) {
  for (const auto& [shape, axes] : std::vector<std::pair<Shape, Extents>>{{{5, 62, 181}, {1, 2}},
                                                                          {{181, 17, 34}, {0, 1, 2}},
                                                                          {{64, 3, 37}, {2, 0}},
                                                                          {{37, 90, 61}, {2, 1}}}) {
    for (const bool measure : {false, true}) {
      SCOPED_TRACE(to_string(shape) + (measure ? ", measured" : ", estimated"));
      const kernels::FftPlanning planning(measure);
      Dense dense(shape, axes);
      dense.work.scaled = measure;
      Numbers numbers{shape, {}};
      for (std::size_t i = 0; i < dense.values.size(); ++i) {
        dense.values[i] = {static_cast<double>(i * 7 % 31) - 15, static_cast<double>(i * 5 % 23) - 11};
        numbers.values.emplace_back(dense.values[i]);
      }
      for (const std::int64_t axis : axes) {
        const auto d = static_cast<int>(axis);
        numbers = transform_axis(TransformKind::complex_forward, shape[d], d, numbers);
      }
      dense.bind()->run(dense.address(), {{1, 0}, {0, 0}, 0.25});
      const long double factor = measure ? 0.25L : 1;
      long double difference = 0, size = 0;
      for (std::size_t i = 0; i < dense.values.size(); ++i) {
        difference += std::norm(Number(dense.values[i]) - numbers.values[i] * factor);
        size += std::norm(numbers.values[i] * factor);
      }
      EXPECT_LE(std::sqrt(difference / size), 2e-15L);
    }
  }
}

// FFTW 3.3.10 alone would end the process.
TEST(Transform, ColumnsOfSingleNumbersBecomeRowsAtOddDistances) {
  constexpr std::int64_t columns = 8;
  for (const std::int64_t n : {2, 4, 8, 10, 16, 32}) {
    for (const bool measure : {false, true}) {
      kernels::TransformShape shape;
      shape.precision = kernels::FftwPrecision::f32;
      shape.measure = measure;
      shape.lines = {{n, columns, 1}};
      shape.batch = {{columns, 1, n + 1}};
      std::vector<std::complex<float>> from, to(static_cast<std::size_t>(columns * (n + 1)));
      Numbers numbers{{n, columns}, {}};
      for (std::int64_t i = 0; i < n * columns; ++i) {
        from.emplace_back(static_cast<float>(i * 7 % 31) - 15, static_cast<float>(i * 5 % 23) - 11);
        numbers.values.emplace_back(from.back());
      }
      const auto memory = memory_of(kernels::fftw(shape.precision), from.data(), to.data());
      kernels::plan_transform(shape, memory)->run(from.data(), to.data());
      numbers = transform_axis(TransformKind::complex_forward, n, 0, numbers);
      for (std::int64_t i = 0; i < n * columns; ++i) {
        const Number found(to[static_cast<std::size_t>(i % columns * (n + 1) + i / columns)]);
        EXPECT_LE(std::abs(found - numbers.values[static_cast<std::size_t>(i)]), 1e-4L) << n << ", " << i;
      }
    }
  }
}

TEST(Transform, EqualShapesShareOnePlan) {
  kernels::TransformShape shape;
  shape.lines = {{16, 1, 1}};
  shape.batch = {{4, 16, 16}};
  const kernels::TransformMemory memory;
  const auto one = kernels::plan_transform(shape, memory);
  EXPECT_EQ(kernels::plan_transform(shape, memory), one);
  shape.batch = {{5, 16, 16}};
  EXPECT_NE(kernels::plan_transform(shape, memory), one);
}

TEST(Transform, RefusesWhatIsNoTransform) {
  Dense dense({4, 6}, {0, 0});
  EXPECT_THROW(dense.bind(), ArgumentError);  // an axis named twice
  dense.work.axes = {2};
  EXPECT_THROW(dense.bind(), ArgumentError);
  dense.work.axes = {};
  EXPECT_THROW(dense.bind(), ArgumentError);
  dense.work.axes = {1};
  dense.work.kind = TransformKind::dct2;  // of complex numbers
  EXPECT_THROW(dense.bind(), ArgumentError);
  dense.work.kind = TransformKind::complex_forward;
  dense.work.to.region.sets[1] = IndexSet::range(0, 5);
  EXPECT_THROW(dense.bind(), ArgumentError);
  dense.work.to.region.sets[1] = IndexSet::range(0, 6);
  dense.work.to.region.sets[0] = IndexSet::range(0, 3);
  EXPECT_THROW(dense.bind(), ArgumentError);
  dense.work.to.region.sets[0] = IndexSet::range(2, 6);  // not there
  EXPECT_THROW(dense.bind(), ArgumentError);
}

TEST(Transform, ComplexToRealAlongSeveralAxesIsRefusedForOddLengths) {
  Dense dense({4, 6}, {0, 1});
  dense.plan.buffers[1].operand = Operand::of(Layout(Slab(0), {4, 11}, 1), Dtype::f64);
  dense.work.kind = TransformKind::complex_to_real;
  dense.work.to.place.buffer = 1;
  dense.work.real_length = 11;
  EXPECT_THROW(dense.bind(), UnsupportedError);
}

TEST(Transform, ALineAtUnevenDistancesIsRefused) {
  Dense dense({9, 2}, {0});
  const IndexSet uneven = IndexSet::of({{0, 2, 2, 1}, {4, 1, 1, 1}, {7, 1, 1, 1}});
  dense.work.from.region.sets[0] = dense.work.to.region.sets[0] = uneven;
  EXPECT_THROW(dense.bind(), UnsupportedError);
}

TEST(Transform, ADctOfOnePointHasNoFirstKind) {
  kernels::TransformShape shape;
  shape.kind = TransformKind::dct1;
  shape.lines = {{1, 1, 1}};
  EXPECT_THROW(kernels::plan_transform(shape, {}), ArgumentError);
}

}  // namespace
}  // namespace partita::testing
