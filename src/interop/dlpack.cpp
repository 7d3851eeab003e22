#include <dlpack/dlpack.h>

#include <memory>
#include <partita/dlpack.hpp>
#include <vector>

#include "array/array_state.hpp"
#include "base/check.hpp"

namespace partita {
namespace {

// Of DLPack 0.8; Debian 12 and Ubuntu 24.04 have 0.6.
constexpr std::uint8_t boolean_code = 6;

std::uint8_t code_of(Dtype dtype) {
  if (dtype == Dtype::boolean) return boolean_code;
  if (dtype == Dtype::bf16) return kDLBfloat;
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

}  // namespace

DLManagedTensor* to_dlpack(const Array& array) {
  check(array.valid(), "to_dlpack: there is no array");
  return make_tensor(array.local(), device_of(*array.context()), array.state());
}

DLManagedTensor* to_dlpack(const Context& context, SymmetricMemory memory, Dtype dtype,
                           const Shape& extents) {
  check(context.state() != nullptr, "to_dlpack: the context was moved away");
  const auto owner = std::make_shared<SymmetricMemory>(std::move(memory));
  check(owner->data() != nullptr, "to_dlpack: there is no block of symmetric memory");
  return make_tensor(owner->view(dtype, extents), device_of(*context.state()), owner);
}

}  // namespace partita
