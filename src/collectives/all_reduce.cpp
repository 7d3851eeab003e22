// destination[i] of every rank = source[i] of rank 0 + source[i] of rank 1 + ...
#include <partita/collectives.hpp>

#include "array/array_state.hpp"
#include "collectives/by_name.hpp"
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

namespace {

class AllReduce final : public Reducing {
 public:
  using Reducing::Reducing;

 private:
  std::vector<Layout> layouts() const override {
    return {checked_contributions(), everywhere(call().shape, ranks())};
  }
  Plan make_plan(const Request& request) const override { return plan_all_reduce(request); }
  bool writes_in_place() const override { return true; }
  Flow flow() const override { return Flow::to_all; }
  void put(devices::DeviceGroup& library, std::span<const View> views, Stream stream) const override {
    library.all_reduce(views[0].data, views[1].data, volume(views[0].extents), views[0].dtype,
                       *call().reduction, stream);
  }
};

}  // namespace

void all_reduce_of(const Array& array, std::string_view operation, const View& source,
                   const View& destination, const ReduceOptions& options) {
  Call call = reducing_call(operation, source, destination, options);
  call.array = &array;
  run<AllReduce>(Context(array.context_state()), call);
}

}  // namespace collective

void all_reduce(const Context& context, const View& source, const View& destination,
                const ReduceOptions& options) {
  using namespace collective;
  run<AllReduce>(context, reducing_call("all_reduce", source, destination, options));
}

}  // namespace partita
