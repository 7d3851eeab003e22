// Transforms of everything into everything, against the definition.
#include "support/models/fft_model.hpp"
#include "support/models/random_layouts.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

Shape shape_after(Shape shape, const FftOptions& options) {
  const int last = options.axes.empty() ? shape.size() - 1 : options.axes.back();
  if (options.kind == FftKind::r2c) shape[last] = shape[last] / 2 + 1;
  if (options.kind == FftKind::c2r) shape[last] = options.last_length;
  return shape;
}

struct Case {
  Shape shape;
  Layout input;
  Layout output;
  Dtype dtype;
  FftOptions options;
  int input_memory = 0;
  int output_memory = 0;
};

std::string describe(const Case& choice) {
  std::string text = choice.input.to_string() + " -> " + choice.output.to_string() + " " +
                     std::string(name(choice.dtype)) + " kind " +
                     std::to_string(static_cast<int>(choice.options.kind)) + " inverse " +
                     std::to_string(choice.options.inverse) + " norm " +
                     std::to_string(static_cast<int>(choice.options.norm)) + " memory " +
                     std::to_string(choice.input_memory) + "," + std::to_string(choice.output_memory) +
                     " method " + std::to_string(static_cast<int>(choice.options.method)) + " length " +
                     std::to_string(choice.options.last_length) + " scratch " +
                     std::to_string(choice.options.scratch_bytes) + " exchange " +
                     std::to_string(static_cast<int>(choice.options.exchange)) + " axes";
  for (const int axis : choice.options.axes) text += " " + std::to_string(axis);
  return text;
}

Dtype input_dtype(FftKind kind, bool single) {
  if (kind == FftKind::c2c || kind == FftKind::c2r) return single ? Dtype::c64 : Dtype::c128;
  return single ? Dtype::f32 : Dtype::f64;
}

FftOptions random_options(RandomLayouts& random, int dimensions) {
  FftOptions options{
      .kind = static_cast<FftKind>(random.maybe(0.6) ? random.number(0, 2) : random.number(0, 10)),
      .norm = static_cast<Norm>(random.number(0, 2))};
  options.inverse = options.kind != FftKind::r2c && options.kind != FftKind::c2r && random.maybe();
  options.axes = random.permutation(dimensions);
  if (random.maybe(0.4)) options.axes.resize(static_cast<std::size_t>(random.number(1, dimensions)));
  options.output = Output::given;
  if (options.kind >= FftKind::dct1 && random.maybe()) options.orthogonalize = random.maybe();
  return options;
}

Layout random_output(RandomLayouts& random, const Shape& shape, int ranks) {
  for (;;) {
    Layout layout = random.layout(shape, ranks);
    if (!layout.partial()) return layout;
  }
}

Case random_case(RandomLayouts& random, int ranks) {
  const int dimensions = random.number(1, 4);
  Shape shape;
  for (int i = 0; i < dimensions; ++i) shape.push_back(random.number(2, dimensions > 2 ? 9 : 24));
  FftOptions options = random_options(random, dimensions);
  if (options.kind == FftKind::c2r) {
    const std::int64_t half = shape[options.axes.back()];
    options.last_length = 2 * (half - 1) + (random.maybe() ? 1 : 0);
  }
  // Little scratch: short messages, so that even small arrays are exchanged in parts.
  if (random.maybe()) options.scratch_bytes = 512 * ranks + random.number(0, 4096);
  // Of devices: few bytes would be exchanged in packets.
  if (random.maybe(0.3)) options.exchange = FftExchange::copies;
  const bool simple = random.maybe(0.4);
  const auto slab = [&](const Shape& of) {
    return Layout(Slab(random.number(0, dimensions - 1)), of, ranks);
  };
  const Shape after = shape_after(shape, options);
  return {shape,
          simple ? slab(shape) : random.layout(shape, ranks),
          simple ? slab(after) : random_output(random, after, ranks),
          input_dtype(options.kind, random.maybe(0.3)),
          options,
          random.number(0, 4),
          random.number(0, 4)};
}

// A partial sum has one contribution that holds the values; the others are zero.
void write_input(Array& array, std::uint64_t seed) {
  fill_random(array, seed);
  if (!array.layout().partial()) return;
  const int rank = array.context_state()->rank();
  const Region mine = array.layout().region(rank);
  if (mine.empty()) return;
  const std::vector<int> first = array.layout().cells(mine).front().contributions.front();
  if (std::find(first.begin(), first.end(), rank) != first.end()) return;
  each_number(array, [](std::size_t, auto& element) { element = {}; });
}

void run_case(Context& context, const Case& choice, std::uint64_t seed) {
  Wrapped input = make_array(context, choice.input, choice.dtype, choice.input_memory);
  const FftKind kind = choice.options.kind;
  Wrapped output = make_array(context, choice.output, result_dtype(choice.dtype, kind), choice.output_memory);
  write_input(input.array, seed);
  FFT plan(context, input.array.operand(), output.array.operand(), choice.options);
  const NumberArray whole = random_whole(context, choice.shape, choice.dtype, seed);
  const NumberArray expected = transformed(whole, choice.options);
  for (int run = 0; run < 2; ++run) {
    fill_random(output.array, seed + 1);
    plan.execute(input.array, output.array);
    ASSERT_LT(relative_error(output.array, expected), tolerance(choice.dtype, choice.shape))
        << describe(choice) << " run " << run << " by " << plan.plan().method << " on rank "
        << context.rank();
  }
  if (!choice.input.partial()) {
    ASSERT_EQ(relative_error(input.array, whole), 0) << "the input has changed: " << describe(choice);
  }
}

RANK_TEST(Fft, RandomTransformsOfEverything) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
  const int cases = full_product() ? 1000 : 60;
  for (int i = 0; i < cases && !::testing::Test::HasFatalFailure(); ++i) {
    run_case(context, random_case(random, context.size()), static_cast<std::uint64_t>(i));
  }
}

// Of an orthogonal transform the sum of squares stays, and the inverse is the transposed matrix.
RANK_TEST(Fft, CosinesAndSinesOfNormOrthoAreOrthogonal) {
  const Shape shape{6, 5};
  for (int kind = static_cast<int>(FftKind::dct1); kind <= static_cast<int>(FftKind::dst4); ++kind) {
    FftOptions options{.kind = static_cast<FftKind>(kind), .norm = Norm::ortho};
    Array input = empty(context, shape, Slab(0), Dtype::f64);
    Array output = empty(context, shape, Slab(1), Dtype::f64);
    fill_random(input, 5);
    FFT plan(context, input.operand(), output.operand(), options);
    plan.execute(input, output);
    const NumberArray whole = random_whole(context, shape, Dtype::f64, 5);
    const NumberArray expected = transformed(whole, options);
    EXPECT_NEAR(static_cast<double>(norm(expected)), static_cast<double>(norm(whole)), 1e-12) << kind;
    EXPECT_LT(relative_error(output, expected), tolerance(Dtype::f64, shape)) << kind;
    plan.inverse(output, input);
    EXPECT_LT(relative_error(input, whole), tolerance(Dtype::f64, shape)) << kind;
    options.orthogonalize = false;
    Array plain = empty(context, shape, Slab(0), Dtype::f64);
    FFT without(context, input.operand(), plain.operand(), options);
    without.execute(input, plain);
    EXPECT_LT(relative_error(plain, transformed(whole, options)), tolerance(Dtype::f64, shape)) << kind;
  }
}

// Whatever the distribution cuts.
RANK_TEST(Fft, AnArrayIsCutOffOrFollowedByZeros) {
  const Shape shape{6, 5, 4};
  const std::vector<Shape> all{{6, 5, 4}, {9, 5, 4}, {3, 5, 4}, {6, 8, 2}, {7, 3, 6}, {1, 1, 1}, {2, 11, 4}};
  std::vector<Box::Bounds> boxes(static_cast<std::size_t>(context.size()), {{0, 0, 0}, {0, 0, 0}});
  boxes.back().upper = {6, 5, 4};
  const Distribution rules[] = {Slab(0),      Slab(1),    Slab(2),
                                Replicated(), Box(boxes), BlockCyclic({context.size(), 1, 1}, {2, 2, 2})};
  for (const Distribution& rule : rules) {
    Array array = empty(context, shape, rule, Dtype::c128);
    fill_random(array, 11);
    const NumberArray whole = random_whole(context, shape, Dtype::c128, 11);
    for (const Shape& to : all) {
      const Array result = crop_or_pad(array, to);
      EXPECT_EQ(result.shape(), to);
      each_number(result, [&](std::size_t number, auto& element) {
        std::int64_t rest = static_cast<std::int64_t>(number), from = 0;
        Index at = Extents::filled(3, 0);
        for (int d = 2; d >= 0; --d) {
          at[d] = rest % to[d];
          rest /= to[d];
        }
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
          inside = inside && at[d] < shape[d];
          from = from * shape[d] + at[d];
        }
        const Number wanted = inside ? whole.values[static_cast<std::size_t>(from)] : Number(0);
        ASSERT_EQ(number_of(element), wanted) << to_string(to) << " of " << rule.to_string();
      });
    }
  }
}

RANK_TEST(Fft, EveryKindNormAndPrecisionBetweenSlabs) {
  for (int kind = 0; kind <= 10; ++kind) {
    for (const Norm norm : {Norm::backward, Norm::ortho, Norm::forward}) {
      for (const bool single : {false, true}) {
        FftOptions options{
            .kind = static_cast<FftKind>(kind), .norm = norm, .last_length = 13, .output = Output::given};
        const Shape shape{7, 5, 7};
        const int ranks = context.size();
        run_case(context,
                 {shape, Layout(Slab(0), shape, ranks),
                  Layout(Slab(norm == Norm::ortho ? 0 : 1), shape_after(shape, options), ranks),
                  input_dtype(options.kind, single), options, 0, 0},
                 3);
      }
    }
  }
}

/// Lengths whose lines go as convolutions, in every stage, transposed or not; the second is more than one
/// chunk.
RANK_TEST(Fft, LengthsWithLargePrimeFactors) {
  for (const Shape& shape : {Shape{19, 34, 17}, Shape{62, 17, 37}, Shape{19, 8, 23}}) {
    for (const bool measure : {false, true}) {
      for (const int output : {0, 1}) {
        FftOptions options{
            .inverse = output == 1, .norm = Norm::ortho, .output = Output::given, .measure = measure};
        const int ranks = context.size();
        run_case(context,
                 {shape, Layout(Slab(0), shape, ranks), Layout(Slab(output), shape, ranks),
                  input_dtype(options.kind, !measure && output == 1), options, 0, 0},
                 11);
      }
    }
  }
}

RANK_TEST(Fft, FunctionsOfOneLine) {
  const Shape shape{6, 11, 8};
  Array input = empty(context, shape, Slab(0), Dtype::c128);
  fill_random(input, 5);
  const NumberArray whole = random_whole(context, shape, Dtype::c128, 5);
  FftOptions options;
  const Array forward = fft(input);
  EXPECT_LT(relative_error(forward, transformed(whole, options)), tolerance(Dtype::c128, shape));
  EXPECT_TRUE(forward.layout() == input.layout());
  EXPECT_LT(relative_error(ifft(forward), whole), tolerance(Dtype::c128, shape));

  options.output = Output::cheapest;
  const Array cheapest = fft(input, options);
  EXPECT_LT(relative_error(cheapest, transformed(whole, options)), tolerance(Dtype::c128, shape));

  Array real = empty(context, shape, Slab(1), Dtype::f32);
  fill_random(real, 6);
  const NumberArray real_whole = random_whole(context, shape, Dtype::f32, 6);
  const Array half = rfft(real);
  EXPECT_EQ(half.shape(), Shape({6, 11, 5}));
  EXPECT_LT(relative_error(irfft(half), real_whole), tolerance(Dtype::f32, shape));
  for (int type = 1; type <= 4; ++type) {
    EXPECT_LT(relative_error(idct(dct(real, type), type), real_whole), tolerance(Dtype::f32, shape)) << type;
    EXPECT_LT(relative_error(idst(dst(real, type), type), real_whole), tolerance(Dtype::f32, shape)) << type;
  }
}

// Lines, pairs of half spectra, planes and scaled pieces are divided among threads; one long line is FFTW's.
TEST(Fft, ThreadsShareLargeTransforms) {
  if (ranks().kind != GroupKind::threads) GTEST_SKIP() << "other contexts of the process have threads, too";
  if (has_devices()) GTEST_SKIP() << "of the host";
  for (const int threads : {1, 3}) {
    on_ranks(
        [threads](Context& context) {
          const std::int64_t ranks = context.size();
          for (const Shape& shape :
               {Shape{ranks, 600, 512}, Shape{ranks, 70, 60, 66}, Shape{ranks, 1 << 18},
                Shape{ranks, 300, 1021}, Shape{ranks, 601, 401}, Shape{ranks, 90000, 4}}) {
            SCOPED_TRACE(to_string(shape) + " by " + std::to_string(threads) + " threads");
            FftOptions options{.axes = {}, .last_length = shape[shape.size() - 1]};
            for (int axis = 1; axis < shape.size(); ++axis) options.axes.push_back(axis);
            Array field = empty(context, shape, Slab(0), Dtype::f64);
            fill_random(field, 3);
            const Array spectrum = rfft(field, options), numbers = astype(field, Dtype::c128);
            EXPECT_LT(compare(irfft(spectrum, options), field).largest_difference, 1e-13);
            const Array all = fft(numbers, options);
            EXPECT_LT(compare(ifft(all, options), numbers).largest_difference, 1e-13);
            // The sum of squares is the same, but for what the length adds.
            const double points = static_cast<double>(volume(shape)) / static_cast<double>(ranks);
            EXPECT_NEAR(norm(all) / norm(numbers) / std::sqrt(points), 1, 1e-12);
          }
        },
        {.threads = threads});
  }
}

/// Back to real numbers along axes whose planes do not stay in cache: between the passes over the array the
/// half spectra are in the memory of the result, or in scratch. The input keeps its values.
RANK_TEST(Fft, LargePlanesComeBackToRealNumbers) {
  if (has_devices()) GTEST_SKIP() << "of the host";
  const int ranks = context.size();
  struct Large {
    Shape shape;
    std::vector<int> axes;
    Dtype dtype;
    Order order = Order::row_major;
  };
  const Large cases[] = {{{ranks, 70, 60, 64}, {1, 2, 3}, Dtype::f64},
                         {{ranks, 180, 48, 64}, {2, 1, 3}, Dtype::f32},
                         {{ranks, 520, 512}, {1, 2}, Dtype::f64},
                         {{ranks, 1600, 1024}, {1, 2}, Dtype::f64},
                         {{ranks, 2600, 100}, {1, 2}, Dtype::f64},
                         {{ranks, 5201, 100}, {1, 2}, Dtype::f32},
                         {{ranks, 66, 70, 63}, {1, 2, 3}, Dtype::f64},
                         {{ranks, 70, 64, 60}, {1, 3, 2}, Dtype::f64},
                         {{ranks, 70, 60, 64}, {1, 2, 3}, Dtype::f64, Order::column_major}};
  for (const Large& one : cases) {
    SCOPED_TRACE(to_string(one.shape) + ", the last axis " + std::to_string(one.axes.back()));
    Array field = empty(context, one.shape, Slab(0), one.dtype);
    fill_random(field, 3);
    FftOptions options{.axes = one.axes, .last_length = one.shape[one.axes.back()]};
    const Array spectrum = rfft(field, options);
    const Array before = clone(spectrum);
    Array back = empty(context, one.shape, Slab(0), one.dtype, {.order = one.order});
    for (const bool measure : {false, true}) {
      options.measure = measure;
      fill_random(back, 4);
      irfft_into(spectrum, back, options);
      EXPECT_LT(compare(back, field).largest_difference, one.dtype == Dtype::f64 ? 1e-13 : 1e-4);
      EXPECT_TRUE(compare(spectrum, before).equal) << "the input has changed";
    }
    options.measure = false;
    options.overwrite_input = true;
    irfft_into(spectrum, back, options);
    EXPECT_LT(compare(back, field).largest_difference, one.dtype == Dtype::f64 ? 1e-13 : 1e-4);
  }
}

RANK_TEST(Fft, InPlace) {
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    for (const Distribution& rule :
         {Distribution(Slab(0)), Distribution(Slab(2)), Distribution(Replicated())}) {
      const Shape shape{9, 10, 7};
      Array array = empty(context, shape, rule, Dtype::c128, {.residency = residency});
      fill_random(array, 8);
      const NumberArray whole = random_whole(context, shape, Dtype::c128, 8);
      FFT plan(context, array.operand(), array.operand(), {}, true);
      plan.execute(array, array);
      EXPECT_LT(relative_error(array, transformed(whole, {})), tolerance(Dtype::c128, shape));
      plan.inverse(array, array);
      EXPECT_LT(relative_error(array, whole), 2 * tolerance(Dtype::c128, shape));
    }
  }
}

RANK_TEST(Fft, PencilsOverEveryGrid) {
  const Shape shape{8, 9, 10};
  for (int rows = 1; rows <= context.size(); ++rows) {
    if (context.size() % rows != 0) continue;
    for (const FftKind kind : {FftKind::c2c, FftKind::r2c, FftKind::c2r}) {
      for (const bool natural : {false, true}) {
        FftOptions options{.kind = kind,
                           .last_length = 19,
                           .output = natural ? Output::as_input : Output::cheapest,
                           .method = FftMethod::pencil,
                           .grid = {rows, context.size() / rows}};
        const Dtype dtype = input_dtype(kind, false);
        const Layout input(BlockNonCyclic(ProcessGrid({rows, context.size() / rows, 1})), shape,
                           context.size());
        const Operand operand = Operand::of(input, dtype, Order::row_major, Residency::heap);
        const Layout output = result_layout(operand, context.topology(), options);
        run_case(context, {shape, input, output, dtype, options, 0, 0}, 4);
      }
    }
  }
}

// Between nodes every exchange of these is made in parts: uneven ones, and ranks that own nothing.
RANK_TEST(Fft, PartsOfSlabsPencilsAndLines) {
  const int ranks = context.size();
  for (const FftKind kind : {FftKind::c2c, FftKind::r2c, FftKind::c2r, FftKind::dct2}) {
    for (const Shape& shape : {Shape{13, 11, 9}, Shape{3, 17, 5}, Shape{23, 12}}) {
      for (const int memory : {0, 2}) {
        FftOptions options{.kind = kind,
                           .last_length = 2 * shape[shape.size() - 1] - 1,
                           .output = Output::given,
                           .scratch_bytes = 512 * ranks};
        if (shape.size() == 3 && ranks == 4 && memory == 0) {
          options.method = FftMethod::pencil;
          options.grid = {2, 2};
        }
        const Layout input(Slab(0), shape, ranks);
        for (const int axis : {0, 1}) {
          const Layout output(Slab(axis), shape_after(shape, options), ranks);
          run_case(context, {shape, input, output, input_dtype(kind, false), options, memory, memory}, 11);
        }
      }
    }
  }
}

RANK_TEST(Fft, InPlaceInParts) {
  const Shape shape{10, 9, 11};
  Array array = empty(context, shape, Slab(0), Dtype::c128);
  fill_random(array, 8);
  const NumberArray whole = random_whole(context, shape, Dtype::c128, 8);
  FFT plan(context, array.operand(), array.operand(), {.scratch_bytes = 512 * context.size()}, true);
  for (int run = 0; run < 20; ++run) {
    plan.execute(array, array);
    if (run == 0) {
      EXPECT_LT(relative_error(array, transformed(whole, {})), tolerance(Dtype::c128, shape));
    }
    plan.inverse(array, array);
  }
  EXPECT_LT(relative_error(array, whole), 20 * tolerance(Dtype::c128, shape));
}

RANK_TEST(Fft, OneLongLineOverAllRanks) {
  for (const std::int64_t length : {4, 6, 35, 36, 144, 221, 1024}) {
    for (int memory = 0; memory < 4; ++memory) {
      for (const bool cyclic : {false, true}) {
        FftOptions options{.inverse = cyclic, .output = Output::given, .method = FftMethod::four_step};
        if (length % 2 == 0) options.scratch_bytes = 512 * context.size();
        const Shape shape{length};
        const int ranks = context.size();
        const Layout slab(Slab(0), shape, ranks);
        const Layout other(BlockCyclic(ProcessGrid({ranks}), {3}), shape, ranks);
        run_case(context,
                 {shape, slab, cyclic ? other : slab, Dtype::c128, options, memory, (memory * 3) % 4}, 6);
      }
    }
  }
  Array line = empty(context, {360}, Slab(0), Dtype::c64);
  fill_random(line, 9);
  FFT plan(context, line.operand(), line.operand(), {}, true);
  plan.execute(line, line);
  EXPECT_LT(relative_error(line, transformed(random_whole(context, {360}, Dtype::c64, 9), {})),
            tolerance(Dtype::c64, {360}));
}

RANK_TEST(Fft, OneLongLineOfRealNumbersOverAllRanks) {
  const int ranks = context.size();
  for (const std::int64_t length : {4, 9, 6, 35, 36, 221, 225, 1024}) {
    for (const FftKind kind : {FftKind::r2c, FftKind::c2r}) {
      for (int memory = 0; memory < 5; ++memory) {
        FftOptions options{.kind = kind,
                           .norm = static_cast<Norm>(memory % 3),
                           .last_length = length,
                           .output = Output::given,
                           .method = FftMethod::four_step};
        if (memory % 2 == 0) options.scratch_bytes = 512 * ranks;
        const Shape shape{kind == FftKind::r2c ? length : length / 2 + 1};
        const Shape after = shape_after(shape, options);
        const BlockCyclic cyclic(ProcessGrid({ranks}), {3});
        const Layout input = memory == 1 ? Layout(cyclic, shape, ranks) : Layout(Slab(0), shape, ranks);
        const Layout output = memory == 2 ? Layout(cyclic, after, ranks) : Layout(Slab(0), after, ranks);
        run_case(context,
                 {shape, input, output, input_dtype(kind, memory == 3), options, memory, (memory * 3) % 5},
                 6);
      }
    }
  }
  Array line = empty(context, {3600}, Slab(0), Dtype::f64);
  fill_random(line, 9);
  FftOptions options{.method = FftMethod::four_step};
  const Array half = rfft(line, options);
  EXPECT_LT(relative_error(irfft(half, options), random_whole(context, {3600}, Dtype::f64, 9)),
            tolerance(Dtype::f64, {3600}));
}

}  // namespace
}  // namespace partita::testing
