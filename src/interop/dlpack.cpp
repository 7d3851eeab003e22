#include <dlpack/dlpack.h>
#include <fmt/format.h>

#include <memory>
#include <partita/dlpack.hpp>
#include <vector>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "interop/dlpack_versioned.hpp"

namespace partita {
namespace {

// Of DLPack 0.8 and 1.1; Debian 12 and Ubuntu 24.04 have 0.6.
constexpr std::uint8_t boolean_code = 6, f8e4m3_code = 10, f8e5m2_code = 12;

std::uint8_t code_of(Dtype dtype) {
  if (dtype == Dtype::boolean) return boolean_code;
  if (dtype == Dtype::bf16) return kDLBfloat;
  if (dtype == Dtype::f8e4m3) return f8e4m3_code;
  if (dtype == Dtype::f8e5m2) return f8e5m2_code;
  if (is_complex(dtype)) return kDLComplex;
  if (!is_integer(dtype)) return kDLFloat;
  return is_signed(dtype) ? kDLInt : kDLUInt;
}

/// What the tensor points to, and what keeps its memory.
struct Manager {
  DLManagedTensor tensor{};
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::shared_ptr<void> owner;
};

DLManagedTensor* make_tensor(const View& view, Device device, std::shared_ptr<void> owner) {
  auto manager = std::make_unique<Manager>();
  manager->owner = std::move(owner);
  for (int dimension = 0; dimension < view.extents.size(); ++dimension) {
    manager->shape.push_back(view.extents[dimension]);
    manager->strides.push_back(view.strides[dimension]);
  }
  DLTensor& tensor = manager->tensor.dl_tensor;
  tensor.data = view.data;
  tensor.device = view.space == MemorySpace::device ? DLDevice{kDLCUDA, device.index} : DLDevice{kDLCPU, 0};
  tensor.ndim = view.extents.size();
  tensor.dtype = {code_of(view.dtype), static_cast<std::uint8_t>(8 * size_of(view.dtype)), 1};
  tensor.shape = manager->shape.data();
  tensor.strides = manager->strides.data();
  manager->tensor.manager_ctx = manager.get();
  manager->tensor.deleter = [](DLManagedTensor* ended) { delete static_cast<Manager*>(ended->manager_ctx); };
  return &manager.release()->tensor;
}

Device device_of(const ContextState& context) {
  return context.device ? Device::cuda(context.device->physical().index()) : Device::cpu();
}

Dtype dtype_of_tensor(const DLDataType& wanted) {
  for (int number = 0; number < dtype_count && wanted.lanes == 1; ++number) {
    const auto dtype = static_cast<Dtype>(number);
    if (wanted.code == code_of(dtype) && wanted.bits == 8 * size_of(dtype)) return dtype;
  }
  throw ArgumentError(fmt::format("from_dlpack: unknown dtype with code {}, {} bits and {} lanes",
                                  wanted.code, wanted.bits, wanted.lanes));
}

MemorySpace space_of_tensor(const DLDevice& device, const ContextState& context) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      return MemorySpace::host;
    case kDLCUDAManaged:
      return context.default_space();
    case kDLCUDA:
      check(!context.device || context.device->physical().index() == device.device_id,
            "from_dlpack: the tensor of rank {} is on device {}, but the context uses device {}",
            context.rank(), device.device_id, context.device ? context.device->physical().index() : -1);
      return MemorySpace::device;
    default:
      throw ArgumentError(fmt::format("from_dlpack: memory of the device type {} cannot be used",
                                      static_cast<int>(device.device_type)));
  }
}

View view_of_tensor(const DLTensor& tensor, const ContextState& context) {
  check(tensor.ndim >= 0 && tensor.ndim <= max_dimensions,
        "from_dlpack: a tensor of {} dimensions; at most {} are supported", tensor.ndim, max_dimensions);
  const auto dimensions = static_cast<std::size_t>(tensor.ndim);
  const Shape extents(std::span<const std::int64_t>(tensor.shape, dimensions));
  View view = View::dense(tensor.data, dtype_of_tensor(tensor.dtype), extents);
  if (tensor.strides != nullptr) {
    view.strides = Strides(std::span<const std::int64_t>(tensor.strides, dimensions));
  }
  if (tensor.data != nullptr) view.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  view.space = space_of_tensor(tensor.device, context);
  return view;
}

bool may_only_be_read(const DLManagedTensor& /*tensor*/) {
  return false;  // it cannot say so
}
bool may_only_be_read(const DLManagedTensorVersioned& tensor) {
  constexpr std::uint64_t read_only = 1;  // DLPACK_FLAG_BITMASK_READ_ONLY, where DLPack declares it
  return (tensor.flags & read_only) != 0;
}

void check_version(const DLManagedTensor&) {}
void check_version(const DLManagedTensorVersioned& tensor) {
  check(tensor.version.major == 1, "from_dlpack: a tensor of DLPack {}.{}; only version 1 is supported",
        tensor.version.major, tensor.version.minor);
}

template <class Tensor>
Array array_of(const Context& context, Tensor* tensor, const Distribution& distribution, const Shape& shape) {
  std::shared_ptr<void> owner(tensor, [](Tensor* ended) {
    if (ended != nullptr && ended->deleter != nullptr) ended->deleter(ended);
  });
  const auto view = [&] {
    check(tensor != nullptr, "from_dlpack: there is no tensor");
    check_version(*tensor);
    View part = view_of_tensor(tensor->dl_tensor, *context.state());
    part.read_only = may_only_be_read(*tensor);
    return part;
  };
  return arrays::wrap_together(
      context, "from_dlpack", view, [&] { return Layout(distribution, shape, context.size()); },
      std::move(owner));
}

}  // namespace

Array from_dlpack(const Context& context, DLManagedTensor* tensor, const Distribution& distribution,
                  const Shape& shape) {
  return array_of(context, tensor, distribution, shape);
}

Array from_dlpack(const Context& context, DLManagedTensorVersioned* tensor, const Distribution& distribution,
                  const Shape& shape) {
  return array_of(context, tensor, distribution, shape);
}

DLManagedTensor* to_dlpack(const Array& array, Stream reader) {
  check(array.valid(), "to_dlpack: there is no array");
  arrays::require_stream_of_device("to_dlpack", array.local().space == MemorySpace::device, reader);
  devices::let_follow(*array.context_state(), "to_dlpack", reader);
  return to_dlpack(array);
}

DLManagedTensor* to_dlpack(const Array& array) {
  check(array.valid(), "to_dlpack: there is no array");
  check(array.state()->read_only_rank < 0,
        "to_dlpack: the array is read-only, which this kind of tensor cannot express; clone it first");
  return make_tensor(array.local(), device_of(*array.context_state()), array.state());
}

DLManagedTensor* to_dlpack(const Context& context, SymmetricMemory memory, Dtype dtype,
                           const Shape& extents) {
  check(context.state() != nullptr, "to_dlpack: the context was moved away");
  const auto owner = std::make_shared<SymmetricMemory>(std::move(memory));
  check(owner->data() != nullptr, "to_dlpack: there is no block of symmetric memory");
  const View view = owner->view(dtype, extents);
  arrays::require_own_device("to_dlpack", *context.state(), view);
  return make_tensor(view, device_of(*context.state()), owner);
}

}  // namespace partita
