#include "collectives/reducing.hpp"

#include "array/transfer.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"

namespace partita::collective {

Call reducing_call(std::string_view operation, const View& source, const View& destination,
                   const ReduceOptions& options) {
  return {.operation = operation,
          .shape = source.extents,
          .dtype = source.dtype,
          .reduction = options.reduction,
          .deterministic = options.deterministic,
          .stream = options.stream,
          .views = {source, destination},
          .bytes = arrays::bytes_of(source)};
}

Layout Reducing::checked_contributions() const {
  check_reduction(name(), *call().reduction, call().dtype);
  return contributions(call().shape, *call().reduction, ranks());
}

void Reducing::check_own(const Views& views) const {
  check_same_or_apart(name(), views[0], views[1], views[1]);
}

bool Reducing::is_offered_by(const devices::DeviceGroup& library) const {
  return !call().deterministic && !is_logical(*call().reduction, call().dtype) &&
         library.reduces(call().dtype, *call().reduction);
}

// In both ways the source has been read by everybody before the destination is written: in place is allowed.
Plan plan_joining(const Request& request, const char* how_in_slices) {
  const Layout& source = request.operands[0].layout;
  const Dtype dtype = request.operands[0].dtype;
  constexpr const char* names[] = {"source", "destination"};
  if (request.ranks() == 1) {
    Chain chain(request, names, "local", "there is one rank");
    chain.copy_own(0, 1);
    return chain.take();
  }
  const bool on_device = request.operands[0].space == MemorySpace::device;
  const std::int64_t small = on_device ? small_device_bytes : small_bytes;
  if (volume(source.shape()) * size_of(dtype) <= small) {
    Chain chain(request, names, "whole", "small: each receiver of the result reads all contributions");
    const int scratch = chain.add_array("contributions", source, dtype);
    chain.copy_own(0, scratch);
    chain.redistribute(scratch, 1);
    return chain.take();
  }
  Chain chain(request, names, "slices", std::string("large: ") + how_in_slices);
  const int scratch = chain.add_array("slices", slices(source.shape(), request.ranks()), dtype);
  chain.redistribute(0, scratch);
  chain.redistribute(scratch, 1);
  return chain.take();
}

}  // namespace partita::collective
