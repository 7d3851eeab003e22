// Enumerations as words of the command line.
#pragma once

#include <cstdint>
#include <partita/context.hpp>
#include <partita/fft.hpp>
#include <partita/linalg.hpp>
#include <partita/matmul.hpp>
#include <partita/names.hpp>
#include <partita/redistribute.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace partita::tools {

/// The command line is wrong: one line on stderr, exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The place of a word; throws UsageError that lists what there is. `what`: "method".
std::size_t place_of(const std::string& word, const std::vector<std::string>& words, const std::string& what);

/// A word for each value of an enumeration, in its order; '-' and '_' are the same. Without arguments: those
/// of the library.
template <class T>
class Words {
 public:
  Words() : what_(OptionWords<T>::what), words_(words_of<T>().begin(), words_of<T>().end()) {}
  Words(const char* what, std::vector<std::string> words) : what_(what), words_(std::move(words)) {}
  T parse(const std::string& word) const { return static_cast<T>(place_of(word, words_, what_)); }
  const std::string& of(T value) const { return words_[static_cast<std::size_t>(value)]; }
  const std::vector<std::string>& list() const { return words_; }

 private:
  std::string what_;
  std::vector<std::string> words_;
};

enum class Operation : std::uint8_t { redistribute, matmul, fft, cholesky, lu, qr, solve };

extern const Words<Operation> operations;
extern const Words<Order> orders;
extern const Words<bool> devices;    ///< whether it is a GPU
extern const Words<bool> yes_or_no;  ///< whether it is so
extern const Words<RedistributeMethod> redistribute_methods;
extern const Words<MatmulMethod> matmul_methods;
extern const Words<ComputeType> compute_types;
extern const Words<FftMethod> fft_methods;
extern const Words<FftExchange> fft_exchanges;
extern const Words<FftKind> fft_kinds;
extern const Words<Norm> norms;
extern const Words<Epilogue> epilogues;
extern const Words<Factorization> factorizations;
extern const Words<Pivoting> pivotings;
extern const Words<Op> op_letters;  ///< of one operand: see parse_op

/// "nt", "cn", ...: a letter for each operand, 0 for A. n: as it is; t: transposed; c: conjugated and
/// transposed; j: conjugated. Throws UsageError.
Op parse_op(const std::string& letters, std::size_t operand);
bool transposes(Op op);
/// c2c of complex numbers, r2c of others.
FftKind usual_kind(Dtype dtype);

}  // namespace partita::tools
