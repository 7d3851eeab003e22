// destination[i] of every rank = source[i] of rank 0 + source[i] of rank 1 + ...
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "collectives/call.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"
#include "collectives/reducing.hpp"

namespace partita {
namespace collective {

// In slices: reduce-scatter, then all-gather (Rabenseifner 2004). Of n bytes a rank reads 2 n (P - 1) / P
// from its peers, instead of n (P - 1).
Plan plan_all_reduce(const Request& request) {
  return plan_joining(request, "all ranks reduce slices of it, then all read all slices");
}

Call all_reducing_call(std::string_view operation, const View& source, const View& destination,
                       const ReduceOptions& options, int ranks) {
  Call call = reducing_call(operation, source, destination, options);
  call.layouts = [=] {
    check_reduction(operation, options.reduction, source.dtype);
    return std::vector<Layout>{contributions(source.extents, options.reduction, ranks),
                               everywhere(source.extents, ranks)};
  };
  call.writes_in_place = true;
  call.plan = plan_all_reduce;
  call.is_redistribution = true;
  call.by_library = [reduction = options.reduction](devices::DeviceGroup& group, std::span<const View> views,
                                                    Stream where) {
    group.all_reduce(views[0].data, views[1].data, volume(views[0].extents), views[0].dtype, reduction,
                     where);
  };
  return call;
}

}  // namespace collective

void all_reduce(const Context& context, const View& source, const View& destination,
                const ReduceOptions& options) {
  using namespace collective;
  CallSignature signature = signature_of("all_reduce", source, destination, options);
  if (run_again(context, signature, options.stream)) return;
  Call call = all_reducing_call("all_reduce", source, destination, options, context.size());
  call.signature = &signature;
  run(context, std::move(call), options.stream);
}

}  // namespace partita
