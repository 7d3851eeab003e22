// What becomes of operands and of the product, in Python's words.
#pragma once

#include <partita/matmul.hpp>
#include <string_view>
#include <utility>

namespace partita::python {

inline constexpr std::pair<std::string_view, Op> ops[] = {{"none", Op::none},
                                                          {"transpose", Op::transpose},
                                                          {"conjugate-transpose", Op::conjugate_transpose},
                                                          {"conjugate", Op::conjugate}};
inline constexpr std::pair<std::string_view, Epilogue> epilogues[] = {
    {"none", Epilogue::none},
    {"all-reduce", Epilogue::all_reduce},
    {"relu", Epilogue::relu},
    {"relu-aux", Epilogue::relu_aux},
    {"bias", Epilogue::bias},
    {"bias-aux", Epilogue::bias_aux},
    {"relu-bias", Epilogue::relu_bias},
    {"relu-bias-aux", Epilogue::relu_bias_aux},
    {"gelu", Epilogue::gelu},
    {"gelu-aux", Epilogue::gelu_aux},
    {"gelu-bias", Epilogue::gelu_bias},
    {"gelu-bias-aux", Epilogue::gelu_bias_aux},
    {"drelu", Epilogue::drelu},
    {"drelu-bias-gradient", Epilogue::drelu_bias_gradient},
    {"dgelu", Epilogue::dgelu},
    {"dgelu-bias-gradient", Epilogue::dgelu_bias_gradient},
    {"bias-gradient-a", Epilogue::bias_gradient_a},
    {"bias-gradient-b", Epilogue::bias_gradient_b}};
}  // namespace partita::python
