// The words of the command line: as they were given, and numbers and lists in them.
#pragma once

#include <partita/distribution.hpp>
#include <partita/extents.hpp>
#include <partita/io.hpp>
#include <string>
#include <vector>

namespace partita::tools {

void remember_command_line(int count, char** values);
const std::vector<std::string>& command_line();      ///< all of it, without the program's name
std::vector<std::string> arguments_before_dashes();  ///< up to the first "--"
std::vector<std::string> arguments_after_dashes();   ///< what follows it
std::string own_program();                           ///< the path of this program

/// "8192x8192" or "8192,8192"; "scalar". Throws UsageError.
Shape parse_shape(const std::string& text);
/// "2,1,0"; empty: none. Throws UsageError.
std::vector<int> parse_axes(const std::string& text);
/// What every rank reads of a file in one piece: slabs along its slowest dimension.
Distribution file_distribution(const FileHeader& header);
/// The ranks that the rule itself speaks of (its grid, boxes or mesh); nothing in a slab or a replica does:
/// 0.
int ranks_named_by(const Distribution& distribution);

std::string describe_bytes(double bytes);  ///< "8.3 MiB"
std::string describe_seconds(double seconds);
std::string describe_rate(double bytes, double seconds);    ///< "3.21 GB/s"
std::string count_of(int number, const std::string& noun);  ///< "1 rank", "4 ranks"

}  // namespace partita::tools
