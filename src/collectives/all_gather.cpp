// destination of every rank = the sources of all ranks, one after the other
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "collectives/by_name.hpp"
#include "collectives/collective.hpp"
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

namespace {

class AllGather final : public Collective {
 public:
  using Collective::Collective;

 private:
  std::vector<Layout> layouts() const override {
    check_counts(name(), counts(), ranks());
    const Shape shape = whole_of(call().shape, counts(), ranks());
    return {parts(shape, counts(), ranks()), everywhere(shape, ranks())};
  }
  Plan make_plan(const Request& request) const override { return plan_all_gather(request); }
  void check_own(const Views& views) const override {
    check_in_place(name(), views[0], views[1], first_of(views[0].extents, counts(), rank()));
  }
  bool writes_in_place() const override { return true; }
  Flow flow() const override { return Flow::to_places; }
  bool is_offered_by(const devices::DeviceGroup& /*library*/) const override { return counts().empty(); }
  void put(devices::DeviceGroup& library, std::span<const View> views, Stream stream) const override {
    library.all_gather(views[0].data, views[1].data, arrays::bytes_of(views[0]), stream);
  }
};

}  // namespace

void run_all_gather(std::string_view operation, const Context& context, const View& source,
                    const View& destination, std::span<const std::int64_t> counts,
                    const std::optional<Stream>& stream) {
  const View part = in_rows(source);
  Call call = parts_call(operation, part, counts, context.size());
  call.views = {part, destination};
  call.stream = stream;
  run<AllGather>(context, call);
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
