// Runs the plans of all ranks on numbers in one thread, compute steps included, in a random interleaving.
// What was never written is NaN. An operand holds its values only between the first and the last step of its
// rank: who reads it before its rank has said so, or after its rank was told that all have finished, reads
// NaN.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <partita/plan.hpp>
#include <random>
#include <string>
#include <vector>

namespace partita::testing {

class NumericInterpreter {
 public:
  using Number = std::complex<double>;
  using Memory = std::vector<Number>;
  using Hook = std::function<void(int rank)>;

  NumericInterpreter(const Planner& planner, int ranks, std::uint64_t seed, const Parameters& parameters = {})
      : random_(seed), parameters_(parameters) {
    for (int rank = 0; rank < ranks; ++rank) plans_.push_back(planner(rank));
    states_.resize(plans_.size());
    for (std::size_t r = 0; r < plans_.size(); ++r) allocate(r);
  }

  static Number poison() { return {std::numeric_limits<double>::quiet_NaN(), 0}; }
  const Plan& plan(int rank) const { return plans_[static_cast<std::size_t>(rank)]; }
  Memory& memory(int buffer, int rank) { return states_.at(index(rank)).memory.at(index(buffer)); }

  /// value(at) for every element that the rank holds of an operand.
  void write(int buffer, int rank, const std::function<Number(const Index&)>& value) {
    const Layout& layout = plan(rank).buffers.at(index(buffer)).operand->layout;
    const Region region = layout.region(rank);
    Access access = access_to(plan(rank), {{region}, {buffer, rank, 0, {}}});
    for_each(region, [&](const Index& at) { access(at) = value(at); });
  }
  Number read(int buffer, int rank, const Index& at) {
    const Region region = plan(rank).buffers.at(index(buffer)).operand->layout.region(rank);
    return access_to(plan(rank), {region, {buffer, rank, 0, {}}})(at);
  }

  template <class Visit>
  static void for_each(const Region& region, Visit visit) {
    if (region.empty()) return;
    const Shape shape = region.shape();
    const std::int64_t size = volume(shape);
    for (std::int64_t i = 0; i < size; ++i) {
      Index at = shape;
      std::int64_t rest = i;
      for (int d = shape.size() - 1; d >= 0; rest /= shape[d--]) {
        at[d] = region.sets[static_cast<std::size_t>(d)].at(rest % shape[d]);
      }
      visit(at);
    }
  }

  /// Empty: all went well. `begin` and `end` are called where a rank enters and leaves its plan.
  std::string run(const Hook& begin, const Hook& end) {
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      if (plans_[r].steps.empty()) begin(static_cast<int>(r));
    }
    while (fault_.empty()) {
      std::vector<std::size_t> able;
      for (std::size_t r = 0; r < plans_.size(); ++r) {
        if (!ended(r) && can_step(r)) able.push_back(r);
      }
      if (able.empty() || random_() % 8 == 0) {
        if (deliver_message()) continue;
        if (able.empty()) break;
      }
      const std::size_t r = able[random_() % able.size()];
      const std::uint64_t burst = 1 + random_() % 16;
      for (std::uint64_t i = 0; i < burst && fault_.empty() && !ended(r) && can_step(r); ++i) {
        if (states_[r].next == 0) begin(static_cast<int>(r));
        step(r);
        if (ended(r)) end(static_cast<int>(r));
      }
    }
    for (std::size_t r = 0; r < plans_.size() && fault_.empty(); ++r) check_end(r);
    if (fault_.empty() && !open_.empty()) fault_ = "a message was never sent or received";
    return fault_;
  }

 private:
  struct State {
    std::vector<Memory> memory;
    std::size_t next = 0;
    std::map<int, bool> complete;  // of messages, by step
    std::map<int, bool> awaited;
    std::map<std::pair<int, int>, std::int64_t> signals;
    std::map<std::pair<int, int>, std::int64_t> waited;
  };
  struct Pair {
    std::deque<int> sends;
    std::deque<int> receives;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  static Dtype dtype_of_buffer(const Plan& plan, int buffer) {
    const Buffer& of = plan.buffers.at(index(buffer));
    if (of.operand) return of.operand->dtype;
    return of.dtype.value_or(plan.buffers.front().operand->dtype);
  }
  static std::int64_t element(const Plan& plan, int buffer, std::int64_t bytes) {
    return bytes / size_of(dtype_of_buffer(plan, buffer));
  }

  void allocate(std::size_t r) {
    const Plan& plan = plans_[r];
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      const Buffer& buffer = plan.buffers[b];
      const std::int64_t elements = buffer.kind == BufferKind::operand
                                        ? buffer.operand->layout.local_size(static_cast<int>(r))
                                        : element(plan, static_cast<int>(b), buffer.bytes);
      states_[r].memory.emplace_back(static_cast<std::size_t>(elements), poison());
    }
  }

  /// The elements of a part; complains of what may not be touched.
  struct Access {
    NumericInterpreter* machine;
    Memory* memory;
    std::vector<IndexSet> sets;
    Strides strides;
    std::int64_t first = 0;

    Number& operator()(const Index& at) const {
      static Number nowhere;
      std::int64_t where = first;
      for (int d = 0; d < at.size(); ++d) {
        const IndexSet& set = sets[index(d)];
        if (!set.contains(at[d])) {
          machine->fault_ = "an element is not where the plan says";
          return nowhere;
        }
        where += set.position(at[d]) * strides[d];
      }
      if (where < 0 || where >= static_cast<std::int64_t>(memory->size())) {
        machine->fault_ = "a place is outside its buffer";
        return nowhere;
      }
      return (*memory)[static_cast<std::size_t>(where)];
    }
  };

  Access access_to(const Plan& plan, const Part& part) {
    const Place& place = part.place;
    check_place(plan, place);
    const Buffer& buffer = plan.buffers.at(index(place.buffer));
    Access access{this, &memory(place.buffer, place.rank), part.region.sets, {}, 0};
    if (buffer.operand) {
      Operand dense = *buffer.operand;
      dense.dense = true;
      access.sets = dense.layout.region(place.rank).sets;
      access.strides = dense.local_strides(place.rank);
      return access;
    }
    access.first = element(plan, place.buffer, place.offset);
    access.strides = Extents::filled(static_cast<int>(access.sets.size()), 1);
    if (place.axis_order.size() != access.strides.size()) fault_ = "a packed place without an order";
    std::int64_t step = 1;
    for (int i = place.axis_order.size() - 1; i >= 0; --i) {
      const auto dimension = static_cast<int>(place.axis_order[i]);
      access.strides[dimension] = step;
      step *= access.sets[index(dimension)].size();
    }
    return access;
  }

  void check_place(const Plan& plan, const Place& place) {
    if (place.rank == plan.rank) return;
    const Buffer& buffer = plan.buffers.at(index(place.buffer));
    if (!plan.topology.same_node(place.rank, plan.rank)) fault_ = "memory of another node is touched";
    if (buffer.kind == BufferKind::scratch) fault_ = "private scratch of a peer is touched";
    if (buffer.kind == BufferKind::operand &&
        (buffer.operand->residency != Residency::heap || !buffer.operand->dense)) {
      fault_ = "an operand that is not dense on the heap is touched by a peer";
    }
    const std::size_t peer = index(place.rank);
    if (states_[peer].next == 0 || ended(peer)) fault_ = "a peer's memory is touched outside its plan";
  }

  bool ended(std::size_t r) const { return states_[r].next == plans_[r].steps.size(); }

  bool can_step(std::size_t r) const {
    const Step& step = plans_[r].steps[states_[r].next];
    for (const int message : step.after) {
      const auto found = states_[r].complete.find(message);
      if (found == states_[r].complete.end() || !found->second) return false;
    }
    if (step.kind != StepKind::wait) return true;
    const auto found = states_[r].signals.find({step.peer, step.channel});
    return found != states_[r].signals.end() && found->second >= step.count;
  }

  void check_end(std::size_t r) {
    const std::string who = "rank " + std::to_string(r);
    if (!ended(r)) fault_ = who + " is stuck at step " + std::to_string(states_[r].next);
    if (states_[r].signals != states_[r].waited) fault_ = who + " did not wait for all of its signals";
    for (const auto& [message, complete] : states_[r].complete) {
      if (!complete || !states_[r].awaited[message]) fault_ = who + " did not finish a message";
    }
  }

  void step(std::size_t r) {
    State& state = states_[r];
    const auto number = static_cast<int>(state.next);
    const Plan& plan = plans_[r];
    const Step& step = plan.steps[state.next];
    const int rank = static_cast<int>(r);
    for (const int message : step.after) state.awaited[message] = true;
    ++state.next;
    const bool was_last = ended(r);
    if (was_last) --state.next;  // inside its plan until the step is done
    switch (step.kind) {
      case StepKind::signal:
        ++states_[index(step.peer)].signals[{rank, step.channel}];
        break;
      case StepKind::wait:
        state.waited[{step.peer, step.channel}] = step.count;
        break;
      case StepKind::send:
        state.complete[number] = false;
        open_[{rank, step.peer}].sends.push_back(number);
        break;
      case StepKind::receive:
        state.complete[number] = false;
        open_[{step.peer, rank}].receives.push_back(number);
        spoil(step, rank);
        break;
      case StepKind::copy:
      case StepKind::accumulate:
      case StepKind::fill:
        move(plan, step);
        break;
      case StepKind::compute:
        compute(plan, plan.works.at(index(step.work)));
        break;
      case StepKind::finish:
        break;
    }
    if (was_last) ++state.next;
  }

  void spoil(const Step& receive, int rank) {
    const Plan& plan = this->plan(rank);
    Memory& to = memory(receive.to.buffer, rank);
    const std::int64_t first = element(plan, receive.to.buffer, receive.to.offset);
    const std::int64_t count = element(plan, receive.to.buffer, receive.bytes);
    if (first + count > static_cast<std::int64_t>(to.size())) {
      fault_ = "a message outside its scratch";
      return;
    }
    std::fill_n(to.begin() + first, count, poison());
  }

  void move(const Plan& plan, const Step& step) {
    const Access to = access_to(plan, {step.region, step.to});
    if (step.kind == StepKind::fill) return for_each(step.region, [&](const Index& at) { to(at) = 0; });
    const Access from = access_to(plan, {step.region, step.from});
    for_each(step.region,
             [&](const Index& at) { to(at) = step.kind == StepKind::copy ? from(at) : to(at) + from(at); });
  }

  // The oldest message of a random pair that has been posted at both ends: its bytes move only now.
  bool deliver_message() {
    std::vector<std::pair<int, int>> both;
    for (const auto& [key, pair] : open_) {
      if (!pair.sends.empty() && !pair.receives.empty()) both.push_back(key);
    }
    if (both.empty()) return false;
    const auto [giver, taker] = both[random_() % both.size()];
    Pair& pair = open_[{giver, taker}];
    const Step& send = plan(giver).steps[index(pair.sends.front())];
    const Step& receive = plan(taker).steps[index(pair.receives.front())];
    if (send.bytes != receive.bytes || send.bytes <= 0) fault_ = "a message and its receive differ in size";
    const Memory& from = memory(send.from.buffer, giver);
    Memory& to = memory(receive.to.buffer, taker);
    const std::int64_t first = element(plan(giver), send.from.buffer, send.from.offset);
    const std::int64_t count = element(plan(giver), send.from.buffer, send.bytes);
    if (first + count > static_cast<std::int64_t>(from.size())) fault_ = "a message from outside its scratch";
    if (!fault_.empty()) return true;
    std::copy_n(from.begin() + first, count,
                to.begin() + element(plan(taker), receive.to.buffer, receive.to.offset));
    states_[index(giver)].complete[pair.sends.front()] = true;
    states_[index(taker)].complete[pair.receives.front()] = true;
    pair.sends.pop_front();
    pair.receives.pop_front();
    if (pair.sends.empty() && pair.receives.empty()) open_.erase({giver, taker});
    return true;
  }

  // --- works, straight from work.hpp

  void compute(const Plan& plan, const Work& work) {
    if (const auto* multiply = std::get_if<Multiply>(&work)) return run_work(plan, *multiply);
    if (const auto* epilogue = std::get_if<ApplyEpilogue>(&work)) return run_work(plan, *epilogue);
    if (const auto* sum = std::get_if<SumAlong>(&work)) return run_work(plan, *sum);
    fault_ = "a work that this interpreter does not know";
  }

  static Index matrix_index(const Index& at, int dimensions, std::int64_t row, std::int64_t column) {
    Index result;
    for (int d = 0; d < dimensions - 2; ++d) result.push_back(at[d]);
    result.push_back(row);
    result.push_back(column);
    return result;
  }

  void run_work(const Plan& plan, const Multiply& work) {
    const Access a = access_to(plan, work.a);
    const Access b = access_to(plan, work.b);
    const Access to = access_to(plan, work.to);
    const Region& of_a = work.a.region;
    const Region& of_b = work.b.region;
    const IndexSet& k = of_a.sets.back();
    const std::size_t batches = work.to.region.sets.size() - 2;
    if (!(of_b.sets[of_b.sets.size() - 2] == k) || !(of_b.sets.back() == work.to.region.sets[batches + 1]) ||
        !(of_a.sets[of_a.sets.size() - 2] == work.to.region.sets[batches])) {
      fault_ = "the parts of a multiply do not fit";
      return;
    }
    const Number alpha = work.scaled ? parameters_.alpha : 1;
    for_each(work.to.region, [&](const Index& at) {
      const std::int64_t i = at[at.size() - 2];
      const std::int64_t j = at[at.size() - 1];
      Number sum = 0;
      for (std::int64_t p = 0; p < k.size(); ++p) {
        const Number x = a(matrix_index(at, static_cast<int>(of_a.sets.size()), i, k.at(p)));
        const Number y = b(matrix_index(at, static_cast<int>(of_b.sets.size()), k.at(p), j));
        sum += (work.conjugate_a ? std::conj(x) : x) * (work.conjugate_b ? std::conj(y) : y);
      }
      const Number beta = work.beta == Beta::zero ? 0 : work.beta == Beta::one ? 1 : parameters_.beta;
      Number& result = to(at);
      result = alpha * sum + (beta == Number(0) ? Number(0) : beta * result);
    });
  }

 public:
  static double activate(Activation activation, double x, double auxiliary) {
    const double root = std::sqrt(2 / std::acos(-1.0));
    switch (activation) {
      case Activation::identity:
        return x;
      case Activation::relu:
        return std::max(x, 0.0);
      case Activation::gelu:
        return x / 2 * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
      case Activation::drelu:
        return auxiliary > 0 ? x : 0;
      case Activation::dgelu: {
        const double y = auxiliary;
        const double t = std::tanh(root * (y + 0.044715 * y * y * y));
        return x * (0.5 * (1 + t) + y / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * y * y));
      }
    }
    return x;
  }

 private:
  void run_work(const Plan& plan, const ApplyEpilogue& work) {
    const Access from = access_to(plan, work.from);
    const Access to = access_to(plan, work.to);
    for_each(work.to.region, [&](const Index& at) {
      Number x = from(at);
      if (work.has_c && parameters_.beta != Number(0)) x += parameters_.beta * access_to(plan, work.c)(at);
      const auto along = [&](bool rows) { return Index{at[at.size() - (rows ? 2 : 1)]}; };
      if (work.has_bias) x += access_to(plan, work.bias)(along(work.bias_along_rows));
      const bool backward = work.activation == Activation::drelu || work.activation == Activation::dgelu;
      double auxiliary = 0;
      if (work.has_auxiliary && backward) auxiliary = access_to(plan, work.auxiliary)(at).real();
      if (work.has_auxiliary && !backward) access_to(plan, work.auxiliary)(at) = x;
      if (work.activation != Activation::identity) x = activate(work.activation, x.real(), auxiliary);
      to(at) = x;
      if (work.has_gradient) access_to(plan, work.gradient)(along(work.gradient_along_rows)) += x;
    });
  }

  void run_work(const Plan& plan, const SumAlong& work) {
    const Access from = access_to(plan, work.from);
    const Access to = access_to(plan, work.to);
    for_each(work.from.region, [&](const Index& at) { to(Index{at[work.axis]}) += from(at); });
  }

  std::mt19937_64 random_;
  Parameters parameters_;
  std::vector<Plan> plans_;
  std::vector<State> states_;
  std::map<std::pair<int, int>, Pair> open_;
  std::string fault_;
};

}  // namespace partita::testing
