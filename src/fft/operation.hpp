// A transform that is planned and bound: what the functions and the object run.
#pragma once

#include <functional>
#include <optional>
#include <partita/fft.hpp>

#include "execute/operation.hpp"

namespace partita::fourier {

/// What a transform is planned from, the same on every rank.
struct Request {
  Operand input;
  Operand output;
  FftOptions options;
  bool in_place = false;
};

/// Into a new array on the heap, laid out as the options say.
Request into_new(const ContextState& context, const Operand& input, const FftOptions& options);

/// Uses: the input, the output. A device's transforms are planned when it is made; those of the host with the
/// first execution, which allocates the scratch.
class Transformation final : public execution::Operation {
 public:
  /// `request` may refuse its arguments, so it is called inside the check.
  Transformation(ContextState& context, std::function<Request()> request);

  const Request& request() const { return *request_; }
  /// Times `scale`; see Operation::run.
  void run(const Array& input, const Array& output, double scale, const std::optional<Stream>& stream);

 private:
  std::vector<Fact> prepare() override;
  execution::Planned plan_of(int rank) const override;
  void before_binding() override;
  bool binds_late() const override { return !on_device(); }
  FftOptions options_here() const;

  std::function<Request()> ask_;
  std::optional<Request> request_;
  double factor_ = 1;
};

/// Throws ArgumentError unless the two are one array where in place, and two otherwise.
void check_aliasing(const Array& input, const Array& output, bool in_place);

}  // namespace partita::fourier
