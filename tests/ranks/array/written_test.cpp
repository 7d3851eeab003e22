// Arrays and views whose elements share memory, or of const memory: they are read, and refused wherever they
// would be written.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::int64_t side = 4;  // of each rank's part

Shape shape_for(const Context& context) {
  return {side * context.size(), side};
}

/// Parts of 4 x 4 in host memory, dense but for those of the last rank.
Array strided_on_last(const Context& context, const std::shared_ptr<std::vector<double>>& memory,
                      const Strides& strides) {
  View part = View::dense(memory->data(), Dtype::f64, {side, side});
  if (context.rank() == context.size() - 1) part.strides = strides;
  return wrap(context, part, Slab(0), shape_for(context), memory);
}

std::shared_ptr<std::vector<double>> numbers() {
  auto memory = std::make_shared<std::vector<double>>();
  for (std::int64_t i = 0; i < side * side; ++i) memory->push_back(static_cast<double>(i));
  return memory;
}

Array on_host(const Context& context, const Shape& shape, Dtype dtype = Dtype::f64) {
  return zeros(context, shape, Slab(0), dtype, {.space = MemorySpace::host});
}

/// All that writes an array of 4P x 4, by name.
std::map<std::string, std::function<void(Array&)>> writers(const Context& context) {
  const Shape shape = shape_for(context);
  const Array like = on_host(context, shape);
  const Array columns = zeros(context, shape, Slab(1), Dtype::f64, {.space = MemorySpace::host});
  const Array small = zeros(context, {side, side}, Replicated(), Dtype::f64, {.space = MemorySpace::host});
  return {
      {"fill", [](Array& to) { fill(to, 3.0); }},
      {"fill by index", [](Array& to) { fill(to, [](const Index& at) { return double(at[0]); }); }},
      {"fill_random", [](Array& to) { fill_random(to, 1); }},
      {"fill_normal", [](Array& to) { fill_normal(to, 1); }},
      {"set_at",
       [](Array& to) {
         set_at(to, {0, 0}, 1.0);
       }},
      {"copy", [=](Array& to) { copy(like, to); }},
      {"copy of memory", [=](Array& to) { copy(like.local(), to); }},
      {"redistribute", [=](Array& to) { redistribute(columns, to); }},
      {"redistribute by a plan",
       [=](Array& to) { Redistribute(to.context(), columns.operand(), to.operand()).execute(columns, to); }},
      {"scale", [](Array& to) { scale(to, 2.0); }},
      {"axpy", [=](Array& to) { axpy(2.0, like, to); }},
      {"add", [=](Array& to) { add(like, 1.0, to); }},
      {"+=", [=](Array& to) { to += like; }},
      {"matmul", [=](Array& to) { matmul_into(like, small, nullptr, to); }},
      {"dct", [=](Array& to) { dct_into(like, to); }},
      {"an FFT by a plan",
       [=](Array& to) {
         FFT(to.context(), like.operand(), to.operand(), {.kind = FftKind::dct2}).execute(like, to);
       }},
      {"solve_poisson", [=](Array& to) { solve_poisson_into(like, to); }}};
}

RANK_TEST(Written, ArraysWhoseElementsShareMemoryAreNot) {
  const std::string rank = "on rank " + std::to_string(context.size() - 1);
  for (const Strides& strides :
       {Strides{0, 1}, Strides{1, 0}, Strides{1, 1}, Strides{2, 1}, Strides{-1, 1}}) {
    const auto memory = numbers();
    Array shared = strided_on_last(context, memory, strides);
    if (strides[0] < 0) {
      View part = shared.local();
      if (context.rank() == context.size() - 1) part.data = &memory->at(3);
      shared = wrap(context, part, Slab(0), shape_for(context), memory);
    }
    for (const auto& [name, write] : writers(context)) {
      const std::string text = caught<ArgumentError>([&, &write = write] { write(shared); });
      EXPECT_TRUE(contains(text, "overlapping elements") && contains(text, rank)) << name << ": " << text;
    }
    EXPECT_EQ(*memory, *numbers());
    Array row = shared.window({0, 0}, {1, side});
    EXPECT_THROW(fill(row, 1.0), ArgumentError);
    const Array read = redistribute(shared, Slab(1));
    EXPECT_TRUE(compare(read, shared).equal);
  }
}

RANK_TEST(Written, ArraysWhoseElementsLieApartAre) {
  for (const Strides& strides : {Strides{1, side}, Strides{2, 9}, Strides{11, 1}, Strides{3, 8}}) {
    const auto memory = std::make_shared<std::vector<double>>(64);
    Array apart = strided_on_last(context, memory, strides);
    for (const auto& [name, write] : writers(context)) {
      EXPECT_NO_THROW(write(apart)) << name;
    }
    fill(apart, [](const Index& at) { return static_cast<double>(10 * at[0] + at[1]); });
    const Array read = redistribute(apart, Slab(1), {.space = MemorySpace::host});
    EXPECT_EQ(at<double>(read, {1, 3}), 13);
  }
}

RANK_TEST(Written, ArraysOnConstMemoryAreNot) {
  const std::string rank = "const memory on rank " + std::to_string(context.size() - 1);
  const auto memory = numbers();
  View part = view(*memory, {side, side});
  if (context.rank() == context.size() - 1) part = view(std::as_const(*memory), {side, side});
  Array fixed = wrap(context, part, Slab(0), shape_for(context), memory);
  for (const auto& [name, write] : writers(context)) {
    const std::string text = caught<ArgumentError>([&, &write = write] { write(fixed); });
    EXPECT_TRUE(contains(text, rank)) << name << ": " << text;
  }
  EXPECT_EQ(*memory, *numbers());
  Array row = fixed.window({0, 0}, {1, side}).permuted({1, 0});
  EXPECT_THROW(fill(row, 1.0), ArgumentError);
  EXPECT_THROW(to_dlpack(fixed), ArgumentError);
  EXPECT_TRUE(compare(redistribute(fixed, Slab(1)), fixed).equal);
  Array copied = clone(fixed);
  EXPECT_NO_THROW(fill(copied, 1.0));
}

/// `mark`: makes a view one that may not be written.
void expect_views_unwritten(Context& context, const std::function<void(View&)>& mark, const char* why) {
  const int last = context.size() - 1;
  std::vector<float> memory(4), other(4);
  std::vector<float> large(static_cast<std::size_t>(4 * context.size())), other_large = large;
  const View part = view(other), whole = view(other_large);
  View shared = view(memory), all = view(large);
  if (context.rank() == last) mark(shared), mark(all);
  const std::map<std::string, std::function<void()>> calls{
      {"all_reduce", [&] { all_reduce(context, part, shared); }},
      {"all_gather", [&] { all_gather(context, part, all); }},
      {"all_to_all", [&] { all_to_all(context, whole, all); }},
      {"scan", [&] { scan(context, part, shared); }},
      {"scatter", [&] { scatter(context, whole, shared, 0); }},
      {"reduce", [&] { reduce(context, part, shared, {}, last); }},
      {"gather", [&] { gather(context, part, all, last); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string text = caught<ArgumentError>([&, &call = call] { call(); });
    EXPECT_TRUE(contains(text, why)) << name << ": " << text;
  }
  if (last > 0) {
    EXPECT_THROW(broadcast(context, shared, 0), ArgumentError);
  }
  EXPECT_NO_THROW(all_reduce(context, shared, part));
  if (last > 0) {
    EXPECT_NO_THROW(reduce(context, part, shared, {}, 0));  // no destination there
  }
  if (last > 0) {
    EXPECT_NO_THROW(broadcast(context, shared, last));
  }
}

RANK_TEST(Written, ViewsWhoseElementsShareMemoryAreNot) {
  expect_views_unwritten(
      context, [](View& view) { view.strides = {0}; }, "overlapping elements");
}

/// In a separate context, which keeps no plan of the same calls: what one rank does wrong then, all are
/// notified of.
TEST(Written, ViewsOfConstMemoryAreNotWhereverTheyAre) {
  const auto mark = [](View& view) { view.read_only = true; };
  on_ranks([&](Context& context) { expect_views_unwritten(context, mark, "const memory"); },
           ContextOptions());
}

RANK_TEST(Written, ViewsOfConstMemoryAreNot) {
  const std::vector<float> fixed(4);
  std::vector<float> other(4);
  EXPECT_NO_THROW(all_reduce(context, view(other), view(other)));
  EXPECT_THROW(all_reduce(context, view(other), view(std::as_const(other))),
               ArgumentError);  // no call as before
  Array array = zeros(context, {4}, Replicated(), Dtype::f32);
  EXPECT_NO_THROW(copy(view(fixed), array));
  EXPECT_THROW(copy(array, view(fixed)), ArgumentError);
  EXPECT_THROW(copy(context, view(other), view(fixed)), ArgumentError);
  EXPECT_THROW(receive(context, view(fixed), context.rank()), ArgumentError);
}

RANK_TEST(Written, GhostCellsThatShareMemoryAreNot) {
  const Array source = on_host(context, shape_for(context));
  const HaloOptions options{.lower = {1, 0}};
  Halo halo(context, source.operand(), options);
  std::vector<double> memory(64);
  View extended = View::dense(memory.data(), Dtype::f64, halo.extended_shape());
  extended.strides[0] = 0;
  EXPECT_TRUE(
      contains(caught<ArgumentError>([&] { halo.execute(source, extended); }), "overlapping elements"));
  EXPECT_ERROR(ArgumentError, halo.start(source, extended), "overlapping elements");
  EXPECT_ERROR(ArgumentError, halo_exchange(source, extended, options), "overlapping elements");
  EXPECT_NO_THROW(halo.accumulate(extended, source));
}

RANK_TEST(Written, MessagesIntoElementsThatShareMemoryAreNot) {
  std::vector<double> memory(4);
  View shared = view(memory, {4});
  shared.strides = {0};
  const int next = (context.rank() + 1) % context.size();
  const int previous = (context.rank() + context.size() - 1) % context.size();
  EXPECT_THROW(receive(context, shared, previous), ArgumentError);
  EXPECT_THROW(send_receive(context, view(memory, {4}), next, shared, previous), ArgumentError);
  std::vector<double> come(4);
  EXPECT_NO_THROW(send_receive(context, shared, next, view(come), previous));
  EXPECT_THROW(copy(context, view(memory), shared), ArgumentError);
  EXPECT_NO_THROW(copy(context, shared, view(come)));
  barrier(context);  // what a rank that has left has sent is lost
}

}  // namespace
}  // namespace partita::testing
