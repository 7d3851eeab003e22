#include "tools/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/nearest.hpp"

namespace partita::tools {

std::size_t place_of(const std::string& word, const std::vector<std::string>& words, const char* what) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end())
    throw UsageError(fmt::format("there is no {} \"{}\": {}{}", what, word, fmt::join(words, ", "),
                                 suggestion(word, words)));
  return static_cast<std::size_t>(found - words.begin());
}

const Words<Operation> operations("operation", {"redistribute", "matmul", "fft"});
const Words<Order> orders("order", {"c", "f"});
const Words<bool> devices("device", {"cpu", "cuda"});
const Words<bool> yes_or_no("answer", {"no", "yes"});
const Words<RedistributeMethod> redistribute_methods("method of a redistribution",
                                                     {"automatic", "direct", "pushed", "pulled", "staged",
                                                      "messages", "grouped"});
const Words<MatmulMethod> matmul_methods("method of a multiply",
                                         {"automatic", "local", "all-gather", "reduce-scatter", "all-reduce",
                                          "summa-c", "summa-a", "summa-b", "communication-avoiding"});
const Words<ComputeType> compute_types("compute type",
                                       {"automatic", "f16", "f32", "tf32", "bf16x9", "f64", "i32"});
const Words<FftMethod> fft_methods("method of a transform",
                                   {"automatic", "local", "slab", "pencil", "four-step"});
const Words<FftExchange> fft_exchanges("exchange of a transform", {"automatic", "copies", "stores"});
const Words<FftKind> fft_kinds("kind of transform", {"c2c", "r2c", "c2r", "dct1", "dct2", "dct3", "dct4",
                                                     "dst1", "dst2", "dst3", "dst4"});
const Words<Norm> norms("norm", {"backward", "ortho", "forward"});
const Words<Epilogue> epilogues("epilogue", {"none", "all-reduce", "relu", "relu-aux", "bias", "bias-aux",
                                             "relu-bias", "relu-bias-aux", "gelu", "gelu-aux", "gelu-bias",
                                             "gelu-bias-aux", "drelu", "drelu-bias-gradient", "dgelu",
                                             "dgelu-bias-gradient", "bias-gradient-a", "bias-gradient-b"});

Op parse_op(const std::string& letters, std::size_t operand) {
  switch (letters.size() == 2 ? letters[operand] : '?') {
    case 'n':
      return Op::none;
    case 't':
      return Op::transpose;
    case 'c':
      return Op::conjugate_transpose;
    case 'j':
      return Op::conjugate;
    default:
      throw UsageError(fmt::format("--op {}: one letter for A, one for B: n, t, c or j, as in nt", letters));
  }
}

bool transposes(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

FftKind usual_kind(Dtype dtype) {
  return is_complex(dtype) ? FftKind::c2c : FftKind::r2c;
}

}  // namespace partita::tools
