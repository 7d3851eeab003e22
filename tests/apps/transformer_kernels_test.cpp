// The language model's kernels: those of a device compute what the host's do.
#include "support/on_ranks.hpp"
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
  /// A copy of what the device has, for the host.
  Array there(std::size_t number) const {
    Array found = empty(alone_, here_[number].layout(), here_[number].dtype(),
                        {.order = Order::column_major, .space = MemorySpace::host});
    copy(there_[number], found);
    return found;
  }
  void expect_near(std::size_t number, double relative, const std::string& what) const {
    const Array found = there(number);
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

/// Tokens of [batch, tokens, 3 heads x size], in which the queries, keys and values of a head are side by
/// side, as the model has them, and of [batch, tokens, heads x size].
struct AttentionCase {
  std::int64_t batch, heads, tokens, size;

  Shape whole(std::int64_t parts) const { return {batch, tokens, parts * heads * size}; }
  View part(const View& whole, std::int64_t parts, std::int64_t number) const {
    View view = whole;
    view.data = static_cast<std::byte*>(whole.data) + number * size * size_of(whole.dtype);
    view.extents = {batch, heads, tokens, size};
    const std::int64_t token = parts * heads * size;
    view.strides = {tokens * token, parts * size, token, 1};
    return view;
  }
};

/// 0: queries, keys, values; 1: what comes out, 2: logarithms; 3: its gradient; 4: gradients of 0; 5: lines
void add_attention(Twins& twins, const AttentionCase& one, Dtype dtype) {
  const auto add = [&](const Shape& shape, Dtype of) { twins.add(shape, of, Order::row_major); };
  add(one.whole(3), dtype);
  add(one.whole(1), dtype);
  add({one.batch, one.heads, one.tokens}, wide(dtype));
  add(one.whole(1), dtype);
  add(one.whole(3), dtype);
  add({one.batch, one.heads, transformer::attention_lines_of(one.tokens)}, wide(dtype));
}

void attend(const AttentionCase& one, const Twins::Views& views, const Queue& queue) {
  const double scale = 1 / std::sqrt(static_cast<double>(one.size));
  const auto third = [&](std::size_t array, std::int64_t which) { return one.part(views[array], 3, which); };
  const transformer::AttentionViews arrays{third(0, 0), third(0, 1), third(0, 2), one.part(views[1], 1, 0),
                                           views[2]};
  transformer::causal_attention(arrays, scale, queue);
  transformer::causal_attention_backward(
      arrays, {third(4, 0), third(4, 1), third(4, 2), one.part(views[3], 1, 0), views[5]}, scale, queue);
}

// Fewer tokens than a tile, as many, and more; heads that fill tiles, and that do not.
const std::vector<AttentionCase> attention_cases{{1, 1, 1, 8},    {2, 3, 63, 24},  {1, 2, 64, 64},
                                                 {2, 2, 65, 128}, {1, 1, 128, 8},  {1, 3, 129, 72},
                                                 {1, 2, 333, 64}, {1, 2, 517, 128}};

RANK_TEST(TransformerKernels, AttendAsTheHost) {
  if (context.device().kind == Device::Kind::cuda && !transformer::has_fused_attention(context.device()))
    GTEST_SKIP() << "no such kernels";
  on_each(context, [](const Context& alone, Dtype dtype, std::uint64_t seed) {
    if (dtype != Dtype::bf16) return;
    for (const AttentionCase& one : attention_cases) {
      Twins twins(alone, seed);
      add_attention(twins, one, dtype);
      twins.run([&](const Twins::Views& views, const Queue& queue) { attend(one, views, queue); });
      twins.expect_near(1, rounding(dtype), "attention");
      twins.expect_near(2, rounding(wide(dtype)), "its logarithms");
      twins.expect_near(4, 2 * rounding(dtype), "its gradients");
      const Array first = twins.there(4);
      twins.run([&](const Twins::Views& views, const Queue& queue) { attend(one, views, queue); });
      EXPECT_TRUE(compare(first, twins.there(4)).equal) << "sums of another order";
    }
  });
}

RANK_TEST(TransformerKernels, RefuseToAttendToWhatDoesNotFit) {
  if (context.device().kind != Device::Kind::cuda || !transformer::has_fused_attention(context.device()))
    GTEST_SKIP() << "needs such kernels";
  const Context alone = context.subgroup({context.rank()});
  for (const std::int64_t size : {4, 136}) {
    const AttentionCase one{1, 1, 3, size};
    Twins twins(alone, 1);
    add_attention(twins, one, Dtype::bf16);
    EXPECT_THROW(twins.run([&](const Twins::Views& views, const Queue& queue) { attend(one, views, queue); }),
                 UnsupportedError);
  }
}

/// softmax(scale Q K') V and the logarithms, by their definition in f64.
void expect_attention(const AttentionCase& one, const std::vector<double>& qkv,
                      const std::vector<double>& context, const std::vector<double>& logarithms) {
  const auto at = [&](std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t which) {
    return qkv.data() + ((b * one.tokens + t) * one.heads + h) * 3 * one.size + which * one.size;
  };
  for (std::int64_t row = 0; row < one.batch * one.heads * one.tokens; ++row) {
    const std::int64_t t = row % one.tokens, h = row / one.tokens % one.heads,
                       b = row / one.tokens / one.heads;
    double sum = 0;
    std::vector<double> wanted(static_cast<std::size_t>(one.size));
    for (std::int64_t j = 0; j <= t; ++j) {
      double score = 0;
      for (std::int64_t i = 0; i < one.size; ++i) score += at(b, t, h, 0)[i] * at(b, j, h, 1)[i];
      const double weight = std::exp(score / std::sqrt(static_cast<double>(one.size)));
      sum += weight;
      for (std::int64_t i = 0; i < one.size; ++i)
        wanted[static_cast<std::size_t>(i)] += weight * at(b, j, h, 2)[i];
    }
    ASSERT_NEAR(logarithms[static_cast<std::size_t>(row)], std::log(sum), 1e-12);
    for (std::int64_t i = 0; i < one.size; ++i) {
      const std::int64_t place = ((b * one.tokens + t) * one.heads + h) * one.size + i;
      ASSERT_NEAR(context[static_cast<std::size_t>(place)], wanted[static_cast<std::size_t>(i)] / sum, 1e-12);
    }
  }
}

// The host's kernel, with which a device's is compared. Its gradients are those of the model's loss.
TEST(TransformerAttention, IsSoftmaxOfScoresTimesValues) {
  for (const AttentionCase& one : attention_cases) {
    std::vector<double> qkv(static_cast<std::size_t>(volume(one.whole(3)))),
        context(static_cast<std::size_t>(volume(one.whole(1)))),
        logarithms(static_cast<std::size_t>(one.batch * one.heads * one.tokens));
    for (std::size_t i = 0; i < qkv.size(); ++i) qkv[i] = std::sin(static_cast<double>(i * i % 1013));
    const View whole = view(qkv, one.whole(3));
    transformer::causal_attention({one.part(whole, 3, 0), one.part(whole, 3, 1), one.part(whole, 3, 2),
                                   one.part(view(context, one.whole(1)), 1, 0), view(logarithms)},
                                  1 / std::sqrt(static_cast<double>(one.size)), Queue());
    expect_attention(one, qkv, context, logarithms);
  }
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
