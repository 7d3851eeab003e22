// Who owns what, as notebooks show it.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <partita/layout.hpp>

#include "binding.hpp"
#include "casters.hpp"
#include "tools/pictures/picture.hpp"

namespace partita::python {

namespace {

constexpr int most_cells = 64;

std::optional<std::string> svg_of_layout(const Layout& layout) {
  if (layout.shape().empty()) return std::nullopt;  // of one number the text is shown
  const tools::Slice slice = tools::usual_slice(layout.shape());
  return tools::svg_of(tools::paint(layout, slice, most_cells, most_cells), layout, slice);
}

/// Of as many dimensions as have one, two at least.
Shape at_least_two(Shape shape, std::int64_t extent) {
  while (shape.size() < 2) shape.push_back(extent);
  return shape;
}

constexpr std::int64_t usual_extent = 8;
constexpr int usual_ranks = 4;

Layout example_of(const Slab& slab) {
  return {slab, at_least_two(Extents::filled(slab.axis + 1, usual_extent), usual_extent), usual_ranks};
}

Layout example_of(const Replicated& rule) {
  return {rule, {usual_extent, usual_extent}, usual_ranks};
}

Layout example_of(const Box& box) {
  Shape shape = box.boxes.empty() ? Shape{} : box.boxes.front().upper;
  for (const Box::Bounds& one : box.boxes) {
    for (int i = 0; i < shape.size(); ++i) shape[i] = std::max(shape[i], one.upper[i]);
  }
  return {box, shape, static_cast<int>(box.boxes.size())};
}

/// Two rounds, so that it is seen who comes again.
Layout example_of(const BlockCyclic& rule) {
  Shape shape = rule.grid.extents();
  for (int i = 0; i < shape.size(); ++i) shape[i] *= 2 * rule.block[i];
  return {rule, shape, rule.grid.rank_bound()};
}

Layout example_of(const BlockNonCyclic& rule) {
  Shape shape = rule.grid.extents();
  for (int i = 0; i < shape.size(); ++i) shape[i] *= rule.block.empty() ? 2 : rule.block[i];
  return {rule, shape, rule.grid.rank_bound()};
}

Layout example_of(const Partitioned& rule) {
  Shape shape;
  for (const auto& axes : rule.spec.dimensions) {
    std::int64_t parts = 1;
    for (const std::string& name : axes) {
      for (const Mesh::Axis& axis : rule.mesh.axes()) parts *= axis.name == name ? axis.size : 1;
    }
    shape.push_back(parts == 1 ? usual_extent : 2 * parts);
  }
  return {rule, shape, rule.mesh.rank_bound()};
}

/// On a mesh of 2 along each of its axes, in the order in which it names them.
Layout example_of(const PartitionSpec& spec) {
  std::vector<Mesh::Axis> axes;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(axes, name, &Mesh::Axis::name) == axes.end()) axes.push_back({name, 2});
  };
  for (const auto& names : spec.dimensions) std::ranges::for_each(names, add);
  std::ranges::for_each(spec.partial_axes, add);
  return example_of(Partitioned{Mesh(axes), spec});
}

/// Its first axis down, the others across.
Layout example_of(const Mesh& mesh) {
  PartitionSpec spec;
  spec.dimensions.resize(2);
  for (const Mesh::Axis& axis : mesh.axes()) {
    const bool first = axis.name == mesh.axes().front().name && mesh.axes().size() > 1;
    spec.dimensions[first ? 0 : 1].push_back(axis.name);
  }
  Shape shape{1, 1};
  for (std::size_t i = 0; i < 2; ++i) {
    for (const Mesh::Axis& axis : mesh.axes()) {
      const auto& names = spec.dimensions[i];
      if (std::find(names.begin(), names.end(), axis.name) != names.end())
        shape[static_cast<int>(i)] *= axis.size;
    }
  }
  return {Partitioned{mesh, spec}, shape, mesh.rank_bound()};
}

Layout example_of(const ProcessGrid& grid) {
  return {BlockNonCyclic(grid), grid.extents(), grid.rank_bound()};
}

/// What notebooks ask for.
template <class Value, class Picture>
void show(const Picture& picture) {
  nb::cpp_function_def(picture, nb::scope(nb::type<Value>()), nb::name("_repr_svg_"), nb::is_method());
}

template <class... Values>
void show_examples() {
  (show<Values>([](const Values& value) { return svg_of_layout(example_of(value)); }), ...);
}

}  // namespace

void bind_pictures(nb::module_& module) {
  module.def("svg_of_layout", &svg_of_layout, nb::arg("layout"));
  show<Layout>(&svg_of_layout);
  show_examples<Slab, Box, BlockCyclic, BlockNonCyclic, Replicated, Partitioned, PartitionSpec, Mesh,
                ProcessGrid>();
}

}  // namespace partita::python
