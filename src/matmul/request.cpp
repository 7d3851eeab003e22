#include "matmul/request.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "matmul/problem.hpp"
#include "matmul/vectors.hpp"

namespace partita::multiplication {
namespace {

struct Named {
  const char* name;
  const Array* array;
};

std::vector<Named> arrays_of(const Request& request) {
  std::vector<Named> result{{"A", &request.a},
                            {"B", &request.b},
                            {"C", &request.c},
                            {"D", &request.d},
                            {"the bias", &request.bias},
                            {"the auxiliary array", &request.auxiliary},
                            {"the gradient", &request.gradient},
                            {"the scale of A", &request.scale_a},
                            {"the scale of B", &request.scale_b},
                            {"the scale of D", &request.scale_d},
                            {"the amax of D", &request.amax_d}};
  std::erase_if(result, [](const Named& named) { return !named.array->valid(); });
  return result;
}

void check_apart(const Request& request, const MatmulOptions& options) {
  const std::vector<Named> all = arrays_of(request);
  const auto written = [&](const Array* array) {
    return array == &request.d || array == &request.gradient || array == &request.amax_d ||
           (array == &request.auxiliary && parts_of(options.epilogue).writes_auxiliary);
  };
  for (const Named& one : all) {
    if (!written(one.array)) continue;
    arrays::check_written("matmul", *one.array);
    for (const Named& other : all) {
      if (other.array == one.array) continue;
      const bool in_place = one.array == &request.d && other.array == &request.c && request.in_place();
      check(in_place || !arrays::overlap(*one.array, *other.array),
            "matmul: {} is written, so it must not overlap {} in memory", one.name, other.name);
    }
  }
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
  return std::ranges::all_of(arrays_of(*this),
                             [](const Named& named) { return arrays::is_dense_on_heap(*named.array); });
}

void check_arrays(const Request& request, const MatmulOptions& options) {
  check(request.a.valid() && request.b.valid(), "matmul: A or B holds no array");
  for (const Named& named : arrays_of(request)) {
    arrays::check_same_context("matmul", request.a, "A", *named.array, named.name);
  }
  if (request.c.valid() && request.d.valid()) {
    check(request.c.shape() == request.d.shape() && request.c.dtype() == request.d.dtype(),
          "matmul: C is {} of shape {}, but D is {} of shape {}", name(request.c.dtype()),
          to_string(request.c.shape()), name(request.d.dtype()), to_string(request.d.shape()));
  }
  if (request.d.valid() && options.distribution)
    check_distribution(*options.distribution, request.d.layout());
  check_apart(request, options);
}

void check_in_device_memory(const Request& request) {
  for (const Named& named : arrays_of(request)) {
    check<UnsupportedError>(named.array->local().space == MemorySpace::device,
                            "matmul: {} is in host memory; stream-ordered calls require device arrays",
                            named.name);
  }
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
  for (const Array* const array :
       {&request.a, &request.b, &request.c, &request.d, &request.bias, &request.auxiliary, &request.gradient,
        &request.scale_a, &request.scale_b, &request.scale_d, &request.amax_d}) {
    (void)key.add(array->valid());
    if (array->valid()) (void)key.add(array->state()->operand);
  }
  for_each_option(options, request.in_place(), [&](const char*, const auto& value) { (void)key.add(value); });
  return key;
}

MatmulOperands operands_of(const Request& request, const Operand& d) {
  const auto optional = [](const Array& array) {
    return array.valid() ? std::optional<Operand>(array.operand()) : std::nullopt;
  };
  return {request.a.operand(),        request.b.operand(),
          optional(request.c),        d,
          optional(request.bias),     optional(request.auxiliary),
          optional(request.gradient), optional(request.scale_a),
          optional(request.scale_b),  optional(request.scale_d),
          optional(request.amax_d)};
}

std::vector<std::shared_ptr<Array::State>> in_plan_order(const Request& request,
                                                         const MatmulOptions& options) {
  const Vectors vectors(request.a.state()->operand, request.b.state()->operand);
  const auto seen = [](const Array& array, Op op) {
    const bool turns = transposes(op) && array.layout().dimensions() > 1;
    return turns ? arrays::permuted(*array.state(), axes_of(op, array.layout().dimensions())) : array.state();
  };
  std::vector<std::shared_ptr<Array::State>> result{matrix_a(seen(request.a, options.op_a), vectors),
                                                    matrix_b(seen(request.b, options.op_b), vectors)};
  for (const Array* array : {&request.c, &request.d, &request.bias, &request.auxiliary, &request.gradient,
                             &request.scale_a, &request.scale_b, &request.scale_d, &request.amax_d}) {
    if (!array->valid()) continue;
    const bool like_d = array == &request.c || array == &request.d || array == &request.auxiliary;
    result.push_back(like_d ? matrix_d(array->state(), vectors) : array->state());
  }
  return result;
}

}  // namespace partita::multiplication
