// Local transforms through bind_transform, against the definitions.
#include "kernels/host/transform.hpp"

#include "execute/works/bound_work.hpp"
#include "kernels/host/fft_planning.hpp"
#include "support/models/transform_side.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

bool complex_kind(TransformKind kind) {
  return kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
}

bool half_kind(TransformKind kind) {
  return kind == TransformKind::real_to_complex || kind == TransformKind::complex_to_real;
}

/// One random transform: its input and its expected output.
struct Sample {
  Transform work;
  TransformSide from, to;
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
    result = transform_axis(kind, halved ? work.real_length : result.shape[axis], axis, result);
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

Plan plan_of(const TransformSide& from, const TransformSide& to) {
  Plan plan;
  plan.operation = "transform";
  plan.topology = Topology::regular(1);
  plan.buffers = {from.buffer, to.buffer};
  return plan;
}

/// Relative l2 error, of `factor` times the numbers; in memory whatever is outside of the part is as before.
void expect_numbers(TransformSide& side, const std::vector<std::byte>& before, const Numbers& numbers,
                    double factor, double tolerance) {
  long double difference = 0, size = 0;
  std::vector<std::byte> rest = before;
  for (std::size_t i = 0; i < side.elements.size(); ++i) {
    char* const at = side.at(side.elements[i]);
    const Number wanted = numbers.values[i] * static_cast<long double>(factor);
    difference += std::norm(side.load(side.elements[i]) - wanted);
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
    sample.from.store(sample.from.elements[i], sample.input.values[i]);
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
    if (HasFailure()) break;
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

}  // namespace
}  // namespace partita::testing
