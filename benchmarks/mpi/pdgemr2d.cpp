#include "benchmarks/pdgemr2d.hpp"

#include "benchmarks/mpi/scalapack.hpp"

namespace partita::benchmarks {
namespace {

using Function = void (*)(int m, int n, double* a, int ia, int ja, int* desca, double* b, int ib, int jb,
                          int* descb, int context);

class OfScalapack : public Pdgemr2d {
 public:
  OfScalapack(const Scalapack& library, Function function, const Shape& shape, const BlacsLayout& source,
              const BlacsLayout& destination)
      : function_(function),
        m_(static_cast<int>(shape[0])),
        n_(static_cast<int>(shape[1])),
        source_(descriptor(library, source)),
        destination_(descriptor(library, destination)) {}

  void run(const double* source, double* destination) override {
    // Cpdgemr2d takes its source as a plain pointer but only reads it.
    function_(m_, n_, const_cast<double*>(source), 1, 1, source_.data(), destination, 1, 1,
              destination_.data(), source_[1]);
  }

 private:
  Descriptor descriptor(const Scalapack& library, const BlacsLayout& layout) const {
    const int grid = make_grid(library, layout.grid_rows, layout.grid_columns);
    return describe(library, grid, m_, n_, layout.block_rows, layout.block_columns);
  }

  Function function_;
  int m_;
  int n_;
  Descriptor source_;
  Descriptor destination_;
};

}  // namespace

std::unique_ptr<Pdgemr2d> make_pdgemr2d(const Context& context, const Shape& shape, const BlacsLayout& source,
                                        const BlacsLayout& destination) {
  const Scalapack* const library = scalapack(context);
  Function function = nullptr;
  if (library == nullptr || !find_symbol(library->handle, "Cpdgemr2d", function)) return nullptr;
  return std::make_unique<OfScalapack>(*library, function, shape, source, destination);
}

}  // namespace partita::benchmarks
