#include "tools/matmul_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "tools/subcommand.hpp"

namespace partita::tools {
namespace {

template <class Value>
using Names = std::vector<std::pair<const char*, Value>>;

const Names<Epilogue> epilogues{{"none", Epilogue::none},
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

const Names<MatmulMethod> methods{{"automatic", MatmulMethod::automatic},
                                  {"local", MatmulMethod::local},
                                  {"all-gather", MatmulMethod::all_gather},
                                  {"reduce-scatter", MatmulMethod::reduce_scatter},
                                  {"all-reduce", MatmulMethod::all_reduce},
                                  {"summa-c", MatmulMethod::summa_c},
                                  {"summa-a", MatmulMethod::summa_a},
                                  {"summa-b", MatmulMethod::summa_b},
                                  {"communication-avoiding", MatmulMethod::communication_avoiding}};

template <class Value>
std::vector<std::string> words_of(const Names<Value>& names) {
  std::vector<std::string> words;
  for (const auto& [word, value] : names) words.emplace_back(word);
  return words;
}

template <class Value>
Value value_of(const Names<Value>& names, const std::string& text, const char* what) {
  for (const auto& [word, value] : names) {
    if (text == word) return value;
  }
  throw UsageError(fmt::format("\"{}\" is no {}: {}", text, what, fmt::join(words_of(names), ", ")));
}

Op operation_of(const std::string& text, std::size_t operand) {
  const char letter = text.size() == 2 ? text[operand] : '?';
  if (letter == 'n') return Op::none;
  if (letter == 't') return Op::transpose;
  if (letter == 'c') return Op::conjugate_transpose;
  if (letter == 'j') return Op::conjugate;
  throw UsageError(fmt::format("--op {}: one letter for A, one for B: n, t, c or j, as in nt", text));
}

}  // namespace

std::pair<Op, Op> parse_operations(const std::string& text) {
  return {operation_of(text, 0), operation_of(text, 1)};
}

std::complex<double> parse_number(const std::string& text, const std::string& option) {
  double parts[2] = {0, 0};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (double& part : parts) {
    const auto [rest, error] = std::from_chars(at, end, part);
    if (error != std::errc{}) break;
    if (rest == end) return {parts[0], parts[1]};
    if (*rest != ',') break;
    at = rest + 1;
  }
  throw UsageError(
      fmt::format("{} {}: a number, or a real and an imaginary part as in 1.5,-2", option, text));
}

Epilogue parse_epilogue(const std::string& text) {
  return value_of(epilogues, text, "epilogue");
}

MatmulMethod parse_matmul_method(const std::string& text) {
  return value_of(methods, text, "method");
}

std::vector<std::string> epilogue_names() {
  return words_of(epilogues);
}

std::vector<std::string> matmul_method_names() {
  return words_of(methods);
}

EpilogueNeeds needs_of(Epilogue epilogue) {
  const std::string name = words_of(epilogues)[static_cast<std::size_t>(epilogue)];
  const auto ends_with = [&](const char* end) { return name.ends_with(end); };
  EpilogueNeeds needs;
  needs.gradient = name.find("bias-gradient") != std::string::npos;
  needs.gradient_of_b = epilogue == Epilogue::bias_gradient_b;
  needs.bias = !needs.gradient && name.find("bias") != std::string::npos;
  needs.auxiliary_out = ends_with("-aux");
  needs.auxiliary_in = name.starts_with("drelu") || name.starts_with("dgelu");
  return needs;
}

}  // namespace partita::tools
