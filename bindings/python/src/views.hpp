// Memory of other packages as views.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <partita/view.hpp>
#include <string_view>

#include "binding.hpp"
#include "casters.hpp"

namespace partita::python {

/// An array of whatever package: by DLPack, by the buffer protocol, or by __cuda_array_interface__. Holds it.
class Memory {
 public:
  /// `what` names it in errors; `writable`: where it may only be read is an ArgumentError. TypeError: nothing
  /// of these.
  Memory(std::string_view what, const nb::handle& array, bool writable);

  const View& view() const { return view_; }
  bool read_only() const { return read_only_; }
  /// Keeps the memory; may go in any thread, with or without the interpreter's lock.
  std::shared_ptr<void> owner() const;

 private:
  void find(std::string_view what, const nb::handle& array);  ///< of any package
  void hold(const nb::handle& array);
  nb::object array_;
  nb::ndarray<nb::ro> held_;
  View view_;
  bool read_only_ = false;
};

/// Finds the class of NumPy's arrays, whose views are found faster. Once, when the module is imported.
void find_numpy();

/// What numpy.asarray makes an array of, on the same memory. What NumPy has no dtype for, it gets the bits
/// of.
Dict interface_of(const View& view);

/// A view of what is only read, and one of what is written; they last as long as this.
class Operands {
 public:
  Operands(const nb::handle& source, const nb::handle& destination)
      : source_("source", source, false), destination_("destination", destination, true) {}
  const View& source() const { return source_.view(); }
  const View& destination() const { return destination_.view(); }

 private:
  Memory source_, destination_;
};

}  // namespace partita::python
