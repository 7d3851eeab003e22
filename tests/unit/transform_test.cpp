// Local transforms through bind_transform, against the definitions.
#include "kernels/host/transform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <partita/error.hpp>
#include <random>

#include "execute/bound_work.hpp"
#include "kernels/host/fft_planning.hpp"
#include "naive_transform.hpp"

namespace partita {
namespace {

using testing::Number;
using testing::Numbers;
using Random = std::mt19937_64;

std::int64_t uniform(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

bool complex_kind(TransformKind kind) {
  return kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
}
bool half_kind(TransformKind kind) {
  return kind == TransformKind::real_to_complex || kind == TransformKind::complex_to_real;
}

/// A buffer of a plan with its memory, and a part of it.
struct Side {
  Buffer buffer;
  Part part;
  Strides strides;              // of the bound view, in elements
  std::vector<Index> elements;  // of the region, row-major: index in memory's own dimensions
  std::vector<std::byte> memory;
  Dtype dtype = Dtype::f64;

  char* at(const Index& element) {
    std::int64_t offset = 0;
    for (int d = 0; d < element.size(); ++d) offset += element[d] * strides[d];
    return reinterpret_cast<char*>(memory.data()) + part.place.offset + offset * size_of(dtype);
  }
};

Extents random_order(Random& random, int dimensions) {
  Extents order = Extents::filled(dimensions, 0);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

Strides packed(const Shape& shape, const Extents& order, std::int64_t gap) {
  Strides strides = Extents::filled(shape.size(), 1);
  std::int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    strides[d] = step;
    step = step * shape[d] + gap;
  }
  return strides;
}

/// Every multi-index below `shape`, row-major.
std::vector<Index> indices(const Shape& shape) {
  std::vector<Index> result;
  Index index = Extents::filled(shape.size(), 0);
  for (std::int64_t i = 0; i < volume(shape); ++i) {
    result.push_back(index);
    for (int d = shape.size() - 1; d >= 0; --d) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

/// A random subset of `size` of the indices that rank 0 owns along a dimension, in a global numbering.
IndexSet random_subset(Random& random, std::int64_t size, bool even) {
  switch (even ? 0 : uniform(random, 0, 3)) {
    case 0: {
      const std::int64_t first = uniform(random, 0, 3);
      return IndexSet::range(first, first + size);
    }
    case 1: {  // blocks that end in a shorter one
      const std::int64_t length = uniform(random, 1, 3), period = length + uniform(random, 1, 2);
      IndexSet blocks = IndexSet::cyclic(uniform(random, 0, 2), length, period, 100 * period);
      const std::int64_t end = blocks.at(size - 1) + 1;
      return intersect(blocks, IndexSet::range(0, end));
    }
    default: {  // anything
      std::vector<Interval> intervals;
      for (std::int64_t i = 0, at = 0; i < size; ++i, ++at) {
        at += uniform(random, 0, 1);
        intervals.push_back({at, 1, 1, 1});
      }
      return IndexSet::of(intervals);
    }
  }
}

/// Packed scratch, or the local part of an array (dense in some order, or strided) that holds more than the
/// region.
Side random_side(Random& random, const Shape& shape, Dtype dtype, int buffer,
                 const std::vector<bool>& transformed) {
  Side side;
  side.dtype = dtype;
  const int n = shape.size();
  side.part.place.buffer = buffer;
  side.part.place.axis_order = random_order(random, n);
  std::int64_t margin = 0;
  if (uniform(random, 0, 1) == 0) {
    side.buffer = {"scratch", BufferKind::scratch, std::nullopt, 0, dtype};
    side.part.place.offset = uniform(random, 0, 5) * size_of(dtype);
    for (int d = 0; d < n; ++d) {
      side.part.region.sets.push_back(
          random_subset(random, shape[d], transformed[static_cast<std::size_t>(d)]));
    }
    side.strides = packed(shape, side.part.place.axis_order, 0);
    side.elements = indices(shape);
  } else {
    Shape local = shape;
    for (int d = 0; d < n; ++d) {
      side.part.region.sets.push_back(
          random_subset(random, shape[d], transformed[static_cast<std::size_t>(d)]));
      local[d] = side.part.region.sets.back().back() + 1 + uniform(random, 0, 2);
    }
    const bool dense = uniform(random, 0, 1) == 0;
    Operand operand = Operand::of(Layout(Slab(0), local, 1), dtype);
    operand.axis_order = side.part.place.axis_order;
    operand.dense = dense;
    side.buffer = {"array", BufferKind::operand, operand, 0, {}};
    side.strides = packed(local, operand.axis_order, dense ? 0 : 1);
    for (const Index& index : indices(shape)) {
      Index element = index;
      for (int d = 0; d < n; ++d) {
        element[d] = side.part.region.sets[static_cast<std::size_t>(d)].at(index[d]);
      }
      side.elements.push_back(element);
    }
    margin = 2 * volume(local) + 64;
    for (int d = 0; d < n; ++d) margin += local[d] * side.strides[d];
  }
  side.memory.resize(static_cast<std::size_t>((volume(shape) + margin + 16) * size_of(dtype)));
  return side;
}

template <class T>
void store(char* at, Number value) {
  T number;
  if constexpr (std::is_floating_point_v<T>) {
    number = static_cast<T>(value.real());
  } else {
    number = static_cast<T>(value);
  }
  std::memcpy(at, &number, sizeof number);
}

template <class T>
Number load(const char* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<long double>(number);
  } else {
    return {static_cast<long double>(number.real()), static_cast<long double>(number.imag())};
  }
}

void store(Dtype dtype, char* at, Number value) {
  if (dtype == Dtype::f32) store<float>(at, value);
  if (dtype == Dtype::f64) store<double>(at, value);
  if (dtype == Dtype::c64) store<std::complex<float>>(at, value);
  if (dtype == Dtype::c128) store<std::complex<double>>(at, value);
}

Number load(Dtype dtype, const char* at) {
  if (dtype == Dtype::f32) return load<float>(at);
  if (dtype == Dtype::f64) return load<double>(at);
  if (dtype == Dtype::c64) return load<std::complex<float>>(at);
  return load<std::complex<double>>(at);
}

/// One random transform: what goes in, what should come out.
struct Sample {
  Transform work;
  Side from, to;
  Numbers input, output;
  bool single = false;
};

void make_shapes(Random& random, Sample& sample, Shape& from, Shape& to) {
  Transform& work = sample.work;
  const int dimensions = static_cast<int>(uniform(random, 1, 4));
  const Extents order = random_order(random, dimensions);
  const bool one_axis = work.kind == TransformKind::complex_to_real;
  const auto axes = static_cast<int>(one_axis ? 1 : uniform(random, 1, std::min(3, dimensions)));
  for (int i = 0; i < axes; ++i) work.axes.push_back(order[i]);
  for (int d = 0; d < dimensions; ++d) from.push_back(uniform(random, 2, 9));
  to = from;
  if (!half_kind(work.kind)) return;
  const int last = static_cast<int>(work.axes[axes - 1]);
  work.real_length = uniform(random, 1, 12);
  (work.kind == TransformKind::real_to_complex ? from : to)[last] = work.real_length;
  (work.kind == TransformKind::real_to_complex ? to : from)[last] = work.real_length / 2 + 1;
}

Numbers expected(const Sample& sample) {
  Numbers result = sample.input;
  const Transform& work = sample.work;
  // The halved axis first: it takes the real numbers. Complex to real has only that one.
  for (int i = work.axes.size() - 1; i >= 0; --i) {
    const auto axis = static_cast<int>(work.axes[i]);
    const bool halved = half_kind(work.kind) && i == work.axes.size() - 1;
    const bool other = half_kind(work.kind) && !halved;
    const TransformKind kind = other ? TransformKind::complex_forward : work.kind;
    result = testing::transform_axis(kind, halved ? work.real_length : result.shape[axis], axis, result);
  }
  return result;
}

Sample random_sample(Random& random) {
  Sample sample;
  sample.single = uniform(random, 0, 1) == 0;
  sample.work.kind = static_cast<TransformKind>(uniform(random, 0, 11));
  const bool complex = complex_kind(sample.work.kind);
  const bool from_complex = complex || sample.work.kind == TransformKind::complex_to_real;
  const bool to_complex = complex || sample.work.kind == TransformKind::real_to_complex;
  const Dtype complex_dtype = sample.single ? Dtype::c64 : Dtype::c128;
  const Dtype real_dtype = sample.single ? Dtype::f32 : Dtype::f64;
  Shape from, to;
  make_shapes(random, sample, from, to);
  std::vector<bool> transformed(static_cast<std::size_t>(from.size()), false);
  for (const std::int64_t axis : sample.work.axes) transformed[static_cast<std::size_t>(axis)] = true;
  sample.from = random_side(random, from, from_complex ? complex_dtype : real_dtype, 0, transformed);
  sample.to = random_side(random, to, to_complex ? complex_dtype : real_dtype, 1, transformed);
  sample.work.from = sample.from.part;
  sample.work.to = sample.to.part;
  sample.work.scaled = uniform(random, 0, 1) == 0;
  sample.input.shape = from;
  std::uniform_real_distribution<float> number(-1, 1);
  for (std::int64_t i = 0; i < volume(from); ++i) {
    sample.input.values.emplace_back(number(random), from_complex ? number(random) : 0.0F);
  }
  sample.output = expected(sample);
  return sample;
}

Plan plan_of(const Side& from, const Side& to) {
  Plan plan;
  plan.operation = "transform";
  plan.topology = Topology::regular(1);
  plan.buffers = {from.buffer, to.buffer};
  return plan;
}

/// Relative l2 error, of `factor` times the numbers; in memory whatever is outside of the part is as before.
void expect_numbers(Side& side, const std::vector<std::byte>& before, const Numbers& numbers, double factor,
                    double tolerance) {
  long double difference = 0, size = 0;
  std::vector<std::byte> rest = before;
  for (std::size_t i = 0; i < side.elements.size(); ++i) {
    char* const at = side.at(side.elements[i]);
    const Number wanted = numbers.values[i] * static_cast<long double>(factor);
    difference += std::norm(load(side.dtype, at) - wanted);
    size += std::norm(wanted);
    const auto offset = static_cast<std::size_t>(reinterpret_cast<std::byte*>(at) - side.memory.data());
    std::memcpy(rest.data() + offset, at, static_cast<std::size_t>(size_of(side.dtype)));
  }
  EXPECT_LE(std::sqrt(difference), static_cast<long double>(tolerance) * std::sqrt(size) + 1e-30L);
  EXPECT_TRUE(rest == side.memory) << "something outside of the part was written";
}

void run_sample(Sample& sample, double scale) {
  const Plan plan = plan_of(sample.from, sample.to);
  const std::vector<Strides> strides{sample.from.strides, sample.to.strides};
  for (std::size_t i = 0; i < sample.from.elements.size(); ++i) {
    store(sample.from.dtype, sample.from.at(sample.from.elements[i]), sample.input.values[i]);
  }
  const std::vector<std::byte> input = sample.from.memory;
  std::ranges::fill(sample.to.memory, std::byte{0x3f});
  const std::vector<std::byte> before = sample.to.memory;
  const execution::AddressOf address = [&](const Place& place) {
    return reinterpret_cast<char*>((place.buffer == 0 ? sample.from : sample.to).memory.data());
  };
  const auto bound = execution::bind_transform(sample.work, {plan, strides});
  bound->run(address, {{1, 0}, {0, 0}, scale});
  EXPECT_TRUE(input == sample.from.memory) << "the input was written";
  expect_numbers(sample.to, before, sample.output, sample.work.scaled ? scale : 1,
                 sample.single ? 1e-6 : 2e-15);
}

TEST(Transform, RandomPartsAgreeWithTheDefinitions) {
  Random random(1);
  for (int i = 0; i < 600; ++i) {
    Sample sample = random_sample(random);
    SCOPED_TRACE("sample " + std::to_string(i) + ", kind " +
                 std::to_string(static_cast<int>(sample.work.kind)) + ", shape " +
                 to_string(sample.input.shape) + ", axes " + to_string(sample.work.axes) + ", from " +
                 to_string(sample.work.from.region) + ", to " + to_string(sample.work.to.region));
    run_sample(sample, 0.375);
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(Transform, MeasuredPlansLeaveTheDataAlone) {
  Random random(2);
  const kernels::FftPlanning planning(true);
  for (int i = 0; i < 20; ++i) {
    Sample sample = random_sample(random);
    run_sample(sample, 2);
  }
}

/// A dense complex array of the shape, transformed along the axes, in place.
struct Dense {
  Plan plan;
  Transform work;
  std::vector<Strides> strides;
  std::vector<std::complex<double>> values;

  Dense(const Shape& shape, const Extents& axes) {
    Side side;
    side.buffer = {"array", BufferKind::operand, Operand::of(Layout(Slab(0), shape, 1), Dtype::c128), 0, {}};
    plan = plan_of(side, side);
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
    numbers = testing::transform_axis(TransformKind::complex_forward, shape[axis], axis, numbers);
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
        numbers = testing::transform_axis(TransformKind::complex_forward, shape[d], d, numbers);
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

/// Every kind along all axes of an array whose lines are far apart, out of place, estimated and measured.
TEST(Transform, StridedLinesGoThroughABuffer) {
  const Shape shape{34, 17, 24};
  for (int k = 0; k < 12; ++k) {
    const auto kind = static_cast<TransformKind>(k);
    if (kind == TransformKind::complex_to_real) continue;
    SCOPED_TRACE(k);
    Sample sample;
    sample.work.kind = kind;
    sample.work.axes = {0, 2, 1};
    sample.work.scaled = k % 2 == 0;
    Shape to = shape;
    if (kind == TransformKind::real_to_complex) to[1] = 9;
    sample.work.real_length = 17;
    const Dtype from_dtype = complex_kind(kind) ? Dtype::c128 : Dtype::f64;
    const Dtype to_dtype = half_kind(kind) ? Dtype::c128 : from_dtype;
    Random random(4);
    const std::vector<bool> whole(3, true);
    sample.from = random_side(random, shape, from_dtype, 0, whole);
    sample.to = random_side(random, to, to_dtype, 1, whole);
    sample.work.from = sample.from.part;
    sample.work.to = sample.to.part;
    sample.input.shape = shape;
    for (std::int64_t i = 0; i < volume(shape); ++i) {
      const auto value = static_cast<long double>(i * 13 % 101) / 64;
      sample.input.values.emplace_back(value, complex_kind(kind) ? 1 - value : 0);
    }
    sample.output = expected(sample);
    run_sample(sample, 0.5);
    const kernels::FftPlanning planning(true);
    run_sample(sample, 0.5);
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

TEST(Transform, ComplexToRealAlongSeveralAxesIsRefused) {
  Dense dense({4, 6}, {0, 1});
  dense.plan.buffers[1].operand = Operand::of(Layout(Slab(0), {4, 10}, 1), Dtype::f64);
  dense.work.kind = TransformKind::complex_to_real;
  dense.work.to.place.buffer = 1;
  dense.work.real_length = 10;
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
}  // namespace partita
