// What a program prints that ends by an exception which all ranks have: once, and not once per rank.
#pragma once

#include <string_view>

namespace partita::runtime {

/// All ranks of a context throw an error with this text now, in the calling thread; `rank` is this one. Where
/// it is not caught, rank 0 alone reports it.
void note_error_of_all(int rank, std::string_view text) noexcept;

/// From here on std::terminate tells the other ranks of live contexts which exception has ended this process;
/// the calling thread is this rank of a context. The handler that was installed before then reports it,
/// except where another rank does: an error of all ranks (above), and a LostPeerError that repeats what
/// another rank has ended by.
void report_uncaught_errors_once(int rank);

}  // namespace partita::runtime
