// destination of rank r = source of rank 0 + ... + source of rank r (without its own: exclusive)
#include <partita/collectives.hpp>

#include "base/check.hpp"
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"
#include "collectives/reducing.hpp"

namespace partita {
namespace collective {
namespace {

/// Row p of an array [rank, ...] whose columns are spread: what this rank holds of rank p's view.
class Rows {
 public:
  Rows(int rank, int rows_buffer, std::int64_t elements, std::int64_t item)
      : rank_(rank), buffer_(rows_buffer), bytes_(elements * item) {
    region_.sets = {IndexSet::range(0, elements)};
  }
  bool empty() const { return region_.empty(); }
  Place row(int number) const { return {buffer_, rank_, number * bytes_, {0}}; }
  const Region& region() const { return region_; }

 private:
  int rank_;
  int buffer_;
  std::int64_t bytes_;
  Region region_;
};

// row[p] = row[p - 1] + row[p]
void join_inclusive(planning::PlanBuilder& plan, const Rows& rows, int ranks, Reduction reduction) {
  for (int p = 1; p < ranks; ++p) {
    plan.accumulate(plan.rank(), reduction, rows.region(), rows.row(p - 1), rows.row(p));
  }
}

// result[p] = result[p - 1] + row[p - 1]
void join_exclusive(planning::PlanBuilder& plan, const Rows& rows, const Rows& results, int ranks,
                    Reduction reduction) {
  const int rank = plan.rank();
  plan.fill(reduction, results.region(), results.row(0));
  if (ranks > 1) plan.copy(rank, rows.region(), rows.row(0), results.row(1));
  for (int p = 2; p < ranks; ++p) {
    plan.copy(rank, results.region(), results.row(p - 1), results.row(p));
    plan.accumulate(rank, reduction, rows.region(), rows.row(p - 1), results.row(p));
  }
}

}  // namespace

// Rank k takes slice k of all sources (the array [rank, ...] by columns), reduces them row by row, and sends
// the rows back to their ranks.
Plan plan_scan(const Request& request, Reduction reduction, bool exclusive) {
  const Layout& source = request.operands[0].layout;
  const Dtype dtype = request.operands[0].dtype;
  const int ranks = request.ranks();
  constexpr const char* names[] = {"source", "destination"};
  Chain chain(request, names, "columns", "every rank accumulates a slice of all sources");
  Shape one = source.shape();
  one[0] = 0;
  const Layout columns =
      one.size() == 1 ? at_root(source.shape(), 0, ranks) : Layout(Slab(longest(one)), source.shape(), ranks);
  const int rows_array = chain.add_array("rows", columns, dtype);
  const int rows_bytes = chain.add_bytes_of(rows_array, dtype);
  const int results_array = exclusive ? chain.add_array("results", columns, dtype) : rows_array;
  const int results_bytes = exclusive ? chain.add_bytes_of(results_array, dtype) : rows_bytes;
  chain.redistribute(0, rows_array);
  const std::int64_t elements = columns.local_size(request.rank) / ranks;
  const Rows rows(request.rank, rows_bytes, elements, size_of(dtype));
  const Rows results(request.rank, results_bytes, elements, size_of(dtype));
  if (!rows.empty() && exclusive) join_exclusive(chain.builder(), rows, results, ranks, reduction);
  if (!rows.empty() && !exclusive) join_inclusive(chain.builder(), rows, ranks, reduction);
  chain.redistribute(results_array, 1);
  return chain.take();
}

namespace {

class ScanOfRanks final : public Reducing {
 public:
  using Reducing::Reducing;

 private:
  std::vector<Layout> layouts() const override {
    check_reduction(name(), *call().reduction, call().dtype);
    const Layout rows = by_rank(call().shape, ranks());
    return {rows, rows};
  }
  Plan make_plan(const Request& request) const override {
    return plan_scan(request, *call().reduction, call().scan == Scan::exclusive);
  }
  View planned(std::size_t /*operand*/, const View& view) const override { return with_rank(view); }
  bool writes_in_place() const override { return true; }
  bool is_redistribution() const override { return false; }
  bool is_offered_by(const devices::DeviceGroup& /*library*/) const override { return false; }
};

}  // namespace
}  // namespace collective

void scan(const Context& context, const View& source, const View& destination, const ReduceOptions& options,
          Scan kind) {
  using namespace collective;
  Call call = reducing_call("scan", source, destination, options);
  call.scan = kind;
  run<ScanOfRanks>(context, call);
}

}  // namespace partita
