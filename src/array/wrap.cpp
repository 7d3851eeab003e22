#include <algorithm>
#include <optional>

#include "array/array_state.hpp"
#include "array/overlap.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_math.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {
namespace {

/// What a rank reports of its part. An empty part suits any order and residency.
struct LocalPart {
  std::int64_t heap_offset = -1;
  bool empty = false;
  bool rows = false;     // dense row-major
  bool columns = false;  // dense column-major
  bool shared = false;   // elements share memory with each other
  bool read_only = false;
};

LocalPart part_of(const ContextState& context, const View& local) {
  LocalPart part;
  part.empty = volume(local.extents) == 0;
  part.rows = arrays::lies_dense(local);
  part.columns = arrays::lies_as(local, dense_strides(local.extents, Order::column_major));
  part.heap_offset = part.empty ? -1 : context.heap_in(local.space).offset_of(local.data);
  // Of a device's heap a multiply takes it for granted that bytes are aligned as BLAS wants them.
  const bool for_blas = local.space == MemorySpace::device && size_of(local.dtype) == 1;
  if (for_blas && part.heap_offset % devices::narrow_alignment != 0) part.heap_offset = -1;
  part.shared = arrays::elements_meet(local);
  part.read_only = local.read_only && !part.empty;
  return part;
}

/// The worst of all ranks counts.
struct Joint {
  bool rows = true;
  bool columns = true;
  bool heap = true;
  std::int64_t heap_offset = -1;
  int shared_rank = -1;
  int read_only_rank = -1;
};

/// The first rank whose part says so; -1: none.
int first_rank(const std::vector<LocalPart>& parts, bool LocalPart::*what, bool value) {
  const auto found = std::ranges::find(parts, value, what);
  return found == parts.end() ? -1 : static_cast<int>(found - parts.begin());
}

Joint join(const std::vector<LocalPart>& parts) {
  Joint joint;
  for (const LocalPart& part : parts) {
    if (part.empty) continue;
    joint.rows = joint.rows && part.rows;
    joint.columns = joint.columns && part.columns;
    if (joint.heap_offset < 0) joint.heap_offset = part.heap_offset;
    joint.heap = joint.heap && part.heap_offset >= 0 && part.heap_offset == joint.heap_offset;
  }
  joint.heap = joint.heap && joint.heap_offset >= 0;
  joint.shared_rank = first_rank(parts, &LocalPart::shared, true);
  joint.read_only_rank = first_rank(parts, &LocalPart::read_only, true);
  return joint;
}

// Where nothing is wrong no texts are made, here and below: they take longer than the rest.
void check_view(std::string_view operation, const View& local, const Layout& layout,
                const ContextState& context) {
  const int rank = context.rank();
  const Shape wanted = layout.local_shape(rank);
  if (local.extents != wanted) {
    check(false, "the local part of rank {} is {}, but {} gives it {}", rank, to_string(local.extents),
          layout.to_string(), to_string(wanted));
  }
  check(local.strides.size() == local.extents.size(),
        "the local part of rank {} has {} extents but {} strides", rank, local.extents.size(),
        local.strides.size());
  check(local.data != nullptr || volume(wanted) == 0, "the local part of rank {} is a null pointer", rank);
  if (local.space == MemorySpace::host) return;
  check<UnsupportedError>(context.device != nullptr,
                          "the local part of rank {} is device memory, but the context has no device", rank);
  const int own = context.device_index(local.space);
  check(local.device < 0 || local.device == own,
        "the local part of rank {} is declared as memory of device {}, but the context uses device {}", rank,
        local.device, own);
  arrays::require_aligned(operation, local, rank);
}

/// Names the device.
View placed(const ContextState& context, View local) {
  local.device = context.device_index(local.space);
  return local;
}

}  // namespace

void arrays::check_whose_memory(const ContextState& context, const View& local) {
  if (!context.device || local.data == nullptr || volume(local.extents) == 0) return;
  if (context.heap_in(local.space).offset_of(local.data) >= 0) return;
  const devices::PhysicalDevice& device = context.device->physical();
  const devices::FoundMemory found = context.device->physical().find_memory(local.data);
  const int rank = context.rank();
  if (local.space == MemorySpace::host) {
    check(found.of_host,
          "the local part of rank {} is declared as host memory, but it is memory of device {}: its "
          "View::space must be MemorySpace::device",
          rank, found.owner);
  } else {
    check(found.of_device || found.owner < 0,
          "the local part of rank {} is memory of device {}, but the context's is device {}", rank,
          found.owner, device.index());
    check(found.of_device,
          "the local part of rank {} is declared as device memory, but it is host memory that the device "
          "cannot "
          "access: its View::space must be MemorySpace::host",
          rank);
  }
}

Array arrays::wrap_together(const Context& context, std::string_view operation,
                            const std::function<View()>& local, const std::function<Layout()>& layout,
                            std::shared_ptr<void> owner) {
  const std::shared_ptr<ContextState>& state = context.state();
  state->require_usable(operation);
  View view;
  std::optional<Layout> agreed;
  runtime::collectively(*state, operation, [&]() -> std::vector<Fact> {
    view = local();
    agreed = layout();
    check(agreed->ranks() == state->size(), "the layout {} does not suit a context of {} ranks",
          agreed->to_string(), state->size());
    check_view(operation, view, *agreed, *state);
    check_whose_memory(*state, view);
    return {{"layout", agreed->to_string()},
            {"dtype", std::string(name(view.dtype))},
            {"memory", std::string(name(view.space))}};
  });
  return wrap_agreed(state, view, *agreed, operation, std::move(owner));
}

Array arrays::wrap_agreed(const std::shared_ptr<ContextState>& context, const View& local,
                          const Layout& layout, std::string_view operation, std::shared_ptr<void> owner) {
  const Joint joint = join(runtime::exchange_values(*context, operation, part_of(*context, local)));
  const Order order = joint.rows || !joint.columns ? Order::row_major : Order::column_major;
  Operand operand =
      Operand::of(layout, local.dtype, order, joint.heap ? Residency::heap : Residency::ordinary);
  operand.space = local.space;
  operand.dense = joint.rows || joint.columns;
  const std::int64_t offset = joint.heap ? joint.heap_offset : -1;
  auto state =
      std::make_shared<Array::State>(Array::State{context, operand, placed(*context, local), std::move(owner),
                                                  offset, joint.shared_rank, joint.read_only_rank});
  state->number = context->agreements;
  return Array(std::move(state));
}

Array wrap(const Context& context, const View& local, const Distribution& distribution, const Shape& shape,
           std::shared_ptr<void> owner) {
  return arrays::wrap_together(
      context, "wrap", [&] { return local; }, [&] { return Layout(distribution, shape, context.size()); },
      std::move(owner));
}

Array wrap(const Context& context, const View& local, const Layout& layout, std::shared_ptr<void> owner) {
  return arrays::wrap_together(
      context, "wrap", [&] { return local; }, [&] { return layout; }, std::move(owner));
}

Array wrap(const Context& context, const View& local, const Operand& operand, std::shared_ptr<void> owner) {
  const std::shared_ptr<ContextState>& state = context.state();
  state->require_usable_here("wrap");
  if (operand.layout.ranks() != state->size()) {
    check(false, "the layout {} does not suit a context of {} ranks", operand.layout.to_string(),
          state->size());
  }
  if (operand.residency != Residency::ordinary || operand.space != local.space) {
    check(false, "the local part is ordinary memory of the {}, but the operand is {}", name(local.space),
          operand.to_string());
  }
  check(local.dtype == operand.dtype, "the local part is {}, but the operand is {}", name(local.dtype),
        name(operand.dtype));
  check_view("wrap", local, operand.layout, *state);
  if (operand.dense && !local.extents.empty() &&
      !arrays::lies_as(local, operand.local_strides(state->rank()))) {
    check(false, "the local part of rank {} is not dense in the order of the operand {}", state->rank(),
          operand.to_string());
  }
  arrays::check_whose_memory(*state, local);
  return Array(std::make_shared<Array::State>(
      Array::State{state, operand, placed(*state, local), std::move(owner), -1,
                   arrays::elements_meet(local) ? state->rank() : -1, local.read_only ? state->rank() : -1}));
}

}  // namespace partita
