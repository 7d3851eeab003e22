// destination of rank r = part r of the source of the root
#include <partita/collectives.hpp>

#include "collectives/rooted.hpp"

namespace partita {

using collective::run_rooted;
using collective::Towards;

void scatter(const Context& context, const View& source, const View& destination, int root,
             std::optional<Stream> stream) {
  run_rooted("scatter", Towards::parts, context, destination, source, {}, root, stream);
}

void scatter_v(const Context& context, const View& source, const View& destination,
               std::span<const std::int64_t> counts, int root, std::optional<Stream> stream) {
  run_rooted("scatter_v", Towards::parts, context, destination, source, counts, root, stream);
}

}  // namespace partita
