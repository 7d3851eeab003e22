// Tensors of PyTorch as views, without DLPack.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <partita/view.hpp>
#include <string_view>

namespace partita::python {

/// What a tensor says of its memory itself, in a fifth of the time that it takes to make and to read what it
/// passes by DLPack. Nothing: it is not a tensor, or one that has to be asked otherwise (a derived class,
/// no strides, another device). ArgumentError, with `what` as its name: its numbers are not those in memory.
std::optional<View> view_of_tensor(std::string_view what, const nanobind::handle& array);

}  // namespace partita::python
