// Collectives in the name of other operations.
#pragma once

#include <optional>
#include <partita/collectives.hpp>
#include <span>
#include <string_view>

namespace partita::collective {

/// `all_reduce` in the name of an operation on that array, a literal. The source is this rank's part of the
/// result.
void all_reduce_of(const Array& array, std::string_view operation, const View& source,
                   const View& destination, const ReduceOptions& options);

/// As `all_gather` or, with counts, `all_gather_v`, by another name.
void run_all_gather(std::string_view operation, const Context& context, const View& source,
                    const View& destination, std::span<const std::int64_t> counts,
                    const std::optional<Stream>& stream);

}  // namespace partita::collective
