// destination of the root = the sources of all ranks, one after the other
#include <partita/collectives.hpp>

#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"

namespace partita {
namespace {

using namespace collective;

void run_gather(std::string_view operation, const Context& context, const View& source,
                const View& destination, std::span<const std::int64_t> counts, int root, Stream stream) {
  const int ranks = context.size();
  const View whole = context.rank() == root ? destination : View{};
  Call call = parts_call(operation, source, counts, ranks);
  call.facts.push_back({"root", std::to_string(root)});
  call.views = {source, whole};
  call.check = [&] {
    check_in_place(operation, source, whole, first_of(source.extents, counts, context.rank()));
  };
  call.layouts = [&] {
    check_root(operation, root, ranks);
    check_counts(operation, counts, ranks);
    const Shape shape = whole_of(operation, source.extents, counts, ranks);
    return std::vector<Layout>{parts(shape, counts, ranks), at_root(shape, root, ranks)};
  };
  call.plan = plan_straight;
  run(context, std::move(call), stream);
}

}  // namespace

void gather(const Context& context, const View& source, const View& destination, int root, Stream stream) {
  run_gather("gather", context, source, destination, {}, root, stream);
}

void gather_v(const Context& context, const View& source, const View& destination,
              std::span<const std::int64_t> counts, int root, Stream stream) {
  run_gather("gather_v", context, source, destination, counts, root, stream);
}

}  // namespace partita
