// The header of a .npy file. Format: NumPy Enhancement Proposal 1 (Kern 2007), versions 1.0 to 3.0.
#pragma once

#include <partita/io.hpp>
#include <string>

#include "io/file.hpp"

namespace partita {

struct NpyHeader {
  FileHeader array;
  std::int64_t data_offset = 0;  ///< of the first element
};

/// Throws FileError: not a .npy file, truncated, a dtype or byte order that Partita does not have.
/// bfloat16, which NumPy itself lacks, is stored as its extension ml_dtypes does: descr '<V2'.
NpyHeader read_npy_header(const File& file, const std::string& path);

/// The bytes before the first element; their number is a multiple of 64.
std::string npy_header_text(const FileHeader& header);

}  // namespace partita
