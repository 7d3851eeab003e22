// A run on numbers: compute steps are carried out by the definitions of work.hpp.
#pragma once

#include <complex>
#include <limits>

#include "plan/verify/execution.hpp"

namespace partita::verification {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

/// What was never written is NaN.
struct NumberCell {
  Number value{std::numeric_limits<double>::quiet_NaN(), 0};
};

class NumericExecution final : public ExecutionOn<NumberCell> {
 public:
  NumericExecution(const Plans& plans, Pace pace, Faults& faults, const Parameters& parameters)
      : ExecutionOn(plans, pace, faults), plans_(plans), parameters_(parameters) {}

  /// The numbers of a part, in row-major order; does not count as an access of a rank. `item`: bytes
  /// of an element; 0: of the dtype that works read at this place.
  Numbers load(const Part& part, std::int64_t item = 0) const;
  void store(const Part& part, const Numbers& numbers, std::int64_t item = 0);

 private:
  void run_local(int rank, const Step& step) override;
  void move(const Step& step);
  std::vector<std::int64_t> slots(const Part& part, std::int64_t item) const;
  Numbers read(const Part& part, std::int64_t item = 0) const;
  void write(const Part& part, const Numbers& numbers, std::int64_t item = 0);

  void compute(const Multiply& work);
  void compute(const ApplyEpilogue& work);
  void compute(const SumAlong& work);
  void compute(const Transform& work);
  void compute(const TransformInto& work);
  void compute(const Twiddle& work);
  void compute(const FactorPanel& work);
  void compute(const ExchangeRows& work);
  void compute(const TriangularSolve& work);
  void compute(const ApplyReflectors& work);
  void compute(const ChooseRows& work);
  void compute(const PivotsOfRows& work);
  void compute(const MoveRows& work);

  const Plans& plans_;
  Parameters parameters_;
  int rank_ = 0;  // whose step is run
};

}  // namespace partita::verification
