// Files of arrays, read and written by all ranks concurrently, in any distribution.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <partita/array.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace partita {

/// The description of an array in a file.
struct FileHeader {
  Shape shape;
  Dtype dtype = Dtype::f64;
  Order order = Order::row_major;
};

/// Reads the header only. Local. FileError: a file that is missing, truncated or of another format, a dtype
/// that Partita does not have, more than 2^63 - 1 bytes; for a missing dataset the error lists the existing
/// ones. Both byte orders are supported. Dtypes that NumPy lacks are stored as its extension ml_dtypes stores
/// them: bfloat16 as V2, float8_e5m2 as f1 (which NumPy itself cannot read), float8_e4m3fn as V1; other FP8
/// types of ml_dtypes share V1 and are read as float8_e4m3fn. In HDF5 a compound of two equal floats is
/// complex if its members are named r and i, re and im, or real and imag, in either order and case; a dataset
/// without shape (H5S_NULL) is a FileError. Booleans are bytes: any nonzero byte is true.
PARTITA_API FileHeader inspect_npy(const std::string& path);
PARTITA_API FileHeader inspect_hdf5(const std::string& path, const std::string& dataset);

/// Every rank reads its own part. Collective, blocking; the file must be visible to all ranks. Errors, the
/// same on every rank: FileError that names the file, the rank and the cause.
PARTITA_API Array read_npy(const Context& context, const std::string& path, const Distribution& distribution,
                           const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current());
PARTITA_API Array read_hdf5(const Context& context, const std::string& path, const std::string& dataset,
                            const Distribution& distribution, const ArrayOptions& options = {},
                            SourcePlace where = SourcePlace::current());

/// Every rank writes its part; of replicas, one rank writes. The file is written completely or not at all:
/// the ranks write a temporary file in the same folder, and one rank renames it when all have succeeded; on
/// failure it is removed and the old file is kept. Links are followed; owner and permissions are kept. A
/// character device is written directly. Other targets are a FileError, as is an old file without write
/// permission. A partial array is an ArgumentError: redistribute it first. Collective, blocking.
PARTITA_API void write_npy(const std::string& path, const Array& array, Order order = Order::row_major);

/// An attribute of an unsupported kind: it is listed but not read, and cannot be written.
struct Hdf5Unread {
  std::string what;  ///< for messages: "an array of 2 dimensions"
  friend bool operator==(const Hdf5Unread&, const Hdf5Unread&) = default;
};
/// The types of an attribute.
using Hdf5Value = std::variant<std::string, std::int64_t, std::uint64_t, double, std::vector<std::int64_t>,
                               std::vector<std::uint64_t>, std::vector<double>, Hdf5Unread>;
/// An attribute of a dataset or a group: a string, a number, or a vector of numbers. Integers are
/// std::int64_t, or std::uint64_t beyond 2^63 - 1, also as elements of vectors. A value, converted
/// implicitly.
struct Hdf5Attribute : Hdf5Value {
  Hdf5Attribute() = default;
  /// From any integer type.
  template <std::integral T>
  Hdf5Attribute(T value) : Hdf5Value(static_cast<std::int64_t>(value)) {  // NOLINT: implicit by design
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::uint64_t)) {
      if (value >> 63U != 0) emplace<std::uint64_t>(value);
    }
  }
  /// From the other types.
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, Hdf5Attribute> && !std::integral<std::remove_cvref_t<T>> &&
           std::constructible_from<Hdf5Value, T>) Hdf5Attribute(T&& value)
      : Hdf5Value(std::forward<T>(value)) {}  // NOLINT: implicit by design
};
/// Attributes by name.
using Hdf5Attributes = std::map<std::string, Hdf5Attribute>;

/// Storage of a dataset, with the names of h5py.
struct Hdf5Options {
  /// Removes the other contents of the file.
  bool truncate = false;
  /// Extents of a chunk; empty: contiguous, which all ranks write concurrently and other programs read
  /// quickly.
  Extents chunks = {};
  int compression = 0;             ///< deflate ("gzip") level of chunks: 1 (fast) to 9 (small); 0: none
  bool shuffle = false;            ///< group bytes of chunks by significance, which compresses better
  Hdf5Attributes attributes = {};  ///< attributes of the dataset
};

/// Adds a dataset (intermediate groups are created) to the file, or creates the file. A dataset of this name
/// is replaced with its attributes; other contents are kept. The file is written completely or
/// not at all: an old one is copied first. With chunks the ranks write in sequence. Further errors: FileError
/// (a device, not an HDF5 file, a group of this name, a dataset in place of a group, attribute vectors
/// beyond 64 KiB), ArgumentError (chunks that do not fit the shape, compression without chunks or
/// beyond 9, no name, a zero byte in names or strings, an attribute that was not read).
PARTITA_API void write_hdf5(const std::string& path, const std::string& dataset, const Array& array,
                            const Hdf5Options& options = {});

/// One of several datasets that are written together.
struct Hdf5Dataset {
  std::string name;
  Array array;
  Hdf5Options options = {};
};
/// Several datasets, written all or none, for example a checkpoint. Other contents of the file are removed
/// if any of the options says `truncate`. Further errors: ArgumentError (no dataset, one named twice,
/// arrays of several contexts).
PARTITA_API void write_hdf5(const std::string& path, const std::vector<Hdf5Dataset>& datasets);

/// Sets attributes of a dataset, a group or the file ("/"); other contents are kept. The file is
/// written completely or not at all. Collective, blocking. Errors, the same on every
/// rank: FileError (no file, or no object: lists the existing ones), ArgumentError (no name, a zero
/// byte), DisagreementError.
PARTITA_API void write_hdf5_attributes(const Context& context, const std::string& path,
                                       const std::string& object, const Hdf5Attributes& attributes);

/// A group or a dataset.
struct Hdf5Entry {
  std::string name;                  ///< with its groups: "group/data"
  std::optional<FileHeader> header;  ///< set for a dataset that can be read as an array
  Extents chunks = {};               ///< extents of a chunk; empty if contiguous
};
/// The groups and datasets of a file, sorted by name; groups and datasets that are not arrays have no header.
/// Local. FileError.
PARTITA_API std::vector<Hdf5Entry> list_hdf5(const std::string& path);

/// All attributes of a dataset or group ("/": of the file); unsupported kinds as Hdf5Unread. Local.
/// FileError.
PARTITA_API Hdf5Attributes read_hdf5_attributes(const std::string& path, const std::string& object);

/// Writes the bytes of one rank, such as a picture, completely or not at all; a pipe with a reader is
/// written directly. Local, blocking; throws FileError.
PARTITA_API void write_file(const std::string& path, std::string_view bytes);

}  // namespace partita
