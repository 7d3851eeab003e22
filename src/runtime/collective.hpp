// What checks, exchanges and barriers have in common: a meeting whose members first make sure that all are in
// the same call.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/difference.hpp"
#include "runtime/meeting.hpp"

namespace partita {

/// Joins the summaries; where they do not agree, the members exchange their reports and all throw the same
/// error.
Summary settle(Meeting& meeting, Summary mine, const std::function<Report()>& report);

/// `collectively` of agree.hpp in a meeting, which also gives the largest `value` of all members.
Summary collectively(Meeting& meeting, std::string_view operation, std::uint64_t value,
                     const std::function<std::vector<Fact>()>& local);

/// Returns when all ranks are in it.
void barrier(Runtime& state, std::string_view operation = "barrier");

}  // namespace partita
