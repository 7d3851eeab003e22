// The language model's kernels: those of a device compute what the host's do.
#include <algorithm>
#include <cmath>
#include <functional>
#include <partita/partita.hpp>
#include <string>
#include <vector>

#include "ranks/rank_test.hpp"
#include "transformer/kernels.hpp"

namespace partita::testing {
namespace {

using on_device::Queue;

/// Arrays of one rank, once in the host's memory and once in the device's, with the same numbers.
class Twins {
 public:
  Twins(const Context& alone, std::uint64_t seed) : alone_(alone), seed_(seed) {}

  std::size_t add(Shape shape, Dtype dtype, Order order = Order::column_major) {
    const auto make = [&](MemorySpace space) {
      return empty(alone_, shape, Replicated(), dtype, {.order = order, .space = space});
    };
    Array here = make(MemorySpace::host), there = make(MemorySpace::device);
    if (is_integer(dtype)) {
      fill_random(here, seed_ + here_.size());
    } else {
      fill_normal(here, seed_ + here_.size());
    }
    copy(here, there);
    here_.push_back(here);
    there_.push_back(there);
    return here_.size() - 1;
  }
  /// Where they are not negative.
  void make_square(std::size_t number) {
    here_[number] *= here_[number];
    copy(here_[number], there_[number]);
  }

  using Views = std::vector<View>;
  /// The same on both.
  void run(const std::function<void(const Views& views, const Queue& queue)>& kernel) {
    kernel(views(here_), Queue());
    kernel(views(there_), Queue::of(alone_));
    alone_.synchronize();
  }
  void expect_near(std::size_t number, double relative, const std::string& what) const {
    Array found = empty(alone_, here_[number].layout(), here_[number].dtype(),
                        {.order = Order::column_major, .space = MemorySpace::host});
    copy(there_[number], found);
    const Array wanted = wide(here_[number]);
    double largest = 0;
    for_each_local<double>(wanted,
                           [&](const Index&, double value) { largest = std::max(largest, std::abs(value)); });
    const Comparison compared = compare(wide(found), wanted);
    EXPECT_LE(compared.largest_difference, relative * largest)
        << what << ", " << name(found.dtype()) << " " << to_string(found.shape()) << ", seed " << seed_
        << ", first at " << to_string(compared.first_difference);
  }

 private:
  static Views views(const std::vector<Array>& arrays) {
    Views list;
    for (const Array& array : arrays) list.push_back(array.local());
    return list;
  }
  static Array wide(const Array& array) {
    return astype(array, Dtype::f64, {.order = Order::column_major, .space = MemorySpace::host});
  }

  Context alone_;
  std::uint64_t seed_;
  std::vector<Array> here_, there_;
};

/// Of a few roundings, of sums of some hundreds.
double rounding(Dtype dtype) {
  return dtype == Dtype::bf16 ? 0x1p-7 : dtype == Dtype::f32 ? 2e-5 : 1e-12;
}

Dtype wide(Dtype dtype) {
  return dtype == Dtype::bf16 ? Dtype::f32 : dtype;
}

/// Calls body(context of this rank alone, dtype, seed), where there is a device.
void on_each(Context& context, const std::function<void(const Context&, Dtype, std::uint64_t)>& body) {
  if (context.device().kind != Device::Kind::cuda) GTEST_SKIP() << "needs a device";
  const Context alone = context.subgroup({context.rank()});
  for (const Dtype dtype : {Dtype::bf16, Dtype::f32, Dtype::f64}) {
    for (const std::uint64_t turn : {0U, 100U, 200U})
      body(alone, dtype, static_cast<std::uint64_t>(pairs_seed()) + turn);
  }
}

// Lines that are and are not whole packs, shorter and longer than a block.
const std::vector<std::int64_t> sizes{1, 7, 24, 264, 1031, 4096};

RANK_TEST(TransformerKernels, NormalizeAsTheHost) {
  on_each(context, [](const Context& alone, Dtype dtype, std::uint64_t seed) {
    for (const std::int64_t n : sizes) {
      const std::int64_t tokens = 1 + static_cast<std::int64_t>(seed % 67);
      Twins twins(alone, seed);
      for (int i = 0; i < 4; ++i) twins.add({n, tokens}, dtype);  // x, y, dy, dx
      twins.add({3, 2, n}, dtype, Order::row_major);
      twins.add({3, 2, n}, wide(dtype), Order::row_major);
      twins.add({2, tokens}, wide(dtype));
      twins.add({transformer::norm_chunks, 2, n}, wide(dtype), Order::row_major);
      twins.run([&](const Twins::Views& views, const Queue& queue) {
        transformer::layer_norm(views[0], views[4], 1, views[1], queue);
        transformer::layer_norm_backward(
            {views[0], views[4], views[2], views[3], views[5], views[6], views[7]}, 2, queue);
      });
      if (n == 1) continue;  // a column's only number is its mean: all differences are rounding
      twins.expect_near(1, rounding(dtype), "layer norm");
      twins.expect_near(3, rounding(dtype), "gradient of x");
      twins.expect_near(5, rounding(wide(dtype)), "gradient of gain and bias");
    }
  });
}

RANK_TEST(TransformerKernels, SoftmaxAsTheHost) {
  on_each(context, [](const Context& alone, Dtype dtype, std::uint64_t seed) {
    for (const std::int64_t n : sizes) {
      if (n > 2000) continue;
      Twins twins(alone, seed);
      twins.add({2, n, n}, dtype, Order::row_major);
      twins.add({2, n, n}, dtype, Order::row_major);
      twins.run([&](const Twins::Views& views, const Queue& queue) {
        transformer::causal_softmax(views[0], queue);
        transformer::causal_softmax_backward(views[0], views[1], queue);
      });
      twins.expect_near(0, rounding(dtype), "softmax");
      twins.expect_near(1, rounding(dtype), "gradient of scores");
    }
  });
}

RANK_TEST(TransformerKernels, CompareTokensAsTheHost) {
  on_each(context, [](const Context& alone, Dtype dtype, std::uint64_t seed) {
    const std::int64_t tokens = 1 + static_cast<std::int64_t>(seed % 613);
    Twins twins(alone, seed);
    twins.add({tokens}, Dtype::u8);
    twins.add({256 + 11, tokens}, dtype);
    twins.add({256, tokens}, dtype);
    twins.add({tokens}, Dtype::f64);
    twins.add({1}, Dtype::f64);
    twins.run([&](const Twins::Views& views, const Queue& queue) {
      transformer::one_hot(views[0], 5, 11, views[1], queue);
      transformer::cross_entropy(views[2], views[0], 0.25, views[3], queue);
      transformer::sum_up(views[3], 0.5, views[4], queue);
    });
    twins.expect_near(1, 0, "one hot");
    twins.expect_near(2, rounding(dtype), "gradient of logits");
    twins.expect_near(3, rounding(wide(dtype)), "losses");
    twins.expect_near(4, rounding(wide(dtype)), "their sum");
  });
}

RANK_TEST(TransformerKernels, CorrectWeightsAsTheHost) {
  on_each(context, [](const Context& alone, Dtype dtype, std::uint64_t seed) {
    for (const std::int64_t n : sizes) {
      Twins twins(alone, seed);
      for (int i = 0; i < 4; ++i) twins.add({n}, wide(dtype));  // master, gradient, both moments
      twins.make_square(3);
      twins.add({n}, dtype);
      twins.add({n}, dtype);
      const bool rounds = dtype != wide(dtype);
      twins.run([&](const Twins::Views& views, const Queue& queue) {
        const View rounded = rounds ? views[4] : View();
        transformer::adam({views[0], views[1], views[2], views[3], rounded}, {1e-2, 3}, queue);
        transformer::round_to(views[0], views[5], queue);
      });
      for (const std::size_t i : {0U, 2U, 3U}) twins.expect_near(i, rounding(wide(dtype)), "Adam");
      twins.expect_near(4, rounding(dtype), "what is rounded");
      twins.expect_near(5, rounding(dtype), "what is rounded alone");
    }
  });
}

}  // namespace
}  // namespace partita::testing
