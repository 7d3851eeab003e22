// The state of a training run in one HDF5 file: parameters, both moments of Adam, and how far it is.
#pragma once

#include <string>

#include "transformer/model.hpp"

namespace transformer {

/// Lands whole or not at all. Collective, blocking.
void write_checkpoint(const std::string& path, const Model& model, std::int64_t step);

/// Written by any number of ranks on any mesh; returns the step. Throws ArgumentError where it is of a model
/// with other settings. Collective, blocking.
std::int64_t read_checkpoint(const partita::Context& context, const std::string& path, Model& model);

}  // namespace transformer
