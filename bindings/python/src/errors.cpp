// The exception family, as classes of partita/_errors.py.
#include <nanobind/nanobind.h>

#include <exception>
#include <partita/error.hpp>

#include "binding.hpp"

namespace partita::python {

namespace {

void raise(const char* name, const Error& error) {
  const nb::object family = nb::module_::import_("partita._errors");
  const nb::object kind = family.attr(name);
  PyErr_SetString(kind.ptr(), error.what());
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const DisagreementError& error) {
    raise("DisagreementError", error);
  } catch (const ArgumentError& error) {
    raise("ArgumentError", error);
  } catch (const UnsupportedError& error) {
    raise("UnsupportedError", error);
  } catch (const MemoryError& error) {
    raise("MemoryError", error);
  } catch (const FileError& error) {
    raise("FileError", error);
  } catch (const TimeoutError& error) {
    raise("TimeoutError", error);
  } catch (const LostPeerError& error) {
    raise("LostPeerError", error);
  } catch (const FailedContextError& error) {
    raise("FailedContextError", error);
  } catch (const Error& error) {
    raise("Error", error);
  }
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
  nb::register_exception_translator(translate);
}

}  // namespace partita::python
