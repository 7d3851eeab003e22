// The arrays of one call of matrix multiply: their checks, and what planners see of them.
#pragma once

#include <array>
#include <complex>
#include <partita/array.hpp>
#include <partita/matmul.hpp>

#include "context/plan_key.hpp"
#include "matmul/roles.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::multiplication {

/// The arrays as the caller gave them. A value: handles that share the caller's memory.
struct Request {
  Array a;
  Array b;
  Array c;  ///< not valid: none
  Array d;  ///< not valid: to be made
  Array bias, auxiliary, gradient;
  Array scale_a, scale_b, scale_d, amax_d;

  Request() = default;
  Request(const Array& a, const Array& b, const Array* c, const Array* d, const EpilogueArrays& arrays);

  bool in_place() const { return c.valid() && d.valid() && c.state() == d.state(); }
  /// What this rank knows of overlaps, all ranks know: everything is dense on the symmetric heap.
  bool alike_on_all_ranks() const;
};
/// By role.
inline constexpr std::array<Array Request::*, roles> arrays_of_request{
    &Request::a,       &Request::b,         &Request::c,        &Request::d,
    &Request::bias,    &Request::auxiliary, &Request::gradient, &Request::scale_a,
    &Request::scale_b, &Request::scale_d,   &Request::amax_d};

/// Throws ArgumentError where arrays belong to different contexts, C is not like D, or what is written
/// overlaps anything else (but C where it is D). Local.
void check_arrays(const Request& request, const MatmulOptions& options);

/// Throws ArgumentError where alpha or beta do not suit real arrays or integers, or there is no C to multiply
/// by beta. `dtype`: of the factors.
void check_factors(std::complex<double> alpha, std::complex<double> beta, Dtype dtype, bool has_c);

/// Of the arrays and options of a call: what its plan is found by.
contexts::PlanKey key_of(const Request& request, const MatmulOptions& options);

/// Where it is multiplied: on the device, if any array is in its memory.
MemorySpace space_of(const Request& request);

/// What the planner needs to know; `d` as it is or is going to be.
MatmulOperands operands_of(const Request& request, const Operand& d);

}  // namespace partita::multiplication
