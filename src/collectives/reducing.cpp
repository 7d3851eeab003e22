#include "collectives/reducing.hpp"

#include "array/transfer.hpp"
#include "collectives/layouts.hpp"
#include "collectives/normalize_logical.hpp"
#include "collectives/plans.hpp"

namespace partita::collective {

CallSignature signature_of(std::string_view operation, const View& source, const View& destination,
                           const ReduceOptions& options) {
  CallSignature signature(operation, source, destination);
  signature.add(static_cast<std::int64_t>(options.reduction));
  signature.add(options.deterministic ? 1 : 0);
  return signature;
}

Call reducing_call(std::string_view operation, const View& source, const View& destination,
                   const ReduceOptions& options) {
  Call call;
  call.operation = operation;
  call.facts = {{"shape", to_string(source.extents)},
                {"dtype", std::string(name(source.dtype))},
                {"reduction", std::string(name(options.reduction))},
                {"deterministic", options.deterministic ? "yes" : "no"}};
  call.dtype = source.dtype;
  call.views = {source, destination};
  call.bytes = arrays::bytes_of(source);
  if (is_logical(options.reduction, source.dtype)) call.logical = options.reduction;
  call.offered = [options, dtype = source.dtype, logical = call.logical](const devices::DeviceGroup& group) {
    return !options.deterministic && !logical && group.reduces(dtype, options.reduction);
  };
  call.check = [operation, source, destination] {
    check_same_or_apart(operation, source, destination, destination);
  };
  return call;
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
