#include "matmul/autotune.hpp"

#include <array>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "execute/autotune.hpp"
#include "runtime/agree.hpp"

namespace partita::multiplication {
namespace {

constexpr std::array methods{
    MatmulMethod::local,          MatmulMethod::all_gather,
    MatmulMethod::reduce_scatter, MatmulMethod::all_reduce,
    MatmulMethod::summa_c,        MatmulMethod::summa_a,
    MatmulMethod::summa_b,        MatmulMethod::communication_avoiding,
};

/// This rank's part of an array, kept and put back.
class Kept {
 public:
  explicit Kept(const Array& array) : array_(array) {
    Array::State state = *array.state();
    memory_.resize(static_cast<std::size_t>(array.local_size() * size_of(array.dtype())));
    state.local = View::dense(memory_.data(), array.dtype(), array.local_shape());
    state.operand.space = MemorySpace::host;
    copy_ = Array(std::make_shared<Array::State>(std::move(state)));
    copy(array_, copy_);
  }
  void put_back() { copy(copy_, array_); }

 private:
  Array array_;
  std::vector<char> memory_;
  Array copy_;
};

}  // namespace

std::shared_ptr<Runner> fastest(ContextState& context, const Setting& setting, const Request& request,
                                int runs) {
  std::optional<Kept> kept;
  collectively(context, "matmul autotune", [&]() -> std::vector<Fact> {
    check(runs > 0, "autotune needs at least one run, not {}", runs);
    if (setting.in_place) kept.emplace(request.d);
    return {{"runs", std::to_string(runs)}};
  });
  const auto make = [&](MatmulMethod method) {
    Setting one = setting;
    one.options.method = method;
    return plan_together(context, [&] { return one; });
  };
  const MatmulOptions& options = setting.options;
  const auto arrays = in_plan_order(request, options);
  const auto run = [&](Runner& runner) { runner.run(arrays, {options.alpha, options.beta, 1}); };
  const auto put_back = [&] {
    if (kept) kept->put_back();
  };
  const std::shared_ptr<Runner> best =
      fastest_of(Trials(context, "matmul autotune", runs), methods, make, run, put_back);
  return best ? best : plan_together(context, [&] { return setting; });
}

}  // namespace partita::multiplication
