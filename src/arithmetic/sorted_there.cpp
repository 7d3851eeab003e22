// A sequence in device memory: each rank sorts its elements, sends them between exact cuts, and sorts what
// arrives.
#include <partita/collectives.hpp>
#include <partita/functions.hpp>

#include "arithmetic/dense_parts.hpp"
#include "arithmetic/sorted_cuts.hpp"
#include "arithmetic/sorted_sequence.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::arithmetic {

void sort_sequence_there(const SequenceSort& what, const Array& mine, const SequenceCuts& given,
                         Array& result, const SequenceCuts& wanted) {
  const Context context = mine.context();
  const auto here = [&](auto&& work) { runtime::check_or_tell_all(*context.state(), what.operation, work); };
  if (context.size() == 1) return here([&] { sort_part(mine, result, what.descending); });
  const std::int64_t many = mine.local_size();
  Array sorted;
  SortedPart part;
  here([&] {
    sorted = sequence_beside(mine, many, mine.dtype(), {});
    sort_part(mine, sorted);
    part = sorted_on_device(sorted, what.descending);
  });
  const ExchangedElements traffic(context, cut_parts(context, part, wanted, sizes_of(given)));
  Array arriving;
  here([&] {
    if (what.descending) sort_part(mine, sorted, true);  // its parts in the order of the ranks that get them
    arriving = sequence_beside(mine, result.local_size(), mine.dtype(), {});
  });
  all_to_all_v(context, sorted.local(), arriving.local(), traffic.sent, traffic.received);
  here([&] { sort_part(arriving, result, what.descending); });
}

}  // namespace partita::arithmetic
