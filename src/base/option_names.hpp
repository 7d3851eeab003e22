// Options in words, as they are written in a program: for errors about what ranks disagree on.
#pragma once

#include <array>
#include <cstddef>
#include <partita/fft.hpp>
#include <partita/matmul.hpp>
#include <partita/operand.hpp>
#include <partita/redistribute.hpp>
#include <string_view>

namespace partita {

/// Of a list in the order of the enumeration; a number that has no name is "unknown".
template <class Enum, std::size_t count>
constexpr std::string_view name_in(const std::array<std::string_view, count>& names, Enum value) {
  const auto number = static_cast<std::size_t>(value);
  return number < count ? names[number] : std::string_view("unknown");
}

constexpr std::string_view name(Order order) {
  return name_in(std::array<std::string_view, 2>{"row_major", "column_major"}, order);
}

constexpr std::string_view name(Residency residency) {
  return name_in(std::array<std::string_view, 2>{"heap", "ordinary"}, residency);
}

constexpr std::string_view name(RedistributeMethod method) {
  return name_in(std::array<std::string_view, 7>{"automatic", "direct", "pushed", "pulled", "staged",
                                                 "messages", "grouped"},
                 method);
}

constexpr std::string_view name(Op op) {
  return name_in(std::array<std::string_view, 4>{"none", "transpose", "conjugate_transpose", "conjugate"},
                 op);
}

constexpr std::string_view name(Epilogue epilogue) {
  return name_in(
      std::array<std::string_view, 18>{"none", "all_reduce", "relu", "relu_aux", "bias", "bias_aux",
                                       "relu_bias", "relu_bias_aux", "gelu", "gelu_aux", "gelu_bias",
                                       "gelu_bias_aux", "drelu", "drelu_bias_gradient", "dgelu",
                                       "dgelu_bias_gradient", "bias_gradient_a", "bias_gradient_b"},
      epilogue);
}

constexpr std::string_view name(MatmulMethod method) {
  return name_in(
      std::array<std::string_view, 9>{"automatic", "local", "all_gather", "reduce_scatter", "all_reduce",
                                      "summa_c", "summa_a", "summa_b", "communication_avoiding"},
      method);
}

constexpr std::string_view name(ScaleMode mode) {
  return name_in(std::array<std::string_view, 5>{"automatic", "tensor", "outer_vector", "block32_ue8m0",
                                                 "block16_ue4m3"},
                 mode);
}

constexpr std::string_view name(FftKind kind) {
  return name_in(std::array<std::string_view, 11>{"c2c", "r2c", "c2r", "dct1", "dct2", "dct3", "dct4", "dst1",
                                                  "dst2", "dst3", "dst4"},
                 kind);
}

constexpr std::string_view name(Norm norm) {
  return name_in(std::array<std::string_view, 3>{"backward", "ortho", "forward"}, norm);
}

constexpr std::string_view name(FftMethod method) {
  return name_in(std::array<std::string_view, 5>{"automatic", "local", "slab", "pencil", "four_step"},
                 method);
}

constexpr std::string_view name(FftExchange exchange) {
  return name_in(std::array<std::string_view, 3>{"automatic", "copies", "stores"}, exchange);
}

constexpr std::string_view name(Output output) {
  return name_in(std::array<std::string_view, 3>{"as_input", "cheapest", "given"}, output);
}

// The lists are as long as the enumerations.
static_assert(name(Order::column_major) == "column_major" && name(Residency::ordinary) == "ordinary");
static_assert(name(RedistributeMethod::grouped) == "grouped" && name(Op::conjugate) == "conjugate");
static_assert(name(Epilogue::bias_gradient_b) == "bias_gradient_b");
static_assert(name(MatmulMethod::communication_avoiding) == "communication_avoiding");
static_assert(name(ScaleMode::block16_ue4m3) == "block16_ue4m3" && name(Norm::forward) == "forward");
static_assert(name(FftMethod::four_step) == "four_step" && name(FftExchange::stores) == "stores");
static_assert(name(Output::given) == "given");

}  // namespace partita
