#include <partita/collectives.hpp>

#include "stress/turn.hpp"
#include "support/models/halo_model.hpp"

namespace partita::testing {
namespace {

/// Of boxes, even or not, empty ones among them.
Layout boxes(RandomLayouts& random, int ranks) {
  const Shape shape = [&] {
    Shape result;
    for (int d = random.number(1, 3); d > 0; --d) result.push_back(random.number(1, 12));
    return result;
  }();
  switch (random.number(0, 3)) {
    case 0:
      return {Slab(random.number(0, shape.size() - 1)), shape, ranks};
    case 1:
      return {random.boxes(shape, ranks), shape, ranks};
    case 2:
      return {BlockNonCyclic(random.grid(shape, ranks)), shape, ranks};
    default:
      return {Replicated(), shape, ranks};
  }
}

}  // namespace

After halos(Turn& turn) {
  RandomLayouts& random = turn.random;
  const Layout layout = boxes(random, turn.context.size());
  HaloOptions options;
  for (int d = 0; d < layout.dimensions(); ++d) {
    options.lower.push_back(random.number(0, 4));
    options.upper.push_back(random.number(0, 5));
    options.periodic.push_back(random.maybe());
  }
  const auto dtype = static_cast<Dtype>(random.number(0, dtype_count - 1));
  const Residency residency = random.maybe() ? Residency::heap : Residency::ordinary;
  const Memory memory = turn.pick(every_memory(turn.context));
  const MemorySpace space = is_on_device(memory) ? MemorySpace::device : MemorySpace::host;
  if (!is_on_device(memory)) turn.stream = {};
  turn.call = fmt::format("halo of {} {} lower {} upper {} memory {}", layout.to_string(), name(dtype),
                          to_string(options.lower), to_string(options.upper), static_cast<int>(memory));
  Array written = empty(turn.context, layout, dtype, {.residency = residency, .space = MemorySpace::host});
  write_array(written);
  Array source = empty(turn.context, layout, dtype, {.residency = residency, .space = space});
  Halo halo(turn.context, source.operand(), options);
  for (int round = 0; round < random.number(1, 3); ++round) {
    copy(written, source);
    Block extended(turn.context, dtype, halo.extended_shape(), memory);
    turn.delay();
    halo.execute(source, extended.view(), turn.stream);
    if (turn.on_device()) turn.context.synchronize(turn.stream);
    const std::vector<std::byte> zero(16);
    fill(source, static_cast<const void*>(zero.data()));
    const std::int64_t wrong = wrong_cells(extended, layout, turn.context.rank(), options);
    turn.expect(wrong == 0, fmt::format("{} cells of round {} are wrong", wrong, round));
  }
  return After::goes_on;
}

}  // namespace partita::testing
