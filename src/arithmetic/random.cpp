// Arrays of pseudo-random numbers, generated where they are stored.
#include "kernels/host/random.hpp"

#include "arithmetic/arguments.hpp"
#include "arithmetic/pieces.hpp"
#include "device/stream_work.hpp"

namespace partita {
namespace {

using kernels::Randomness;
using kernels::RandomPass;

/// The dimensions of the rank's part, and the row-major numbers of its elements in the whole array.
std::vector<arithmetic::Dimension> numbered_dimensions(const Array& array) {
  const Layout& layout = array.layout();
  const Region region = layout.region(array.context_state()->rank());
  const Strides whole = dense_strides(layout.shape());
  std::vector<arithmetic::Dimension> dimensions;
  for (int d = 0; d < layout.dimensions(); ++d) {
    arithmetic::Dimension dimension{arithmetic::pieces_of(region.sets[static_cast<std::size_t>(d)]), {}};
    dimension.steps[RandomPass::to] = {array.local().strides[d], false, 0};
    dimension.steps[RandomPass::number] = {whole[d], true, 0};
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

/// `generate`: carries out one pass.
template <class Generate>
void for_each_random_pass(const Array& array, Randomness kind, std::uint64_t seed, const Generate& generate) {
  const View& local = array.local();
  RandomPass pass{kind, local.dtype, seed, nullptr, 0, {}};
  arithmetic::for_each_nest(
      numbered_dimensions(array), [&](const arithmetic::Offsets& at, const arithmetic::Nest& loops) {
        pass.data = static_cast<char*>(local.data) + at[RandomPass::to] * size_of(local.dtype);
        pass.first = at[RandomPass::number];
        pass.loops = kernels::simplified(loops, RandomPass::to);
        generate(pass);
      });
}

void generate(Array& array, Randomness kind, std::uint64_t seed, Stream stream) {
  arithmetic::check_stream("fill", array, stream);
  arrays::check_written("fill", array);
  ContextState& context = *array.context_state();
  if (array.local().space == MemorySpace::host)
    return for_each_random_pass(array, kind, seed, kernels::generate);
  context.require_usable_here("fill");
  if (array.local_size() == 0) return;
  devices::put_into_stream(context, "fill", stream, [&](Stream used, bool) {
    for_each_random_pass(array, kind, seed,
                         [&](const RandomPass& pass) { context.device->generate(pass, used); });
  });
}

/// Blocks without a stream.
void generate(Array& array, Randomness kind, std::uint64_t seed, const std::optional<Stream>& stream) {
  if (stream) return generate(array, kind, seed, *stream);
  devices::require_no_capture(*array.context_state(), "fill");
  generate(array, kind, seed, Stream{});
  if (array.local().space == MemorySpace::device) devices::finish_device(*array.context_state(), "fill");
}

void check_normal(const Array& array) {
  const Dtype dtype = array.dtype();
  check(dtype != Dtype::boolean && !is_integer(dtype), "fill_normal: {} has no normal numbers", name(dtype));
}

}  // namespace

void fill_random(Array& array, std::uint64_t seed, std::optional<Stream> stream) {
  generate(array, Randomness::uniform, seed, stream);
}

void fill_normal(Array& array, std::uint64_t seed, std::optional<Stream> stream) {
  check_normal(array);
  generate(array, Randomness::normal, seed, stream);
}

}  // namespace partita
