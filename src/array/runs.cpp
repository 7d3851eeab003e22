// Local parts of several arrays, run by run.
#include <algorithm>
#include <cstdlib>
#include <partita/transform.hpp>

#include "array/array_state.hpp"
#include "array/overlap.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"

namespace partita {
namespace {

struct RunLoop {
  std::int64_t count = 1;
  std::vector<std::int64_t> strides;  ///< in elements, one per array
};

/// Outermost first, by the strides of the first array; at least one.
std::vector<RunLoop> loops_over(const std::vector<Array>& parts) {
  std::vector<RunLoop> loops;
  const View& first = parts.front().local();
  for (int d = 0; d < first.extents.size(); ++d) {
    if (first.extents[d] == 1) continue;
    RunLoop loop{first.extents[d], {}};
    for (const Array& part : parts) loop.strides.push_back(part.local().strides[d]);
    loops.push_back(std::move(loop));
  }
  std::ranges::stable_sort(loops, std::ranges::greater(),
                           [](const RunLoop& loop) { return std::abs(loop.strides.front()); });
  for (std::size_t i = loops.size(); i-- > 1;) {
    const RunLoop &inner = loops[i], &outer = loops[i - 1];
    const bool continues = std::ranges::equal(inner.strides, outer.strides, {},
                                              [&](std::int64_t stride) { return stride * inner.count; });
    if (!continues) continue;
    loops[i].count *= outer.count;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
  if (loops.empty()) loops.push_back({1, std::vector<std::int64_t>(parts.size(), 0)});
  return loops;
}

class RunWalk {
 public:
  RunWalk(const std::vector<Array>& parts, const std::function<void(const detail::ElementRun&)>& body)
      : loops_(loops_over(parts)), body_(body) {
    for (const Array& part : parts) sizes_.push_back(size_of(part.dtype()));
  }
  void walk(std::vector<void*> at, std::size_t depth = 0) const {
    const RunLoop& loop = loops_[depth];
    if (depth + 1 == loops_.size()) return body_({loop.count, at.data(), loop.strides.data()});
    for (std::int64_t i = 0; i < loop.count; ++i) {
      walk(at, depth + 1);
      for (std::size_t x = 0; x < at.size(); ++x)
        at[x] = static_cast<char*>(at[x]) + loop.strides[x] * sizes_[x];
    }
  }

 private:
  std::vector<RunLoop> loops_;
  std::vector<std::int64_t> sizes_;
  const std::function<void(const detail::ElementRun&)>& body_;
};

void check_operand(std::string_view operation, const Array& operand, const Array& first) {
  check(operand.valid(), "{}: an operand is an empty Array", operation);
  arrays::check_has_values(operation, operand);
  arrays::check_same_context(operation, operand, "one array", first, "another one");
  const bool is_alike = operand.layout() == first.layout() || operand.layout().equivalent(first.layout());
  check(is_alike, "{}: the layouts differ: {} and {}; redistribute one of them: redistribute(b, a.layout())",
        operation, first.layout().to_string(), operand.layout().to_string());
  const View &a = first.local(), &b = operand.local();
  const bool same = a.data == b.data && a.dtype == b.dtype && a.strides == b.strides;
  check(same || !arrays::overlap(a, b), "{}: an operand overlaps the destination", operation);
}

}  // namespace

void detail::for_each_run(std::string_view operation, std::span<const Array> arrays, bool writes,
                          const std::function<void(const ElementRun&)>& body) {
  const Array& first = arrays.front();
  for (const Array& one : arrays) check_operand(operation, one, first);
  if (writes) arrays::check_written(operation, first);
  if (first.local_size() == 0) return;
  std::vector<Array> parts;
  std::vector<void*> at;
  for (const Array& one : arrays) {
    parts.push_back(arrays::on_host(one));
    at.push_back(parts.back().local().data);
  }
  RunWalk(parts, body).walk(std::move(at));
  Array destination = first;
  if (writes && parts.front().state() != first.state()) copy(parts.front(), destination);
}

}  // namespace partita
