// destination of the root = the sources of all ranks, one after the other
#include <partita/collectives.hpp>

#include "collectives/rooted.hpp"

namespace partita {

using collective::run_rooted;
using collective::Towards;

void gather(const Context& context, const View& source, const View& destination, int root,
            std::optional<Stream> stream) {
  run_rooted("gather", Towards::root, context, source, destination, {}, root, stream);
}

void gather_v(const Context& context, const View& source, const View& destination,
              std::span<const std::int64_t> counts, int root, std::optional<Stream> stream) {
  run_rooted("gather_v", Towards::root, context, source, destination, counts, root, stream);
}

}  // namespace partita
