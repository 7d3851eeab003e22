// destination of every rank = the sources of all ranks, one after the other
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "collectives/gathering.hpp"
#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"

namespace partita {
namespace collective {

// Where neither side is on the heap and the kernel does not copy from one to the other, a rank copies its
// part once into shared scratch, from which all the others read it, instead of once for each of them.
Plan plan_all_gather(const Request& request) {
  if (request.ranks() == 1 || request.in_place(0) || request.in_place(1) || request.pulls())
    return plan_single_redistribution(request);
  const Operand& source = request.operands[0];
  constexpr const char* names[] = {"source", "destination"};
  Chain chain(request, names, "shared", "ordinary memory: all parts are read from shared scratch");
  const int scratch = chain.add_array("parts", source.layout, source.dtype);
  chain.copy_own(0, scratch);
  chain.redistribute(scratch, 1);
  return chain.take();
}

void run_all_gather(std::string_view operation, const Context& context, const View& source,
                    const View& destination, std::span<const std::int64_t> counts,
                    std::optional<Stream> stream) {
  CallSignature signature(operation, source, destination);
  signature.add(counts);
  if (run_again(context, signature, stream)) return;
  const int ranks = context.size();
  Call call = parts_call(operation, source, counts, ranks);
  call.signature = &signature;
  call.views = {source, destination};
  call.check = [&] {
    check_in_place(operation, source, destination, first_of(source.extents, counts, context.rank()));
  };
  call.layouts = [&] {
    check_counts(operation, counts, ranks);
    const Shape shape = whole_of(operation, source.extents, counts, ranks);
    return std::vector<Layout>{parts(shape, counts, ranks), everywhere(shape, ranks)};
  };
  call.writes_in_place = true;
  call.plan = plan_all_gather;
  call.is_redistribution = true;
  if (counts.empty()) {
    call.by_library = [](devices::DeviceGroup& group, std::span<const View> views, Stream where) {
      group.all_gather(views[0].data, views[1].data, arrays::bytes_of(views[0]), where);
    };
  }
  run(context, std::move(call), stream);
}

}  // namespace collective

void all_gather(const Context& context, const View& source, const View& destination,
                std::optional<Stream> stream) {
  collective::run_all_gather("all_gather", context, source, destination, {}, stream);
}

void all_gather_v(const Context& context, const View& source, const View& destination,
                  std::span<const std::int64_t> counts, std::optional<Stream> stream) {
  collective::run_all_gather("all_gather_v", context, source, destination, counts, stream);
}

}  // namespace partita
