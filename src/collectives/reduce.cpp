// destination[i] of the root = source[i] of rank 0 + source[i] of rank 1 + ...
#include <partita/collectives.hpp>

#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"
#include "collectives/reducing.hpp"

namespace partita {
namespace collective {

// The root alone would read as many contributions as there are ranks; in slices every rank reduces as many
// bytes as one contribution has.
Plan plan_reduce(const Request& request) {
  return plan_joining(request, "all ranks reduce slices of it, the root collects them");
}

namespace {

class Reduce final : public Reducing {
 public:
  using Reducing::Reducing;

 private:
  std::vector<Layout> layouts() const override {
    check_root(name(), *call().root, ranks());
    return {checked_contributions(), at_root(call().shape, *call().root, ranks())};
  }
  Plan make_plan(const Request& request) const override { return plan_reduce(request); }
  void put(devices::DeviceGroup& library, std::span<const View> views, Stream stream) const override {
    library.reduce(views[0].data, views[1].data, volume(views[0].extents), views[0].dtype, *call().reduction,
                   *call().root, stream);
  }
};

}  // namespace
}  // namespace collective

void reduce(const Context& context, const View& source, const View& destination, const ReduceOptions& options,
            int root) {
  using namespace collective;
  Call call = reducing_call("reduce", source, context.rank() == root ? destination : View{}, options);
  call.root = root;
  run<Reduce>(context, call);
}

}  // namespace partita
