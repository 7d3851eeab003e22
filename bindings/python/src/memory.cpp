// Symmetric memory.
#include <nanobind/nanobind.h>

#include <partita/memory.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "huge_pages.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

/// The same place of a block on some rank, for numpy.asarray, which keeps this and so the block.
struct SymmetricPart {
  std::shared_ptr<SymmetricMemory> block;
  void* data;
  Dtype dtype;
  Shape shape;

  Dict array_interface() const {
    if (on_device()) throw nb::attribute_error("__array_interface__: device memory");
    return interface_of(View::dense(data, dtype, shape));
  }
  Dict cuda_array_interface() const {
    if (!on_device()) throw nb::attribute_error("__cuda_array_interface__: host memory");
    return interface_of(View::dense(data, dtype, shape));
  }
  bool on_device() const { return block->space() == MemorySpace::device; }
};

class SymmetricBlock {
 public:
  SymmetricBlock(const Context& context, const Shape& shape, Dtype dtype, bool make_symmetric,
                 std::optional<MemorySpace> space, SourcePlace where)
      : dtype_(dtype), shape_(shape) {
    const std::int64_t bytes = volume(shape) * size_of(dtype);
    block_ = std::make_shared<SymmetricMemory>(
        make_symmetric ? SymmetricMemory::make_symmetric(context, bytes, space, where)
                       : SymmetricMemory::allocate(context, bytes, space, where));
  }
  SymmetricPart mine() const {
    if (block_->data() == nullptr) throw MemoryError("symmetric memory: it has been freed");
    return {block_, block_->data(), dtype_, shape_};
  }
  std::optional<SymmetricPart> peer(int rank) const {
    void* const there = block_->peer(rank);
    if (there == nullptr) return std::nullopt;
    return SymmetricPart{block_, there, dtype_, shape_};
  }
  std::int64_t bytes() const { return block_->bytes(); }
  void free() { block_->free(); }

 private:
  Dtype dtype_;
  Shape shape_;
  std::shared_ptr<SymmetricMemory> block_;
};

}  // namespace

void bind_memory(nb::module_& module) {
  module.def(
      "advise_huge_pages",
      [](std::uintptr_t data, std::int64_t bytes) {
        advise_huge_pages(reinterpret_cast<void*>(data), bytes);  // NOLINT(performance-no-int-to-ptr)
      },
      nb::arg("data"), nb::arg("bytes"));
  nb::class_<SymmetricPart>(module, "SymmetricPart")
      .def_prop_ro("__array_interface__", &SymmetricPart::array_interface)
      .def_prop_ro("__cuda_array_interface__", &SymmetricPart::cuda_array_interface)
      .def_prop_ro("on_host", [](const SymmetricPart& self) { return !self.on_device(); })
      .def_ro("dtype", &SymmetricPart::dtype);
  nb::class_<SymmetricBlock>(module, "SymmetricBlock")
      .def(
          "__init__",
          [](SymmetricBlock* self, const Context& context, const Shape& shape, Dtype dtype,
             bool make_symmetric, const Words& space) {
            const std::optional<MemorySpace> place = space_of(space);
            const SourcePlace where = caller();
            const nb::gil_scoped_release unlocked;
            new (self) SymmetricBlock(context, shape, dtype, make_symmetric, place, where);
          },
          nb::arg("context"), nb::arg("shape"), nb::arg("dtype"), nb::arg("make_symmetric"),
          nb::arg("space") = nb::none())
      .def("mine", &SymmetricBlock::mine)
      .def("peer", &SymmetricBlock::peer, nb::arg("rank"))
      .def_prop_ro("bytes", &SymmetricBlock::bytes)
      .def("free", &SymmetricBlock::free, Unlocked());
}

}  // namespace partita::python
