// Transform on a device: nests of lines as passes, each along as many axes as the library takes at once.
// Lines are transformed in place; the workspace holds those that the library does not support
// (cosines and sines, batches of several loops, strides that are known when it is executed), real numbers
// that may not have its alignment, and a half spectrum that it would overwrite and must not. Of a half
// spectrum with several axes, which may be overwritten, all but the halved one are transformed in its memory
// first.
#include <algorithm>

#include "base/check.hpp"
#include "execute/works/device_line_pass.hpp"
#include "execute/works/transform_nests.hpp"
#include "kernels/host/transform.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using kernels::FftwLoop;

bool is_complex_kind(TransformKind kind) {
  return kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
}
bool is_real_kind(TransformKind kind) {
  return kind == TransformKind::real_to_complex || kind == TransformKind::complex_to_real;
}

/// What is known of one side when the plan is made.
struct KnownSide {
  bool strides = true;
  bool begins_anywhere = false;  ///< the caller's
};

KnownSide known_side(const Plan& plan, const Place& place) {
  const Buffer& memory = plan.buffers[static_cast<std::size_t>(planning::memory_of(plan, place))];
  if (memory.kind != BufferKind::operand) return {};
  return {memory.operand->dense, true};
}

/// Memory for what is seldom wanted.
constexpr std::int64_t unaligned_bytes = std::int64_t{16} << 20;

std::int64_t complex_bytes(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::c64 ? size_of(Dtype::c64) : size_of(Dtype::c128);
}

class DeviceTransform final : public DeviceBoundWork {
 public:
  DeviceTransform(const Transform& work, const DeviceWorkBinding& binding)
      : from_(work.from.place),
        to_(work.to.place),
        workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
        scaled_(work.scaled),
        overwrites_(work.overwrites),
        orthogonal_(work.orthogonal),
        device_(binding.transforms()),
        known_from_(known_side(binding.memory.plan, work.from.place)),
        known_to_(known_side(binding.memory.plan, work.to.place)),
        complex_bytes_(complex_bytes(planning::dtype_at(binding.memory.plan, work.to.place))) {
    const bool begins_anywhere = known_from_.begins_anywhere || known_to_.begins_anywhere;
    for (const PlacedTransform& placed : transform_nests(work, binding.memory)) {
      add(placed, true, passes_);
      if (is_real_kind(work.kind) && begins_anywhere) add(placed, false, unaligned_);
    }
    for (const auto* const passes : {&passes_, &unaligned_}) {
      for (const Entry& entry : *passes)
        workspace_bytes_ = std::max(workspace_bytes_, entry.pass->workspace_bytes());
    }
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_; }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    if (passes_.empty()) return;
    char* const from = address(from_);
    char* const to = address(to_);
    char* const workspace = address(workspace_);
    const double factor = scaled_ ? parameters.scale : 1;
    const bool aligned = begins_aligned(from) && begins_aligned(to);
    for (const Entry& entry : aligned || unaligned_.empty() ? passes_ : unaligned_)
      entry.pass->enqueue({entry.on == On::result ? to : from, entry.on == On::source ? from : to, workspace},
                          entry.last ? factor : 1, stream);
  }

 private:
  /// Where a pass reads and writes; in place but for `both`.
  enum class On : std::uint8_t { both, source, result };
  struct Entry {
    std::unique_ptr<DevicePass> pass;
    On on = On::both;
    bool last = false;  // of its lines: here results are scaled
  };

  /// A nest from which axes are taken, the fastest first.
  void add(const PlacedTransform& placed, bool aligned, std::vector<Entry>& passes) {
    aligned_ = aligned;
    place_ = {placed.from, placed.to};
    on_ = On::both;
    TransformNest rest = without_single_elements(placed.nest);
    rest.orthogonal = orthogonal_;
    std::ranges::stable_sort(rest.lines.begin(), rest.lines.end() - (is_real_kind(rest.kind) ? 1 : 0),
                             std::greater{}, [](const FftwLoop& line) { return std::abs(line.to_stride); });
    if (rest.kind == TransformKind::complex_to_real && rest.lines.size() > 1) come_back(rest, passes);
    while (!rest.lines.empty()) take(rest, passes);
    passes.back().last = true;
  }

  /// All lines of a half spectrum but the halved one, where they come from. Not all at once: what the complex
  /// transforms leave in the imaginary parts of the first and the last element of the halved lines counts as
  /// 0, but cuFFT reads it at some lengths.
  void come_back(TransformNest& rest, std::vector<Entry>& passes) {
    check<UnsupportedError>(
        overwrites_, "a half spectrum that must not be overwritten is transformed along one axis at a time");
    const FftwLoop halved = rest.lines.back();
    rest.lines.pop_back();
    TransformNest others{TransformKind::complex_backward, rest.precision, rest.lines, rest.batch};
    others.batch.push_back({halved.count / 2 + 1, halved.from_stride, halved.from_stride});
    stay(others, &FftwLoop::from_stride);
    rest.batch.insert(rest.batch.end(), rest.lines.begin(), rest.lines.end());
    rest.lines = {halved};
    const PassPlace place = place_;
    place_.to = place_.from;
    on_ = On::source;
    while (!others.lines.empty()) take(others, passes);
    place_ = place;
    on_ = On::both;
  }

  /// In place on one of the two sides.
  static void stay(TransformNest& nest, std::int64_t FftwLoop::*side) {
    for (auto* const loops : {&nest.lines, &nest.batch}) {
      for (FftwLoop& loop : *loops) loop.from_stride = loop.to_stride = loop.*side;
    }
  }

  /// Fourier transforms along lines of one element change nothing; but the last line stays.
  static TransformNest without_single_elements(TransformNest nest) {
    if (!is_complex_kind(nest.kind) && !is_real_kind(nest.kind)) return nest;
    const auto stays = [&](const FftwLoop& line) { return line.count > 1 || &line == &nest.lines.back(); };
    std::vector<FftwLoop> lines;
    std::ranges::copy_if(nest.lines, std::back_inserter(lines), stays);
    nest.lines = std::move(lines);
    return nest;
  }

  /// Puts a pass over the last lines of `rest`; they become a batch on the result.
  void take(TransformNest& rest, std::vector<Entry>& passes) {
    const std::size_t most =
        is_complex_kind(rest.kind) || is_real_kind(rest.kind)
            ? std::min<std::size_t>(rest.lines.size(), devices::DeviceFft::most_dimensions)
            : 1;
    for (std::size_t count = most; count > 0; --count) {
      const TransformNest nest = last_lines(rest, count);
      if (std::unique_ptr<DevicePass> pass = pass_of(nest)) {
        passes.push_back({std::move(pass), on_, false});
        return go_on(rest, count);
      }
    }
  }

  static TransformNest last_lines(const TransformNest& nest, std::size_t count) {
    TransformNest result{nest.kind, nest.precision, {}, nest.batch, nest.orthogonal};
    const auto first = nest.lines.end() - static_cast<std::ptrdiff_t>(count);
    result.batch.insert(result.batch.end(), nest.lines.begin(), first);
    result.lines.assign(first, nest.lines.end());
    return result;
  }

  /// Null: not along so many lines at once.
  std::unique_ptr<DevicePass> pass_of(const TransformNest& nest) const {
    const FftwLoop& line = nest.lines.front();
    const bool fourier = is_complex_kind(nest.kind) || is_real_kind(nest.kind);
    const bool one = nest.lines.size() == 1;
    if (one && fourier && line.count == 1) return single_elements(device_, nest, place_);
    const bool known = (on_ == On::result ? known_to_ : known_from_).strides &&
                       (on_ == On::source ? known_from_ : known_to_).strides;
    if (fourier && known && !must_be_packed(nest)) {
      const std::optional<FftCalls> calls = fft_calls(nest);
      if (calls && is_aligned(nest, *calls)) return direct_pass(device_, nest, *calls, place_);
    }
    if (!one) return nullptr;
    PackedRules rules{known, aligned_ && stores_direct(nest)};
    if (!aligned_) rules.bytes = unaligned_bytes;
    return packed_pass(device_, nest, rules, place_);
  }

  /// The library destroys a half spectrum.
  bool must_be_packed(const TransformNest& nest) const {
    const bool destroys = nest.kind == TransformKind::complex_to_real && !overwrites_;
    return is_real_kind(nest.kind) && (!aligned_ || destroys);
  }

  /// As complex numbers are.
  bool begins_aligned(const void* memory) const {
    return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uintptr_t>(complex_bytes_) == 0;
  }

  /// Real numbers begin where complex ones could.
  bool is_aligned(const TransformNest& nest, const FftCalls& calls) const {
    if (!is_real_kind(nest.kind)) return true;
    const kernels::TransformItems items = kernels::items_of(nest.kind, nest.precision);
    return std::ranges::all_of(calls.calls, [&](const FftCalls::At& at) {
      return (place_.from + at.from * items.from) % complex_bytes_ == 0 &&
             (place_.to + at.to * items.to) % complex_bytes_ == 0;
    });
  }

  /// Of a half spectrum that was packed first: the library writes real numbers where they belong.
  bool stores_direct(const TransformNest& nest) const {
    if (nest.kind != TransformKind::complex_to_real || !known_to_.strides) return false;
    const std::vector<FftwLoop> batch = merged(nest.batch);
    const bool positive = nest.lines.front().to_stride > 0 && (batch.empty() || batch.front().to_stride > 0);
    const bool even = batch.empty() || batch.front().to_stride % 2 == 0;  // chunks begin aligned, too
    return positive && even && batch.size() <= 1 && place_.to % complex_bytes_ == 0;
  }

  /// What is left is done in place on the result, where the halved line has become a complex one.
  void go_on(TransformNest& rest, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool halved = rest.kind == TransformKind::real_to_complex && i == 0;
      const FftwLoop line = rest.lines.back();
      rest.lines.pop_back();
      rest.batch.push_back({halved ? line.count / 2 + 1 : line.count, line.to_stride, line.to_stride});
    }
    if (rest.kind == TransformKind::real_to_complex) rest.kind = TransformKind::complex_forward;
    stay(rest, &FftwLoop::to_stride);
    place_.from = place_.to;
    if (on_ == On::both) on_ = On::result;
  }

  Place from_, to_, workspace_;
  bool scaled_;
  bool overwrites_;
  bool orthogonal_;
  devices::DeviceTransforms& device_;
  KnownSide known_from_, known_to_;
  std::int64_t complex_bytes_;
  bool aligned_ = true;  // real numbers, for which passes are made: they begin where complex ones could
  PassPlace place_;      // of the nest that is taken apart
  On on_ = On::both;     // of it
  std::vector<Entry> passes_;
  std::vector<Entry> unaligned_;  // in their place, where real numbers of the caller's begin anywhere
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_transform(const Transform& work,
                                                       const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceTransform>(work, binding);
}

}  // namespace partita::execution
