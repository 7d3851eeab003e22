// Files that hold an array: .npy, or a dataset of an HDF5 file.
#pragma once

#include <optional>
#include <partita/io.hpp>
#include <string>

namespace partita::tools {

/// One of them, by its word on the command line.
struct ArrayFile {
  std::string path;
  std::optional<std::string> dataset = {};  ///< of HDF5; unset: the file is .npy
};

/// "a.npy", "a.h5" (the dataset is `dataset`), "a.h5:group/a". Throws UsageError for any other suffix than
/// .npy, .h5, .hdf5 and .hdf.
ArrayFile array_file(const std::string& word, const std::string& dataset = "data");

/// The shape and dtype in the file. Local. FileError.
FileHeader inspect(const ArrayFile& file);
/// As `read_npy` and `read_hdf5`. Collective, blocking.
Array read(const Context& context, const ArrayFile& file, const Distribution& distribution,
           const ArrayOptions& options = {});
/// The array as it is stored: in the order of its file, and, if no distribution is given, in slabs along the
/// slowest dimension. Collective, blocking.
Array read_as_stored(const Context& context, const ArrayFile& file,
                     const std::optional<Distribution>& distribution);
/// As `write_npy`, and as `write_hdf5`, which has no choice of order. Collective, blocking.
void write(const ArrayFile& file, const Array& array, Order order = Order::row_major);

/// Throws UsageError for an HDF5 file in column-major order, which there is none of. `remedy`: what to do.
void check_order(const ArrayFile& file, Order order, const char* remedy);

}  // namespace partita::tools
