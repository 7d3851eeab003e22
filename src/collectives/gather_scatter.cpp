// Between the parts of all ranks and the whole of one of them: destination of the root = the sources of all
// ranks, one after the other (gather); destination of rank r = part r of the source of the root (scatter).
#include <array>
#include <partita/collectives.hpp>
#include <utility>

#include "collectives/collective.hpp"
#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"

namespace partita {
namespace {

using namespace collective;

enum class Towards : std::uint8_t {
  root,   ///< from the parts to the whole: gather
  parts,  ///< from the whole to the parts: scatter
};

/// What is of the parts and what is of the whole, in the order of the operands.
template <class Value>
std::array<Value, 2> in_order(Towards towards, Value of_parts, Value of_whole) {
  if (towards == Towards::parts) std::swap(of_parts, of_whole);
  return {std::move(of_parts), std::move(of_whole)};
}

template <Towards towards>
class Rooted final : public Collective {
 public:
  using Collective::Collective;

 private:
  std::vector<Layout> layouts() const override {
    check_root(name(), *call().root, ranks());
    check_counts(name(), counts(), ranks());
    const Shape shape = whole_of(call().shape, counts(), ranks());
    const auto both =
        in_order(towards, parts(shape, counts(), ranks()), at_root(shape, *call().root, ranks()));
    return {both.begin(), both.end()};
  }
  void check_own(const Views& views) const override {
    const auto& [part, whole] = in_order(towards, views[0], views[1]);
    check_in_place(name(), part, whole, first_of(part.extents, counts(), rank()));
  }
};

/// `given` is this rank's part; `whole` is looked at on the root only. No counts: equal parts.
template <Towards towards>
void run_rooted(std::string_view operation, const Context& context, const View& given, const View& whole,
                std::span<const std::int64_t> counts, int root, const std::optional<Stream>& stream) {
  const View part = in_rows(given);
  Call call = parts_call(operation, part, counts, context.size());
  call.root = root;
  call.views = in_order(towards, part, context.rank() == root ? whole : View{});
  call.stream = stream;
  run<Rooted<towards>>(context, call);
}

}  // namespace

void gather(const Context& context, const View& source, const View& destination, int root,
            std::optional<Stream> stream) {
  run_rooted<Towards::root>("gather", context, source, destination, {}, root, stream);
}

void gather_v(const Context& context, const View& source, const View& destination,
              std::span<const std::int64_t> counts, int root, std::optional<Stream> stream) {
  run_rooted<Towards::root>("gather_v", context, source, destination, counts, root, stream);
}

void scatter(const Context& context, const View& source, const View& destination, int root,
             std::optional<Stream> stream) {
  run_rooted<Towards::parts>("scatter", context, destination, source, {}, root, stream);
}

void scatter_v(const Context& context, const View& source, const View& destination,
               std::span<const std::int64_t> counts, int root, std::optional<Stream> stream) {
  run_rooted<Towards::parts>("scatter_v", context, destination, source, counts, root, stream);
}

}  // namespace partita
