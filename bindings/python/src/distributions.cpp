// Rules, grids, meshes and specs: values.
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>

#include <partita/distribution.hpp>

#include "binding.hpp"
#include "casters.hpp"
#include "choices.hpp"

namespace partita::python {

namespace {

std::size_t hash_of(const std::string& text) {
  return std::hash<std::string>{}(text);
}

/// What all values have: ==, hash, and `text` for them.
template <class Value, class Text>
void bind_value(nb::class_<Value>& one, const Text& text) {
  // What is of another type is another value: NotImplemented, which is_operator gives, comes to that.
  one.def(
         "__eq__", [](const Value& a, const Value& b) { return a == b; }, nb::is_operator(),
         nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [text](const Value& value) { return hash_of(text(value)); })
      .def("__str__", [text](const Value& value) { return text(value); });
}

template <class Rule>
std::string text_of(const Rule& rule) {
  return Distribution(rule).to_string();
}

template <class Rule>
nb::class_<Rule> bind_rule(nb::module_& module, const char* name, const char* doc) {
  nb::class_<Rule> rule(module, name, doc);
  bind_value(rule, text_of<Rule>);
  rule.def("__repr__", [](const Rule& one) { return "parse(\"" + text_of(one) + "\")"; });
  return rule;
}

std::string mesh_text(const Mesh& mesh) {
  std::string text;
  for (const Mesh::Axis& axis : mesh.axes())
    text += (text.empty() ? "" : ", ") + ("'" + axis.name + "': ") + std::to_string(axis.size);
  text = "Mesh({" + text + "}";
  if (mesh.ranks().empty()) return text + ")";
  std::string ranks;
  for (const int rank : mesh.ranks()) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return text + ", ranks=[" + ranks + "])";
}

std::string quoted(const std::vector<std::string>& axes) {
  std::string text;
  for (const std::string& axis : axes) text += (text.empty() ? "'" : ", '") + axis + "'";
  if (axes.empty()) return "None";
  return axes.size() == 1 ? text : "(" + text + ")";
}

std::string spec_text(const PartitionSpec& spec) {
  std::string text;
  for (const auto& axes : spec.dimensions) text += (text.empty() ? "" : ", ") + quoted(axes);
  if (!spec.partial_axes.empty()) {
    text += std::string(text.empty() ? "" : ", ") + "partial=" + quoted(spec.partial_axes) + ", reduction='" +
            std::string(name(spec.partial_reduction)) + "'";
  }
  if (spec.uneven == Uneven::balanced) text += std::string(text.empty() ? "" : ", ") + "uneven='balanced'";
  return "P(" + text + ")";
}

/// None, a name, or several.
using AxisNames = std::optional<std::variant<std::string, std::vector<std::string>>>;

std::vector<std::string> names_of(const AxisNames& axes) {
  if (!axes) return {};
  if (const auto* one = std::get_if<std::string>(&*axes)) return {*one};
  return std::get<std::vector<std::string>>(*axes);
}

/// What an argument that is a container holds. Throws TypeError that begins with `what` is expected.
template <class Value>
Value held(const char* what, const nb::handle& item) {
  Value value{};
  if (!nb::try_cast(item, value)) {
    const nb::object name = item.type().attr("__name__");
    throw nb::type_error((std::string(what) + ", got " + nb::borrow<nb::str>(name).c_str()).c_str());
  }
  return value;
}

Mesh make_mesh(const nb::dict& axes, const std::vector<int>& ranks) {
  std::vector<Mesh::Axis> list;
  for (const auto& [name, size] : axes)
    list.push_back({held<std::string>("Mesh(): axes: expected a name of type str", name),
                    held<int>("Mesh(): axes: expected a size of type int", size)});
  return ranks.empty() ? Mesh(std::move(list)) : Mesh(std::move(list), ranks);
}

void bind_meshes(nb::module_& module) {
  nb::class_<Mesh> mesh(
      module, "Mesh",
      "Ranks arranged along named axes, the last axis fastest: ``Mesh({'x': 2, 'y': 4})`` has 8 "
      "ranks.\n\nA value. ``ranks[i]`` has the i-th coordinates; without a list rank i does.\n"
      "``with mesh:`` makes it the mesh of specs (`P`) that are given as distributions without "
      "one, in this thread.");
  bind_value(mesh, mesh_text);
  mesh.def(
          "__init__",
          [](Mesh* self, const nb::dict& axes, const std::vector<int>& ranks) {
            new (self) Mesh(make_mesh(axes, ranks));
          },
          nb::arg("axes"), nb::arg("ranks") = std::vector<int>{},
          nb::sig(
              "def __init__(self, axes: dict[str, int], ranks: collections.abc.Sequence[int] = []) -> None"))
      .def("__repr__", &mesh_text)
      .def_prop_ro(
          "axes",
          [](const Mesh& self) {
            nb::dict axes;
            for (const Mesh::Axis& axis : self.axes()) axes[axis.name.c_str()] = axis.size;
            return axes;
          },
          nb::sig("def axes(self) -> dict[str, int]"), "Names and sizes, slowest first.")
      .def_prop_ro("ranks", &Mesh::ranks, "As listed; empty if rank i has the i-th coordinates.")
      .def_prop_ro("size", &Mesh::size, "The number of ranks.")
      .def(
          "ranks_along",
          [](const Mesh& self, int rank, const AxisNames& axes) {
            return self.ranks_along(rank, names_of(axes));
          },
          nb::arg("rank"), nb::arg("axes").none(), "The ranks that differ from `rank` along these axes only.")
      .def(
          "submesh", [](const Mesh& self, const AxisNames& axes) { return self.submesh(names_of(axes)); },
          nb::arg("axes").none(), "These axes alone, of ranks 0, 1, ...")
      .def(
          "__enter__",
          [](const nb::object& self) {
            nb::module_::import_("partita._mesh").attr("push")(self);
            return self;
          },
          nb::sig("def __enter__(self) -> Mesh"))
      .def(
          "__exit__",
          [](const Mesh& /*self*/, const nb::args& /*exception*/) {
            nb::module_::import_("partita._mesh").attr("pop")();
          },
          nb::sig("def __exit__(self, *exception: object) -> None"));

  nb::class_<PartitionSpec> spec(
      module, "P",
      "For each dimension of an array the mesh axes that it is cut over: ``P('x', None, ('y', 'z'))``.\n\n"
      "A mesh axis that no dimension names holds replicas, or, where `partial` names it, contributions that "
      "are\n"
      "not yet reduced by `reduction`. `uneven`: how an extent that is not divisible is cut, 'ceil' "
      "(JAX's\n"
      "rule) or 'balanced' (Slab's).");
  bind_value(spec, spec_text);
  spec.def(
          "__init__",
          [](PartitionSpec* self, const nb::args& dimensions, const AxisNames& partial,
             const std::string& reduction, const std::string& uneven) {
            PartitionSpec made;
            for (const nb::handle axes : dimensions)
              made.dimensions.push_back(names_of(
                  held<AxisNames>("P(): dimensions: expected str, a sequence of str or None", axes)));
            made.partial_axes = names_of(partial);
            made.partial_reduction = parse_reduction(reduction);
            made.uneven = parse<Uneven>(uneven, "uneven");
            new (self) PartitionSpec(std::move(made));
          },
          nb::arg("dimensions"), nb::kw_only(), nb::arg("partial") = nb::none(), nb::arg("reduction") = "sum",
          nb::arg("uneven") = "ceil",
          nb::sig(
              "def __init__(self, *dimensions: str | collections.abc.Sequence[str] | None, partial: str | "
              "collections.abc.Sequence[str] | None = None, reduction: str = 'sum', uneven: str = 'ceil') -> "
              "None"))
      .def("__repr__", &spec_text)
      .def_ro("dimensions", &PartitionSpec::dimensions, "The mesh axes of each dimension, by name.")
      .def_ro("partial", &PartitionSpec::partial_axes, "Mesh axes with contributions.")
      .def_prop_ro(
          "uneven",
          [](const PartitionSpec& self) { return self.uneven == Uneven::balanced ? "balanced" : "ceil"; },
          "How an extent that does not divide is cut.");
}

void bind_grids(nb::module_& module) {
  nb::class_<ProcessGrid> grid(
      module, "ProcessGrid",
      "The ranks of a process grid, by coordinates.\n\nRanks 0, 1, ... in row-major ('C') or "
      "column-major ('F') order, or `ranks[i]` at the i-th\ncoordinates in row-major order. "
      "`first` is the process that owns the first block along each dimension.");
  bind_value(grid, [](const ProcessGrid& one) { return one.to_string(); });
  grid.def(
          "__init__",
          [](ProcessGrid* self, const Extents& extents, const std::string& order, const Extents& first,
             const std::vector<int>& ranks) {
            const Order as = named("order", order, orders);
            new (self) ProcessGrid(ranks.empty() ? ProcessGrid(extents, as, first)
                                                 : ProcessGrid::of_ranks(extents, ranks, first));
          },
          nb::arg("extents"), nb::arg("order") = "C", nb::arg("first") = nb::make_tuple(),
          nb::arg("ranks") = std::vector<int>{})
      .def("__repr__", [](const ProcessGrid& self) { return "ProcessGrid<" + self.to_string() + ">"; })
      .def_prop_ro("extents", &ProcessGrid::extents, "Processes along each dimension.")
      .def_prop_ro("first", &ProcessGrid::first)
      .def_prop_ro("ranks", &ProcessGrid::ranks, "In row-major order; empty: by `order`.")
      .def_prop_ro("order",
                   [](const ProcessGrid& self) { return self.order() == Order::row_major ? "C" : "F"; })
      .def_prop_ro("size", &ProcessGrid::size)
      .def("coordinates", &ProcessGrid::coordinates, nb::arg("rank"),
           "None where the rank is not in the grid.")
      .def("rank_at", &ProcessGrid::rank_at, nb::arg("coordinates"));
}

/// A grid, or its extents.
using GridOrExtents = std::variant<ProcessGrid, Extents>;

ProcessGrid grid_of(const GridOrExtents& given) {
  if (const auto* grid = std::get_if<ProcessGrid>(&given)) return *grid;
  return ProcessGrid(std::get<Extents>(given));
}

void bind_rules(nb::module_& module) {
  bind_rule<Slab>(
      module, "Slab",
      "Cut along one axis into as many contiguous parts as there are ranks; of an extent S over P ranks "
      "the first\nS mod P ranks get one more.")
      .def(nb::init<int>(), nb::arg("axis"))
      .def_ro("axis", &Slab::axis);
  bind_rule<Box>(
      module, "Box",
      "One box per rank: rank r owns lower <= index < upper of ``boxes[r] = (lower, upper)``. The boxes "
      "cover the array without overlap.")
      .def(
          "__init__",
          [](Box* self, const std::vector<std::pair<Extents, Extents>>& boxes) {
            std::vector<Box::Bounds> bounds;
            for (const auto& [lower, upper] : boxes) bounds.push_back({lower, upper});
            new (self) Box(std::move(bounds));
          },
          nb::arg("boxes"))
      .def_static("from_cuts", &Box::from_cuts, nb::arg("cuts"),
                  "The boxes between cut points, one list per dimension, including both ends of the array.")
      .def_prop_ro("boxes", [](const Box& self) {
        std::vector<std::pair<Extents, Extents>> boxes;
        for (const Box::Bounds& one : self.boxes) boxes.emplace_back(one.lower, one.upper);
        return boxes;
      });
  bind_rule<BlockCyclic>(
      module, "BlockCyclic",
      "Blocks of `block` elements distributed cyclically over a grid, dimension by dimension: "
      "ScaLAPACK's distribution.")
      .def(
          "__init__",
          [](BlockCyclic* self, const GridOrExtents& grid, const Extents& block) {
            new (self) BlockCyclic(grid_of(grid), block);
          },
          nb::arg("grid"), nb::arg("block"))
      .def_ro("grid", &BlockCyclic::grid)
      .def_ro("block", &BlockCyclic::block);
  bind_rule<BlockNonCyclic>(
      module, "BlockNonCyclic",
      "One block per process and dimension; if the block extents are unset, ceil(S / P) each.")
      .def(
          "__init__",
          [](BlockNonCyclic* self, const GridOrExtents& grid, const Extents& block) {
            new (self) BlockNonCyclic(grid_of(grid), block);
          },
          nb::arg("grid"), nb::arg("block") = nb::make_tuple())
      .def_ro("grid", &BlockNonCyclic::grid)
      .def_ro("block", &BlockNonCyclic::block);
  bind_rule<Replicated>(module, "Replicated", "Every rank holds the whole array.").def(nb::init<>());
  bind_rule<Partitioned>(module, "Partitioned",
                         "Laid over a named mesh: ``Partitioned(mesh, P('x', None))``.")
      .def(
          "__init__",
          [](Partitioned* self, const Mesh& mesh, const PartitionSpec& spec) {
            new (self) Partitioned{mesh, spec};
          },
          nb::arg("mesh"), nb::arg("spec"))
      .def_ro("mesh", &Partitioned::mesh)
      .def_ro("spec", &Partitioned::spec);
  module.def("parse", &Distribution::parse, nb::arg("text"),
             "The rule that a text names: ``parse('slab:0')``, ``parse('block-cyclic:2x2:128x128')``, "
             "``parse('mesh:x=2,y=2:x,-')``.\n`str` of a rule is its text.");
}

}  // namespace

const char* numpy_name(Dtype dtype) {
  constexpr const char* names[dtype_count] = {
      "bool",    "int8",      "uint8",      "int16",         "uint16",     "int32",
      "uint32",  "int64",     "uint64",     "float16",       "bfloat16",   "float32",
      "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"};
  return names[static_cast<int>(dtype)];
}

void bind_distributions(nb::module_& module) {
  bind_grids(module);
  bind_meshes(module);
  bind_rules(module);
}

}  // namespace partita::python
