// A program that knows ScaLAPACK only. `preloaded ours`: the drop-in stands before it (LD_PRELOAD) and is
// used; `preloaded theirs`: it does not.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

extern "C" {
void Cblacs_pinfo(int* rank, int* processes);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_exit(int go_on);
int numroc_(const int* n, const int* block, const int* coordinate, const int* first, const int* processes);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
             const int*, const int*, const int*, const double*, const int*, const int*, const int*,
             const double*, double*, const int*, const int*, const int*);
void pdtran_(const int*, const int*, const double*, const double*, const int*, const int*, const int*,
             const double*, double*, const int*, const int*, const int*);
}

namespace {

long counter(const char* name) {
  auto* const function = reinterpret_cast<long (*)()>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr ? function() : -1;
}

bool all_are(const std::vector<double>& numbers, double wanted) {
  for (const double number : numbers) {
    if (number != wanted) return false;
  }
  return true;
}

bool check(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "preloaded: %s\n", what);
  return holds;
}

/// n x n matrices of one number: 3 * 2 n = 6 n, and 2 + 5 * 3 = 17.
bool run(int n, const char* transpose, bool ours) {
  int context = 0;
  int processes = 0;
  int rank = 0;
  Cblacs_pinfo(&rank, &processes);
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, processes);
  int rows = 0;
  int columns = 0;
  int row = 0;
  int column = 0;
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  const int block = 16;
  const int first_process = 0;
  const int local = numroc_(&n, &block, &column, &first_process, &columns);
  const std::array<int, 9> descriptor{1, context, n, n, block, block, 0, 0, n};
  std::vector<double> a(static_cast<std::size_t>(n) * static_cast<std::size_t>(local), 3.0);
  std::vector<double> b(a.size(), 2.0);
  std::vector<double> c(a.size(), 5.0);
  const int first = 1;
  const double one = 1;
  const double zero = 0;
  const double five = 5;
  pdgemm_(transpose, "N", &n, &n, &n, &one, a.data(), &first, &first, descriptor.data(), b.data(), &first,
          &first, descriptor.data(), &zero, c.data(), &first, &first, descriptor.data());
  bool right = check(all_are(c, 6.0 * n), "the product is wrong");
  pdtran_(&n, &n, &five, a.data(), &first, &first, descriptor.data(), &one, b.data(), &first, &first,
          descriptor.data());
  right = check(all_are(b, 17), "the transposed sum is wrong") && right;
  const long computed = counter("partita_scalapack_calls");
  const long handed_on = counter("partita_scalapack_calls_handed_on");
  if (!ours) return check(computed == -1, "the drop-in is there, but nobody asked for it") && right;
  // The product is small and goes to ScaLAPACK's own, unless the environment asks for all.
  return check(computed >= 1, "the drop-in was not used") && check(handed_on >= 0, "no counter") && right;
}

}  // namespace

int main(int argc, char** argv) {
  const bool ours = argc > 1 && std::string(argv[1]) == "ours";
  const bool right = run(40, "N", ours);
  Cblacs_exit(0);
  return right ? 0 : 1;
}
