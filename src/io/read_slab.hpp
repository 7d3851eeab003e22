// Reading in parallel: every rank reads one contiguous piece, then the pieces go where they belong.
#pragma once

#include <functional>
#include <partita/io.hpp>
#include <string>
#include <string_view>

namespace partita {

/// What differs from one file format to another.
struct FileReader {
  std::string_view operation;
  std::function<FileHeader()> inspect;
  /// Reads `elements` consecutive elements, in the file's order, from element number `first` on.
  std::function<void(std::int64_t first, std::int64_t elements, void* data)> read;
};

/// How many bytes the elements take. Throws FileError where they do not fit into 63 bits.
std::int64_t bytes_of(const FileHeader& header, const std::string& path);

/// Collective. A failure on any rank is the same exception on all.
Array read_as_slab(const Context& context, const std::string& path, const Distribution& distribution,
                   const ArrayOptions& options, const FileReader& reader, SourcePlace where);

}  // namespace partita
