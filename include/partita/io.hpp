// Files, read and written by all ranks at once, in any distribution.
#pragma once

#include <partita/array.hpp>
#include <string>
#include <string_view>

namespace partita {

/// What a file says of an array.
struct FileHeader {
  Shape shape;
  Dtype dtype = Dtype::f64;
  Order order = Order::row_major;
};

/// Reads the header only. Local. FileError: missing, truncated, foreign, a dtype that Partita does not have,
/// or more than 2^63 - 1 bytes. In HDF5 a compound of two equal floats is complex if its members are called
/// r and i, re and im, or real and imag, in either order and in any case; a dataset without shape (H5S_NULL)
/// is a FileError.
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
/// the old file stays. Links are followed, and owner and permissions of an old file stay; a character device
/// is written through; any other target is a FileError, as is an old file that the caller may not write. A
/// partial array is an ArgumentError: redistribute it first. Collective, blocking.
PARTITA_API void write_npy(const std::string& path, const Array& array, Order order = Order::row_major);
/// A file with this one dataset (intermediate groups are created). Contiguous, so other programs read it at
/// speed. A device is a FileError.
PARTITA_API void write_hdf5(const std::string& path, const std::string& dataset, const Array& array);

/// The same for bytes of one rank, such as a picture: whole or not at all; a pipe that somebody reads is
/// written through as well. Local, blocking; throws FileError.
PARTITA_API void write_file(const std::string& path, std::string_view bytes);

}  // namespace partita
