// What transforms refuse, alike on all ranks.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

Array make(const Context& context, Dtype dtype, const Shape& shape = {6, 5, 4}) {
  Array array = empty(context, shape, Slab(0), dtype);
  fill_random(array, 1);
  return array;
}

template <class Failure = ArgumentError, class Action>
void refuses(const std::string& part, Action&& action) {
  const std::string text = caught<Failure>(action);
  EXPECT_TRUE(contains(text, part)) << text;
}

RANK_TEST(FftErrors, WrongKindsOfNumbers) {
  const Array real = make(context, Dtype::f64);
  const Array complex = make(context, Dtype::c64);
  const Array integers = empty(context, {6, 5}, Slab(0), Dtype::i32);
  refuses("for real data there is rfft", [&] { (void)fft(real); });
  refuses("r2c transforms real numbers", [&] { (void)rfft(complex); });
  refuses("for complex data there is fft", [&] { (void)rfft(complex); });
  refuses("c2r transforms complex numbers", [&] { (void)irfft(real); });
  refuses("dct2 transforms real numbers", [&] { (void)dct(complex); });
  refuses("the array is i32", [&] { (void)dst(integers); });
  refuses("the types of cosine and sine transforms are 1 to 4", [&] { (void)dct(real, 5); });
  // The context is as good as before.
  EXPECT_NO_THROW((void)fft(complex));
}

RANK_TEST(FftErrors, WrongAxesAndExtents) {
  const Array complex = make(context, Dtype::c128);
  FftOptions options{.axes = {0, 1, 0}};
  refuses("name axis 0 twice", [&] { (void)fft(complex, options); });
  options.axes = {3};
  refuses("is not one of the 3 dimensions", [&] { (void)fft(complex, options); });
  options.axes = {-1};
  refuses("is not one of the 3 dimensions", [&] { (void)fft(complex, options); });
  options.axes = {};
  options.last_length = 9;
  refuses("needs a half spectrum of 5, but the array has 4", [&] { (void)irfft(complex, options); });
  options.last_length = -3;
  refuses("last_length is -3", [&] { (void)irfft(complex, options); });
  const Array real = make(context, Dtype::f64);
  refuses("orthogonalize is for cosine and sine transforms",
          [&] { (void)rfft(real, {.orthogonalize = true}); });
  refuses("the new length of axis 1 is 0", [&] { (void)crop_or_pad(real, {6, 0, 4}); });
  refuses("the array has 3 dimensions", [&] { (void)crop_or_pad(real, {6, 4}); });
  const Array short_line = make(context, Dtype::f32, {4, 1});
  refuses("there is nothing to transform", [&] { (void)dct(short_line, 1); });
  const Array nothing = make(context, Dtype::c64, {4, 0});
  refuses("there is nothing to transform", [&] { (void)fft(nothing); });
  const Array scalar = empty(context, Shape{}, Replicated(), Dtype::c64);
  refuses("a scalar has no axis", [&] { (void)fft(scalar); });
}

RANK_TEST(FftErrors, WrongDistributions) {
  const Array complex = make(context, Dtype::c128);
  FftOptions options{.output = Output::given};
  refuses("needs a distribution", [&] { (void)fft(complex, options); });
  std::vector<Box::Bounds> boxes(static_cast<std::size_t>(context.size()), {{0, 0, 0}, {0, 0, 0}});
  boxes.front().upper = {6, 5, 3};
  options.distribution = Box(boxes);
  EXPECT_ERROR(ArgumentError, fft(complex, options));
  if (context.size() > 1) {
    const Mesh mesh({{"x", context.size()}});
    options.distribution = Partitioned{mesh, {{{}, {}, {}}, {"x"}, Reduction::sum, Uneven::ceil}};
    refuses("is partial", [&] { (void)fft(complex, options); });
    const Array partial = empty(context, {6, 5, 4}, *options.distribution, Dtype::c128);
    refuses("specify a distribution", [&] { (void)fft(partial); });
  }
}

// What would be ignored is refused, and what says enough by itself is done.
RANK_TEST(FftErrors, OptionsThatContradictEachOther) {
  const Array complex = make(context, Dtype::c128), real = make(context, Dtype::f64);
  FftOptions options{.distribution = Slab(1)};
  EXPECT_EQ(fft(complex, options).layout(), Layout(Slab(1), {6, 5, 4}, context.size()));
  options.output = Output::cheapest;
  refuses("but also output", [&] { (void)fft(complex, options); });
  options = {.kind = FftKind::r2c};
  refuses("call rfft", [&] { (void)fft(real, options); });
  EXPECT_NO_THROW((void)rfft(real, options));
  options = {.inverse = true};
  refuses("is the forward transform", [&] { (void)rfft(real, options); });
  refuses("is the forward transform", [&] { (void)dct(real, 2, options); });
  EXPECT_NO_THROW((void)ifft(complex, options));
  options = {.method = FftMethod::slab, .grid = {context.size(), 1}};
  refuses("is for the pencil method", [&] { (void)fft(complex, options); });
  options.method = FftMethod::automatic;
  FFT pencil(context, complex.operand(), options);
  EXPECT_TRUE(contains(pencil.plan().method, "pencil")) << pencil.plan().method;
}

RANK_TEST(FftErrors, OutputsOfTheCaller) {
  const Array complex = make(context, Dtype::c128), real = make(context, Dtype::f64);
  Array other = make(context, Dtype::c128, {6, 5, 5}), single = make(context, Dtype::c64);
  Array result = make(context, Dtype::c128), none;
  refuses("the result of this transform has shape 6x5x4", [&] { fft_into(complex, other); });
  refuses("the result of this transform is c128", [&] { fft_into(complex, single); });
  refuses("empty Array", [&] { fft_into(complex, none); });
  if (context.size() > 1)
    refuses("the requested distribution of the result is slab:1",
            [&] { fft_into(complex, result, {.distribution = Slab(1)}); });
  refuses("for real data there is rfft", [&] { fft_into(real, result); });
  refuses("the types of cosine", [&] { dct_into(real, result, 0); });
}

RANK_TEST(FftErrors, MethodsThatDoNotSuit) {
  const Array complex = make(context, Dtype::c128);
  FftOptions options{.method = FftMethod::pencil, .grid = {context.size() + 1, 1}};
  refuses("processes, but there are", [&] { (void)fft(complex, options); });
  options.grid = {0, 1};
  refuses("an extent below 1", [&] { (void)fft(complex, options); });
  options.grid = {context.size(), 1, 1};
  refuses("needs as many transformed axes", [&] { (void)fft(complex, options); });
  options.grid = {};
  options.method = FftMethod::four_step;
  refuses("cannot use the requested method", [&] { (void)fft(complex, options); });
  options.method = FftMethod::local;
  if (context.size() > 1) refuses("cannot use the requested method", [&] { (void)fft(complex, options); });
}

RANK_TEST(FftErrors, OperandsOfTheObject) {
  const Operand input = make(context, Dtype::c128).operand();
  const auto operand = [&](const Shape& shape, Dtype dtype) {
    return Operand::of(Layout(Slab(1), shape, context.size()), dtype);
  };
  refuses("the result of this transform has shape 6x5x4", [&] {
    FFT(context, input, operand({6, 5, 5}, Dtype::c128));
  });
  refuses("the result of this transform is c128", [&] {
    FFT(context, input, operand({6, 5, 4}, Dtype::c64));
  });
  if (context.size() > 1) {
    refuses("must be the same array", [&] {
      FFT(context, input, operand({6, 5, 4}, Dtype::c128), {}, true);
    });
  }
}

RANK_TEST(FftErrors, AliasingAndMissingArrays) {
  Array a = make(context, Dtype::c128);
  Array b = make(context, Dtype::c128);
  FFT apart(context, a.operand(), b.operand());
  FFT in_place(context, a.operand(), a.operand(), {}, true);
  refuses("needs reset() first", [&] { apart.execute(); });
  refuses("are the same array", [&] { apart.execute(a, a); });
  refuses("an operand is an empty Array", [&] { apart.execute(Array(), b); });
  if (a.local_size() > 0) refuses("are different arrays", [&] { in_place.execute(a, b); });
  std::vector<Array> outputs;
  refuses("a batch of 2 inputs and 0 outputs", [&] { apart.execute_batch({a, b}, outputs); });
  Array ordinary = empty(context, {100000}, Slab(0), Dtype::u8, {.residency = Residency::ordinary});
  refuses("must be an array on the symmetric heap", [&] { apart.set_workspace(ordinary); });
  {
    // A context of the same ranks in the opposite order, whose heap is another one.
    const std::optional<Context> other = context.split(0, context.size() - context.rank());
    const Array foreign =
        empty(*other, Shape{context.size(), 65536 + apart.workspace_size()}, Slab(0), Dtype::u8);
    refuses("belong to different contexts", [&] { apart.set_workspace(foreign); });
  }
  if (apart.workspace_size() > 0) {
    const Array small = empty(context, Shape{context.size()}, Slab(0), Dtype::u8);
    refuses("are needed", [&] { apart.set_workspace(small); });
  }
  EXPECT_NO_THROW(apart.execute(a, b));
}

RANK_TEST(FftErrors, RanksThatAskForDifferentThings) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  const Array complex = make(context, Dtype::c128);
  FftOptions options{.norm = context.rank() == 1 ? Norm::ortho : Norm::forward};
  refuses<DisagreementError>("norm forward", [&] { (void)fft(complex, options); });
  refuses<DisagreementError>("norm ortho", [&] { (void)fft(complex, options); });
  FftOptions ways{.exchange = context.rank() == 1 ? FftExchange::stores : FftExchange::copies};
  refuses<DisagreementError>("disagree on options", [&] { (void)fft(complex, ways); });
  refuses<DisagreementError>("disagree on options",
                             [&] { const FFT plan(context, complex.operand(), ways); });
}

}  // namespace
}  // namespace partita::testing
