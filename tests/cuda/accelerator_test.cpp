// The kernels and copy engines of a GPU against the host's kernels, on random strided copies.
#include "device/accelerator.hpp"

#include "base/visit_dtype.hpp"
#include "kernels/host/convert.hpp"
#include "kernels/host/fill.hpp"
#include "support/models/random_transposition.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

class CudaAcceleratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    devices::Accelerators& devices = devices::Accelerators::built_in();
    if (devices.count() == 0) GTEST_SKIP() << "no GPU: " << devices.why_none();
    physical_ = devices.device(0);
    device_ = physical_->open({}, 1);
  }

  void finish() {
    const std::unique_ptr<devices::DeviceEvent> end = device_->event();
    end->record(device_->stream());
    while (!end->reached()) {
    }
  }

  /// A copy of `bytes` on the device.
  std::shared_ptr<void> upload(const std::vector<char>& bytes) {
    std::shared_ptr<void> memory(physical_->allocate(static_cast<std::int64_t>(bytes.size())),
                                 [this](void* pointer) { physical_->release(pointer); });
    device_->copy_bytes(bytes.data(), memory.get(), static_cast<std::int64_t>(bytes.size()),
                        device_->stream());
    finish();
    return memory;
  }

  std::vector<char> download(const std::shared_ptr<void>& memory, std::size_t bytes) {
    std::vector<char> result(bytes);
    device_->copy_bytes(memory.get(), result.data(), static_cast<std::int64_t>(bytes), device_->stream());
    finish();
    return result;
  }

  std::shared_ptr<devices::PhysicalDevice> physical_;
  std::unique_ptr<devices::Accelerator> device_;
  std::mt19937_64 random_{std::random_device()()};
};

/// A nest of up to four loops whose elements are not adjacent on either side, in memory of `bytes`.
struct Sample {
  kernels::StridedCopy nest;
  std::int64_t bytes = 0;
};

Sample sample(std::mt19937_64& random, std::int64_t item) {
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Sample result{{item, number(0, 3) * item, number(0, 3) * item, {}}, 0};
  std::int64_t from = item, to = item;
  std::vector<kernels::CopyLoop> loops;  // innermost first
  for (std::int64_t left = number(0, 4); left > 0; --left) {
    const std::int64_t count = number(1, left == 1 ? 300 : 9);
    const std::int64_t gap = number(0, 2) == 0 ? number(1, 3) * item : 0;
    loops.push_back({count, from + gap, to + (number(0, 1) == 0 ? gap : 0)});
    from = loops.back().from_stride * count;
    to = loops.back().to_stride * count;
  }
  std::shuffle(loops.begin(), loops.end(), random);  // also transpositions
  result.nest.loops = loops;
  result.bytes = std::max(from, to) + 4 * item;
  return result;
}

std::vector<char> noise(std::mt19937_64& random, std::int64_t bytes) {
  std::vector<char> result(static_cast<std::size_t>(bytes));
  for (char& byte : result) byte = static_cast<char>(random());
  return result;
}

TEST_F(CudaAcceleratorTest, CopiesAsTheHostDoes) {
  for (int round = 0; round < 300; ++round) {
    const std::int64_t item = std::int64_t{1} << (round % 5);
    const Sample one = sample(random_, item);
    const kernels::StridedCopy nest = kernels::simplify(one.nest);
    const std::vector<char> from = noise(random_, one.bytes);
    std::vector<char> expected = noise(random_, one.bytes);
    const auto there = upload(from);
    const auto to = upload(expected);
    if (nest.item_bytes > 0) kernels::copy(nest, from.data(), expected.data(), kernels::StoreHint::cache);
    device_->copy(nest, there.get(), to.get(), device_->stream(),
                  std::array{devices::CopyScope::any, devices::CopyScope::beside, devices::CopyScope::inside,
                             devices::CopyScope::background}
                      .at(static_cast<std::size_t>(round % 4)));
    ASSERT_EQ(download(to, expected.size()), expected) << "item " << item << " round " << round;
  }
}

TEST_F(CudaAcceleratorTest, TransposesAsTheHostDoes) {
  for (int round = 0; round < 100; ++round) {
    const Case one = random_transposition(random_, std::int64_t{1} << (round % 5));
    const kernels::StridedCopy nest = kernels::simplify(one.nest);
    const std::vector<char> from = noise(random_, one.from_bytes);
    std::vector<char> expected = noise(random_, one.to_bytes);
    const auto there = upload(from);
    const auto to = upload(expected);
    kernels::copy(nest, from.data(), expected.data(), kernels::StoreHint::cache);
    device_->copy(nest, there.get(), to.get(), device_->stream(),
                  round % 2 == 0 ? devices::CopyScope::any : devices::CopyScope::beside);
    ASSERT_EQ(download(to, expected.size()), expected)
        << "item " << one.nest.item_bytes << " round " << round;
  }
}

/// More tiles than blocks, of which each then takes several.
TEST_F(CudaAcceleratorTest, TransposesLargeMatricesInFewBlocks) {
  constexpr std::int64_t rows = 1500, columns = 1031;
  for (const std::int64_t item : {2, 4, 8, 16}) {
    const kernels::StridedCopy nest =
        kernels::simplify({item, 0, 0, {{columns, item, rows * item}, {rows, columns * item, item}}});
    const std::vector<char> from = noise(random_, rows * columns * item);
    std::vector<char> expected(from.size());
    kernels::copy(nest, from.data(), expected.data(), kernels::StoreHint::cache);
    const auto there = upload(from);
    const auto to = upload(std::vector<char>(from.size()));
    device_->copy(nest, there.get(), to.get(), device_->stream(), devices::CopyScope::background);
    ASSERT_EQ(download(to, expected.size()), expected) << "item " << item;
  }
}

/// Of what is copied in one launch, every third is a transposition.
TEST_F(CudaAcceleratorTest, CopiesSeveralAtOnceAsTheHostDoes) {
  for (int round = 0; round < 40; ++round) {
    const std::int64_t item = std::int64_t{1} << (round % 5);
    std::vector<kernels::StridedCopy> nests;
    std::vector<std::vector<char>> expected;
    std::vector<std::shared_ptr<void>> from, to;
    for (int i = 0; i < 1 + round % 11; ++i) {
      Sample one = sample(random_, item);
      if ((i + round) % 3 == 0) {
        const Case transposed = random_transposition(random_, item);
        one = {transposed.nest, std::max(transposed.from_bytes, transposed.to_bytes)};
      }
      const std::vector<char> source = noise(random_, one.bytes);
      nests.push_back(kernels::simplify(one.nest));
      from.push_back(upload(source));
      expected.push_back(noise(random_, one.bytes));
      to.push_back(upload(expected.back()));
      if (nests.back().item_bytes > 0)
        kernels::copy(nests.back(), source.data(), expected.back().data(), kernels::StoreHint::cache);
    }
    std::vector<devices::PlacedCopy> copies;
    for (std::size_t i = 0; i < nests.size(); ++i) copies.push_back({&nests[i], from[i].get(), to[i].get()});
    const auto memory = upload(std::vector<char>(24, 0));
    auto* const flags = static_cast<std::uint64_t*>(memory.get());
    const auto one = static_cast<std::uint64_t>(round) + 1;
    using Kind = devices::FlagOperation::Kind;
    const devices::FlagOperation tell{Kind::write, flags, one}, hear{Kind::wait, flags, one};
    const devices::FlagOperation tell_late{Kind::write, flags + 1, one},
        hear_late{Kind::wait, flags + 1, one};
    device_->exchange({{}, {&tell, 1}, {&hear, 1}, copies, {&tell_late, 1}, {&hear_late, 1}},
                      device_->stream());
    for (std::size_t i = 0; i < nests.size(); ++i)
      ASSERT_EQ(download(to[i], expected[i].size()), expected[i]);
  }
}

TEST_F(CudaAcceleratorTest, FillsAsTheHostDoes) {
  for (int round = 0; round < 100; ++round) {
    const std::int64_t item = std::int64_t{1} << (round % 5);
    const Sample one = sample(random_, item);
    const kernels::StridedCopy nest = kernels::destination_of(one.nest);
    const std::vector<char> element = noise(random_, item);
    std::vector<char> expected = noise(random_, one.bytes);
    const auto to = upload(expected);
    if (nest.item_bytes > 0)
      kernels::fill(nest, element.data(), item, expected.data(), kernels::StoreHint::cache);
    device_->fill(nest, element.data(), item, to.get(), device_->stream());
    ASSERT_EQ(download(to, expected.size()), expected) << "item " << item << " round " << round;
  }
}

/// Small numbers, and NaN and infinities where there are such.
std::vector<char> numbers(std::mt19937_64& random, Dtype dtype, std::int64_t count) {
  std::vector<char> result(static_cast<std::size_t>(count * size_of(dtype)));
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < count; ++i) {
      const float value = static_cast<float>(random() % 2001) / 16.0F - 62.0F;
      T element{};
      if constexpr (is_small_float_type<T>) {
        element = from_float<T>(value);
      } else if constexpr (std::is_same_v<T, bool>) {
        element = value > 0;
      } else if constexpr (std::is_arithmetic_v<T>) {
        if (random() % 4 != 0) element = static_cast<T>(static_cast<std::int64_t>(random()) >> 3);
        if constexpr (std::is_floating_point_v<T>) element = static_cast<T>(value);
      } else {
        element = {static_cast<typename T::value_type>(value), static_cast<typename T::value_type>(-value)};
      }
      std::memcpy(result.data() + i * size_of(dtype), &element, sizeof(element));
    }
  });
  return result;
}

TEST_F(CudaAcceleratorTest, AccumulatesAsTheHostDoesInEveryDtype) {
  for (int number = 0; number < dtype_count; ++number) {
    const auto dtype = static_cast<Dtype>(number);
    for (int operation = 0; operation < reduction_count; ++operation) {
      const auto reduction = static_cast<Reduction>(operation);
      if (!is_defined(reduction, dtype)) continue;
      const Sample one = sample(random_, size_of(dtype));
      const kernels::StridedCopy nest = kernels::simplify(one.nest);
      const std::int64_t count = one.bytes / size_of(dtype);
      const std::vector<char> from = numbers(random_, dtype, count);
      std::vector<char> expected = numbers(random_, dtype, count);
      const auto there = upload(from);
      const auto to = upload(expected);
      if (nest.item_bytes > 0) kernels::accumulate(nest, dtype, reduction, from.data(), expected.data());
      device_->accumulate(nest, dtype, reduction, there.get(), to.get(), device_->stream());
      ASSERT_EQ(download(to, expected.size()), expected) << name(dtype) << " " << name(reduction);
    }
  }
}

/// Of all magnitudes, beyond those of other dtypes too.
std::vector<char> wide_numbers(std::mt19937_64& random, std::int64_t count) {
  std::vector<char> result;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto mantissa = static_cast<double>(static_cast<std::int64_t>(random()));
    const double value = std::ldexp(mantissa, static_cast<int>(random() % 200) - 130);
    result.insert(result.end(), sizeof(value), 0);
    std::memcpy(&*(result.end() - sizeof(value)), &value, sizeof(value));
  }
  return result;
}

TEST_F(CudaAcceleratorTest, ConvertsAsTheHostDoesBetweenAllDtypes) {
  const Shape extents{37, 5, 61};
  const std::int64_t count = volume(extents);
  for (int number = 0; number < dtype_count * dtype_count; ++number) {
    const auto from_dtype = static_cast<Dtype>(number / dtype_count),
               to_dtype = static_cast<Dtype>(number % dtype_count);
    if (is_complex(from_dtype) && !is_complex(to_dtype) && to_dtype != Dtype::boolean) continue;
    const std::vector<char> from =
        from_dtype == Dtype::f64 ? wide_numbers(random_, count) : numbers(random_, from_dtype, count);
    std::vector<char> expected = noise(random_, count * size_of(to_dtype));
    const auto there = upload(from);
    const auto to = upload(expected);
    const Order order = number % 2 == 0 ? Order::row_major : Order::column_major;
    const kernels::StridedCopy nest = kernels::conversion_nest(
        View::dense(nullptr, from_dtype, extents), View::dense(nullptr, to_dtype, extents, order));
    kernels::convert(nest, from_dtype, to_dtype, from.data(), expected.data());
    device_->convert(nest, from_dtype, to_dtype, there.get(), to.get(), device_->stream());
    ASSERT_EQ(download(to, expected.size()), expected) << name(from_dtype) << " to " << name(to_dtype);
  }
}

TEST_F(CudaAcceleratorTest, StreamsWaitForFlagsAndArePassed) {
  const std::vector<char> zeros(16, 0);
  const auto memory = upload(zeros);
  auto* const flags = static_cast<std::uint64_t*>(memory.get());
  const devices::FlagOperation wait{devices::FlagOperation::Kind::wait, flags, 5};
  const devices::FlagOperation write{devices::FlagOperation::Kind::write, flags + 1, 7};
  const devices::FlagOperation both[] = {wait, write};
  device_->flags(both, device_->stream());
  const std::unique_ptr<devices::DeviceEvent> end = device_->event();
  end->record(device_->stream());
  EXPECT_FALSE(end->reached());
  std::uint64_t seen = 1;
  physical_->copy_past(&seen, flags + 1, sizeof(seen));
  EXPECT_EQ(seen, 0U);
  const std::uint64_t value = 6;
  physical_->copy_past(flags, &value, sizeof(value));
  finish();
  physical_->copy_past(&seen, flags + 1, sizeof(seen));
  EXPECT_EQ(seen, 7U);
}

TEST_F(CudaAcceleratorTest, NoMemoryIsAMemoryError) {
  EXPECT_THROW((void)physical_->allocate(std::int64_t{1} << 50), MemoryError);
  const std::vector<char> bytes(1000, 3);
  EXPECT_EQ(download(upload(bytes), bytes.size()), bytes);  // the device still works
}

}  // namespace
}  // namespace partita::testing
