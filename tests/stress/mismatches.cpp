// One rank calls something else than the others: no rank hangs, none continues as if all were well; all are
// notified of what it was.
#include <deque>
#include <numeric>
#include <partita/error.hpp>
#include <partita/fft.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>

#include "stress/collective_call.hpp"
#include "stress/random_collective.hpp"
#include "stress/turn.hpp"
#include "support/models/any_memory.hpp"
#include "support/models/array_model.hpp"
#include "support/models/random_redistribution.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

/// A call that all ranks may make, with its memory behind it.
struct Call {
  std::string text;
  std::function<void()> make;
};

/// Everything that a mismatch may be made of, once for each turn. Collective.
class Calls {
 public:
  explicit Calls(Turn& turn) : turn_(turn), memory_(usual_memory(turn.context)) {
    const CollectiveCall call = random_collective(turn.random, turn.context.size());
    add(call);
    add_neighbours(call);
    add_redistributions();
    if (!turn.on_device()) add_computations();
  }
  const Call& operator[](std::size_t i) const { return calls_[i]; }
  std::size_t size() const { return calls_.size(); }

 private:
  void add(const CollectiveCall& call) {
    const int rank = turn_.context.rank();
    Block& source = blocks_.emplace_back(turn_.context, call.dtype, call.source_shape(rank), memory_);
    Block& destination =
        blocks_.emplace_back(turn_.context, call.dtype, call.destination_shape(rank), memory_);
    source.set([](const Index&) { return Number(1); });
    destination.set([](const Index&) { return Number(1); });
    const View from = call.has_source(rank) ? source.view() : View{};
    const View to = call.has_destination(rank) ? destination.view() : View{};
    calls_.push_back({call.text(), [=, this] { call(turn_.context, from, to, turn_.stream); }});
  }

  /// One fact of the call is another.
  void add_neighbours(const CollectiveCall& call) {
    using Kind = CollectiveCall::Kind;
    const bool joins = call.kind == Kind::reduce || call.kind == Kind::all_reduce ||
                       call.kind == Kind::scan || call.kind == Kind::reduce_scatter;
    const bool rooted = call.kind == Kind::broadcast || call.kind == Kind::reduce ||
                        call.kind == Kind::gather || call.kind == Kind::scatter;
    CollectiveCall other = call;
    if (joins) {
      other.options.reduction =
          call.options.reduction == Reduction::max || !is_defined(Reduction::max, call.dtype)
              ? reductions_of(call.dtype).front()
              : Reduction::max;
      if (other.options.reduction != call.options.reduction) add(other);
    }
    other = call;
    other.root = (call.root + 1) % call.ranks;
    if (rooted) add(other);
    other = call;
    other.scanned = call.scanned == Scan::inclusive ? Scan::exclusive : Scan::inclusive;
    if (call.kind == Kind::scan) add(other);
    other = call;
    other.dtype = call.dtype == Dtype::i32 ? Dtype::f32 : Dtype::i32;
    other.options.reduction = Reduction::sum;
    add(other);
    other = call;
    for (std::int64_t& count : other.counts) ++count;
    add(other);
    other = random_collective(turn_.random, call.ranks);
    if (other.kind == call.kind) other.kind = call.kind == Kind::scan ? Kind::all_gather : Kind::scan;
    other.uneven = other.uneven && other.kind >= Kind::gather;
    add(other);
  }

  void add_redistributions() {
    const Shape shape{turn_.random.number(20, 60), turn_.random.number(20, 60)};
    const int ranks = turn_.context.size();
    const std::array layouts{Layout(Slab(0), shape, ranks), Layout(Slab(1), shape, ranks),
                             Layout(BlockCyclic({ranks, 1}, {2, 3}), shape, ranks)};
    for (const Layout& layout : layouts) {
      arrays_.push_back(make_array(turn_.context, layout, Dtype::f32, turn_.random.number(0, 2)));
      write_known(arrays_.back().array);
    }
    for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0), std::pair(2, 1)}) {
      const Array source = arrays_[static_cast<std::size_t>(from)].array;
      Array destination = arrays_[static_cast<std::size_t>(to)].array;
      RedistributeOptions options;
      if (may_pull(turn_.context) && source.operand().residency == Residency::ordinary)
        options.method = RedistributeMethod::pulled;
      Redistribute& plan =
          plans_.emplace_back(turn_.context, source.operand(), destination.operand(), options);
      calls_.push_back({fmt::format("an object's redistribution, {} -> {}", source.layout().to_string(),
                                    destination.layout().to_string()),
                        [=, this, &plan]() mutable {
                          turn_.on_device() ? plan.execute(source, destination, turn_.stream)
                                            : plan.execute(source, destination);
                        }});
    }
  }

  void add_computations() {
    Array square = empty(turn_.context, {12, 12}, Slab(0), Dtype::c128);
    Array result = empty(turn_.context, {12, 12}, Slab(1), Dtype::c128);
    write_known(square);
    for (const Op op : {Op::none, Op::transpose}) {
      calls_.push_back({fmt::format("matmul, op {}", static_cast<int>(op)),
                        [=]() mutable { matmul_into(square, square, nullptr, result, {.op_b = op}); }});
    }
    const auto plan = std::make_shared<FFT>(turn_.context, square.operand());
    calls_.push_back({"fft", [=]() mutable { plan->execute(square, square); }});
    Array spectrum = empty(turn_.context, {12, 12}, Slab(0), Dtype::c128);
    calls_.back().make = [=]() mutable { plan->execute(square, spectrum); };
    calls_.push_back({"fft, inverse", [=]() mutable { plan->inverse(spectrum, square); }});
  }

  Turn& turn_;
  Memory memory_;
  std::deque<Block> blocks_;
  std::deque<Wrapped> arrays_;
  std::deque<Redistribute> plans_;
  std::vector<Call> calls_;
};

/// Between nodes no rank sees what the others are in unless their messages meet: then the deadline ends it,
/// with the rank that waited longest or by what that one has said.
bool may_pass_the_deadline(const Turn& turn, const std::string& text) {
  return turn.context.topology().node_count() > 1 && text.find(" waited ") != std::string::npos;
}

/// What was thrown: the class and its text; empty: nothing.
std::string thrown(const std::function<void()>& body, bool& disagreement) {
  try {
    body();
  } catch (const DisagreementError& error) {
    disagreement = true;
    return error.what();
  } catch (const Error& error) {
    return fmt::format("{}: {}", typeid(error).name(), error.what());
  }
  return "";
}

}  // namespace

After mismatches(Turn& turn) {
  const int ranks = turn.context.size();
  if (ranks == 1) return After::goes_on;
  Calls calls(turn);
  const int last = static_cast<int>(calls.size()) - 1;
  const int usual = turn.random.number(0, last);
  const int other = (usual + turn.random.number(1, last)) % (last + 1);
  const int odd = turn.random.number(0, ranks - 1);
  const bool cached = turn.random.maybe(0.7);
  turn.call =
      fmt::format("mismatch{}: rank {}: {}; all others: {}", cached ? ", both known" : "", odd,
                  calls[static_cast<std::size_t>(other)].text, calls[static_cast<std::size_t>(usual)].text);
  if (cached) {
    for (int i = 0; i < 2; ++i) {
      calls[static_cast<std::size_t>(usual)].make();
      calls[static_cast<std::size_t>(other)].make();
    }
    turn.context.synchronize(turn.stream);
  }
  turn.context.barrier();
  const auto start = std::chrono::steady_clock::now();
  bool told = false;
  const std::string text = thrown(
      [&] {
        calls[static_cast<std::size_t>(turn.context.rank() == odd ? other : usual)].make();
        turn.context.synchronize(turn.stream);
        turn.context.barrier();  // a rank that has sent its messages has done its part, and is notified here
      },
      told);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  turn.expect(!text.empty(), "nothing was thrown");
  if (may_pass_the_deadline(turn, text)) return After::ends;
  turn.expect(told, "not as a disagreement: " + text);
  // 2 s is the promise; the machine may be busy with other tests.
  turn.expect(took < 10s, fmt::format("told after {:.1f} s: {}", took.count(), text));
  if (turn.context.failed()) return After::ends;
  // Found out while planning: the context can still be used, on all ranks alike.
  turn.context.barrier();
  return After::goes_on;
}

}  // namespace partita::testing
