// destination of rank r = part r of the source of the root
#include <partita/collectives.hpp>

#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"

namespace partita {
namespace {

using namespace collective;

void run_scatter(std::string_view operation, const Context& context, const View& source,
                 const View& destination, std::span<const std::int64_t> counts, int root, Stream stream) {
  const int ranks = context.size();
  const View whole = context.rank() == root ? source : View{};
  Call call = parts_call(operation, destination, counts, ranks);
  call.facts.push_back({"root", std::to_string(root)});
  call.views = {whole, destination};
  call.check = [&] {
    check_in_place(operation, destination, whole, first_of(destination.extents, counts, context.rank()));
  };
  call.layouts = [&] {
    check_root(operation, root, ranks);
    check_counts(operation, counts, ranks);
    const Shape shape = whole_of(operation, destination.extents, counts, ranks);
    return std::vector<Layout>{at_root(shape, root, ranks), parts(shape, counts, ranks)};
  };
  call.plan = plan_straight;
  run(context, std::move(call), stream);
}

}  // namespace

void scatter(const Context& context, const View& source, const View& destination, int root, Stream stream) {
  run_scatter("scatter", context, source, destination, {}, root, stream);
}

void scatter_v(const Context& context, const View& source, const View& destination,
               std::span<const std::int64_t> counts, int root, Stream stream) {
  run_scatter("scatter_v", context, source, destination, counts, root, stream);
}

}  // namespace partita
