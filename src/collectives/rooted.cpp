#include "collectives/rooted.hpp"

#include <array>
#include <utility>

#include "collectives/collective.hpp"
#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"

namespace partita::collective {

namespace {

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
    const Shape shape = whole_of(name(), call().shape, counts(), ranks());
    const auto both =
        in_order(towards, parts(shape, counts(), ranks()), at_root(shape, *call().root, ranks()));
    return {both.begin(), both.end()};
  }
  Plan make_plan(const Request& request) const override { return plan_single_redistribution(request); }
  void check_own(const Views& views) const override {
    const auto& [part, whole] = in_order(towards, views[0], views[1]);
    check_in_place(name(), part, whole, first_of(part.extents, counts(), rank()));
  }
};

}  // namespace

void run_rooted(std::string_view operation, Towards towards, const Context& context, const View& part,
                const View& whole, std::span<const std::int64_t> counts, int root,
                const std::optional<Stream>& stream) {
  Call call = parts_call(operation, part, counts, context.size());
  call.root = root;
  call.views = in_order(towards, part, context.rank() == root ? whole : View{});
  call.stream = stream;
  towards == Towards::root ? run<Rooted<Towards::root>>(context, call)
                           : run<Rooted<Towards::parts>>(context, call);
}

}  // namespace partita::collective
