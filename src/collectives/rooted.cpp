#include "collectives/rooted.hpp"

#include <utility>

#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/plans.hpp"

namespace partita::collective {

void run_rooted(std::string_view operation, Towards towards, const Context& context, const View& part,
                const View& whole, std::span<const std::int64_t> counts, int root,
                std::optional<Stream> stream) {
  const int ranks = context.size();
  const View held = context.rank() == root ? whole : View{};
  const auto in_order = [towards](auto of_parts, auto of_whole) {
    if (towards == Towards::parts) std::swap(of_parts, of_whole);
    return std::vector{std::move(of_parts), std::move(of_whole)};
  };
  CallSignature signature(operation, part, held);
  signature.add(root);
  signature.add(counts);
  if (run_again(context, signature, stream)) return;
  Call call = parts_call(operation, part, counts, ranks);
  call.signature = &signature;
  call.facts.push_back({"root", std::to_string(root)});
  call.views = in_order(part, held);
  call.check = [&] { check_in_place(operation, part, held, first_of(part.extents, counts, context.rank())); };
  call.layouts = [&] {
    check_root(operation, root, ranks);
    check_counts(operation, counts, ranks);
    const Shape shape = whole_of(operation, part.extents, counts, ranks);
    return in_order(parts(shape, counts, ranks), at_root(shape, root, ranks));
  };
  call.plan = plan_single_redistribution;
  call.is_redistribution = true;
  run(context, std::move(call), stream);
}

}  // namespace partita::collective
