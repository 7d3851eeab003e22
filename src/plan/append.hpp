// Plans made of plans.
#pragma once

#include <functional>
#include <partita/plan.hpp>
#include <span>

namespace partita {

/// Appends the steps and works of `part` to `plan`, which carry on where its steps end: buffer i of `part` is
/// buffer buffers[i] of `plan` (added by the caller). Counts of signals go on from those that `plan` waited
/// for, so `plan` must have waited for every signal that it was sent: every plan of this library has at its
/// end. Both are plans of the same rank and topology. `before`, where it is given, is called before each step
/// of `part` with that step's number in `part`, and may append steps to `plan` that neither signal nor wait.
void append(Plan& plan, Plan part, std::span<const int> buffers,
            const std::function<void(int step)>& before = {});

/// The buffer of `plan` that has this name and kind and holds no array, of at least so many bytes; added
/// where there is none. For the scratch of parts that follow one another: each begins when the one before is
/// done with it.
int add_or_share(Plan& plan, const Buffer& wanted);

/// Appends a compute step; gives its index.
int append_work(Plan& plan, Work work, std::vector<int> after = {});

}  // namespace partita
