// Every collective against the same thing done element by element.
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Odd and uneven ones, nothing at all, a scalar, and sizes on each side of where plans change.
std::vector<Shape> shapes() {
  return {{7}, {}, {0}, {1}, {5, 3}, {3, 0, 2}, {2, 1, 5}};
}
const Shape large{4099, 3};        // beyond what is read whole
const Shape very_large{11003, 7};  // beyond where the heap is looked for

/// What rank `rank` brings.
void check_broadcast(Context& context, Dtype dtype, const Shape& shape, Memory memory, int root) {
  Block block(context, dtype, shape, memory);
  block.set(of_rank(dtype, context.rank()));
  broadcast(context, block.view(), root);
  EXPECT_EQ(block.wrong(of_rank(dtype, root)), 0) << name(dtype) << to_string(shape) << " root " << root;
}

RANK_TEST(Collectives, Broadcast) {
  for (int root = 0; root < context.size(); ++root) {
    for (const Dtype dtype : all_dtypes()) {
      check_broadcast(context, dtype, {7, 3}, usual_memory(context), root);
      check_broadcast(context, dtype, {7, 3}, strided_memory(context), root);
    }
    for (const Shape& shape : shapes())
      check_broadcast(context, Dtype::f32, shape, usual_memory(context), root);
    for (const Memory memory : every_memory(context)) {
      check_broadcast(context, Dtype::f64, large, memory, root);
      check_broadcast(context, Dtype::f64, very_large, memory, root);
    }
  }
}

/// Sources of all ranks reduced; in place if `memory` is one memory for both.
struct Reducing {
  Dtype dtype;
  Shape shape;
  Memory memory = Memory::dense;
  ReduceOptions options;
  bool in_place = false;
};

auto all_joined(const Reducing& how, int first, int last, int salt = 0) {
  return [=](const Index& index) {
    return joined(how.options.reduction, how.dtype, first, last,
                  [&](int rank) { return known(how.dtype, rank, index, salt); });
  };
}

void check_all_reduce(Context& context, const Reducing& how) {
  Block source(context, how.dtype, how.shape, how.memory);
  Block other(context, how.dtype, how.shape, how.memory);
  Block& destination = how.in_place ? source : other;
  for (int salt = 0; salt < 2; ++salt) {  // the second time through the cache
    source.set(of_rank(how.dtype, context.rank(), salt));
    all_reduce(context, source.view(), destination.view(), how.options);
    EXPECT_EQ(destination.wrong(all_joined(how, 0, context.size(), salt)), 0)
        << name(how.dtype) << " " << name(how.options.reduction) << " " << to_string(how.shape);
  }
}

RANK_TEST(Collectives, AllReduce) {
  for (const Dtype dtype : summed_dtypes()) {
    for (const Reduction reduction : reductions_of(dtype)) {
      check_all_reduce(context, {dtype, {7, 3}, usual_memory(context), {.reduction = reduction}});
    }
    check_all_reduce(context, {dtype, {7, 3}, strided_memory(context), {}, true});
  }
  for (const Shape& shape : shapes())
    check_all_reduce(context, {Dtype::i16, shape, usual_memory(context), {}});
  for (const Shape& shape : {large, very_large}) {
    for (const Memory memory : every_memory(context)) {
      for (const bool in_place : {false, true}) {
        check_all_reduce(
            context,
            {Dtype::f64, shape, memory, {.reduction = Reduction::sum, .deterministic = true}, in_place});
      }
    }
  }
}

void check_reduce(Context& context, const Reducing& how, int root) {
  Block source(context, how.dtype, how.shape, how.memory);
  Block other(context, how.dtype, how.shape, how.memory);
  source.set(of_rank(how.dtype, context.rank()));
  const bool here = context.rank() == root;
  Block& destination = how.in_place ? source : other;
  reduce(context, source.view(), here ? destination.view() : View{}, how.options, root);
  if (here) {
    EXPECT_EQ(destination.wrong(all_joined(how, 0, context.size())), 0) << name(how.dtype);
  } else {
    EXPECT_EQ(source.wrong(of_rank(how.dtype, context.rank())), 0) << "a source was touched";
  }
}

RANK_TEST(Collectives, Reduce) {
  for (int root = 0; root < context.size(); ++root) {
    for (const Dtype dtype : all_dtypes()) {
      for (const Reduction reduction : reductions_of(dtype)) {
        check_reduce(context, {dtype, {5}, usual_memory(context), {.reduction = reduction}}, root);
      }
    }
    for (const Shape& shape : shapes())
      check_reduce(context, {Dtype::c64, shape, usual_memory(context), {}}, root);
    for (const Memory memory : every_memory(context)) {
      check_reduce(context, {Dtype::f32, {5, 3}, memory, {}, true}, root);
      check_reduce(context, {Dtype::f64, large, memory, {}, true}, root);
      check_reduce(context, {Dtype::f64, very_large, memory, {}}, root);
    }
  }
}

/// Counts of the ranks: equal ones where `uneven` is 0.
std::vector<std::int64_t> counts_of(int ranks, std::int64_t count, std::int64_t uneven) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    counts.push_back(uneven == 0 ? count : (rank % 2 == 1 ? 0 : count + uneven * rank));
  }
  return counts;
}

std::int64_t sum_of(const std::vector<std::int64_t>& counts, int last) {
  std::int64_t sum = 0;
  for (int i = 0; i < last; ++i) sum += counts[static_cast<std::size_t>(i)];
  return sum;
}

/// Parts of all ranks that stand one after the other.
struct Parts {
  Dtype dtype = Dtype::f64;
  std::int64_t count = 3;
  Shape rest;
  std::int64_t uneven = 0;
  Memory memory = Memory::dense;
  bool in_place = false;

  std::vector<std::int64_t> counts(const Context& context) const {
    return counts_of(context.size(), count, uneven);
  }
  Shape shape(std::int64_t first) const {
    Shape result{first};
    for (const std::int64_t extent : rest) result.push_back(extent);
    return result;
  }
  Shape part(const Context& context) const {
    return shape(counts(context)[static_cast<std::size_t>(context.rank())]);
  }
  Shape whole(const Context& context) const { return shape(sum_of(counts(context), context.size())); }
  std::int64_t first(const Context& context) const { return sum_of(counts(context), context.rank()); }
};

/// The rank's part of a view of the whole.
View part_of(const View& whole, std::int64_t first, std::int64_t count) {
  View part = whole;
  part.data = static_cast<std::byte*>(whole.data) + first * whole.strides[0] * size_of(whole.dtype);
  part.extents[0] = count;
  return part;
}

std::vector<Parts> all_parts(const Context& context) {
  std::vector<Parts> result;
  for (const Dtype dtype : all_dtypes()) {
    result.push_back({.dtype = dtype, .count = 3, .rest = {2}, .memory = usual_memory(context)});
    result.push_back(
        {.dtype = dtype, .count = 5, .rest = {}, .uneven = 2, .memory = strided_memory(context)});
  }
  for (const std::int64_t count : {0, 1, 7}) {
    result.push_back({.count = count, .rest = {}, .memory = usual_memory(context)});
    result.push_back({.count = count, .rest = {3, 2}, .uneven = 1, .memory = usual_memory(context)});
  }
  result.push_back({.count = 4, .rest = {0}});
  for (const bool in_place : {false, true}) {
    for (const Memory memory : every_memory(context)) {
      result.push_back({.count = 5, .rest = {3}, .uneven = 1, .memory = memory, .in_place = in_place});
      result.push_back({.count = 4003, .rest = {11}, .memory = memory, .in_place = in_place});
      result.push_back({.count = 4003, .rest = {11}, .uneven = 5, .memory = memory, .in_place = in_place});
    }
  }
  return result;
}

/// Element [i, ...] of the whole is [i - first, ...] of its rank's part.
Number of_whole(const Parts& how, const std::vector<std::int64_t>& counts, Index index) {
  int rank = 0;
  while (index[0] >= counts[static_cast<std::size_t>(rank)])
    index[0] -= counts[static_cast<std::size_t>(rank++)];
  return known(how.dtype, rank, index);
}

void check_all_gather(Context& context, const Parts& how) {
  const auto counts = how.counts(context);
  Block own(context, how.dtype, how.part(context), how.memory);
  Block whole(context, how.dtype, how.whole(context), how.memory);
  own.set(of_rank(how.dtype, context.rank()));
  View source = own.view();
  if (how.in_place) {
    source = part_of(whole.view(), how.first(context), source.extents[0]);
    for_each_index(source.extents, [&](const Index& index) {
      Index there = index;
      there[0] += how.first(context);
      write_number(how.dtype, whole.at(there), known(how.dtype, context.rank(), index));
    });
    whole.upload();
  }
  if (how.uneven == 0) {
    all_gather(context, source, whole.view());
  } else {
    all_gather_v(context, source, whole.view(), counts);
  }
  EXPECT_EQ(whole.wrong([&](const Index& index) { return of_whole(how, counts, index); }), 0)
      << name(how.dtype) << to_string(how.whole(context));
}

RANK_TEST(Collectives, AllGather) {
  for (const Parts& how : all_parts(context)) check_all_gather(context, how);
}

void check_gather(Context& context, const Parts& how, int root) {
  const auto counts = how.counts(context);
  const bool here = context.rank() == root;
  Block own(context, how.dtype, how.part(context), how.memory);
  Block whole(context, how.dtype, how.whole(context), how.memory);
  own.set(of_rank(how.dtype, context.rank()));
  View source = own.view();
  if (how.in_place && here) {
    source = part_of(whole.view(), how.first(context), source.extents[0]);
    for_each_index(source.extents, [&](const Index& index) {
      Index there = index;
      there[0] += how.first(context);
      write_number(how.dtype, whole.at(there), known(how.dtype, root, index));
    });
    whole.upload();
  }
  const View destination = here ? whole.view() : View{};
  if (how.uneven == 0) {
    gather(context, source, destination, root);
  } else {
    gather_v(context, source, destination, counts, root);
  }
  if (!here) return;
  EXPECT_EQ(whole.wrong([&](const Index& index) { return of_whole(how, counts, index); }), 0)
      << name(how.dtype) << to_string(how.whole(context));
}

RANK_TEST(Collectives, Gather) {
  for (int root = 0; root < context.size(); ++root) {
    for (const Parts& how : all_parts(context)) check_gather(context, how, root);
  }
}

void check_scatter(Context& context, const Parts& how, int root) {
  const auto counts = how.counts(context);
  const bool here = context.rank() == root;
  Block own(context, how.dtype, how.part(context), how.memory);
  Block whole(context, how.dtype, how.whole(context), how.memory);
  const auto of_all = [&](const Index& index) { return of_whole(how, counts, index); };
  whole.set(of_all);
  View destination = own.view();
  const bool stays = how.in_place && here;
  if (stays) destination = part_of(whole.view(), how.first(context), destination.extents[0]);
  if (how.uneven == 0) {
    scatter(context, here ? whole.view() : View{}, destination, root);
  } else {
    scatter_v(context, here ? whole.view() : View{}, destination, counts, root);
  }
  if (!stays) {
    EXPECT_EQ(own.wrong(of_rank(how.dtype, context.rank())), 0) << name(how.dtype);
  }
  EXPECT_EQ(whole.wrong(of_all), 0) << "the source was touched";
}

RANK_TEST(Collectives, Scatter) {
  for (int root = 0; root < context.size(); ++root) {
    for (const Parts& how : all_parts(context)) check_scatter(context, how, root);
  }
}

// `view(number)` has no dimensions: it is one element of the whole.
RANK_TEST(Collectives, NumbersAreParts) {
  const auto size = static_cast<std::size_t>(context.size());
  for (int round = 0; round < 2; ++round) {  // the second time through the cache
    double mine = context.rank() + 10 * round;
    std::vector<double> all(size, -1), at_root(size, -1);
    all_gather(context, view(mine), view(all));
    gather(context, view(mine), context.rank() == 0 ? view(at_root) : View{});
    for (std::size_t rank = 0; rank < size; ++rank) {
      EXPECT_EQ(all[rank], static_cast<double>(rank) + 10 * round);
      EXPECT_EQ(at_root[rank], context.rank() == 0 ? all[rank] : -1);
    }
    mine = -1;
    scatter(context, context.rank() == 0 ? view(at_root) : View{}, view(mine));
    EXPECT_EQ(mine, context.rank() + 10 * round);
  }
}

void check_reduce_scatter(Context& context, const Parts& how, Reduction reduction) {
  const auto counts = how.counts(context);
  Block source(context, how.dtype, how.whole(context), how.memory);
  Block own(context, how.dtype, how.part(context), how.memory);
  source.set(of_rank(how.dtype, context.rank()));
  if (how.uneven == 0) {
    reduce_scatter(context, source.view(), own.view(), {.reduction = reduction});
  } else {
    reduce_scatter_v(context, source.view(), own.view(), counts, {.reduction = reduction});
  }
  const auto expected = [&](Index index) {
    index[0] += how.first(context);
    return joined(reduction, how.dtype, 0, context.size(),
                  [&](int rank) { return known(how.dtype, rank, index); });
  };
  EXPECT_EQ(own.wrong(expected), 0) << name(how.dtype) << " " << name(reduction);
}

RANK_TEST(Collectives, ReduceScatter) {
  for (const Parts& how : all_parts(context)) {
    if (!how.in_place && is_defined(Reduction::sum, how.dtype))
      check_reduce_scatter(context, how, Reduction::sum);
  }
  for (const Dtype dtype : all_dtypes()) {
    for (const Reduction reduction : reductions_of(dtype)) {
      check_reduce_scatter(
          context, {.dtype = dtype, .count = 3, .rest = {2}, .memory = usual_memory(context)}, reduction);
    }
  }
}

void check_all_to_all(Context& context, const Parts& how) {
  const int ranks = context.size();
  const Shape shape = how.shape(how.count * ranks);
  Block source(context, how.dtype, shape, how.memory);
  Block destination(context, how.dtype, shape, how.memory);
  source.set(of_rank(how.dtype, context.rank()));
  all_to_all(context, source.view(), destination.view());
  const auto expected = [&](Index index) {
    const auto sender = static_cast<int>(index[0] / how.count);
    index[0] += (context.rank() - sender) * how.count;
    return known(how.dtype, sender, index);
  };
  EXPECT_EQ(destination.wrong(expected), 0) << name(how.dtype) << to_string(shape);
}

RANK_TEST(Collectives, AllToAll) {
  for (const Parts& how : all_parts(context)) {
    if (!how.in_place && how.uneven == 0) check_all_to_all(context, how);
  }
}

void check_scan(Context& context, const Reducing& how, Scan kind) {
  Block source(context, how.dtype, how.shape, how.memory);
  Block other(context, how.dtype, how.shape, how.memory);
  Block& destination = how.in_place ? source : other;
  source.set(of_rank(how.dtype, context.rank()));
  scan(context, source.view(), destination.view(), how.options, kind);
  const int last = context.rank() + (kind == Scan::inclusive ? 1 : 0);
  std::array<std::byte, 16> identity{};
  write_identity(how.options.reduction, how.dtype, identity.data());
  const auto expected = [&](const Index& index) {
    return last == 0 ? read_number(how.dtype, identity.data()) : all_joined(how, 0, last)(index);
  };
  // The largest whole numbers are no double: compared as they are.
  const bool is_odd = last == 0 && (how.dtype == Dtype::i64 || how.dtype == Dtype::u64);
  if (!is_odd) {
    EXPECT_EQ(destination.wrong(expected), 0) << name(how.dtype) << " " << name(how.options.reduction);
  } else if (volume(how.shape) > 0) {
    const Index first = Extents::filled(how.shape.size(), 0);
    destination.download();
    EXPECT_EQ(std::memcmp(destination.at(first), identity.data(), 8), 0) << name(how.options.reduction);
  }
}

RANK_TEST(Collectives, Scan) {
  for (const Scan kind : {Scan::inclusive, Scan::exclusive}) {
    for (const Dtype dtype : summed_dtypes()) {
      for (const Reduction reduction : reductions_of(dtype)) {
        check_scan(context, {dtype, {7}, usual_memory(context), {.reduction = reduction}}, kind);
      }
      check_scan(context, {dtype, {5, 3}, strided_memory(context), {}, true}, kind);
    }
    for (const Shape& shape : shapes())
      check_scan(context, {Dtype::f32, shape, usual_memory(context), {}}, kind);
    for (const Memory memory : every_memory(context)) {
      check_scan(context, {Dtype::f64, large, memory, {}, true}, kind);
      check_scan(context, {Dtype::f64, very_large, memory, {}}, kind);
    }
  }
}

// No rank leaves before the last one has arrived, whichever that is; all ranks of a test have one clock.
RANK_TEST(Collectives, Barrier) {
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  for (int last = 0; last < context.size(); ++last) {
    for (const int round : {0, 1, 2}) {
      if (context.rank() == last) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const auto come = now();
      barrier(context);
      const auto gone = now();
      for (const std::string& theirs : runtime::exchange(*context.state(), "test", std::to_string(come))) {
        EXPECT_GE(gone, std::stoll(theirs)) << "round " << round << ", last is rank " << last;
      }
    }
  }
}

}  // namespace
}  // namespace partita::testing
