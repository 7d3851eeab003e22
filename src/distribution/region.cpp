#include <algorithm>
#include <partita/layout.hpp>

#include "base/check.hpp"

namespace partita {

bool Region::empty() const {
  return std::any_of(sets.begin(), sets.end(), [](const IndexSet& set) { return set.empty(); });
}

std::int64_t Region::size() const {
  return volume(shape());
}

Extents Region::shape() const {
  Extents shape;
  for (const IndexSet& set : sets) shape.push_back(set.size());
  return shape;
}

Region intersect(const Region& a, const Region& b) {
  if (a.sets.size() != b.sets.size() && b.empty()) return b;
  if (a.sets.size() != b.sets.size() && a.empty()) return a;
  check(a.sets.size() == b.sets.size(), "regions have {} and {} dimensions, but need the same number",
        a.sets.size(), b.sets.size());
  Region both;
  for (std::size_t i = 0; i < a.sets.size(); ++i) both.sets.push_back(intersect(a.sets[i], b.sets[i]));
  return both;
}

std::string to_string(const Region& region) {
  if (region.empty()) return "nothing";
  if (region.sets.empty()) return "scalar";
  std::string text;
  for (const IndexSet& set : region.sets) text += (text.empty() ? "" : " x ") + to_string(set);
  return text;
}

}  // namespace partita
