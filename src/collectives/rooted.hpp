// Between the parts of all ranks and the whole of one of them.
#pragma once

#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string_view>

#include "collectives/call.hpp"

namespace partita::collective {

enum class Towards : std::uint8_t {
  root,   ///< the parts go to the whole: gather
  parts,  ///< from the whole to the parts: scatter
};

/// `part` is this rank's; `whole` is looked at on the root only. No counts: equal parts. Collective,
/// blocking.
void run_rooted(std::string_view operation, Towards towards, const Context& context, const View& part,
                const View& whole, std::span<const std::int64_t> counts, int root,
                const std::optional<Stream>& stream);

}  // namespace partita::collective
