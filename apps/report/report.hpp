// What the programs say and write while they run.
#pragma once

#include <functional>
#include <partita/partita.hpp>
#include <string>

namespace report {

/// On standard output, once and at once. Collective: see partita::rank_zero.
void print_line(const partita::Context& context, const std::string& line);

/// Makes the folder, and those that it is in, where they are not there. Collective; throws what rank 0 threw,
/// on every rank.
void make_folder(const partita::Context& context, const std::string& folder);

/// Executes the step and writes its timeline into the folder, as trace.json for Perfetto. Collective.
void record_step(const partita::Context& context, const std::string& folder,
                 const std::function<void()>& step);

}  // namespace report
