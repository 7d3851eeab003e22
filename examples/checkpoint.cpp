// A run that can be stopped, and continued on another number of ranks: its state is in an HDF5 file, with
// attributes for the number of steps.
#include <filesystem>
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

namespace {

constexpr const char* file = "checkpoint.h5";

/// From step `first` to `last`, distributed as the ranks of this run see fit.
void run(const pt::Context& context, std::int64_t last) {
  std::int64_t first = 0;
  pt::Array state = pt::full(context, {500, 40}, pt::Slab(0), 1.0);
  if (std::filesystem::exists(file)) {
    state = pt::read_hdf5(context, file, "run/state", pt::Slab(1));
    first = std::get<std::int64_t>(pt::read_hdf5_attributes(file, "run/state").at("step"));
  }
  for (std::int64_t step = first; step < last; ++step) state *= 2;
  // The file changes whole or not at all: a run that is killed here leaves the old one.
  pt::write_hdf5(file, "run/state", state, {.attributes = {{"step", last}, {"unit", std::string("m/s")}}});
  pt::rank_zero(context, [&] { std::cout << "from step " << first << " to " << last << '\n'; });
}

}  // namespace

int main() {
  const pt::Context context = pt::initialize();
  pt::rank_zero(context, [] { std::filesystem::remove(file); });
  run(context, 3);
  run(context, 10);
  const pt::Array end = pt::read_hdf5(context, file, "run/state", pt::Replicated());
  return pt::min<double>(end) == 1024 && pt::max<double>(end) == 1024 ? 0 : 1;
}
