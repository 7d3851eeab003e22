// The arrays of one call of matrix multiply: their checks, and what planners see of them.
#pragma once

#include <functional>
#include <memory>
#include <partita/array.hpp>
#include <partita/matmul.hpp>
#include <string>
#include <vector>

#include "context/plan_key.hpp"
#include "runtime/agree.hpp"

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

/// Throws ArgumentError where arrays belong to different contexts, C is not like D, or what is written
/// overlaps anything else (but C where it is D). Local.
void check_arrays(const Request& request, const MatmulOptions& options);

/// Throws ArgumentError where alpha or beta do not suit real arrays or integers, or there is no C to multiply
/// by beta. `dtype`: of the factors.
void check_factors(std::complex<double> alpha, std::complex<double> beta, Dtype dtype, bool has_c);

/// Throws UnsupportedError where some array lies in host memory, which has no streams. Local.
void check_in_device_memory(const Request& request);

/// Of the arrays and options of a call: what its plan is found by.
contexts::PlanKey key_of(const Request& request, const MatmulOptions& options);

/// What the planner needs to know; `d` as it is or is going to be.
MatmulOperands operands_of(const Request& request, const Operand& d);

/// The arrays in the order of the plan's buffers and in its index spaces: op(A), op(B), ...
std::vector<std::shared_ptr<Array::State>> in_plan_order(const Request& request,
                                                         const MatmulOptions& options);

}  // namespace partita::multiplication
