// Arrays in files, read and written by all ranks: each rank transfers one contiguous part.
#pragma once

#include <functional>
#include <partita/array.hpp>
#include <partita/fact.hpp>
#include <partita/io.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/output_file.hpp"

namespace partita::io {

/// What differs from one file format to another.
struct FileReader {
  std::string_view operation;
  std::function<FileHeader()> inspect;
  /// Reads `elements` consecutive elements, in the file's order, from element number `first` on.
  std::function<void(std::int64_t first, std::int64_t elements, void* data)> read;
  std::vector<Fact> facts = {};  ///< properties that must be the same on all ranks, in addition to the path
};

/// How many bytes the elements take. Throws FileError where they do not fit into 63 bits.
std::int64_t bytes_of(const FileHeader& header, const std::string& path);

/// Collective. A failure on any rank is the same exception on all.
Array read_as_slab(const Context& context, const std::string& path, const Distribution& distribution,
                   const ArrayOptions& options, const FileReader& reader, SourcePlace where);

/// The distribution in which every rank's part is one contiguous piece of a dense file: a slab along the
/// slowest dimension that has more than one index.
Slab file_slab(const Shape& shape, Order order);

/// Byte offset of the rank's part of the slab from the first element.
std::int64_t slab_offset(const Layout& slab, int rank, std::int64_t item_bytes);

/// The array, which has values, as slabs, dense in the file's order. Collective where it has to move.
Array as_file_slab(const Array& array, Order order);

/// An array in a file of one or several.
struct FilePart {
  /// The array as the file has it, made when its turn comes: collective.
  std::function<Array()> slab;
  /// Writes the rank's part; the ranks call it in sequence. If unset, all ranks write concurrently, each at
  /// the offset of its part after the first element.
  std::function<void(const std::string& written, const Region& region, const View& part)> write_in_turn = {};
};

struct FileWriter {
  std::string_view operation;
  /// Writes what stands before the elements, on rank 0, and returns the offset of the first of each part.
  std::function<std::vector<std::int64_t>(const OutputFile&)> begin;
  std::vector<FilePart> parts;
};

/// Makes `path` in collective steps: rank 0 opens it and begins; part by part every rank writes its own; rank
/// 0 commits. If anything fails on any rank, the temporary file is removed, an old `path` stays as it was,
/// and every rank throws the same error.
void write_whole(ContextState& context, const std::string& path, const FileWriter& writer);

}  // namespace partita::io
