// view[i] of every rank = view[i] of the root
#include <partita/collectives.hpp>
#include <utility>

#include "array/transfer.hpp"
#include "collectives/collective.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"

namespace partita {
namespace collective {

//   one rank          nothing
//   root on the heap  all read the root's memory
//   the kernel copies all do so out of the root's memory
//   small             the root copies it into shared scratch, all read that: one round
//   large             the root passes on slices, all read all slices: the root reads its memory only once
Plan plan_broadcast(const Request& request, int root) {
  const Operand& source = request.operands[0];
  const Shape& shape = source.layout.shape();
  const int ranks = request.ranks();
  constexpr const char* names[] = {"source", "destination"};
  if (ranks == 1) return Chain(request, names, "local", "there is one rank").take();
  if (request.in_place(0)) {
    Chain chain(request, names, "direct", "the root's memory is on the symmetric heap: all read it in place");
    chain.redistribute(0, 1);
    return chain.take();
  }
  if (request.pulls()) return plan_single_redistribution(request);
  const bool is_small = volume(shape) * size_of(source.dtype) <= small_bytes;
  Chain chain(
      request, names, is_small ? "whole" : "slices",
      is_small ? "small: all read the whole" : "large: slices to all ranks, then all read all slices");
  const Layout between = is_small ? at_root(shape, root, ranks) : slices(shape, ranks);
  const int scratch = chain.add_array("in between", between, source.dtype);
  is_small ? chain.copy_own(0, scratch) : chain.redistribute(0, scratch);
  chain.redistribute(scratch, 1);
  return chain.take();
}

namespace {

/// The root already has it: to the plan, source and destination are two arrays of which each rank holds one.
class Broadcast final : public Collective {
 public:
  using Collective::Collective;

 private:
  int root() const { return *call().root; }
  std::vector<Layout> layouts() const override {
    check_root(name(), root(), ranks());
    Layout source = at_root(call().shape, root(), ranks());
    Layout destination = ranks() == 1 ? source : beside_root(call().shape, root(), ranks());
    return {std::move(source), std::move(destination)};
  }
  Plan make_plan(const Request& request) const override { return plan_broadcast(request, root()); }
  Flow flow() const override { return Flow::to_all; }
  bool is_offered_by(const devices::DeviceGroup& /*library*/) const override { return true; }
  void put(devices::DeviceGroup& library, std::span<const View> views, Stream stream) const override {
    const View& mine = views[rank() == root() && ranks() > 1 ? 0 : 1];
    library.broadcast(mine.data, mine.data, arrays::bytes_of(mine), root(), stream);
  }
};

}  // namespace
}  // namespace collective

void broadcast(const Context& context, const View& view, int root, std::optional<Stream> stream) {
  using namespace collective;
  const bool is_root = context.rank() == root;
  View received = view;  // at the root nothing is written
  received.read_only = view.read_only && !is_root;
  run<Broadcast>(context,
                 {.operation = "broadcast",
                  .shape = view.extents,
                  .dtype = view.dtype,
                  .root = root,
                  .stream = stream,
                  .views = {is_root ? view : View{}, is_root && context.size() > 1 ? View{} : received},
                  .bytes = arrays::bytes_of(view)});
}

}  // namespace partita
