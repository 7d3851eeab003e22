// Part p of the destination of rank q = part q of the source of rank p: of the array [sender, part, ...], the
// rows of the senders become the columns of the receivers.
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/collective.hpp"
#include "collectives/layouts.hpp"

namespace partita {
namespace collective {
namespace {

/// [p * c + i, ...] = [p, i, ...]
View as_column(const View& view, int ranks) {
  View column = view;
  if (view.extents.empty() || view.extents.size() == max_dimensions) return column;  // refused by the checks
  column.extents = with_first(ranks, view.extents);
  column.extents[1] = view.extents[0] / ranks;
  column.strides = with_first(view.strides.empty() ? 0 : view.strides[0] * column.extents[1], view.strides);
  return column;
}

class AllToAll final : public Collective {
 public:
  using Collective::Collective;

 private:
  std::vector<Layout> layouts() const override {
    const Layout rows = by_rank(call().shape, ranks());
    check(!call().shape.empty(), "all_to_all: the parts need at least one dimension");
    return {rows, Layout(Slab(1), rows.shape(), ranks())};
  }
  void check_own(const Views& views) const override {
    const auto& [source, destination] = views;
    const Shape& shape = source.extents;
    check(!shape.empty() && shape[0] % ranks() == 0,
          "all_to_all: a source of {} has no {} equal parts along dimension 0", to_string(shape), ranks());
    check(source.extents == destination.extents, "all_to_all: the source is {}, the destination {}",
          to_string(source.extents), to_string(destination.extents));
    check_apart("all_to_all", source, destination);
  }
  View planned(std::size_t operand, const View& view) const override {
    return operand == 0 ? with_rank(view) : as_column(view, ranks());
  }
  bool writes_in_place() const override { return true; }
  Flow flow() const override { return Flow::to_places; }
  bool is_offered_by(const devices::DeviceGroup& /*library*/) const override { return true; }
  void put(devices::DeviceGroup& library, std::span<const View> views, Stream stream) const override {
    const std::int64_t bytes = arrays::bytes_of(views[0]) / ranks();
    std::vector<devices::DeviceGroup::Part> sent, received;
    for (int peer = 0; peer < ranks(); ++peer) {
      sent.push_back({peer, static_cast<char*>(views[0].data) + peer * bytes, bytes});
      received.push_back({peer, static_cast<char*>(views[1].data) + peer * bytes, bytes});
    }
    library.exchange(sent, received, stream);
  }
};

}  // namespace
}  // namespace collective

void all_to_all(const Context& context, const View& source, const View& destination,
                std::optional<Stream> stream) {
  using namespace collective;
  run<AllToAll>(context, {.operation = "all_to_all",
                          .shape = source.extents,
                          .dtype = source.dtype,
                          .stream = stream,
                          .views = {source, destination},
                          .bytes = arrays::bytes_of(source)});
}

}  // namespace partita
