// Symmetric memory.
#include <nanobind/nanobind.h>

#include <partita/memory.hpp>

#include "binding.hpp"
#include "casters.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

/// The same place of a block on some rank, for numpy.asarray, which keeps this and so the block.
struct SymmetricPart {
  std::shared_ptr<SymmetricMemory> block;
  void* data;
  Dtype dtype;
  Shape shape;

  Dict array_interface() const { return interface_of(View::dense(data, dtype, shape)); }
};

class SymmetricBlock {
 public:
  SymmetricBlock(const Context& context, const Shape& shape, Dtype dtype, bool make_symmetric)
      : dtype_(dtype), shape_(shape) {
    const std::int64_t bytes = volume(shape) * size_of(dtype);
    block_ = std::make_shared<SymmetricMemory>(
        make_symmetric ? SymmetricMemory::make_symmetric(context, bytes, MemorySpace::host)
                       : SymmetricMemory::allocate(context, bytes, MemorySpace::host));
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
  nb::class_<SymmetricPart>(module, "SymmetricPart")
      .def_prop_ro("__array_interface__", &SymmetricPart::array_interface)
      .def_ro("dtype", &SymmetricPart::dtype);
  nb::class_<SymmetricBlock>(module, "SymmetricBlock")
      .def(nb::init<const Context&, const Shape&, Dtype, bool>(), nb::arg("context"), nb::arg("shape"),
           nb::arg("dtype"), nb::arg("make_symmetric"), Unlocked())
      .def("mine", &SymmetricBlock::mine)
      .def("peer", &SymmetricBlock::peer, nb::arg("rank"))
      .def_prop_ro("bytes", &SymmetricBlock::bytes)
      .def("free", &SymmetricBlock::free, Unlocked());
}

}  // namespace partita::python
