// Files, read and written by all ranks at once, in any distribution.
#pragma once

#include <partita/array.hpp>
#include <string>

namespace partita {

/// What a file says of an array.
struct FileHeader {
  Shape shape;
  Dtype dtype = Dtype::f64;
  Order order = Order::row_major;
};

/// Reads the header only. Local. FileError: missing, truncated, foreign, or a dtype that Partita does not
/// have.
PARTITA_API FileHeader inspect_npy(const std::string& path);
PARTITA_API FileHeader inspect_hdf5(const std::string& path, const std::string& dataset);

/// Every rank reads its own part. Collective, blocking; the file must be visible to all ranks. Errors, the
/// same on every rank: FileError that names the file, the rank and the cause.
PARTITA_API Array read_npy(const Context& context, const std::string& path, const Distribution& distribution,
                           const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current());
PARTITA_API Array read_hdf5(const Context& context, const std::string& path, const std::string& dataset,
                            const Distribution& distribution, const ArrayOptions& options = {},
                            SourcePlace where = SourcePlace::current());

/// Every rank writes its own part (of replicas, one). The file lands whole or not at all: a temporary file
/// beside it is written by all and renamed by one when all have succeeded; on any failure it is removed and
/// the old file stays. A partial array is an ArgumentError: redistribute it first. Collective, blocking.
PARTITA_API void write_npy(const std::string& path, const Array& array, Order order = Order::row_major);
/// A file with this one dataset (intermediate groups are created). Contiguous, so other programs read it at
/// speed.
PARTITA_API void write_hdf5(const std::string& path, const std::string& dataset, const Array& array);

}  // namespace partita
