#include "collectives/call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "array/array_state.hpp"
#include "array/overlap.hpp"
#include "base/check.hpp"
#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"

namespace partita::collective {
namespace {

struct KeyOfCall {
  contexts::PlanKey& key;

  void operator()(std::string_view /*name*/, const Array& array) const {
    (void)key.add(array.layout(), array.dtype());
  }
  template <class Value>
  void operator()(std::string_view /*name*/, const Value& value) const {
    (void)key.add(value);
  }
};

struct FactsOfCall {
  std::vector<Fact>& facts;

  static std::string text(const Shape& shape) { return to_string(shape); }
  static std::string text(bool value) { return value ? "yes" : "no"; }
  static std::string text(Scan kind) { return kind == Scan::exclusive ? "exclusive" : "inclusive"; }
  static std::string text(int value) { return std::to_string(value); }
  static std::string text(std::span<const std::int64_t> counts) { return counts_text(counts); }
  static std::string text(const Array& array) {
    return fmt::format("{} of {}", array.layout().to_string(), name(array.dtype()));
  }
  template <class Word>
  requires std::is_enum_v<Word>
  static std::string text(Word word) { return std::string(name(word)); }

  template <class Value>
  void operator()(std::string_view what, const Value& value) const {
    facts.push_back({std::string(what), text(value)});
  }
};

}  // namespace

contexts::PlanKey key_of(const Call& call, MemorySpace space) {
  contexts::PlanKey key(call.operation);
  call.for_each(space, KeyOfCall{key});
  return key;
}

std::vector<Fact> facts_of(const Call& call, MemorySpace space) {
  std::vector<Fact> facts;
  call.for_each(space, FactsOfCall{facts});
  return facts;
}

void check_root(std::string_view operation, int root, int ranks) {
  check(root >= 0 && root < ranks, "{}: the root {} is not one of the {} ranks", operation, root, ranks);
}

void check_reduction(std::string_view operation, Reduction reduction, Dtype dtype) {
  check(is_defined(reduction, dtype), "{}: {} is not defined for {}", operation, name(reduction),
        name(dtype));
}

void check_apart(std::string_view operation, const View& a, const View& b) {
  check(!arrays::overlap(a, b), "{}: source and destination overlap", operation);
}

void check_same_or_apart(std::string_view operation, const View& view, const View& place, const View& whole) {
  bool same = view.data == place.data && view.strides.size() == place.strides.size();
  for (int i = 0; same && i < std::min(view.extents.size(), view.strides.size()); ++i) {
    same = view.extents[i] <= 1 || view.strides[i] == place.strides[i];
  }
  if (!same) check_apart(operation, view, whole);
}

View with_rank(View view) {
  if (std::max(view.extents.size(), view.strides.size()) == max_dimensions) return view;
  view.extents = with_first(1, view.extents);
  view.strides = with_first(0, view.strides);
  return view;
}

}  // namespace partita::collective
