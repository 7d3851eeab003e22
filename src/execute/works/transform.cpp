// Transform: strided lines and batches for FFTW.
//
// Every nest of a work is one call. Calls of the same shape share a plan; so do the chunks of a long loop,
// which are separate works. A call is split into passes that do not depend on FFTW's estimates,
// or on other load of the machine when it measures large arrays.
//
// Of orthogonal cosine and sine transforms the ends of lines are multiplied before and after all calls. What
// is multiplied before must not be the input, so that is copied to the result first and transformed there.
#include "kernels/host/transform.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/check.hpp"
#include "base/round.hpp"
#include "execute/works/bound_work.hpp"
#include "execute/works/transform_nests.hpp"
#include "execute/works/transform_passes.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/fft_planning.hpp"
#include "kernels/host/number_arithmetic.hpp"
#include "kernels/host/on_threads.hpp"
#include "kernels/host/paired_lines.hpp"
#include "kernels/host/rader_lines.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

/// What is scaled is cut into calls of about this size, so that it is still in the first-level cache.
constexpr std::int64_t scaled_bytes = std::int64_t{64} << 10;
/// Less is done before a second thread is there: new ones are started for each call, by FFTW, too.
constexpr std::int64_t threaded_bytes = std::int64_t{1} << 20;
/// So little that may be destroyed has just been made, and is in cache.
constexpr std::int64_t in_cache_bytes = std::int64_t{512} << 10;

/// One FFTW call, or one nest of lines through buffers: bytes from the start of either part.
struct Call {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::size_t number = 0;  ///< of its shape, or of its nest
  bool buffered = false;
  bool on_result = false;  ///< in place in the result, after an earlier pass
  bool last = true;        ///< here results are scaled
  int piece = -1;  ///< the pieces of a pass follow one another, and may run at the same time; -1: whole
};

/// A shape and the plans made for it so far, by what they ask of addresses: one, seldom more.
struct PlannedShape {
  struct Planned {
    kernels::TransformMemory memory;
    std::shared_ptr<const kernels::LocalTransform> plan;
  };
  kernels::TransformShape shape;
  std::vector<kernels::ScaleLoop> scale_loops;  // over the result, the longest step first
  std::vector<Planned> plans;

  const kernels::LocalTransform& plan_for(const kernels::TransformMemory& memory) {
    for (const Planned& planned : plans) {
      if (planned.memory == memory) return *planned.plan;
    }
    return *plans.emplace_back(Planned{memory, kernels::plan_transform(shape, memory)}).plan;
  }
};

/// A nest of lines through buffers, known by what it was made from.
struct PlannedNest {
  TransformNest nest;
  int threads = 1;  ///< there are
  std::shared_ptr<const kernels::Lines> lines;
  int parts = 1;  ///< for the threads, where FFTW has not got them
};

/// Elements of the result that are multiplied: the first or last of all lines along an axis.
struct Weighted {
  std::int64_t to = 0;  ///< bytes from the start of the part
  std::vector<kernels::ScaleLoop> loops;
  double factor = 1;
};

/// Elements that are copied from one part to the other.
struct Copied {
  std::int64_t from = 0;
  std::int64_t to = 0;
  kernels::StridedCopy nest;
};

/// The calls of a work in their order, and what they refer to.
struct Program {
  kernels::FftwPrecision precision = kernels::FftwPrecision::f64;
  int threads = 1;
  std::vector<Copied> copies;
  std::vector<Weighted> before, after;
  std::vector<PlannedShape> shapes;
  std::vector<PlannedNest> nests;
  std::vector<Call> calls;
};

class BoundTransform final : public BoundWork {
 public:
  BoundTransform(const Transform& work, int reals, Program program, std::shared_ptr<Workspace> workspace)
      : from_(work.from.place),
        to_(work.to.place),
        scaled_(work.scaled),
        reals_(reals),
        precision_(program.precision),
        threads_(program.threads),
        copies_(std::move(program.copies)),
        before_(std::move(program.before)),
        after_(std::move(program.after)),
        shapes_(std::move(program.shapes)),
        nests_(std::move(program.nests)),
        calls_(std::move(program.calls)),
        workspace_(std::move(workspace)),
        library_(kernels::fftw(program.precision)) {
    for (const PlannedNest& nest : nests_)
      most_workspace_ = std::max(most_workspace_, round_up(nest.lines->workspace_bytes(), 64));
    workspace_->reserve(threads_ * most_workspace_);
  }

  /// Makes the plans for these addresses before they are needed.
  void prepare(const AddressOf& address) {
    char* const from = address(from_);
    char* const to = address(to_);
    for (const Call& call : calls_) plan(call, from, to);
  }

  void run(const AddressOf& address, const Parameters& parameters) override {
    char* const from = address(from_);
    char* const to = address(to_);
    const double factor = scaled_ ? parameters.scale : 1;
    for (const Copied& copied : copies_)
      kernels::copy(copied.nest, from + copied.from, to + copied.to, kernels::StoreHint::cache);
    for (const Weighted& weighted : before_) scale(weighted.loops, to + weighted.to, weighted.factor);
    for (std::size_t first = 0, end = 0; first < calls_.size(); first = end) {
      end = end_of_pieces(first);
      run_pieces(std::span<const Call>(calls_).subspan(first, end - first), from, to, factor);
    }
    for (const Weighted& weighted : after_) scale(weighted.loops, to + weighted.to, weighted.factor);
  }

 private:
  const kernels::LocalTransform* plan(const Call& call, const char* from, char* to) {
    if (call.buffered) return nullptr;
    const char* const source = (call.on_result ? to : from) + call.from;
    return &shapes_[call.number].plan_for(kernels::memory_of(library_, source, to + call.to));
  }

  /// From this call on those of the same pass.
  std::size_t end_of_pieces(std::size_t first) const {
    std::size_t end = first + 1;
    if (calls_[first].piece < 0) return end;
    const auto goes_on = [&] {
      return calls_[end].piece == calls_[end - 1].piece || calls_[end].piece == calls_[end - 1].piece + 1;
    };
    while (end < calls_.size() && goes_on()) ++end;
    return end;
  }

  /// Of several pieces each thread takes some.
  void run_pieces(std::span<const Call> calls, char* from, char* to, double factor) {
    const auto begin_of = [&](int part) {
      auto at = static_cast<std::size_t>(kernels::LinePart{part, threads_}.begin(std::ssize(calls)));
      while (at > 0 && at < calls.size() && calls[at].piece == calls[at - 1].piece) ++at;
      return at;
    };
    const int threads = calls.size() == 1 ? 1 : threads_;
    // None is made while others use it.
    for (const Call& call : calls)
      if (threads > 1) plan(call, from, to);
    kernels::on_threads(threads, [&](int part) {
      const std::size_t end = threads == 1 ? calls.size() : begin_of(part + 1);
      for (std::size_t i = begin_of(part); i < end; ++i) {
        const Call& call = calls[i];
        run_call(call, (call.on_result ? to : from) + call.from, to + call.to, call.last ? factor : 1, part);
      }
    });
  }

  void run_call(const Call& call, char* from, char* to, double factor, int thread) {
    if (call.buffered) {
      const PlannedNest& nest = nests_[call.number];
      return kernels::on_threads(nest.parts, [&](int part) {
        nest.lines->run_part(from, to, workspace_->data() + (thread + part) * most_workspace_, factor,
                             {part, nest.parts});
      });
    }
    PlannedShape& shape = shapes_[call.number];
    shape.plan_for(kernels::memory_of(library_, from, to)).run(from, to);
    if (factor != 1) scale(shape.scale_loops, to, factor);
  }

  void scale(std::span<const kernels::ScaleLoop> loops, char* to, double factor) const {
    if (precision_ == kernels::FftwPrecision::f64) {
      kernels::scale(loops, reals_, factor, reinterpret_cast<double*>(to));
    } else {
      kernels::scale(loops, reals_, static_cast<float>(factor), reinterpret_cast<float*>(to));
    }
  }

  Place from_, to_;
  bool scaled_;
  int reals_;  // in an element of the result
  kernels::FftwPrecision precision_;
  int threads_;
  std::int64_t most_workspace_ = 0;  // of a thread
  std::vector<Copied> copies_;
  std::vector<Weighted> before_, after_;
  std::vector<PlannedShape> shapes_;
  std::vector<PlannedNest> nests_;
  std::vector<Call> calls_;
  std::shared_ptr<Workspace> workspace_;
  const kernels::FftwLibrary& library_;
};

/// What a shape writes.
std::int64_t bytes_of(const kernels::TransformShape& shape, std::span<const kernels::FftwLoop> batch) {
  std::int64_t bytes = kernels::items_of(shape.kind, shape.precision).to;
  for (const kernels::FftwLoop& loop : shape.lines) bytes *= loop.count;
  for (const kernels::FftwLoop& loop : batch) bytes *= loop.count;
  return bytes;
}

std::int64_t line_count(const TransformNest& nest) {
  std::int64_t lines = 1;
  for (const kernels::FftwLoop& loop : nest.batch) lines *= loop.count;
  return lines;
}

std::int64_t bytes_of(const TransformNest& nest) {
  const std::int64_t item = kernels::items_of(nest.kind, nest.precision).to;
  std::int64_t bytes = item * line_count(nest);
  for (const kernels::FftwLoop& loop : nest.lines) bytes *= loop.count;
  return bytes;
}

/// Builds the calls of one work.
class Calls {
 public:
  Calls(const Transform& work, const WorkBinding& binding)
      : work_(work), reals_(is_complex(planning::dtype_at(binding.plan, work.to.place)) ? 2 : 1) {
    const kernels::FftPlanning* const planning = kernels::FftPlanning::current();
    base_.measure = planning != nullptr && planning->measure();
    base_.threads = program_.threads = kernels::held_fft_threads();
    base_.overwrites = work.overwrites && work.kind == TransformKind::complex_to_real;
    check<UnsupportedError>(
        work.kind != TransformKind::complex_to_real || work.axes.size() == 1 || is_paired(work),
        "a complex-to-real transform runs along one axis at a time, or two or three with an even number of "
        "points along the last; the other axes are complex");
    for (PlacedTransform& placed : transform_nests(work, binding)) {
      base_.kind = placed.nest.kind;
      base_.precision = program_.precision = placed.nest.precision;
      Call call{placed.from, placed.to};
      if (work.orthogonal) add_weights(placed, call);
      base_.lines = placed.nest.lines;
      add_call(call, std::move(placed.nest.batch));
    }
  }

  std::unique_ptr<BoundTransform> bound(std::shared_ptr<Workspace> workspace) {
    return std::make_unique<BoundTransform>(work_, reals_, std::move(program_), std::move(workspace));
  }

 private:
  static bool is_paired(const Transform& work) {
    return work.kind == TransformKind::complex_to_real && work.axes.size() > 1 && work.axes.size() <= 3 &&
           work.real_length % 2 == 0;
  }

  void add_weights(PlacedTransform& placed, Call& call) {
    const planning::LineEnds before = planning::ends_before(work_.kind);
    if (before != planning::LineEnds()) {
      if (!is_in_place()) start_on_result(placed, call);
      add_ends(placed, before, program_.before);
    }
    add_ends(placed, planning::ends_after(work_.kind), program_.after);
  }

  bool is_in_place() const {
    const Place &from = work_.from.place, &to = work_.to.place;
    return from.buffer == to.buffer && from.rank == to.rank && from.offset == to.offset;
  }

  /// The lines are copied to the result, and transformed there.
  void start_on_result(PlacedTransform& placed, Call& call) {
    const std::int64_t item = kernels::items_of(work_.kind, placed.nest.precision).to;
    Copied copied{placed.from, placed.to, {item, 0, 0, {}}};
    for (auto* const loops : {&placed.nest.batch, &placed.nest.lines}) {
      for (kernels::FftwLoop& loop : *loops) {
        copied.nest.loops.push_back({loop.count, loop.from_stride * item, loop.to_stride * item});
        loop.from_stride = loop.to_stride;
      }
    }
    copied.nest = kernels::simplify(std::move(copied.nest));
    program_.copies.push_back(std::move(copied));
    call.from = call.to;
    call.on_result = true;
  }

  void add_ends(const PlacedTransform& placed, const planning::LineEnds& ends,
                std::vector<Weighted>& weighted) const {
    const std::int64_t item = kernels::items_of(work_.kind, placed.nest.precision).to;
    const std::vector<kernels::FftwLoop>& lines = placed.nest.lines;
    for (const kernels::FftwLoop& line : lines) {
      Weighted first{placed.to, {}, ends.first};
      for (const auto* const loops : {&placed.nest.batch, &lines}) {
        for (const kernels::FftwLoop& loop : *loops)
          if (&loop != &line && loop.count > 1) first.loops.push_back({loop.count, loop.to_stride});
      }
      std::ranges::sort(first.loops, std::greater{},
                        [](const kernels::ScaleLoop& loop) { return std::abs(loop.stride); });
      Weighted last = first;
      last.to += (line.count - 1) * line.to_stride * item;
      last.factor = ends.last;
      if (first.factor != 1) weighted.push_back(std::move(first));
      if (last.factor != 1) weighted.push_back(std::move(last));
    }
  }

  void add_call(const Call& call, std::vector<kernels::FftwLoop> loops) {
    // FFTW's threads want large pieces.
    if (base_.measure && base_.threads > 1 && !is_paired(work_))
      return add_whole(call, base_, std::move(loops));
    TransformNest nest{base_.kind, base_.precision, base_.lines, std::move(loops)};
    nest.in_cache = work_.overwrites && base_.overwrites && bytes_of(base_, nest.batch) <= in_cache_bytes;
    for (TransformPass& pass : base_.measure ? measured_passes(nest) : estimated_passes(nest)) {
      Call part = call;
      if (pass.on_result) part.from = call.to;
      part.from += pass.from_offset;
      part.to += pass.to_offset;
      part.on_result = call.on_result || pass.on_result;
      part.last = pass.last;
      if (pass.way != LineWay::whole) {
        add_nest(part, pass.nest, pass.way);
      } else {
        kernels::TransformShape shape = base_;
        shape.kind = pass.nest.kind;
        shape.lines = pass.nest.lines;
        add_whole(part, std::move(shape), std::move(pass.nest.batch));
      }
    }
  }

  void add_nest(Call call, const TransformNest& nest, LineWay way) {
    std::vector<PlannedNest>& nests = program_.nests;
    const int threads = threads_for(bytes_of(nest));
    const auto known = std::ranges::find_if(
        nests, [&](const PlannedNest& other) { return other.threads == threads && other.nest == nest; });
    call.number = static_cast<std::size_t>(known - nests.begin());
    call.buffered = true;
    if (known == nests.end()) {
      const bool in_parts = way == LineWay::paired || line_count(nest) >= threads;
      nests.push_back({nest, threads, lines_of(nest, way, in_parts ? 1 : threads), in_parts ? threads : 1});
    }
    program_.calls.push_back(call);
  }

  int threads_for(std::int64_t bytes) const { return bytes < threaded_bytes ? 1 : base_.threads; }

  std::shared_ptr<const kernels::Lines> lines_of(const TransformNest& nest, LineWay way,
                                                 int threads_of_fftw) const {
    const kernels::FftwLoop& line = nest.lines.front();
    if (way == LineWay::paired) {
      const std::span<const kernels::FftwLoop> across(nest.lines.begin(), nest.lines.end() - 1);
      return std::make_shared<const kernels::PairedLines>(nest.precision, across, nest.lines.back(),
                                                          nest.batch, base_.measure);
    }
    if (way == LineWay::rader)
      return kernels::rader_lines(nest.kind, nest.precision, line, nest.batch, base_.measure);
    return std::make_shared<const kernels::BufferedLines>(nest.kind, nest.precision, line, nest.batch,
                                                          base_.measure, nest.in_cache, threads_of_fftw);
  }

  /// What is scaled is cut along its longest step until what it writes stays in cache, and so is what is
  /// measured.
  void add_whole(const Call& call, kernels::TransformShape shape, std::vector<kernels::FftwLoop> loops) {
    std::ranges::sort(loops, std::greater{},
                      [](const kernels::FftwLoop& loop) { return std::abs(loop.to_stride); });
    const kernels::TransformItems items = kernels::items_of(shape.kind, shape.precision);
    const std::int64_t bytes = bytes_of(shape, loops);
    const bool scaled = work_.scaled && call.last, cut = base_.measure && base_.threads == 1;
    const std::int64_t most = scaled ? scaled_bytes : measured_bytes;
    if ((!scaled && !cut) || loops.empty() || bytes <= most) {
      return add_shape(call, std::move(shape), std::move(loops));
    }
    const kernels::FftwLoop outer = loops.front();
    const std::int64_t chunk = std::max<std::int64_t>(1, most * outer.count / bytes);
    const bool in_pieces = call.piece < 0 && bytes >= threaded_bytes;
    if (in_pieces) ++pieces_;  // they do not go on from another pass
    for (std::int64_t i = 0; i < outer.count; i += chunk) {
      Call there = call;
      there.from += i * outer.from_stride * items.from;
      there.to += i * outer.to_stride * items.to;
      if (in_pieces) there.piece = ++pieces_;
      loops.front().count = std::min(chunk, outer.count - i);
      if (loops.front().count == 1) {
        add_whole(there, shape, {loops.begin() + 1, loops.end()});
      } else {
        add_shape(there, shape, loops);
      }
    }
  }

  void add_shape(Call call, kernels::TransformShape shape, std::vector<kernels::FftwLoop> batch) {
    shape.batch = std::move(batch);
    shape.threads = call.piece < 0 ? threads_for(bytes_of(shape, shape.batch)) : 1;
    std::vector<PlannedShape>& shapes = program_.shapes;
    const auto known = std::ranges::find(shapes, shape, &PlannedShape::shape);
    call.number = static_cast<std::size_t>(known - shapes.begin());
    if (known == shapes.end()) {
      PlannedShape& added = shapes.emplace_back();
      added.plans.reserve(4);
      for (const kernels::FftwLoop& line : shape.lines) {
        const bool halved = shape.kind == TransformKind::real_to_complex && &line == &shape.lines.back();
        added.scale_loops.push_back({halved ? line.count / 2 + 1 : line.count, line.to_stride});
      }
      for (const kernels::FftwLoop& loop : shape.batch)
        added.scale_loops.push_back({loop.count, loop.to_stride});
      std::erase_if(added.scale_loops, [](const kernels::ScaleLoop& loop) { return loop.count == 1; });
      std::ranges::sort(added.scale_loops, std::greater{},
                        [](const kernels::ScaleLoop& loop) { return std::abs(loop.stride); });
      added.shape = std::move(shape);
    }
    program_.calls.push_back(call);
  }

  const Transform& work_;
  int reals_;                     // in an element of the result
  kernels::TransformShape base_;  // without batch
  Program program_;
  int pieces_ = 0;
};

}  // namespace

std::unique_ptr<BoundWork> bind_transform(const Transform& work, const WorkBinding& binding) {
  if (work.from.region.empty() && work.to.region.empty()) return std::make_unique<NoWork>();
  std::unique_ptr<BoundTransform> bound = Calls(work, binding).bound(binding.workspace);
  if (binding.addresses) bound->prepare(binding.addresses);
  return bound;
}

}  // namespace partita::execution
