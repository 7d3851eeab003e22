// What is read: bytes, and the batches that are taken of them.
#pragma once

#include <string>

#include "transformer/model.hpp"

namespace transformer {

/// The bytes of a file, which rank 0 reads and sends to the others. Throws FileError (it does not exist),
/// ArgumentError (empty). Collective, blocking.
std::string read_text(const partita::Context& context, const std::string& path);

/// The default of `--text`: data/devils-dictionary.txt, which `scripts/fetch-text` fetches, else a
/// licence that every Debian has. Throws FileError if neither exists. Local.
std::string usual_text();

/// The batch of a step: pieces that begin at places which seed and step choose. The same on any rank. Throws
/// ArgumentError where the text is shorter than a sequence and one byte.
Batch batch_of(std::string_view text, const Settings& settings, std::int64_t step);

}  // namespace transformer
