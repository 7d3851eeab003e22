// Layouts and topologies: values that can be asked anything about any rank.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <partita/error.hpp>
#include <partita/layout.hpp>
#include <string>
#include <utility>

#include "binding.hpp"
#include "casters.hpp"

namespace partita::python {

namespace {

/// Whether every rank has, in its part of `result`, all that it reads of `operand`: dimensions are
/// counted from the last one, and where `operand` has none, or one of extent 1, it is the same along that.
bool reads_locally(const Layout& result, const Layout& operand) {
  const int missing = result.dimensions() - operand.dimensions();
  for (int rank = 0; rank < result.ranks(); ++rank) {
    const Region wanted = result.region(rank);
    if (wanted.empty()) continue;
    const Region present = operand.region(rank);
    if (present.empty()) return false;
    for (int i = 0; i < operand.dimensions(); ++i) {
      const IndexSet& here = present.sets[static_cast<std::size_t>(i)];
      const IndexSet& there = wanted.sets[static_cast<std::size_t>(i + missing)];
      if (operand.shape()[i] != 1 && !(intersect(here, there) == there)) return false;
    }
  }
  return true;
}

constexpr int most_samples = 64;

/// The most elements that a rank receives if an array is redistributed into `result`, of the same shape. Of
/// many ranks some are asked.
std::int64_t most_received(const Layout& source, const Layout& result) {
  std::int64_t most = 0;
  const int samples = std::min(result.ranks(), most_samples);
  for (int sample = 0; sample < samples; ++sample) {
    const int rank = static_cast<int>(std::int64_t{sample} * result.ranks() / samples);
    const Region wanted = result.region(rank), present = source.region(rank);
    std::int64_t common = 1;
    for (std::size_t i = 0; i < wanted.sets.size(); ++i)
      common *= intersect(wanted.sets[i], present.sets[i]).size();
    most = std::max(most, wanted.size() - common);
  }
  return most;
}

using Indices = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

Indices indices(const Layout& layout, int axis, int rank) {
  auto list = std::make_unique<std::vector<std::int64_t>>(local_indices(layout, axis, rank));
  std::vector<std::int64_t>* const kept = list.get();
  const nb::capsule owner(
      list.release(), [](void* memory) noexcept { delete static_cast<std::vector<std::int64_t>*>(memory); });
  return Indices(kept->data(), {kept->size()}, owner);
}

std::optional<std::pair<std::int64_t, std::int64_t>> bounds(const Layout& layout, int axis, int rank) {
  if (axis < 0 || axis >= layout.dimensions())
    throw ArgumentError("bounds: the layout does not have this axis");
  const IndexSet set = layout.region(rank).sets[static_cast<std::size_t>(axis)];
  if (set.empty()) return std::pair{std::int64_t{0}, std::int64_t{0}};
  if (!set.is_range()) return std::nullopt;
  return std::pair{set.front(), set.back() + 1};
}

}  // namespace

void bind_layouts(nb::module_& module) {
  nb::class_<Topology>(module, "Topology", "Which ranks share a node. A value.")
      .def(
          "__init__",
          [](Topology* self, int ranks, int ranks_per_node) {
            new (self) Topology(Topology::regular(ranks, ranks_per_node));
          },
          nb::arg("ranks"), nb::arg("ranks_per_node") = 0)
      .def_prop_ro("ranks", &Topology::ranks)
      .def_prop_ro("node_count", &Topology::node_count)
      .def("node", &Topology::node, nb::arg("rank"))
      .def(
          "__eq__", [](const Topology& a, const Topology& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Topology& self) { return std::hash<int>{}(self.ranks()); })
      .def("__repr__", [](const Topology& self) {
        return "Topology<" + std::to_string(self.ranks()) + " ranks on " + std::to_string(self.node_count()) +
               (self.node_count() == 1 ? " node>" : " nodes>");
      });

  nb::class_<Layout>(
      module, "Layout",
      "A distribution bound to a global shape and a number of ranks.\n\nA value: any rank of any number "
      "can be asked anywhere, nothing is communicated.")
      .def(nb::init<Distribution, Shape, int>(), nb::arg("distribution"), nb::arg("shape"), nb::arg("ranks"))
      .def(
          "__init__",
          [](Layout* self, const std::string& distribution, const Shape& shape, int ranks) {
            new (self) Layout(Distribution::parse(distribution), shape, ranks);
          },
          nb::arg("distribution"), nb::arg("shape"), nb::arg("ranks"))
      .def_prop_ro("distribution", &Layout::distribution, "The rule.")
      .def_prop_ro("shape", &Layout::shape, "Of the whole array.")
      .def_prop_ro("ranks", &Layout::ranks, "The number of ranks.")
      .def_prop_ro("is_replicated", &Layout::is_replicated,
                   "Some element has several owners that hold its value.")
      .def_prop_ro(
          "partial",
          [](const Layout& self) -> std::optional<std::string> {
            if (const auto partial = self.partial()) return std::string(name(partial->reduction));
            return std::nullopt;
          },
          "The reduction of contributions, if elements have several.")
      .def("local_shape", &Layout::local_shape, nb::arg("rank"), "The shape of a rank's part.")
      .def("local_size", &Layout::local_size, nb::arg("rank"), "Its elements.")
      .def("owners", &Layout::owners, nb::arg("index"), "The ranks that own an element, in increasing order.")
      .def("owner", &Layout::owner, nb::arg("index"), "The first of them.")
      .def("to_local", &Layout::to_local, nb::arg("rank"), nb::arg("index"),
           "The position of a global index in the rank's part; None if the rank does not own it.")
      .def("to_global", &Layout::to_global, nb::arg("rank"), nb::arg("index"), "And back.")
      .def(
          "region", [](const Layout& self, int rank) { return to_string(self.region(rank)); },
          nb::arg("rank"), "What the rank owns, as text: '[0,4) x [0,128)+512*3'.")
      .def(
          "indices", &indices, nb::arg("axis"), nb::arg("rank"),
          "The global indices that the rank owns along one dimension, increasing: local index i is the i-th.")
      .def("bounds", &bounds, nb::arg("axis"), nb::arg("rank"),
           "The first of these indices and the one past the last; None if they are not contiguous.")
      .def("equivalent", &Layout::equivalent, nb::arg("other"),
           "The same elements on the same ranks in the same state, however the distributions are written.")
      .def("reads_locally", &reads_locally, nb::arg("operand"))
      .def("most_received", &most_received, nb::arg("result"))
      .def(
          "permuted", [](const Layout& self, const std::vector<int>& axes) { return self.permuted(axes); },
          nb::arg("axes"), "The layout of the transposed array.")
      .def("window", &Layout::window, nb::arg("lower"), nb::arg("shape"), "The layout of a sub-array.")
      .def(
          "__eq__", [](const Layout& a, const Layout& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Layout& self) { return std::hash<std::string>{}(self.to_string()); })
      .def("__str__", &Layout::to_string)
      .def("__repr__", [](const Layout& self) { return "Layout<" + self.to_string() + ">"; });
}

}  // namespace partita::python
