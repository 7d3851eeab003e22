#include "matmul/crossing.hpp"

#include <array>

#include "array/array_state.hpp"
#include "array/stand_in.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "matmul/problem.hpp"
#include "runtime/agree.hpp"

namespace partita::multiplication {
namespace {

enum Role : std::size_t {
  in_a,
  in_b,
  in_c,
  in_d,
  in_bias,
  in_auxiliary,
  in_gradient,
  in_scale_a,
  in_scale_b,
  in_scale_d,
  in_amax_d,
  roles
};
constexpr std::array<Array Request::*, roles> arrays_of_request{
    &Request::a,       &Request::b,         &Request::c,        &Request::d,
    &Request::bias,    &Request::auxiliary, &Request::gradient, &Request::scale_a,
    &Request::scale_b, &Request::scale_d,   &Request::amax_d};
constexpr std::array<const char*, roles> names{"A",
                                               "B",
                                               "C",
                                               "D",
                                               "the bias",
                                               "the auxiliary array",
                                               "the gradient",
                                               "the scale of A",
                                               "the scale of B",
                                               "the scale of D",
                                               "the amax of D"};

/// Null where there is none.
std::array<Operand*, roles> list(MatmulOperands& operands) {
  const auto maybe = [](std::optional<Operand>& operand) { return operand ? &*operand : nullptr; };
  return {&operands.a,
          &operands.b,
          maybe(operands.c),
          &operands.d,
          maybe(operands.bias),
          maybe(operands.auxiliary),
          maybe(operands.gradient),
          maybe(operands.scale_a),
          maybe(operands.scale_b),
          maybe(operands.scale_d),
          maybe(operands.amax_d)};
}

/// Whether the device reads it. With alpha = 0 it reads A and B for sums of them alone.
bool is_read(std::size_t role, const EpilogueParts& parts, bool product) {
  if (role == in_a) return product || parts.gradient_of_a;
  if (role == in_b) return product || parts.gradient_of_b;
  if (role == in_auxiliary) return !parts.writes_auxiliary;
  return role != in_d && role != in_gradient && role != in_amax_d;
}

bool is_written(std::size_t role, const EpilogueParts& parts) {
  return role == in_d || role == in_gradient || role == in_amax_d ||
         (role == in_auxiliary && parts.writes_auxiliary);
}

/// "A, C and D"
std::string joined(const std::vector<const char*>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

void copy_part(ContextState& context, const Array& from, const Array& to) {
  runtime::check_or_tell_all(context, "matmul",
                             [&] { arrays::copy_view(context, from.local(), to.local()); });
}

}  // namespace

MemorySpace space_of(const MatmulOperands& given) {
  MatmulOperands operands = given;
  for (const Operand* const operand : list(operands)) {
    if (operand != nullptr && operand->space == MemorySpace::device) return MemorySpace::device;
  }
  return MemorySpace::host;
}

MatmulOperands as_planned(MatmulOperands operands) {
  if (space_of(operands) == MemorySpace::host) return operands;
  for (Operand* const operand : list(operands)) {
    if (operand != nullptr && operand->space == MemorySpace::host) *operand = arrays::stand_in_of(*operand);
  }
  return operands;
}

std::string crossing_text(const MatmulOperands& given, const MatmulOptions& options) {
  if (space_of(given) == MemorySpace::host) return "";
  const EpilogueParts parts = parts_of(options.epilogue);
  const bool product = options.alpha != std::complex<double>(0);
  MatmulOperands operands = given;
  std::vector<const char*> there, back;
  const std::array<Operand*, roles> all = list(operands);
  for (std::size_t role = 0; role < roles; ++role) {
    if (all[role] == nullptr || all[role]->space == MemorySpace::device) continue;
    if (is_read(role, parts, product)) there.push_back(names[role]);
    if (is_written(role, parts)) back.push_back(names[role]);
  }
  std::string text;
  if (!there.empty()) text += "; copied from host memory to the device before: " + joined(there);
  if (!back.empty()) text += "; copied back to host memory after: " + joined(back);
  return text;
}

/// C and D that are one array have one.
void Crossing::connect(ContextState& context) {
  if (space_of(operands_) == MemorySpace::host) return;
  const std::array<Operand*, roles> all = list(operands_);
  for (std::size_t role = 0; role < roles; ++role) {
    if (all[role] == nullptr || all[role]->space == MemorySpace::device) continue;
    if (role == in_c && in_place_) continue;
    own_.*arrays_of_request[role] = arrays::allocate_stand_in(context, *all[role]);
  }
  if (in_place_) own_.c = own_.d;
}

template <class Body>
void Crossing::for_each_own(const Body& body) const {
  for (std::size_t role = 0; role < roles; ++role) {
    const Array& own = own_.*arrays_of_request[role];
    if (own.valid()) body(role, own);
  }
}

std::int64_t Crossing::bytes(int rank) const {
  std::int64_t bytes = 0;
  for_each_own([&](std::size_t role, const Array& own) {
    if (role == in_c && in_place_) return;
    bytes += own.layout().local_size(rank) * size_of(own.dtype());
  });
  return bytes;
}

Request Crossing::seen(const Request& given) const {
  Request result = given;
  for_each_own([&](std::size_t role, const Array& own) { result.*arrays_of_request[role] = own; });
  return result;
}

void Crossing::bring(ContextState& context, const Request& given, const Parameters& parameters) {
  const EpilogueParts parts = parts_of(options_.epilogue);
  const bool product = parameters.alpha != std::complex<double>(0);
  for_each_own([&](std::size_t role, const Array& own) {
    arrays::check_stands_for(own.operand(), given.*arrays_of_request[role], "matmul", names[role]);
  });
  for_each_own([&](std::size_t role, const Array& own) {
    if (!is_read(role, parts, product)) return;
    if (role == in_c && parameters.beta == std::complex<double>(0)) return;
    copy_part(context, given.*arrays_of_request[role], own);
  });
}

void Crossing::take_back(ContextState& context, const Request& given) const {
  const EpilogueParts parts = parts_of(options_.epilogue);
  for_each_own([&](std::size_t role, const Array& own) {
    if (is_written(role, parts)) copy_part(context, own, given.*arrays_of_request[role]);
  });
}

}  // namespace partita::multiplication
