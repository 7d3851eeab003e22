// Four ranks as threads of this process: no MPI, no launcher.
#include <partita/partita.hpp>
#include <stdexcept>

namespace pt = partita;

int main() {
  pt::ThreadGroup::run(4, [](const pt::Context& context) {
    const pt::Array ones = pt::full(context, {10, 10}, pt::Slab(0), 1.0);
    if (pt::sum<double>(ones) != 100) throw std::runtime_error("that is no hundred");
  });
  return 0;
}
