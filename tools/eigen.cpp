// partita eigh and partita svd: eigenvalues and singular values of matrices in .npy and HDF5 files, with
// their vectors, by all ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/create.hpp>
#include <partita/eigen.hpp>
#include <partita/elementwise.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>
#include <utility>
#include <vector>

#include "tools/array_file.hpp"
#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/progress.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::eigen_command {

struct Options {
  std::string a, values, dataset = "data";
  std::string vectors;  // of eigh
  std::string u, vh;    // of svd
  std::optional<Distribution> distribution;
  EigenOptions how;
  Order order = Order::row_major;
  std::optional<Dtype> dtype;
  bool on_gpu = false;
  int ranks = usual_ranks();
};

struct Result {
  std::string what;
  Array values;
  std::vector<std::pair<std::string, Array>> vectors;  // by their file
};

/// How far a result is from exact, as a multiple of what rounding explains: of order 1, or less.
struct Residual {
  double ratio = 0;
  std::string formula;
};

using Compute = Result (*)(const Options&, const Array&);
using Check = std::vector<Residual> (*)(const Array&, const Result&);

ArrayFile file_of(const Options& options, const std::string& word) {
  return array_file(word, options.dataset);
}

std::vector<std::string> outputs_of(const Options& options) {
  std::vector<std::string> words = {options.values};
  for (const std::string* const word : {&options.vectors, &options.u, &options.vh})
    if (!word->empty()) words.push_back(*word);
  return words;
}

// What does not need the files is found out before any rank starts.
void check(const Options& options) {
  (void)file_of(options, options.a);
  const std::vector<std::string> words = outputs_of(options);
  for (auto word = words.begin(); word != words.end(); ++word) {
    check_order(file_of(options, *word), options.order, "omit --order");
    if (std::find(words.begin(), word, *word) != word)
      throw UsageError(fmt::format("{} is given for two results; name another file or dataset", *word));
  }
}

// --- residuals

double epsilon_of(const Array& a) {
  const bool is_single = a.dtype() == Dtype::f32 || a.dtype() == Dtype::c64;
  return is_single ? static_cast<double>(std::numeric_limits<float>::epsilon())
                   : std::numeric_limits<double>::epsilon();
}

double rounding_of(const Array& a) {
  return epsilon_of(a) * static_cast<double>(std::max(a.shape()[0], a.shape()[1]));
}

double over(double error, double rounding) {
  return error == 0 ? 0 : error / rounding;
}

Array product(const Array& a, Op op_a, const Array& b, Op op_b = Op::none) {
  return matmul(a, b, {.op_a = op_a, .op_b = op_b, .distribution = Slab(0)});
}

/// A diag(values)
Array scaled(const Array& a, const Array& values) {
  return redistribute(a, Slab(0)) * astype(values, a.dtype());
}

/// The norm of the product of a matrix by its adjoint, minus I.
double unorthogonality(const Array& vectors, bool in_columns) {
  const Array gram = in_columns ? product(vectors, Op::conjugate_transpose, vectors)
                                : product(vectors, Op::none, vectors, Op::conjugate_transpose);
  const std::int64_t n = gram.shape()[0];
  return norm<double>(gram -
                      eye(gram.context(), n, n, Slab(0), gram.dtype(), 0, {.space = gram.local().space}));
}

/// The Frobenius norm is that of the values: all that can be seen without vectors.
Residual of_values(const Array& a, const Array& values) {
  const double size = norm<double>(a);
  return {over(std::abs(norm<double>(values) - size), rounding_of(a) * size),
          "||values| - |A|| / (|A| n eps)"};
}

std::vector<Residual> check_eigen(const Array& a, const Result& result) {
  if (result.vectors.empty()) return {of_values(a, result.values)};
  const Array& v = result.vectors[0].second;
  const double error = norm<double>(product(a, Op::none, v) - scaled(v, result.values));
  return {{over(error, rounding_of(a) * norm<double>(a)), "|A V - V diag(values)| / (|A| n eps)"},
          {over(unorthogonality(v, true), rounding_of(a)), "|V^H V - I| / (n eps)"}};
}

std::vector<Residual> check_singular(const Array& a, const Result& result) {
  if (result.vectors.empty()) return {of_values(a, result.values)};
  const Array &u = result.vectors[0].second, &vh = result.vectors[1].second;
  const double error =
      norm<double>(product(scaled(u, result.values), Op::none, vh) - redistribute(a, Slab(0)));
  return {{over(error, rounding_of(a) * norm<double>(a)), "|A - U diag(values) V^H| / (|A| n eps)"},
          {over(unorthogonality(u, true), rounding_of(a)), "|U^H U - I| / (n eps)"},
          {over(unorthogonality(vh, false), rounding_of(a)), "|V^H V - I| / (n eps)"}};
}

// --- the two operations

Result eigen_of(const Options& options, const Array& a) {
  if (options.vectors.empty()) return {"eigenvalues", eigvalsh(a, options.how), {}};
  EigenFactors found = eigh(a, options.how);
  return {"eigenvalues and eigenvectors", found.values, {{options.vectors, found.vectors}}};
}

Result singular_of(const Options& options, const Array& a) {
  if (options.u.empty() && options.vh.empty()) return {"singular values", svdvals(a, options.how), {}};
  SvdFactors found = svd(a, options.how);
  return {"singular values and vectors", found.values, {{options.u, found.u}, {options.vh, found.vh}}};
}

void report(const Options& options, const Array& a, const Result& result,
            const std::vector<Residual>& residuals, const Progress& progress) {
  fmt::print("{} -> {}: {} {} of {} {} in {} on {}\n", options.a, fmt::join(outputs_of(options), ", "),
             result.values.shape()[0], result.what, to_string(a.shape()), name(a.dtype()),
             a.layout().distribution().to_string(), count_of(a.context().size(), "rank"));
  progress.print([](const std::string&, double) { return std::string(); });
  for (const Residual& residual : residuals)
    fmt::print("  residual  {:>9.3g}  {}\n", residual.ratio, residual.formula);
}

void decompose_on(Context& context, const Options& options, Compute compute, Check residuals_of) {
  const bool speaks = context.rank() == 0;
  Progress progress({"read", "decompose", "check", "write"}, speaks);
  Array a = read_as_stored(context, file_of(options, options.a), options.distribution);
  if (options.dtype && *options.dtype != a.dtype()) a = astype(a, *options.dtype);
  progress.next();
  const Result result = compute(options, a);
  progress.next();
  const std::vector<Residual> residuals = residuals_of(a, result);
  progress.next();
  write(file_of(options, options.values), result.values);
  for (const auto& [word, vectors] : result.vectors)
    if (!word.empty()) write(file_of(options, word), vectors, options.order);
  context.barrier();
  progress.done();
  if (speaks) report(options, a, result, residuals, progress);
}

void run(const Options& options, Compute compute, Check residuals_of) {
  check(options);
  ContextOptions where;
  where.device = options.on_gpu ? usable_gpu() : Device::cpu();
  on_ranks(
      options.ranks, [&](Context& context) { decompose_on(context, options, compute, residuals_of); }, where);
}

void run_eigh(const Options& options) {
  run(options, eigen_of, check_eigen);
}
void run_svd(const Options& options) {
  run(options, singular_of, check_singular);
}

// --- their options

void describe_input(Subcommand& command, Options& options, const std::string& a, const std::string& values) {
  command.word("A", options.a, a + ", .npy, .h5 or .h5:DATASET, of f32, f64, c64 or c128").required();
  command
      .word("-o,--output", options.values, values + ", .npy or HDF5; written completely or not at all",
            "VALUES")
      .required();
}

void describe_rest(Subcommand& command, Options& options, const std::string& vectors) {
  command.word("--dataset", options.dataset, "dataset of HDF5 files given without one (data)", "NAME");
  command.distribution("-d,--distribution", options.distribution,
                       "distribution of A, and of vectors of its shape (slabs of its file)", "slab:0");
  command.number("--base", options.how.base, std::int64_t{1},
                 "rows of the largest matrix that one rank computes (chosen)");
  command.dtype(options.dtype, "dtype to compute in, to which A is converted (its own)");
  command.order(options.order, "order of the elements of " + vectors + " (c)");
  command.device(options.on_gpu, "device to compute on (cpu)");
  command.ranks(options.ranks);
}

void describe_eigh(Subcommand& command, Options& options) {
  describe_input(command, options, "a Hermitian matrix", "the eigenvalues, ascending");
  command.word("--vectors", options.vectors, "the eigenvectors, column by column; omitted: not computed",
               "V");
  command.flag("--upper", options.how.upper, "read the upper triangle of A, not the lower one");
  describe_rest(command, options, "V");
  command.footer(
      examples("partita eigh covariance.npy -o values.npy -n 4\n"
               "partita eigh a.npy -o values.npy --vectors vectors.npy -n 4\n"
               "partita eigh fields.h5:h -o fields.h5:w --vectors fields.h5:v --device cuda -n 2"));
}

void describe_svd(Subcommand& command, Options& options) {
  describe_input(command, options, "a matrix", "the singular values, descending");
  command.word("--u", options.u, "the left vectors, column by column; omitted with --vh: not computed", "U");
  command.word("--vh", options.vh, "the right vectors, conjugated, row by row", "VH");
  describe_rest(command, options, "U and VH");
  command.footer(
      examples("partita svd a.npy -o s.npy -n 4\n"
               "partita svd a.npy -o s.npy --u u.npy --vh vh.npy -n 4"));
}

const Register registered_eigh("eigh",
                               "eigenvalues and eigenvectors of Hermitian matrices in .npy and HDF5 files",
                               describe_eigh, run_eigh);
const Register registered_svd("svd", "singular values and vectors of matrices in .npy and HDF5 files",
                              describe_svd, run_svd);

}  // namespace partita::tools::eigen_command
