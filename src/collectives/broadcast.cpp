// view[i] of every rank = view[i] of the root
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "collectives/call.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"

namespace partita {
namespace collective {

//   one rank          nothing
//   root on the heap  all read the root's memory
//   the kernel copies all do so out of the root's memory
//   small             the root copies it into shared scratch, all read that: one round
//   large             the root hands out slices, all read all slices: the root reads its memory only once
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

}  // namespace collective

// The root already has it: to the plan, source and destination are two arrays of which each rank holds one.
void broadcast(const Context& context, const View& view, int root, std::optional<Stream> stream) {
  using namespace collective;
  CallSignature signature("broadcast", view, {});
  signature.add(root);
  if (run_again(context, signature, stream)) return;
  const int ranks = context.size();
  const bool is_root = context.rank() == root;
  View received = view;  // at the root nothing is written
  received.read_only = view.read_only && !is_root;
  run(context,
      {.operation = "broadcast",
       .facts = {{"shape", to_string(view.extents)},
                 {"dtype", std::string(name(view.dtype))},
                 {"root", std::to_string(root)}},
       .dtype = view.dtype,
       .views = {is_root ? view : View{}, is_root && ranks > 1 ? View{} : received},
       .bytes = arrays::bytes_of(view),
       .layouts =
           [&] {
             check_root("broadcast", root, ranks);
             const Layout source = at_root(view.extents, root, ranks);
             return std::vector<Layout>{source, ranks == 1 ? source : beside_root(view.extents, root, ranks)};
           },
       .plan = [&](const Request& request) { return plan_broadcast(request, root); },
       .is_redistribution = true,
       .by_library =
           [=](devices::DeviceGroup& group, std::span<const View> views, Stream where) {
             const View& mine = views[is_root && ranks > 1 ? 0 : 1];
             group.broadcast(mine.data, mine.data, arrays::bytes_of(mine), root, where);
           },
       .signature = &signature},
      stream);
}

}  // namespace partita
