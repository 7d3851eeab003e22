// Compute steps as the plan's readers see them: text and cost.
#pragma once

#include <partita/machine.hpp>
#include <partita/plan.hpp>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace partita::planning {

/// The number of terms in each sum of a multiply.
std::int64_t depth_of(const Multiply& work);

/// The work of a compute step; throws ArgumentError where the plan has none of that number.
const Work& work_of(const Plan& plan, const Step& step);

/// What a work does with a part of it; `updated`: both.
enum class Use : std::uint8_t { read, written, updated };

/// Calls visit(part, use) for every part that a work, const or not, uses: its result before all else that it
/// writes.
template <class AnyWork, class Visit>
void for_each_part(AnyWork& work, const Visit& visit) {
  const auto visit_parts = [&]<class One>(One& one) {
    using Kind = std::remove_const_t<One>;
    if constexpr (std::is_same_v<Kind, Multiply>) {
      visit(one.a, Use::read);
      visit(one.b, Use::read);
      visit(one.to, one.beta == Beta::zero ? Use::written : Use::updated);
    } else if constexpr (std::is_same_v<Kind, ApplyEpilogue>) {
      const bool backward = one.activation == Activation::drelu || one.activation == Activation::dgelu;
      visit(one.from, Use::read);
      if (one.has_c) visit(one.c, Use::read);
      if (one.has_bias) visit(one.bias, Use::read);
      if (one.has_scale_a) visit(one.scale_a, Use::read);
      if (one.has_scale_b) visit(one.scale_b, Use::read);
      if (one.has_scale_d) visit(one.scale_d, Use::read);
      visit(one.to, Use::written);
      if (one.has_auxiliary) visit(one.auxiliary, backward ? Use::read : Use::written);
      if (one.has_gradient) visit(one.gradient, Use::updated);
      if (one.has_amax) visit(one.amax, Use::updated);
    } else if constexpr (std::is_same_v<Kind, TransformInto>) {
      visit(one.from, Use::read);
      for (auto& part : one.to) visit(part, Use::written);
      if (one.first) visit(one.first->from, Use::read);
      if (one.first) visit(one.first->to, Use::written);
    } else if constexpr (std::is_same_v<Kind, Twiddle>) {
      visit(one.part, Use::updated);
    } else if constexpr (std::is_same_v<Kind, FactorPanel>) {
      visit(one.panel, Use::updated);
      if (one.kind != Factorization::cholesky) visit(one.pivots, Use::written);
      visit(one.status, Use::written);
    } else if constexpr (std::is_same_v<Kind, ExchangeRows>) {
      visit(one.to, Use::updated);
      visit(one.pivots, Use::read);
    } else if constexpr (std::is_same_v<Kind, TriangularSolve>) {
      visit(one.triangle, Use::read);
      visit(one.to, Use::updated);
    } else if constexpr (std::is_same_v<Kind, ApplyReflectors>) {
      visit(one.reflectors, Use::read);
      visit(one.factors, Use::read);
      visit(one.to, Use::updated);
    } else if constexpr (std::is_same_v<Kind, ChooseRows>) {
      visit(one.from, Use::read);
      visit(one.chosen, Use::written);
    } else if constexpr (std::is_same_v<Kind, PivotsOfRows>) {
      visit(one.numbers, Use::read);
      visit(one.pivots, Use::written);
    } else if constexpr (std::is_same_v<Kind, MoveRows>) {
      visit(one.pivots, Use::read);
      visit(one.matrix, one.packs ? Use::read : Use::updated);
      visit(one.packed, one.packs ? Use::updated : Use::read);
      visit(one.bytes, Use::written);
    } else if constexpr (std::is_same_v<Kind, Transform>) {
      visit(one.to, Use::written);  // first: it is where the work is said to go
      visit(one.from, one.overwrites ? Use::updated : Use::read);
    } else {
      visit(one.from, Use::read);
      visit(one.to, Use::updated);
    }
  };
  std::visit(visit_parts, work);
}

/// What the first and the last element of a line are multiplied by; both where they are one element.
struct LineEnds {
  double first = 1;
  double last = 1;
  friend bool operator==(const LineEnds&, const LineEnds&) = default;
};
/// Of orthogonal cosine and sine transforms: before and after the transform as FFTW has it.
LineEnds ends_before(TransformKind kind);
LineEnds ends_after(TransformKind kind);

/// The parts that the compute steps read in place in the memory of other ranks, each once however often it is
/// read.
std::vector<Part> parts_read_from_peers(const Plan& plan);

/// Bytes that a work writes into the memory of other ranks.
std::int64_t bytes_written_to_peers(const Plan& plan, const Work& work);
/// What transforms of a plan put into several ranks' memory.
struct PutToPeers {
  double share = 0;  ///< the largest share of one's results that is stored on peers
  int last = -1;     ///< work, of those transforms
};
PutToPeers put_to_peers(const Plan& plan);

/// "multiply [0,4)x[0,8) of a of rank 1 by ... into d of rank 0".
std::string describe_work(const Plan& plan, const Step& step);

/// The dtype of the data at a place: of its array, otherwise of the scratch, otherwise of the plan's first
/// operand.
Dtype dtype_at(const Plan& plan, const Place& place);

/// The value of beta in an execution.
std::complex<double> beta_of(Beta beta, const Parameters& parameters);

/// Seconds of a compute step on one rank of the machine: those of its operations at the machine's rate, no
/// less than what it reads and writes takes to pass between memory and cores.
double compute_seconds(const Plan& plan, const Step& step, const Machine& machine);

}  // namespace partita::planning
