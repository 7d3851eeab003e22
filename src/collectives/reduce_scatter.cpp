// destination of rank r = part r of (source of rank 0 + source of rank 1 + ...)
#include <partita/collectives.hpp>

#include "base/check.hpp"
#include "collectives/layouts.hpp"
#include "collectives/parts.hpp"
#include "collectives/reducing.hpp"

namespace partita {
namespace {

using namespace collective;

class ReduceScatter final : public Reducing {
 public:
  using Reducing::Reducing;

 private:
  std::vector<Layout> layouts() const override {
    const Shape& shape = call().shape;
    check_counts(name(), counts(), ranks());
    check(!shape.empty() && (!counts().empty() || shape[0] % ranks() == 0),
          "{}: a source of {} has no {} equal parts along dimension 0", name(), to_string(shape), ranks());
    return {checked_contributions(), parts(shape, counts(), ranks())};
  }
  void check_own(const Views& views) const override { check_apart(name(), views[0], views[1]); }
  bool writes_in_place() const override { return true; }
  bool is_offered_by(const devices::DeviceGroup& library) const override {
    return counts().empty() && Reducing::is_offered_by(library);
  }
  void put(devices::DeviceGroup& library, std::span<const View> views, Stream stream) const override {
    library.reduce_scatter(views[0].data, views[1].data, volume(views[1].extents), views[0].dtype,
                           *call().reduction, stream);
  }
};

void run_reduce_scatter(std::string_view operation, const Context& context, const View& source,
                        const View& destination, std::span<const std::int64_t> counts,
                        const ReduceOptions& options) {
  Call call = reducing_call(operation, source, destination, options);
  call.counts = counts;
  run<ReduceScatter>(context, call);
}

}  // namespace

void reduce_scatter(const Context& context, const View& source, const View& destination,
                    const ReduceOptions& options) {
  run_reduce_scatter("reduce_scatter", context, source, destination, {}, options);
}

void reduce_scatter_v(const Context& context, const View& source, const View& destination,
                      std::span<const std::int64_t> counts, const ReduceOptions& options) {
  run_reduce_scatter("reduce_scatter_v", context, source, destination, counts, options);
}

}  // namespace partita
