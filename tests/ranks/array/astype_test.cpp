// Arrays in other dtypes, on the host or (PARTITA_TEST_DEVICE) on devices.
#include "support/models/number_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

// Small numbers are the same in every dtype; an imaginary part there is only where there was one.
template <class T>
T expected_value(Dtype from, std::int64_t number) {
  const int known = from == Dtype::boolean ? known_value(number, 0) % 2 : known_value(number, 0);
  if constexpr (std::is_same_v<T, bool>) {
    return known != 0;
  } else if constexpr (std::is_arithmetic_v<T> || is_small_float_type<T>) {
    return make_value<T>(known);
  } else {
    using Real = typename T::value_type;
    return {static_cast<Real>(known), is_complex(from) ? static_cast<Real>(-known) : Real(0)};
  }
}

RANK_TEST(Astype, EveryPairOfDtypes) {
  const Layout layout(BlockCyclic({1, context.size()}, {2, 3}), {5, 7}, context.size());
  for (const Dtype from : every_dtype) {
    Array source = empty(context, layout, from);
    write_known(source);
    for (const Dtype to : every_dtype) {
      if (is_complex(from) && !is_complex(to) && to != Dtype::boolean) continue;
      const Array result = astype(source, to);
      EXPECT_EQ(result.dtype(), to);
      EXPECT_EQ(result.layout(), layout);
      EXPECT_EQ(result.local().space, source.local().space);
      each_element(result, [&](std::int64_t number, auto& element) {
        using T = std::decay_t<decltype(element)>;
        EXPECT_TRUE(same_value(element, expected_value<T>(from, number))) << name(from) << " to " << name(to);
      });
    }
  }
}

// 0 to 8 are exact in numbers of 8 bits.
RANK_TEST(Astype, NumbersOf8BitsFromAndToEveryDtype) {
  const Layout layout(BlockCyclic({1, context.size()}, {2, 3}), {5, 7}, context.size());
  const auto value = [](std::int64_t number) { return static_cast<double>(number % 9); };
  for (const Dtype small : {Dtype::f8e4m3, Dtype::f8e5m2}) {
    for (const Dtype other : every_dtype) {
      if (is_complex(other) || other == Dtype::boolean) continue;
      Array source = empty(context, layout, other);
      write_values(source, value);
      const Array there = astype(source, small), back = astype(there, other);
      EXPECT_EQ(there.dtype(), small);
      EXPECT_EQ(count_others(there, value), 0);
      EXPECT_TRUE(compare(back, source).equal) << name(other) << " by " << name(small);
    }
  }
}

RANK_TEST(Astype, OfAnyMemoryIntoAnyMemory) {
  const Layout layout(Slab(1), {5, 7}, context.size());
  for (int memory = 0; memory < 5; ++memory) {
    Wrapped source = make_array(context, layout, Dtype::i32, memory);
    write_known(source.array);
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      for (const Order order : {Order::row_major, Order::column_major}) {
        const Array result = astype(source.array, Dtype::f32, {.residency = residency, .order = order});
        EXPECT_EQ(result.operand().residency, residency);
        EXPECT_EQ(result.operand().axis_order, Operand::of(layout, Dtype::f32, order).axis_order);
        EXPECT_EQ(count_wrong(result, layout), 0) << memory;
      }
    }
    EXPECT_EQ(count_wrong(astype(source.array, Dtype::i32), layout), 0);
    EXPECT_EQ(count_wrong(astype(source.array, Dtype::f64, {.space = MemorySpace::host}), layout), 0);
  }
}

RANK_TEST(Astype, PartialArraysKeepTheirContributions) {
  const std::string mesh = "mesh:x=" + std::to_string(context.size()) + ":-,-;partial=sum:x";
  Array partial = empty(context, {4, 3}, Distribution::parse(mesh), Dtype::f16);
  write_known(partial);
  const Array wide = astype(partial, Dtype::f64);
  EXPECT_EQ(count_wrong(redistribute(wide, Slab(0)), partial.layout()), 0);
  if (context.size() == 1) return;                          // the only contribution is the sum
  for (const Dtype dtype : {Dtype::i32, Dtype::boolean}) {  // 0.5 + 0.5 is 1, and 0 + 0 is not
    EXPECT_ERROR(ArgumentError, astype(partial, dtype), "redistribute it first");
  }
}

/// The reduction of the converted is the converted reduction; or it is an error.
RANK_TEST(Astype, ContributionsAreConvertedWhereTheyMayBe) {
  struct Case {
    const char* reduction;
    Dtype from, to;
    bool converts;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"max", Dtype::i64, Dtype::i8, true},         {"min", Dtype::i64, Dtype::i32, true},
           {"max", Dtype::u8, Dtype::i8, true},          {"min", Dtype::i32, Dtype::u32, true},
           {"max", Dtype::i32, Dtype::u64, true},        {"max", Dtype::i8, Dtype::i64, true},
           {"min", Dtype::u32, Dtype::i64, true},        {"max", Dtype::i64, Dtype::f32, true},
           {"min", Dtype::f64, Dtype::f16, true},        {"min", Dtype::f64, Dtype::f8e4m3, false},
           {"sum", Dtype::i64, Dtype::u8, true},         {"product", Dtype::i64, Dtype::i8, true},
           {"sum", Dtype::boolean, Dtype::i32, false},   {"max", Dtype::boolean, Dtype::i32, true},
           {"logical_or", Dtype::i32, Dtype::i8, true},  {"logical_xor", Dtype::i32, Dtype::i8, false},
           {"logical_and", Dtype::i8, Dtype::i32, true}, {"logical_or", Dtype::i32, Dtype::f32, false},
           {"bit_xor", Dtype::i64, Dtype::i16, true},    {"bit_and", Dtype::i8, Dtype::u64, true}}) {
    SCOPED_TRACE(std::string(one.reduction) + " of " + std::string(name(one.from)) + " to " +
                 std::string(name(one.to)));
    const std::string mesh =
        "mesh:x=" + std::to_string(context.size()) + ":-;partial=" + one.reduction + ":x";
    Array partial = empty(context, {6}, Distribution::parse(mesh), one.from);
    each_element(partial, [&](std::int64_t number, auto& element) {
      using T = std::decay_t<decltype(element)>;
      constexpr double values[] = {300, 5, 100, 0, 256, 1};  // of which integers keep the low bits
      const auto value = static_cast<std::int64_t>(values[(number + context.rank()) % 6]);
      if constexpr (std::is_integral_v<T>) {
        element = static_cast<T>(value);
      } else {
        element = make_value<T>(static_cast<int>(value));
      }
    });
    if (!one.converts && context.size() > 1) {
      EXPECT_ERROR_ON_ALL(ArgumentError, astype(partial, one.to), "redistribute it first");
      continue;
    }
    if (!one.converts) continue;  // one contribution is not a partial array
    const Array after = astype(redistribute(partial, Replicated()), one.to);
    const Array before = redistribute(astype(partial, one.to), Replicated());
    EXPECT_TRUE(compare(after, before).equal);
  }
}

RANK_TEST(Astype, ComplexToRealSaysWhatToDo) {
  const Array array = zeros(context, {4, 3}, Slab(0), Dtype::c64);
  EXPECT_ERROR_ON_ALL(ArgumentError, astype(array, Dtype::f32), "c64", "f32", "for_each_local");
  if (context.size() > 1) {
    EXPECT_ERROR_ON_ALL(DisagreementError, astype(array, context.rank() == 0 ? Dtype::c64 : Dtype::c128));
  }
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
