// Programs that catch nothing: `mpirun -n 3 partita_uncaught all|one|some|two`.
//   all   every rank has the same exception, of a collective call
//   one   rank 1 alone throws another one, and the others wait for it
//   some  as `all`, but rank 0 catches it, and waits for the others
//   two   as `some`, but rank 2 does so, too: both lose rank 1, which has left the report to rank 0
#include <partita/context.hpp>
#include <partita/create.hpp>
#include <partita/error.hpp>
#include <partita/matmul.hpp>
#include <stdexcept>
#include <string>

namespace pt = partita;

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "all";
  const pt::Context context = pt::initialize();
  if (how == "one" && context.rank() == 1) throw std::runtime_error("rank 1's own");
  if (how == "one") context.barrier();
  const pt::Array a = pt::full(context, {6, 4}, pt::Slab(0), 1.0);
  const bool waits = how == "two" ? context.rank() != 1 : how == "some" && context.rank() == 0;
  if (waits) {
    try {
      static_cast<void>(pt::matmul(a, a));
    } catch (const pt::ArgumentError&) {
      context.barrier();
    }
  }
  static_cast<void>(pt::matmul(a, a));
}
