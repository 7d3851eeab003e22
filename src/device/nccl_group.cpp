#include "device/nccl_group.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "cuda/driver.hpp"
#include "cuda/stream.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/rank_list.hpp"

namespace partita::devices {

NcclGroup::NcclGroup(DeviceRuntime& state)
    : state_(state),
      library_(NcclLibrary::of_process()),
      device_(state.device->physical().index()),
      rank_(state.rank()) {}

std::string NcclGroup::name() const {
  return fmt::format("NCCL {}.{}.{}", library_.version / 10000, library_.version / 100 % 100,
                     library_.version % 100);
}

bool NcclGroup::reduces(Dtype dtype, Reduction reduction) const {
  return nccl_reducing(0, dtype, reduction).has_value();
}

template <class Call>
void NcclGroup::enqueue(std::string_view operation, Stream stream, Call&& call) {
  constexpr int launches = 4;  // about: a library may take several
  state_.device->launching(stream_or_own(state_, stream), launches);
  int result = nccl_in_progress;
  std::string why;
  const auto with_lock = [&](auto&& act) {
    const std::lock_guard lock(mutex_);
    state_.require_alive(operation);
    check<Error>(communicator_ != nullptr, "{}: NCCL has been aborted", operation);
    entered_ = Clock::now();
    result = act();
    entered_ = Clock::time_point::max();
    if (result != nccl_success && result != nccl_in_progress) why = text_of(operation, result);
    return result != nccl_in_progress;
  };
  if (!with_lock([&] { return call(communicator_); })) {
    runtime::wait_until(state_, waiting(operation),
                        [&] { return with_lock([&] { return state_of_communicator(); }); });
  }
  if (result == nccl_success) return;
  state_.require_alive(operation);                       // else it is the abort that NCCL speaks of
  state_.fail_beside({runtime::ErrorKind::error, why});  // also by a thread that the rank's own waits for
  throw Error(why);
}

int NcclGroup::state_of_communicator() const {
  int result = nccl_success;
  const int asked = library_.async_error(communicator_, &result);
  return asked == nccl_success ? result : asked;
}

std::string NcclGroup::text_of(std::string_view operation, int result) const {
  const char* const more = library_.last_error(communicator_);
  return fmt::format("{}: {}: {}{}{}", operation, name(), library_.error_string(result),
                     more == nullptr || *more == '\0' ? "" : ": ", more == nullptr ? "" : more);
}

void NcclGroup::broadcast(const void* from, void* to, std::int64_t bytes, int root, Stream stream) {
  if (bytes == 0) return;
  enqueue("broadcast", stream, [&](NcclCommunicator communicator) {
    return library_.broadcast(from, to, static_cast<std::size_t>(bytes), NcclType::u8, root, communicator,
                              native(stream));
  });
}

void NcclGroup::reduce(const void* from, void* to, std::int64_t count, Dtype dtype, Reduction reduction,
                       int root, Stream stream) {
  if (count == 0) return;
  const NcclReducing what = nccl_reducing(count, dtype, reduction).value();
  enqueue("reduce", stream, [&](NcclCommunicator communicator) {
    return library_.reduce(from, to, what.count, what.type, what.operation, root, communicator,
                           native(stream));
  });
}

void NcclGroup::all_reduce(const void* from, void* to, std::int64_t count, Dtype dtype, Reduction reduction,
                           Stream stream) {
  if (count == 0) return;
  const NcclReducing what = nccl_reducing(count, dtype, reduction).value();
  enqueue("all_reduce", stream, [&](NcclCommunicator communicator) {
    return library_.all_reduce(from, to, what.count, what.type, what.operation, communicator, native(stream));
  });
}

void NcclGroup::all_gather(const void* from, void* to, std::int64_t bytes, Stream stream) {
  if (bytes == 0) return;
  enqueue("all_gather", stream, [&](NcclCommunicator communicator) {
    return library_.all_gather(from, to, static_cast<std::size_t>(bytes), NcclType::u8, communicator,
                               native(stream));
  });
}

void NcclGroup::reduce_scatter(const void* from, void* to, std::int64_t count, Dtype dtype,
                               Reduction reduction, Stream stream) {
  if (count == 0) return;
  const NcclReducing what = nccl_reducing(count, dtype, reduction).value();
  enqueue("reduce_scatter", stream, [&](NcclCommunicator communicator) {
    return library_.reduce_scatter(from, to, what.count, what.type, what.operation, communicator,
                                   native(stream));
  });
}

/// The rank's own part is sent with the others: a separate copy on the stream would precede or follow
/// them.
void NcclGroup::exchange(std::span<const Part> sent, std::span<const Part> received, Stream stream) {
  check_own(sent, received);
  const auto has_bytes = [](const Part& part) { return part.bytes > 0; };
  if (std::ranges::none_of(sent, has_bytes) && std::ranges::none_of(received, has_bytes)) return;
  enqueue("exchange", stream,
          [&](NcclCommunicator) { return send_and_receive(sent, received, native(stream)); });
}

/// Else NCCL would wait for itself.
void NcclGroup::check_own(std::span<const Part> sent, std::span<const Part> received) const {
  const auto is_own = [&](const Part& part) { return part.peer == rank_; };
  auto to = std::ranges::find_if(received, is_own);
  for (const Part& from : sent) {
    if (!is_own(from)) continue;
    check(to != received.end() && to->bytes == from.bytes,
          "exchange: rank {} sends to itself but does not receive it", rank_);
    to = std::find_if(to + 1, received.end(), is_own);
  }
  check(to == received.end(), "exchange: rank {} receives from itself but does not send it", rank_);
}

/// The first error is the result, but a group that has been started must end.
int NcclGroup::send_and_receive(std::span<const Part> sent, std::span<const Part> received,
                                void* stream) const {
  int result = library_.group_start();
  if (result != nccl_success) return result;
  const auto note = [&](int next) {
    if (result == nccl_success && next != nccl_in_progress) result = next;
  };
  for (const Part& part : sent) {
    if (part.bytes == 0) continue;
    note(library_.send(part.data, static_cast<std::size_t>(part.bytes), NcclType::u8, part.peer,
                       communicator_, stream));
  }
  for (const Part& part : received) {
    if (part.bytes == 0) continue;
    note(library_.receive(part.data, static_cast<std::size_t>(part.bytes), NcclType::u8, part.peer,
                          communicator_, stream));
  }
  const int end = library_.group_end();
  return result == nccl_success ? end : result;
}

void* NcclGroup::native(Stream stream) const {
  return stream_or_own(state_, stream).handle;
}

runtime::WaitReason NcclGroup::waiting(std::string_view operation) const {
  return {operation, [] { return std::string("NCCL"); }, -1, [this] { return state_.others(); }};
}

// A call that waits in NCCL for a peer has the lock, and returns when another thread calls NCCL's abort
// (NCCL's user guide, "Fault Tolerance").
void NcclGroup::abort() noexcept {
  using namespace std::chrono_literals;
  const std::unique_lock lock(mutex_, 500ms);
  const NcclCommunicator mine = communicator_.exchange(nullptr);
  if (mine == nullptr) return;
  const cuda::CudaBesideCaptures unharmed;
  cudaSetDevice(device_);
  library_.abort(mine);
}

std::string NcclGroup::failed() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return overdue();
  if (communicator_ == nullptr) return "";
  const int result = state_of_communicator();
  return result == nccl_success || result == nccl_in_progress ? "" : text_of("collectives", result);
}

std::string NcclGroup::overdue() const {
  const Clock::time_point entered = entered_;
  const auto deadline = state_.options.deadline;
  if (entered == Clock::time_point::max() || Clock::now() - entered < deadline) return "";
  return fmt::format("{} has blocked a call of rank {} for {:g} s, waiting for {}", name(), rank_,
                     static_cast<double>(deadline.count()) / 1000.0, runtime::rank_list(state_.others()));
}

NcclGroup::~NcclGroup() {
  if (!state_.failed()) finish();
  abort();
}

/// Peers may still use memory that belongs to this rank's communicator: all finish together where they do so
/// in time. Else a thread is left behind that waits for them.
void NcclGroup::finish() noexcept {
  using namespace std::chrono_literals;
  constexpr auto longest = 2s;
  const NcclCommunicator mine = communicator_.exchange(nullptr);
  if (mine == nullptr) return;
  try {
    const auto done = std::make_shared<std::atomic<bool>>(false);
    std::thread([done, mine, &library = library_, device = device_] {
      const cuda::CudaBesideCaptures unharmed;
      cudaSetDevice(device);
      library.destroy(mine);
      *done = true;
    }).detach();
    const auto start = Clock::now();
    while (!*done && Clock::now() - start < longest) std::this_thread::sleep_for(100us);
  } catch (...) {  // there are no threads any more
    library_.abort(mine);
  }
}

}  // namespace partita::devices
