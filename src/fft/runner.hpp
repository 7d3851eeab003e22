// A planned transform with its scratch: what the functions and the object run.
#pragma once

#include <memory>
#include <optional>
#include <partita/fft.hpp>

#include "context/context_state.hpp"
#include "execute/executor.hpp"

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

class Runner {
 public:
  /// Plans on every rank, or throws the same error on every rank. Collective. `request` is asked inside the
  /// check, since it may refuse its arguments.
  Runner(ContextState& context, const std::function<Request()>& request);

  const Plan& plan() const { return plan_; }
  const Request& request() const { return *request_; }
  Planner planner() const;

  /// Collective, blocking; makes the scratch where there is none.
  void run(const Array& input, const Array& output, double scale);
  void prepare();  ///< makes the scratch. Collective
  void release();  ///< frees it. Collective
  std::int64_t workspace_size() const;
  void set_workspace(const Array& workspace);  ///< Collective

 private:
  ContextState& context_;
  std::optional<Request> request_;
  Plan plan_;
  double factor_ = 1;
  Array workspace_;
  std::unique_ptr<execution::Executor> bound_;
};

/// Throws ArgumentError unless the two are one array where in place, and two otherwise.
void check_aliasing(const Array& input, const Array& output, bool in_place);

}  // namespace partita::fourier
