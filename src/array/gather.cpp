// Gather and scatter: redistributions to and from the distribution in which one rank owns everything.
#include <cstring>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {
namespace {

void check_root(int root, int ranks) {
  check(root >= 0 && root < ranks, "root {} is not one of the {} ranks", root, ranks);
}

/// Everything on `root`, nothing elsewhere.
Layout all_on(int root, const Shape& shape, int ranks) {
  const Extents zeros = Extents::filled(shape.size(), 0);
  std::vector<Box::Bounds> boxes(static_cast<std::size_t>(ranks), {zeros, zeros});
  boxes[static_cast<std::size_t>(root)].upper = shape;
  // A scalar has no extents to be empty in: an embedded single rank says it for every shape.
  const std::array<int, 1> ranks_of_root{root};
  return shape.empty() ? Layout(Replicated(), shape, 1).embedded(ranks_of_root, ranks)
                       : Layout(Box(std::move(boxes)), shape, ranks);
}

/// The dtype that the root gives, on every rank; the root's view is checked there, the errors are
/// everybody's.
Dtype dtype_of_root(const Context& context, const View& source, const Shape& shape, int root) {
  ContextState& state = *context.state();
  runtime::collectively(state, "scatter", [&]() -> std::vector<Fact> {
    check_root(root, state.size());
    if (state.rank() == root) {
      check(source.extents == shape, "scatter: the view of the root is {}, the array {}",
            to_string(source.extents), to_string(shape));
      check(source.data != nullptr || volume(shape) == 0, "scatter: the view of the root is a null pointer");
      check<UnsupportedError>(source.space == MemorySpace::host,
                              "scatter: the view of the root is device memory; copy it to the host");
      arrays::check_whose_memory(state, source);
    }
    return {{"shape", to_string(shape)}, {"root", std::to_string(root)}};
  });
  return runtime::exchange_values(state, "scatter", source.dtype)[static_cast<std::size_t>(root)];
}

RedistributeOptions with(const ArrayOptions& options) {
  RedistributeOptions result;
  result.order = options.order;
  result.residency = options.residency;
  result.space = options.space;
  return result;
}

}  // namespace

Array gather(const Array& source, int root, const ArrayOptions& options, SourcePlace where) {
  ContextState& context = *source.context_state();
  context.require_usable("gather");
  const bool on_device = source.local().space == MemorySpace::device;
  runtime::check_or_tell_all(context, "gather", [&] {
    if (options.stream) arrays::require_stream_of_device("gather", on_device, *options.stream);
    check_root(root, context.size());
  });
  RedistributeOptions how = with(options);
  if (on_device) how.stream = options.stream;
  return redistribute(source, all_on(root, source.shape(), context.size()), how, where);
}

Array scatter(const Context& context, const View& source, const Shape& shape,
              const Distribution& distribution, int root, const ArrayOptions& options, SourcePlace where) {
  ContextState& state = *context.state();
  state.require_usable("scatter");
  if (options.stream) {
    runtime::collectively(state, "scatter", [&] {
      arrays::require_stream_of_device("scatter", state.default_space() == MemorySpace::device,
                                       *options.stream);
      devices::follow(state, "scatter", *options.stream);
    });
  }
  const Dtype dtype = dtype_of_root(context, source, shape, root);
  const Layout layout = all_on(root, shape, context.size());
  View part = source;
  if (context.rank() != root) part = View::dense(nullptr, dtype, layout.local_shape(context.rank()));
  part.space = MemorySpace::host;
  const Array whole = arrays::wrap_agreed(context.state(), part, layout, "scatter");
  RedistributeOptions how = with(options);
  how.space = options.space.value_or(state.default_space());
  return redistribute(whole, distribution, how, where);
}

}  // namespace partita
