// destination of rank r = part r of (source of rank 0 + source of rank 1 + ...)
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"
#include "collectives/reducing.hpp"

namespace partita {
namespace {

using namespace collective;

void run_reduce_scatter(std::string_view operation, const Context& context, const View& source,
                        const View& destination, std::span<const std::int64_t> counts,
                        const ReduceOptions& options) {
  CallSignature signature = signature_of(operation, source, destination, options);
  signature.add(counts);
  if (run_again(context, signature, options.stream)) return;
  const int ranks = context.size();
  Call call = reducing_call(operation, source, destination, options);
  call.signature = &signature;
  call.facts.push_back({"counts", counts_text(counts)});
  call.check = [&] { check_apart(operation, source, destination); };
  call.layouts = [&] {
    check_reduction(operation, options.reduction, source.dtype);
    check_counts(operation, counts, ranks);
    const Shape& shape = source.extents;
    check(!shape.empty() && (!counts.empty() || shape[0] % ranks == 0),
          "{}: a source of {} has no {} equal parts along dimension 0", operation, to_string(shape), ranks);
    return std::vector<Layout>{contributions(shape, options.reduction, ranks), parts(shape, counts, ranks)};
  };
  call.writes_in_place = true;
  call.plan = plan_single_redistribution;
  call.is_redistribution = true;
  if (counts.empty()) {
    call.by_library = [reduction = options.reduction](devices::DeviceGroup& group,
                                                      std::span<const View> views, Stream where) {
      group.reduce_scatter(views[0].data, views[1].data, volume(views[1].extents), views[0].dtype, reduction,
                           where);
    };
  }
  run(context, std::move(call), options.stream);
}

}  // namespace

void reduce_scatter(const Context& context, const View& source, const View& destination,
                    const ReduceOptions& options) {
  run_reduce_scatter("reduce_scatter", context, source, destination, {}, options);
}

void reduce_scatter_v(const Context& context, const View& source, const View& destination,
                      std::span<const std::int64_t> counts, const ReduceOptions& options) {
  run_reduce_scatter("reduce_scatter_v", context, source, destination, counts, options);
}

}  // namespace partita
