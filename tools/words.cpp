#include "tools/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/nearest.hpp"

namespace partita::tools {

std::size_t place_of(const std::string& word, const std::vector<std::string>& words,
                     const std::string& what) {
  const std::vector<std::string_view> list(words.begin(), words.end());
  const int place = detail::find_word(word, list);
  if (place < 0)
    throw UsageError(fmt::format("there is no {} \"{}\": {}{}", what, word, fmt::join(words, ", "),
                                 suggestion(word, words)));
  return static_cast<std::size_t>(place);
}

const Words<Operation> operations("operation",
                                  {"redistribute", "matmul", "fft", "cholesky", "lu", "qr", "solve"});
const Words<Order> orders("order", {"c", "f"});
const Words<bool> devices("device", {"cpu", "cuda"});
const Words<bool> yes_or_no("answer", {"no", "yes"});
const Words<RedistributeMethod> redistribute_methods;
const Words<MatmulMethod> matmul_methods;
const Words<ComputeType> compute_types;
const Words<FftMethod> fft_methods;
const Words<FftExchange> fft_exchanges;
const Words<FftKind> fft_kinds;
const Words<Norm> norms;
const Words<Epilogue> epilogues;
const Words<Factorization> factorizations("factorization", {"cholesky", "lu", "qr"});
const Words<Pivoting> pivotings;
const Words<Op> op_letters("op", {"n", "t", "c", "j"});

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
