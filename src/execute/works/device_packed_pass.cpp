// Lines through the workspace: in two areas, of what is transformed and of what has been, where a transform
// is not in place; then the library's own.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/check.hpp"
#include "base/round.hpp"
#include "execute/works/device_line_pass.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using devices::DeviceFft;
using kernels::FftwLoop;
using kernels::cuda::ElementLoops;
using kernels::cuda::LinePass;
using kernels::cuda::LineStep;

/// A line of n elements by a Fourier transform of `length`.
struct Recipe {
  LineStep before, after;
  TransformKind kind;
  std::int64_t length;               ///< of the Fourier transform
  std::int64_t packed, transformed;  ///< elements of a line before and after it
  std::int64_t result;               ///< elements that are unpacked
};

Recipe recipe_of(TransformKind kind, std::int64_t n) {
  using enum TransformKind;
  const auto real = [&](LineStep before, LineStep after, std::int64_t m, std::int64_t result) {
    return Recipe{before, after, real_to_complex, m, m, m / 2 + 1, result};
  };
  const std::int64_t m4 = n % 2 == 0 ? n / 2 : 2 * n;
  switch (kind) {
    case complex_forward:
    case complex_backward:
      return {LineStep::copy_complex, LineStep::copy_complex, kind, n, n, n, n};
    case real_to_complex:
      return real(LineStep::copy_real, LineStep::copy_complex, n, n / 2 + 1);
    case complex_to_real:
      return {LineStep::half_spectrum, LineStep::copy_real, kind, n, n / 2 + 1, n, n};
    case dct1:
      return real(LineStep::before_1, LineStep::after_1, 2 * (n - 1), n);
    case dst1:
      return real(LineStep::before_1, LineStep::after_1, 2 * (n + 1), n);
    case dct2:
    case dst2:
      return real(LineStep::before_2, LineStep::after_2, n, n);
    case dct3:
    case dst3:
      return {LineStep::before_3, LineStep::after_3, complex_to_real, n, n / 2 + 1, n, n};
    case dct4:
    case dst4:
      return {LineStep::before_4, LineStep::after_4, complex_forward, m4, m4, m4, n};
  }
  return {};
}

bool is_sine(TransformKind kind) {
  return kind >= TransformKind::dst1;
}

class PackedPass final : public DevicePass {
 public:
  PackedPass(devices::DeviceTransforms& device, const TransformNest& nest, const PackedRules& rules,
             const PassPlace& place)
      : device_(device),
        nest_(nest),
        rules_(rules),
        place_(place),
        recipe_(recipe_of(nest.kind, nest.lines.front().count)),
        items_(kernels::items_of(recipe_.kind, nest.precision)),
        batch_(merged(nest.batch)) {
    check<UnsupportedError>(batch_.size() <= ElementLoops::most, "a transform with a batch of {} loops",
                            batch_.size());
    for (const FftwLoop& loop : batch_) lines_ *= loop.count;
    in_place_ =
        recipe_.kind == TransformKind::complex_forward || recipe_.kind == TransformKind::complex_backward;
    along_ = lies_along();
    const std::int64_t line_bytes =
        recipe_.packed * items_.from + (in_place_ ? 0 : recipe_.transformed * items_.to);
    chunk_ = std::clamp<std::int64_t>(rules.bytes / line_bytes, 1, lines_);
    transformed_at_ = in_place_ ? 0 : round_up(chunk_ * recipe_.packed * items_.from, workspace_alignment);
    const std::int64_t last = in_place_ ? recipe_.packed * items_.from : recipe_.transformed * items_.to;
    const bool unpacks = !rules_.stores_direct;
    library_at_ = transformed_at_ + (in_place_ || unpacks ? round_up(chunk_ * last, workspace_alignment) : 0);
    if (recipe_.length > 1) prepare();
  }

  std::int64_t workspace_bytes() const override {
    std::int64_t most = 0;
    for (const auto& fft : ffts_) most = std::max(most, fft ? fft->workspace_bytes() : 0);
    return library_at_ + most;
  }

  void enqueue(const Addresses& at, double factor, Stream stream) override {
    for (std::int64_t first = 0; first < lines_; first += chunk_) {
      const std::int64_t lines = std::min(chunk_, lines_ - first);
      device_.pass(before(at, first, lines, rules_.stores_direct ? factor : 1), stream);
      transform(at, first, lines, stream);
      if (!rules_.stores_direct) device_.pass(after(at, first, lines, factor), stream);
    }
  }

 private:
  const FftwLoop& line() const { return nest_.lines.front(); }

  /// Whether lines are stored one after the other in the workspace, not interleaved: as in the array, as
  /// far as that is known.
  bool lies_along() const {
    if (!rules_.knows_strides || batch_.empty()) return true;
    const auto nearest = [&](auto stride_of) {
      std::int64_t least = std::abs(stride_of(batch_.front()));
      for (const FftwLoop& loop : batch_) least = std::min(least, std::abs(stride_of(loop)));
      return least;
    };
    const auto from = [](const FftwLoop& loop) { return loop.from_stride; };
    return nearest(from) >= std::abs(line().from_stride);
  }

  /// In the workspace, where so many lines are there at a time.
  DeviceFft::Side packed_side(std::int64_t elements, std::int64_t lines) const {
    DeviceFft::Side side;
    side.embed[0] = elements;
    side.stride = along_ ? 1 : lines;
    side.apart = along_ ? elements : 1;
    return side;
  }

  void prepare() {
    const std::int64_t rest = lines_ % chunk_;
    for (const std::int64_t lines : {chunk_, rest}) {
      if (lines == 0) continue;
      DeviceFft fft;
      fft.kind = recipe_.kind;
      fft.single = nest_.precision == kernels::FftwPrecision::f32;
      fft.n[0] = recipe_.length;
      fft.from = packed_side(recipe_.packed, lines);
      fft.to = packed_side(recipe_.transformed, lines);
      if (rules_.stores_direct) {
        fft.to.stride = line().to_stride;
        fft.to.apart = batch_.empty() ? recipe_.transformed * line().to_stride : batch_.front().to_stride;
      }
      fft.batches = lines;
      ffts_[lines == chunk_ ? 0 : 1] = device_.prepare(fft);
    }
  }

  LinePass pass_of(LineStep step, std::int64_t positions, std::int64_t first, std::int64_t lines,
                   double factor) const {
    LinePass pass;
    pass.step = step;
    pass.single = nest_.precision == kernels::FftwPrecision::f32;
    pass.sine = is_sine(nest_.kind);
    pass.n = line().count;
    pass.positions = positions;
    pass.first = first;
    pass.lines = lines;
    pass.along = along_;
    pass.scale = factor;
    pass.batch.loops = static_cast<int>(batch_.size());
    return pass;
  }

  static void set_ends(LinePass& pass, const planning::LineEnds& ends) {
    pass.first_factor = ends.first;
    pass.last_factor = ends.last;
  }

  /// The loops between the array and the workspace, in which line `first` is the first one.
  void set_loops(LinePass& pass, bool to_workspace, const DeviceFft::Side& side) const {
    const std::size_t array = to_workspace ? 0 : 1, workspace = to_workspace ? 1 : 0;
    std::int64_t apart = side.apart;
    for (std::size_t l = batch_.size(); l-- > 0;) {
      pass.batch.counts[l] = batch_[l].count;
      pass.batch.strides[l][array] = to_workspace ? batch_[l].from_stride : batch_[l].to_stride;
      pass.batch.strides[l][workspace] = apart;
      apart *= batch_[l].count;
    }
    (to_workspace ? pass.to_stride : pass.from_stride) = side.stride;
    (to_workspace ? pass.from_stride : pass.to_stride) = to_workspace ? line().from_stride : line().to_stride;
    (to_workspace ? pass.to_offset : pass.from_offset) = -pass.first * side.apart;
  }

  LinePass before(const Addresses& at, std::int64_t first, std::int64_t lines, double factor) const {
    LinePass pass = pass_of(recipe_.before, recipe_.packed, first, lines, factor);
    if (nest_.orthogonal) set_ends(pass, planning::ends_before(nest_.kind));
    set_loops(pass, true, packed_side(recipe_.packed, lines));
    pass.from = at.from + place_.from;
    pass.to = at.workspace;
    return pass;
  }

  LinePass after(const Addresses& at, std::int64_t first, std::int64_t lines, double factor) const {
    LinePass pass = pass_of(recipe_.after, recipe_.result, first, lines, factor);
    if (nest_.orthogonal) set_ends(pass, planning::ends_after(nest_.kind));
    set_loops(pass, false, packed_side(recipe_.transformed, lines));
    pass.from = at.workspace + transformed_at_;
    pass.to = at.to + place_.to;
    return pass;
  }

  void transform(const Addresses& at, std::int64_t first, std::int64_t lines, Stream stream) const {
    char* to = at.workspace + transformed_at_;
    if (rules_.stores_direct) {
      const std::int64_t apart = batch_.empty() ? 0 : batch_.front().to_stride;
      to = at.to + place_.to + first * apart * items_.to;
    }
    if (recipe_.length > 1) {
      const auto& fft = *ffts_[lines == chunk_ ? 0 : 1];
      return device_.transform(fft, at.workspace, to, at.workspace + library_at_, stream);
    }
    if (!in_place_) device_.pass(of_one_element(at.workspace, to, lines), stream);
  }

  LinePass of_one_element(const char* from, char* to, std::int64_t lines) const {
    LinePass pass;
    pass.step = recipe_.kind == TransformKind::real_to_complex ? LineStep::widen : LineStep::narrow;
    pass.single = nest_.precision == kernels::FftwPrecision::f32;
    pass.positions = lines;
    pass.from = from;
    pass.to = to;
    return pass;
  }

  devices::DeviceTransforms& device_;
  TransformNest nest_;
  PackedRules rules_;
  PassPlace place_;
  Recipe recipe_;
  kernels::TransformItems items_;  // of the Fourier transform
  std::vector<FftwLoop> batch_;
  std::int64_t lines_ = 1;
  std::int64_t chunk_ = 1;  // lines at a time
  bool in_place_ = false;
  bool along_ = true;
  std::int64_t transformed_at_ = 0, library_at_ = 0;           // in the workspace
  std::array<std::shared_ptr<devices::PreparedFft>, 2> ffts_;  // of whole chunks, and of the rest
};

}  // namespace

std::unique_ptr<DevicePass> packed_pass(devices::DeviceTransforms& device, const TransformNest& nest,
                                        const PackedRules& rules, const PassPlace& place) {
  return std::make_unique<PackedPass>(device, nest, rules, place);
}

}  // namespace partita::execution
