// A call that the vendor's library of collectives carries out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "collectives/call.hpp"
#include "collectives/runner.hpp"
#include "context/context_state.hpp"
#include "device/run_ahead.hpp"
#include "execute/device/dense_views.hpp"

namespace partita::collective {

/// Holds no share of the context: whoever owns it keeps the context alive.
class LibraryCall final : public Runner {
 public:
  LibraryCall(ContextState& context, const Call& call);

  void run(std::span<const View> views, Stream stream) override;

 private:
  [[noreturn]] void refuse_capture() const;

  ContextState& context_;
  std::string operation_;
  std::uint64_t hash_;
  ByLibrary work_;
  execution::DenseViews dense_;
  std::shared_ptr<devices::RunAhead> ahead_;
};

/// Whether the library is to do this: it is asked for, or sooner done than a plan of ours, as measured
/// (docs/performance.md). `bytes`: of the largest view of any rank. `in_place`: the destination lies on the
/// devices' heap.
bool prefers_library(const ContextState& context, std::string_view operation, std::int64_t bytes,
                     bool in_place);

}  // namespace partita::collective
