#include "benchmarks/lapack.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "benchmarks/apart.hpp"
#include "benchmarks/linalg_matrices.hpp"
#include "benchmarks/openblas.hpp"
#include "benchmarks/peer_symbol.hpp"

namespace partita::benchmarks {
namespace {

struct LapackFunctions {
  void (*getrf)(const int* m, const int* n, double* a, const int* leading, int* pivots, int* info) = nullptr;
  void (*potrf)(const char* triangle, const int* n, double* a, const int* leading, int* info,
                std::size_t) = nullptr;
  void (*geqrf)(const int* m, const int* n, double* a, const int* leading, double* tau, double* work,
                const int* work_size, int* info) = nullptr;
  void (*getrs)(const char* op, const int* n, const int* sides, const double* a, const int* leading,
                const int* pivots, double* b, const int* leading_b, int* info, std::size_t) = nullptr;
  void (*potrs)(const char* triangle, const int* n, const int* sides, const double* a, const int* leading,
                double* b, const int* leading_b, int* info, std::size_t) = nullptr;
};

const LapackFunctions& lapack() {
  static const LapackFunctions functions = [] {
    void* const handle = openblas().handle;
    LapackFunctions found;
    find_symbol(handle, "LAPACK", "dgetrf_", found.getrf);
    find_symbol(handle, "LAPACK", "dpotrf_", found.potrf);
    find_symbol(handle, "LAPACK", "dgeqrf_", found.geqrf);
    find_symbol(handle, "LAPACK", "dgetrs_", found.getrs);
    find_symbol(handle, "LAPACK", "dpotrs_", found.potrs);
    return found;
  }();
  return functions;
}

void require_success(int info) {
  if (info != 0) throw Error(fmt::format("LAPACK: info is {}", info));
}

Factorization kind_of(const std::string& name) {
  return name == "lu" ? Factorization::lu : name == "qr" ? Factorization::qr : Factorization::cholesky;
}

}  // namespace

Lapack::Lapack(Factorization kind, int n) : kind_(kind), n_(n) {
  const auto size = static_cast<std::size_t>(n);
  if (kind == Factorization::lu) pivots_.resize(size);
  if (kind != Factorization::qr) return;
  tau_.resize(size);
  double wanted = 0;
  const int question = -1;
  int info = 0;
  lapack().geqrf(&n, &n, nullptr, &n, nullptr, &wanted, &question, &info);
  require_success(info);
  work_.resize(static_cast<std::size_t>(wanted));
}

void Lapack::factorize(double* a) {
  int info = 0;
  const int work = static_cast<int>(work_.size());
  if (kind_ == Factorization::lu) lapack().getrf(&n_, &n_, a, &n_, pivots_.data(), &info);
  if (kind_ == Factorization::cholesky) lapack().potrf("L", &n_, a, &n_, &info, 1);
  if (kind_ == Factorization::qr) lapack().geqrf(&n_, &n_, a, &n_, tau_.data(), work_.data(), &work, &info);
  require_success(info);
}

void Lapack::solve(const double* a, double* b, int sides) const {
  int info = 0;
  if (kind_ == Factorization::lu)
    lapack().getrs("N", &n_, &sides, a, &n_, pivots_.data(), b, &n_, &info, 1);
  else
    lapack().potrs("L", &n_, &sides, a, &n_, b, &n_, &info, 1);
  require_success(info);
}

namespace {

using Syevd = void(const char* job, const char* triangle, const int* n, double* a, const int* leading,
                   double* values, double* work, const int* work_size, int* integers,
                   const int* integers_size, int* info, std::size_t, std::size_t);

void serve_eigen(int n) {
  Syevd* syevd = nullptr;
  find_symbol(openblas().handle, "LAPACK", "dsyevd_", syevd);
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> given(size * size), values(size), work(1 + 6 * size + 2 * size * size);
  std::vector<int> integers(3 + 5 * size);
  for (std::size_t i = 0; i < given.size(); ++i)
    given[i] = symmetric_element(static_cast<std::int64_t>(i) % n, static_cast<std::int64_t>(i) / n, n);
  std::vector<double> a;
  serve_work([&] { a = given; },
             [&] {
               const int work_size = static_cast<int>(work.size()), most = static_cast<int>(integers.size());
               int info = 0;
               syevd("V", "L", &n, a.data(), &n, values.data(), work.data(), &work_size, integers.data(),
                     &most, &info, 1, 1);
               require_success(info);
             });
}

}  // namespace

void serve_lapack(const std::string& what) {
  std::array<char, 16> name{};
  int n = 0, sides = 0;
  if (std::sscanf(what.c_str(), "lapack:%15[a-z]:%d:%d", name.data(), &n, &sides) != 3)
    throw ArgumentError(fmt::format("\"{}\" is not lapack:NAME:N:SIDES", what));
  openblas().set_threads(usable_cores());
  if (std::string(name.data()) == "eigh") return serve_eigen(n);
  const Factorization kind = kind_of(name.data());
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<double> given(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    given[i] = factorized_element(kind, at % n, at / n, n);
  }
  std::vector<double> a = given;
  std::vector<double> b(static_cast<std::size_t>(n) * static_cast<std::size_t>(sides), 1.0);
  Lapack library(kind, n);
  if (sides > 0) library.factorize(a.data());
  serve_work([&] { sides > 0 ? b.assign(b.size(), 1.0) : void(a = given); },
             [&] { sides > 0 ? library.solve(a.data(), b.data(), sides) : library.factorize(a.data()); });
}

}  // namespace partita::benchmarks
