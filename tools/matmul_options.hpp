// The words of `partita matmul`: operations, epilogues, methods and numbers as text.
#pragma once

#include <complex>
#include <partita/matmul.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita::tools {

/// "nt", "cn", ...: one letter for each operand. n: as it is; t: transposed; c: conjugated and transposed;
/// j: conjugated. Throws UsageError.
std::pair<Op, Op> parse_operations(const std::string& text);
/// "1.5", or "1.5,-2" for 1.5 - 2i. Throws UsageError that says which `option` it was.
std::complex<double> parse_number(const std::string& text, const std::string& option);
/// "relu-bias-aux", ... Throws UsageError that lists what there is.
Epilogue parse_epilogue(const std::string& text);
MatmulMethod parse_matmul_method(const std::string& text);
std::vector<std::string> epilogue_names();
std::vector<std::string> matmul_method_names();

/// The arrays that belong to an epilogue.
struct EpilogueNeeds {
  bool bias = false;
  bool auxiliary_out = false;  ///< written
  bool auxiliary_in = false;   ///< read
  bool gradient = false;       ///< written
  bool gradient_of_b = false;  ///< of length n, not m
};
EpilogueNeeds needs_of(Epilogue epilogue);

}  // namespace partita::tools
