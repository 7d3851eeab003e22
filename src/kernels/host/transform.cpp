#include "kernels/host/transform.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "base/check.hpp"
#include "kernels/host/fft_planning.hpp"

namespace partita::kernels {
namespace {

constexpr int forward_sign = -1, backward_sign = 1;

int real_kind(TransformKind kind) {
  // REDFT00, 10, 01, 11 and RODFT00, 10, 01, 11, from dct1 to dst4
  constexpr std::array kinds{3, 5, 4, 6, 7, 9, 8, 10};
  return kinds[static_cast<std::size_t>(kind) - static_cast<std::size_t>(TransformKind::dct1)];
}

bool complex_both(TransformKind kind) {
  return kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
}

/// Elements from the lowest to the highest address that one side of the loops touches, and how many of them
/// are below the first.
struct Span {
  std::int64_t below = 0;
  std::int64_t elements = 1;

  void add(std::int64_t count, std::int64_t stride) {
    const std::int64_t reach = (count - 1) * stride;
    elements += std::abs(reach);
    if (reach < 0) below -= reach;
  }
};

/// Memory to plan on: measuring overwrites it. Anonymous and in huge pages where they are to be had, as
/// what the plan will run on; addresses are of the wanted alignment.
class PlanningMemory {
 public:
  PlanningMemory(const Span& span, std::int64_t item_bytes, int alignment)
      : bytes_(static_cast<std::size_t>(span.elements * item_bytes) + margin) {
    base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check<MemoryError>(base_ != MAP_FAILED, "no memory to plan a local transform on: {} bytes", bytes_);
    madvise(base_, bytes_, MADV_HUGEPAGE);
    // 4096 is a multiple of every alignment that FFTW knows.
    const std::int64_t before = (span.below * item_bytes + 4095) / 4096 * 4096;
    first_ = static_cast<char*>(base_) + before + alignment;
  }
  ~PlanningMemory() { munmap(base_, bytes_); }
  PlanningMemory(const PlanningMemory&) = delete;
  PlanningMemory& operator=(const PlanningMemory&) = delete;
  void* first() const { return first_; }

 private:
  static constexpr std::size_t margin = 8192;
  std::size_t bytes_;
  void* base_ = nullptr;
  char* first_ = nullptr;
};

Span span_of(const TransformShape& shape, std::int64_t FftwLoop::*stride) {
  Span span;
  for (const auto* loops : {&shape.lines, &shape.batch}) {
    for (const FftwLoop& loop : *loops) span.add(loop.count, loop.*stride);
  }
  return span;
}

/// Where columns of c64 become rows at odd distances FFTW 3.3.10 takes all rows to be aligned as the first
/// one is, and ends the process.
bool takes_rows_for_aligned(const TransformShape& shape) {
  if (shape.precision != FftwPrecision::f32 || !complex_both(shape.kind)) return false;
  const auto becomes_row = [](const FftwLoop& line) { return line.to_stride == 1 && line.from_stride != 1; };
  const auto is_odd = [](const FftwLoop& loop) { return loop.to_stride % 2 != 0 && loop.to_stride != 1; };
  return std::ranges::any_of(shape.lines, becomes_row) &&
         (std::ranges::any_of(shape.batch, is_odd) || std::ranges::any_of(shape.lines, is_odd));
}

FftwLibrary::Plan make(const FftwLibrary& library, const TransformShape& shape, void* from, void* to) {
  const unsigned effort =
      (shape.measure ? fftw_measure : fftw_estimate) | (takes_rows_for_aligned(shape) ? fftw_unaligned : 0);
  const int rank = static_cast<int>(shape.lines.size()), batch_rank = static_cast<int>(shape.batch.size());
  const FftwLoop* const lines = shape.lines.data();
  const FftwLoop* const batch = shape.batch.data();
  const unsigned keep = from == to ? 0 : shape.overwrites ? fftw_destroy_input : fftw_preserve_input;
  switch (shape.kind) {
    case TransformKind::complex_forward:
      return library.plan_dft(rank, lines, batch_rank, batch, from, to, forward_sign, effort | keep);
    case TransformKind::complex_backward:
      return library.plan_dft(rank, lines, batch_rank, batch, from, to, backward_sign, effort | keep);
    case TransformKind::real_to_complex:
      return library.plan_r2c(rank, lines, batch_rank, batch, from, to, effort | keep);
    case TransformKind::complex_to_real:
      return library.plan_c2r(rank, lines, batch_rank, batch, from, to, effort | keep);
    default: {
      std::array<int, max_dimensions> kinds{};
      kinds.fill(real_kind(shape.kind));
      return library.plan_r2r(rank, lines, batch_rank, batch, from, to, kinds.data(), effort | keep);
    }
  }
}

FftwLibrary::Plan make(const FftwLibrary& library, const TransformShape& shape,
                       const TransformMemory& memory) {
  const auto [from_item, to_item] = items_of(shape.kind, shape.precision);
  const Span from_span = span_of(shape, &FftwLoop::from_stride),
             to_span = span_of(shape, &FftwLoop::to_stride);
  if (memory.in_place) {
    const Span both{std::max(from_span.below, to_span.below), std::max(from_span.elements, to_span.elements)};
    const PlanningMemory place(both, from_item, memory.from_alignment);
    return make(library, shape, place.first(), place.first());
  }
  const PlanningMemory from(from_span, from_item, memory.from_alignment);
  const PlanningMemory to(to_span, to_item, memory.to_alignment);
  return make(library, shape, from.first(), to.first());
}

FftwLibrary::Execute execute_of(const FftwLibrary& library, TransformKind kind) {
  if (complex_both(kind)) return library.execute_dft;
  if (kind == TransformKind::real_to_complex) return library.execute_r2c;
  if (kind == TransformKind::complex_to_real) return library.execute_c2r;
  return library.execute_r2r;
}

std::string text(const TransformShape& shape) {
  std::string result;
  for (const FftwLoop& line : shape.lines) {
    result += fmt::format("{}{}", result.empty() ? "" : "x", line.count);
  }
  return result;
}

void check_shape(const TransformShape& shape, const TransformMemory& memory) {
  const bool half =
      shape.kind == TransformKind::real_to_complex || shape.kind == TransformKind::complex_to_real;
  check<UnsupportedError>(!half || !memory.in_place,
                          "a transform between real and complex numbers cannot run in place");
  for (const FftwLoop& line : shape.lines) {
    check(shape.kind != TransformKind::dct1 || line.count > 1,
          "a DCT-I needs at least two points along each axis, not {}", line.count);
  }
}

using Key = std::pair<TransformShape, TransformMemory>;

// Under the planner's mutex. Never destroyed: plans may go in static destructors.
std::map<Key, std::weak_ptr<const LocalTransform>>& known() {
  static auto* const plans = new std::map<Key, std::weak_ptr<const LocalTransform>>;
  return *plans;
}

}  // namespace

TransformItems items_of(TransformKind kind, FftwPrecision precision) {
  const std::int64_t real = precision == FftwPrecision::f64 ? 8 : 4;
  const bool both = complex_both(kind);
  return {both || kind == TransformKind::complex_to_real ? 2 * real : real,
          both || kind == TransformKind::real_to_complex ? 2 * real : real};
}

TransformMemory memory_of(const FftwLibrary& library, const void* from, const void* to) {
  return {from == to, library.alignment_of(from), library.alignment_of(to)};
}

LocalTransform::LocalTransform(const TransformShape& shape, const TransformMemory& memory)
    : library_(fftw(shape.precision)), execute_(execute_of(library_, shape.kind)) {
  library_.set_threads(shape.threads);
  plan_ = make(library_, shape, memory);
  check<UnsupportedError>(plan_ != nullptr, "{} cannot plan a local transform of {} points",
                          library_.version(), text(shape));
}

LocalTransform::~LocalTransform() {
  const std::lock_guard lock(fftw_planner_mutex());
  library_.destroy(plan_);
}

std::shared_ptr<const LocalTransform> plan_transform(const TransformShape& shape,
                                                     const TransformMemory& memory) {
  check_shape(shape, memory);
  fftw(shape.precision);
  const std::lock_guard lock(fftw_planner_mutex());
  std::weak_ptr<const LocalTransform>& entry = known()[{shape, memory}];
  if (auto plan = entry.lock()) return plan;
  if (known().size() > 1024) {
    std::erase_if(known(),
                  [&](const auto& other) { return &other.second != &entry && other.second.expired(); });
  }
  if (FftPlanning* const planning = FftPlanning::current()) {
    planning->begin_plan(shape.precision);
  }
  auto plan = std::make_shared<const LocalTransform>(shape, memory);
  entry = plan;
  return plan;
}

}  // namespace partita::kernels
