#include "matmul/request.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "matmul/problem.hpp"

namespace partita::multiplication {
namespace {

/// `body(role, array)` for each array that there is.
template <class Body>
void for_each_array(const Request& request, const Body& body) {
  for (std::size_t i = 0; i < roles; ++i) {
    const Array& array = request.*arrays_of_request[i];
    if (array.valid()) body(static_cast<Role>(i), array);
  }
}

void check_apart(const Request& request, const MatmulOptions& options) {
  const EpilogueParts parts = parts_of(options.epilogue);
  for_each_array(request, [&](Role one, const Array& written) {
    if (!is_written(one, parts)) return;
    arrays::check_written("matmul", written);
    for_each_array(request, [&](Role other, const Array& array) {
      const bool in_place = one == in_d && other == in_c && request.in_place();
      check(one == other || in_place || !arrays::overlap(written, array),
            "matmul: {} is written, so it must not overlap {} in memory", role_names[one], role_names[other]);
    });
  });
}

}  // namespace

Request::Request(const Array& given_a, const Array& given_b, const Array* given_c, const Array* given_d,
                 const EpilogueArrays& arrays)
    : a(given_a), b(given_b) {
  const auto take = [](Array& to, const Array* from) {
    if (from != nullptr) to = *from;
  };
  take(c, given_c);
  take(d, given_d);
  take(bias, arrays.bias);
  take(auxiliary, arrays.auxiliary);
  take(gradient, arrays.gradient);
  take(scale_a, arrays.scale_a);
  take(scale_b, arrays.scale_b);
  take(scale_d, arrays.scale_d);
  take(amax_d, arrays.amax_d);
}

bool Request::alike_on_all_ranks() const {
  return std::ranges::all_of(arrays_of_request, [this](const auto member) {
    return !(this->*member).valid() || arrays::is_dense_on_heap(this->*member);
  });
}

void check_arrays(const Request& request, const MatmulOptions& options) {
  check(request.a.valid() && request.b.valid(), "matmul: A or B holds no array");
  for_each_array(request, [&](Role role, const Array& array) {
    arrays::check_context("matmul", *request.a.context_state(), "A", array, role_names[role]);
  });
  if (request.c.valid() && request.d.valid()) {
    check(request.c.shape() == request.d.shape() && request.c.dtype() == request.d.dtype(),
          "matmul: C is {} of shape {}, but D is {} of shape {}", name(request.c.dtype()),
          to_string(request.c.shape()), name(request.d.dtype()), to_string(request.d.shape()));
  }
  if (request.d.valid() && options.distribution)
    check_distribution(*options.distribution, request.d.layout());
  check_apart(request, options);
}

void check_factors(std::complex<double> alpha, std::complex<double> beta, Dtype dtype, bool has_c) {
  check(is_complex(dtype) || (alpha.imag() == 0 && beta.imag() == 0),
        "matmul: alpha and beta must be real for {}, but are {}{:+}i and {}{:+}i", name(dtype), alpha.real(),
        alpha.imag(), beta.real(), beta.imag());
  const auto is_i32 = [](double value) { return value == std::trunc(value) && std::abs(value) < 0x1p31; };
  check(!is_integer(dtype) || (is_i32(alpha.real()) && is_i32(beta.real())),
        "matmul: alpha and beta must be integers of 32 bits for {}, but are {} and {}", name(dtype),
        alpha.real(), beta.real());
  check(has_c || beta == std::complex<double>(0), "matmul: beta is not 0, but there is no C");
}

contexts::PlanKey key_of(const Request& request, const MatmulOptions& options) {
  contexts::PlanKey key("matmul");
  for (const auto member : arrays_of_request) {
    const Array& array = request.*member;
    (void)key.add(array.valid());
    if (array.valid()) (void)key.add(array.state()->operand);
  }
  for_each_option(options, request.in_place(), key);
  return key;
}

MemorySpace space_of(const Request& request) {
  const auto on_device = [&](const auto member) {
    return (request.*member).valid() && (request.*member).local().space == MemorySpace::device;
  };
  return std::ranges::any_of(arrays_of_request, on_device) ? MemorySpace::device : MemorySpace::host;
}

MatmulOperands operands_of(const Request& request, const Operand& d) {
  const auto optional = [](const Array& array) {
    return array.valid() ? std::optional<Operand>(array.operand()) : std::nullopt;
  };
  return {request.a.operand(),
          request.b.operand(),
          optional(request.c),
          d,
          {.bias = optional(request.bias),
           .auxiliary = optional(request.auxiliary),
           .gradient = optional(request.gradient),
           .scale_a = optional(request.scale_a),
           .scale_b = optional(request.scale_b),
           .scale_d = optional(request.scale_d),
           .amax_d = optional(request.amax_d)}};
}

}  // namespace partita::multiplication
