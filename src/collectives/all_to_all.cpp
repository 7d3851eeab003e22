// Part p of the destination of rank q = part q of the source of rank p: of the array [sender, part, ...], the
// rows of the senders become the columns of the receivers.
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"

namespace partita {

void all_to_all(const Context& context, const View& source, const View& destination,
                std::optional<Stream> stream) {
  using namespace collective;
  CallSignature signature("all_to_all", source, destination);
  if (run_again(context, signature, stream)) return;
  const int ranks = context.size();
  const auto as_row = [](const View& view) {
    View row = view;
    if (view.extents.size() == max_dimensions) return row;  // refused below
    row.extents = with_first(1, view.extents);
    row.strides = with_first(0, view.strides);
    return row;
  };
  // [p * c + i, ...] = [p, i, ...]
  const auto as_column = [ranks](const View& view) {
    View column = view;
    if (view.extents.empty() || view.extents.size() == max_dimensions) return column;
    column.extents = with_first(ranks, view.extents);
    column.extents[1] = view.extents[0] / ranks;
    column.strides = with_first(view.strides.empty() ? 0 : view.strides[0] * column.extents[1], view.strides);
    return column;
  };
  Call call;
  call.operation = "all_to_all";
  call.facts = {{"shape", to_string(source.extents)}, {"dtype", std::string(name(source.dtype))}};
  call.dtype = source.dtype;
  call.views = {as_row(source), as_column(destination)};
  call.signature = &signature;
  call.bytes = arrays::bytes_of(source);
  call.check = [&] {
    const Shape& shape = source.extents;
    check(!shape.empty() && shape[0] % ranks == 0,
          "all_to_all: a source of {} has no {} equal parts along dimension 0", to_string(shape), ranks);
    check(source.extents == destination.extents, "all_to_all: the source is {}, the destination {}",
          to_string(source.extents), to_string(destination.extents));
    check_apart("all_to_all", source, destination);
  };
  call.layouts = [&] {
    const Layout rows = by_rank(source.extents, ranks);
    check(!source.extents.empty(), "all_to_all: the parts need at least one dimension");
    return std::vector<Layout>{rows, Layout(Slab(1), rows.shape(), ranks)};
  };
  call.writes_in_place = true;
  call.plan = plan_single_redistribution;
  call.is_redistribution = true;
  call.by_library = [ranks](devices::DeviceGroup& group, std::span<const View> views, Stream where) {
    const std::int64_t bytes = arrays::bytes_of(views[0]) / ranks;
    std::vector<devices::DeviceGroup::Part> sent, received;
    for (int peer = 0; peer < ranks; ++peer) {
      sent.push_back({peer, static_cast<char*>(views[0].data) + peer * bytes, bytes});
      received.push_back({peer, static_cast<char*>(views[1].data) + peer * bytes, bytes});
    }
    group.exchange(sent, received, where);
  };
  run(context, std::move(call), stream);
}

}  // namespace partita
