// A collective call, as this rank makes it.
#pragma once

#include <array>
#include <optional>
#include <partita/array.hpp>
#include <partita/collectives.hpp>
#include <partita/fact.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "context/plan_key.hpp"

namespace partita::collective {

/// Source and destination, in the order of the operands. Ranks that hold nothing have an empty one.
using Views = std::array<View, 2>;

/// What all ranks must have alike, and this rank's views. Members that a call does not have are unset.
struct Call {
  std::string_view operation;  ///< a literal
  std::string_view shape_name = "shape";
  Shape shape = {};
  Dtype dtype = Dtype::f64;
  std::optional<Reduction> reduction = {};
  bool deterministic = false;
  std::optional<std::span<const std::int64_t>> counts = {};
  std::optional<int> root = {};
  std::optional<Scan> scan = {};
  const Array* array = nullptr;  ///< of which the source is a part of the result

  std::optional<Stream> stream = {};
  Views views = {};
  std::int64_t bytes = 0;  ///< of the largest view of any rank

  /// `visit(name, value)` for what all ranks must have alike: all that a plan depends on, with the memory of
  /// the views.
  template <class Visitor>
  void for_each(MemorySpace space, Visitor&& visit) const {
    visit(shape_name, shape);
    visit("dtype", dtype);
    if (reduction) {
      visit("reduction", *reduction);
      visit("deterministic", deterministic);
    }
    if (counts) visit("counts", *counts);
    if (root) visit("root", *root);
    if (scan) visit("kind", *scan);
    if (array != nullptr) visit("array", *array);
    visit("memory", space);
  }
};

/// What the context's plan for the call is found by.
contexts::PlanKey key_of(const Call& call, MemorySpace space);
/// The same in words, for the ranks to compare.
std::vector<Fact> facts_of(const Call& call, MemorySpace space);

/// Throws ArgumentError.
void check_root(std::string_view operation, int root, int ranks);
void check_reduction(std::string_view operation, Reduction reduction, Dtype dtype);

/// Throws ArgumentError where the two share memory.
void check_apart(std::string_view operation, const View& a, const View& b);
/// Throws ArgumentError where `view` shares memory with `whole` but is not `place`, which has its extents.
void check_same_or_apart(std::string_view operation, const View& view, const View& place, const View& whole);

/// The view with an index of the rank before its dimensions; as it is if it has too many of them.
View with_rank(View view);

}  // namespace partita::collective
