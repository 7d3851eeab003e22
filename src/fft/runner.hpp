// A planned transform with its scratch: what the functions and the object run.
#pragma once

#include <memory>
#include <optional>
#include <partita/fft.hpp>
#include <partita/stream.hpp>

#include "context/context_state.hpp"
#include "execute/executor.hpp"
#include "fft/plan.hpp"

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
  /// check, since it may refuse its arguments. A device's transforms are planned here; those of the host with
  /// the first execution.
  Runner(ContextState& context, const std::function<Request()>& request);

  const Plan& plan() const { return plan_; }
  const Request& request() const { return *request_; }
  Planner planner() const;

  /// Collective, blocking; makes the scratch where there is none.
  void run(const Array& input, const Array& output, double scale);
  /// Puts it into the stream. Throws UnsupportedError, too: an array lies in host memory.
  void enqueue(const Array& input, const Array& output, double scale, Stream stream);
  void prepare();  ///< makes the scratch. Collective
  void release();  ///< frees it. Collective
  std::int64_t workspace_size() const;
  void set_workspace(const Array& workspace);  ///< Collective

 private:
  bool on_device() const;
  FftOptions options_here() const;
  TransformPlan plan_of(int rank) const;
  Parameters parameters(double scale) const;
  void execute(const Array& input, const Array& output, double scale);

  ContextState& context_;
  std::optional<Request> request_;
  Plan plan_;
  std::vector<planning::PacketSteps> packets_;  // of it
  bool grouped_ = false;                        // something carries messages between devices in groups
  double factor_ = 1;
  Array workspace_;
  std::shared_ptr<execution::Executor> bound_;  // graphs may have their share
  std::int64_t local_workspace_bytes_ = 0;      // beside the scratch of the plan
  Array device_input_, device_output_;  // where the caller's lie on the host, and the device transforms
};

/// Throws ArgumentError unless the two are one array where in place, and two otherwise.
void check_aliasing(const Array& input, const Array& output, bool in_place);

}  // namespace partita::fourier
