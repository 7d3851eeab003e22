// What all ranks gather from all.
#pragma once

#include <partita/context.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string_view>

namespace partita::collective {

/// As `all_gather` or, with counts, `all_gather_v`, by another name.
void run_all_gather(std::string_view operation, const Context& context, const View& source,
                    const View& destination, std::span<const std::int64_t> counts,
                    std::optional<Stream> stream);

}  // namespace partita::collective
