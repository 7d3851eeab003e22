// A program that knows ScaLAPACK only. `preloaded ours`: the drop-in stands before it (LD_PRELOAD) and is
// used; `preloaded theirs`: it does not.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): BLACS's and ScaLAPACK's own names
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
// NOLINTEND(readability-identifier-naming)

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

struct Expected {
  long computed;
  long handed_on;
};

/// n x n matrices of one number: 3 * 2 n = 6 n, and 2 + 5 * 3 = 17.
class Program {
 public:
  explicit Program(int n) : n_(n) {
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
    descriptor_ = {1, context, n, n, block, block, 0, 0, n};
    size_ = static_cast<std::size_t>(n) * static_cast<std::size_t>(local);
  }

  bool run() const {
    const std::vector<double> a(size_, 3.0);
    std::vector<double> b(size_, 2.0);
    std::vector<double> c(size_, 5.0);
    const int first = 1;
    const double one = 1;
    const double zero = 0;
    const double five = 5;
    pdgemm_("N", "N", &n_, &n_, &n_, &one, a.data(), &first, &first, descriptor_.data(), b.data(), &first,
            &first, descriptor_.data(), &zero, c.data(), &first, &first, descriptor_.data());
    pdtran_(&n_, &n_, &five, a.data(), &first, &first, descriptor_.data(), &one, b.data(), &first, &first,
            descriptor_.data());
    const bool product = check(all_are(c, 6.0 * n_), "the product is wrong");
    return check(all_are(b, 17), "the transposed sum is wrong") && product;
  }

 private:
  int n_;
  std::array<int, 9> descriptor_{};
  std::size_t size_ = 0;
};

bool check_counters(const Expected& expected) {
  const long computed = counter("partita_scalapack_calls");
  const long handed_on = counter("partita_scalapack_calls_handed_on");
  const bool right = computed == expected.computed && handed_on == expected.handed_on;
  if (!right) std::fprintf(stderr, "preloaded: %ld calls computed, %ld handed on\n", computed, handed_on);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto number = [&](int i) { return static_cast<int>(std::strtol(argv[i], nullptr, 10)); };
  const Program program(number(1));
  bool right = true;
  for (int i = number(2); i > 0; --i) right = program.run() && right;
  right = check_counters({number(3), number(4)}) && right;
  Cblacs_exit(0);
  return right ? 0 : 1;
}
