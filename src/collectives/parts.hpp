// Views in which the parts of all ranks stand one after the other along dimension 0.
#pragma once

#include <partita/view.hpp>
#include <span>
#include <string>

#include "collectives/call.hpp"

namespace partita::collective {

/// The counts as one text, for the ranks to compare: all of them where they are few, a hash beyond.
std::string counts_text(std::span<const std::int64_t> counts);

/// Throws ArgumentError unless there is a count for each rank, none negative. No counts at all are fine.
void check_counts(std::string_view operation, std::span<const std::int64_t> counts, int ranks);

/// A part as rows of the whole: one element without dimensions is a row.
View in_rows(const View& part);

/// The extents of the whole of which `part` is one rank's part.
Shape whole_of(const Shape& part, std::span<const std::int64_t> counts, int ranks);

/// A call that moves parts, of which `part` is this rank's, in rows; without its views. The shape is that of
/// the part; with counts without its dimension 0.
Call parts_call(std::string_view operation, const View& part, std::span<const std::int64_t> counts,
                int ranks);

/// Throws ArgumentError where `part` shares memory with `whole` but does not stand in its place of it.
void check_in_place(std::string_view operation, const View& part, const View& whole, std::int64_t first);

/// Where rank's part begins along dimension 0.
std::int64_t first_of(const Shape& part, std::span<const std::int64_t> counts, int rank);

}  // namespace partita::collective
