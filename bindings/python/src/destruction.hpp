// The end of what waits then for the streams that it works in.
#pragma once

#include <nanobind/nanobind.h>

#include <partita/collectives.hpp>
#include <partita/context.hpp>
#include <partita/fft.hpp>
#include <partita/linalg.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>

namespace partita::python {

/// With the interpreter's lock free: what is waited for may need other ranks, and those that are threads need
/// the lock to come to it.
template <class Value>
void destroy_unlocked(void* value) noexcept {
  const nanobind::gil_scoped_release unlocked;
  static_cast<Value*>(value)->~Value();
}

}  // namespace partita::python

// How nanobind ends objects of a type.
namespace nanobind::detail {

template <>
inline void wrap_destruct<partita::Matmul>(void* value) noexcept {
  partita::python::destroy_unlocked<partita::Matmul>(value);
}
template <>
inline void wrap_destruct<partita::FFT>(void* value) noexcept {
  partita::python::destroy_unlocked<partita::FFT>(value);
}
template <>
inline void wrap_destruct<partita::Redistribute>(void* value) noexcept {
  partita::python::destroy_unlocked<partita::Redistribute>(value);
}
template <>
inline void wrap_destruct<partita::Cholesky>(void* value) noexcept {
  partita::python::destroy_unlocked<partita::Cholesky>(value);
}
template <>
inline void wrap_destruct<partita::Lu>(void* value) noexcept {
  partita::python::destroy_unlocked<partita::Lu>(value);
}
template <>
inline void wrap_destruct<partita::Qr>(void* value) noexcept {
  partita::python::destroy_unlocked<partita::Qr>(value);
}
/// There are many of one context; the last one ends its plans.
template <>
inline void wrap_destruct<partita::Context>(void* value) noexcept {
  auto* const context = static_cast<partita::Context*>(value);
  if (context->state().use_count() == 1) return partita::python::destroy_unlocked<partita::Context>(value);
  context->~Context();
}

}  // namespace nanobind::detail
