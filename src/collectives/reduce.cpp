// destination[i] of the root = source[i] of rank 0 + source[i] of rank 1 + ...
#include <partita/collectives.hpp>

#include "collectives/call.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"
#include "collectives/reducing.hpp"

namespace partita {
namespace collective {

// The root alone would read as many contributions as there are ranks; in slices every rank joins as many
// bytes as one contribution has.
Plan plan_reduce(const Request& request) {
  return plan_joining(request, "all ranks reduce slices of it, the root collects them");
}

}  // namespace collective

void reduce(const Context& context, const View& source, const View& destination, const ReduceOptions& options,
            int root) {
  using namespace collective;
  const int ranks = context.size();
  CallSignature signature = signature_of("reduce", source, destination, options);
  signature.add(root);
  if (run_again(context, signature, options.stream)) return;
  Call call = reducing_call("reduce", source, context.rank() == root ? destination : View{}, options);
  call.signature = &signature;
  call.facts.push_back({"root", std::to_string(root)});
  call.layouts = [&] {
    check_root("reduce", root, ranks);
    check_reduction("reduce", options.reduction, source.dtype);
    return std::vector<Layout>{contributions(source.extents, options.reduction, ranks),
                               at_root(source.extents, root, ranks)};
  };
  call.plan = plan_reduce;
  call.is_redistribution = true;
  call.by_library = [reduction = options.reduction, root](devices::DeviceGroup& group,
                                                          std::span<const View> views, Stream where) {
    group.reduce(views[0].data, views[1].data, volume(views[0].extents), views[0].dtype, reduction, root,
                 where);
  };
  run(context, std::move(call), options.stream);
}

}  // namespace partita
