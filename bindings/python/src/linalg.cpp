#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <partita/astype.hpp>
#include <partita/eigen.hpp>
#include <partita/elementwise.hpp>
#include <partita/linalg.hpp>
#include <tuple>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "destruction.hpp"
#include "linear_calls.hpp"
#include "plans.hpp"

namespace partita::python {

namespace {

constexpr std::pair<std::string_view, Factorization> factorizations[] = {
    {"cholesky", Factorization::cholesky}, {"lu", Factorization::lu}, {"qr", Factorization::qr}};

void bind_factor_options(nb::module_& module) {
  nb::class_<FactorOptions>(module, "FactorOptions")
      .def(
          "__init__",
          [](FactorOptions* self, std::int64_t block, bool overwrite, const Extents& grid,
             const std::string& pivoting, std::int64_t memory_limit) {
            FactorOptions options;
            options.block = block;
            options.overwrite = overwrite;
            options.grid = grid;
            options.pivoting = parse<Pivoting>(pivoting, "pivoting");
            options.memory_limit = memory_limit;
            new (self) FactorOptions(std::move(options));
          },
          nb::kw_only(), nb::arg("block") = 0, nb::arg("overwrite") = false, nb::arg("grid") = Extents{},
          nb::arg("pivoting") = "automatic", nb::arg("memory_limit") = 0);
}

std::pair<std::complex<double>, double> sign_and_logarithm(const LogDeterminant& determinant) {
  return {determinant.sign, determinant.log_absolute};
}

/// Those of all solves: the triangle is only of solve_triangular.
void bind_solve_options(nb::module_& module) {
  nb::class_<TriangularOptions>(module, "SolveOptions")
      .def(
          "__init__",
          [](TriangularOptions* self, const std::string& op, const std::optional<Distribution>& distribution,
             const std::string& order, bool heap, const Words& space, bool upper, bool unit_diagonal,
             std::int64_t memory_limit) {
            TriangularOptions options;
            options.op = parse<Op>(op, "op");
            options.distribution = distribution;
            options.order = named("order", order, orders);
            options.residency = residency_of(heap);
            options.space = space_of(space);
            options.upper = upper;
            options.unit_diagonal = unit_diagonal;
            options.memory_limit = memory_limit;
            new (self) TriangularOptions(std::move(options));
          },
          nb::kw_only(), nb::arg("op") = "none", nb::arg("distribution") = nb::none(), nb::arg("order") = "C",
          nb::arg("heap") = true, nb::arg("space") = nb::none(), nb::arg("upper") = false,
          nb::arg("unit_diagonal") = false, nb::arg("memory_limit") = 0);
}

/// A member that returns a new array.
template <class Object>
auto made_by(Array (Object::*make)(SourcePlace) const) {
  return [make](const Object& self) {
    const SourcePlace where = caller();
    return unlocked([&] { return (self.*make)(where); });
  };
}

/// Another way to make the object, of two arrays.
template <class Object>
auto made_of(Object (*make)(const Array&, const Array&, SourcePlace)) {
  return [make](const Array& packed, const Array& beside) {
    const SourcePlace where = caller();
    return unlocked([&] { return make(packed, beside, where); });
  };
}

/// What the three objects have in common.
template <class Object>
nb::class_<Object> bind_factors(nb::module_& module, const char* name) {
  return nb::class_<Object>(module, name)
      .def(
          "__init__",
          [](Object* self, const Array& a, const FactorOptions& options) {
            const SourcePlace where = caller();
            unlocked([&] { new (self) Object(a, options, where); });
          },
          nb::arg("a"), nb::arg("options"))
      .def("factorize", &Object::factorize, nb::arg("a"), Unlocked())
      .def(
          "solve",
          [](const Object& self, const Array& b, const TriangularOptions& options, StreamHandle stream) {
            const SourcePlace where = caller();
            return unlocked([&] { return self.solve(b, in_stream(options, stream), where); });
          },
          nb::arg("b"), nb::arg("options"), nb::arg("stream") = nb::none())
      .def(
          "solve_into",
          [](const Object& self, const Array& b, Array& x, const TriangularOptions& options,
             StreamHandle stream) { self.solve_into(b, x, in_stream(options, stream)); },
          nb::arg("b"), nb::arg("x"), nb::arg("options"), nb::arg("stream") = nb::none(), Unlocked())
      .def_prop_ro("plan", &Object::plan, nb::rv_policy::copy)
      .def(
          "explain",
          [](const Object& self, bool steps, bool json) { return self.explain(explained_as(steps, json)); },
          nb::arg("steps") = false, nb::arg("json") = false, Unlocked());
}

template <class Object>
double condition_of(const Object& self, double norm, const std::string& which) {
  return self.condition(norm, parse<MatrixNorm>(which, "norm"));
}

void bind_cholesky_and_lu(nb::module_& module) {
  bind_factors<Cholesky>(module, "Cholesky")
      .def_static(
          "from_lower",
          [](const Array& l) {
            const SourcePlace where = caller();
            return unlocked([&] { return Cholesky::from_lower(l, where); });
          },
          nb::arg("l"))
      .def(
          "log_determinant", [](const Cholesky& self) { return sign_and_logarithm(self.log_determinant()); },
          Unlocked())
      .def("condition", condition_of<Cholesky>, nb::arg("norm"), nb::arg("which"), Unlocked())
      .def("lower", made_by(&Cholesky::lower));
  bind_factors<Lu>(module, "Lu")
      .def_static("from_packed", made_of(&Lu::from_packed), nb::arg("packed"), nb::arg("pivots"))
      .def(
          "log_determinant", [](const Lu& self) { return sign_and_logarithm(self.log_determinant()); },
          Unlocked())
      .def("condition", condition_of<Lu>, nb::arg("norm"), nb::arg("which"), Unlocked())
      .def_prop_ro("first_zero_pivot", &Lu::first_zero_pivot)
      .def("packed", made_by(&Lu::packed))
      .def("packed_into", &Lu::packed_into, nb::arg("array"), Unlocked())
      .def("pivots", made_by(&Lu::pivots));
}

void bind_qr(nb::module_& module) {
  bind_factors<Qr>(module, "Qr")
      .def_static("from_packed", made_of(&Qr::from_packed), nb::arg("packed"), nb::arg("factors"))
      .def("q", made_by(&Qr::q))
      .def("r", made_by(&Qr::r))
      .def("packed", made_by(&Qr::packed))
      .def("packed_into", &Qr::packed_into, nb::arg("array"), Unlocked())
      .def("factors", made_by(&Qr::factors))
      .def(
          "multiply_q",
          [](const Qr& self, const Array& b, const TriangularOptions& options, StreamHandle stream) {
            const SourcePlace where = caller();
            return unlocked([&] { return self.multiply_q(b, in_stream(options, stream), where); });
          },
          nb::arg("b"), nb::arg("options"), nb::arg("stream") = nb::none());
}

void bind_functions(nb::module_& module) {
  module.def(
      "solve_triangular",
      [](const Array& t, const Array& b, const TriangularOptions& options, StreamHandle stream) {
        const SourcePlace where = caller();
        return unlocked([&] { return solve_triangular(t, b, in_stream(options, stream), where); });
      },
      nb::arg("t"), nb::arg("b"), nb::arg("options"), nb::arg("stream") = nb::none());
  module.def(
      "solve",
      [](const Array& a, const Array& b, const TriangularOptions& options, StreamHandle stream) {
        const SourcePlace where = caller();
        return unlocked([&] { return solve(a, b, in_stream(options, stream), where); });
      },
      nb::arg("a"), nb::arg("b"), nb::arg("options"), nb::arg("stream") = nb::none());
  module.def(
      "cholesky",
      [](const Array& a) {
        const SourcePlace where = caller();
        return unlocked([&] { return cholesky(a, where); });
      },
      nb::arg("a"));
  module.def(
      "qr",
      [](const Array& a) {
        const SourcePlace where = caller();
        QrFactors found = unlocked([&] { return qr(a, where); });
        return std::pair(std::move(found.q), std::move(found.r));
      },
      nb::arg("a"));
  module.def(
      "log_determinants",
      [](const Array& a) {
        const SourcePlace where = caller();
        LogDeterminants found = unlocked([&] { return log_determinants(a, where); });
        return std::pair(std::move(found.sign), std::move(found.log_absolute));
      },
      nb::arg("a"));
  module.def(
      "inverse",
      [](const Array& a) {
        const SourcePlace where = caller();
        return unlocked([&] { return inverse(a, where); });
      },
      nb::arg("a"));
  module.def(
      "lstsq",
      [](const Array& a, const Array& b, const TriangularOptions& options, StreamHandle stream) {
        const SourcePlace where = caller();
        return unlocked([&] { return lstsq(a, b, in_stream(options, stream), where); });
      },
      nb::arg("a"), nb::arg("b"), nb::arg("options"), nb::arg("stream") = nb::none());
}

RefineOptions refine_options(const TriangularOptions& how, Factorization method, const std::string& compute,
                             double tolerance, int iterations, StreamHandle stream) {
  RefineOptions options;
  static_cast<SolveOptions&>(options) = in_stream(how, stream);
  options.method = method;
  options.compute = parse<ComputeType>(compute, "compute");
  options.tolerance = tolerance;
  options.iterations = iterations;
  return options;
}

void bind_refinement(nb::module_& module) {
  module.def(
      "solve_refined",
      [](const Array& a, const Array& b, const TriangularOptions& options, const std::string& method,
         const std::string& compute, double tolerance, int iterations, StreamHandle stream) {
        const RefineOptions how = refine_options(options, named("method", method, factorizations), compute,
                                                 tolerance, iterations, stream);
        const SourcePlace where = caller();
        RefinedSolution found = unlocked([&] { return solve_refined(a, b, how, where); });
        const Refinement& refinement = found.refinement;
        return std::tuple(std::move(found.x), refinement.iterations, refinement.backward_error,
                          refinement.fell_back, refinement.reason);
      },
      nb::arg("a"), nb::arg("b"), nb::arg("options"), nb::arg("method"), nb::arg("compute"),
      nb::arg("tolerance"), nb::arg("iterations"), nb::arg("stream") = nb::none());
  module.def(
      "matrix_norm",
      [](const Array& a, const std::string& which) {
        const auto norm = parse<MatrixNorm>(which, "norm");
        return unlocked([&] { return matrix_norm(a, norm); });
      },
      nb::arg("a"), nb::arg("which"));
  module.def(
      "condition",
      [](const Array& a, const std::string& which) {
        const auto norm = parse<MatrixNorm>(which, "norm");
        return unlocked([&] { return condition(a, norm); });
      },
      nb::arg("a"), nb::arg("which"));
  module.def(
      "rank_k_update",
      [](const Array& a, Array& c, const std::string& op, bool symmetric, bool upper,
         std::complex<double> alpha, std::complex<double> beta, const std::string& compute,
         StreamHandle stream) {
        RankUpdateOptions options;
        options.op = parse<Op>(op, "op");
        options.symmetric = symmetric;
        options.upper = upper;
        options.alpha = alpha;
        options.beta = beta;
        options.compute = parse<ComputeType>(compute, "compute");
        options = in_stream(options, stream);
        unlocked([&] { rank_k_update(a, c, options); });
      },
      nb::arg("a"), nb::arg("c"), nb::arg("op"), nb::arg("symmetric"), nb::arg("upper"), nb::arg("alpha"),
      nb::arg("beta"), nb::arg("compute"), nb::arg("stream") = nb::none());
}

void bind_eigen(nb::module_& module) {
  module.def(
      "eigh",
      [](const Array& a, bool upper, std::int64_t base, std::int64_t first, std::int64_t count) {
        const SourcePlace where = caller();
        const EigenOptions options{.base = base, .upper = upper, .first = first, .count = count};
        EigenFactors found = unlocked([&] { return eigh(a, options, where); });
        return std::pair(std::move(found.values), std::move(found.vectors));
      },
      nb::arg("a"), nb::arg("upper"), nb::arg("base"), nb::arg("first"), nb::arg("count"));
  module.def(
      "eigvalsh",
      [](const Array& a, bool upper, std::int64_t base) {
        const SourcePlace where = caller();
        return unlocked([&] { return eigvalsh(a, {.base = base, .upper = upper}, where); });
      },
      nb::arg("a"), nb::arg("upper"), nb::arg("base"));
  module.def(
      "svd",
      [](const Array& a, std::int64_t base) {
        const SourcePlace where = caller();
        SvdFactors found = unlocked([&] { return svd(a, {.base = base}, where); });
        return std::tuple(std::move(found.u), std::move(found.values), std::move(found.vh));
      },
      nb::arg("a"), nb::arg("base"));
  module.def(
      "svdvals",
      [](const Array& a, std::int64_t base) {
        const SourcePlace where = caller();
        return unlocked([&] { return svdvals(a, {.base = base}, where); });
      },
      nb::arg("a"), nb::arg("base"));
  module.def(
      "polar",
      [](const Array& a) {
        const SourcePlace where = caller();
        PolarFactors found = unlocked([&] { return polar(a, where); });
        return std::pair(std::move(found.u), std::move(found.h));
      },
      nb::arg("a"));
  module.def(
      "run_linear",
      [](const std::string& function, const std::vector<Array>& operands, std::vector<Array> results,
         const std::string& op, bool upper, bool unit_diagonal, bool right, StreamHandle stream) {
        if (stream) operands.at(0).context().synchronize(stream_of(stream));
        run_linear(function, operands, results, {parse<Op>(op, "op"), upper, unit_diagonal, right});
      },
      nb::arg("function"), nb::arg("operands"), nb::arg("results"), nb::arg("op") = "none",
      nb::arg("upper") = false, nb::arg("unit_diagonal") = false, nb::arg("right") = false,
      nb::arg("stream") = nb::none(), Unlocked());
  // Of elements by real numbers, also where there is no package for device memory.
  module.def(
      "divided",
      [](const Array& a, const Array& values) {
        const SourcePlace where = caller();
        return unlocked([&] { return a / astype(values, a.dtype(), {}, where); });
      },
      nb::arg("a"), nb::arg("values"));
}

void bind_planning(nb::module_& module) {
  module.def(
      "plan_factorization",
      [](const std::string& kind, const Operand& a, const Topology& topology, const FactorOptions& options) {
        const Factorization which = named("kind", kind, factorizations);
        return Planned{[=](int rank) { return plan_factorization(which, a, topology, rank, options); },
                       topology.ranks()};
      },
      nb::arg("kind"), nb::arg("a"), nb::arg("topology"), nb::arg("options"), Unlocked());
  module.def(
      "plan_solve",
      [](const std::string& kind, const Operand& a, const Operand& b, const Operand& x,
         const Topology& topology, const std::string& op, const FactorOptions& options) {
        const Factorization which = named("kind", kind, factorizations);
        const Op of = parse<Op>(op, "op");
        return Planned{[=](int rank) { return plan_solve(which, a, b, x, topology, rank, of, options); },
                       topology.ranks()};
      },
      nb::arg("kind"), nb::arg("a"), nb::arg("b"), nb::arg("x"), nb::arg("topology"), nb::arg("op"),
      nb::arg("options"), Unlocked());
}

}  // namespace

void bind_linalg(nb::module_& module) {
  bind_factor_options(module);
  bind_solve_options(module);
  bind_cholesky_and_lu(module);
  bind_qr(module);
  bind_functions(module);
  bind_refinement(module);
  bind_eigen(module);
  bind_planning(module);
}

}  // namespace partita::python
