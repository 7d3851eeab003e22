// What compiled programs of JAX call: the library's operations, on XLA's buffers.
#include <nanobind/nanobind.h>

#include <partita/collectives.hpp>
#include <partita/fft.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>
#include <partita/refusal.hpp>
#include <utility>

#include "binding.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "linear_calls.hpp"
#include "xla_groups.hpp"

namespace partita::python {

namespace {

using xla::Call;
using xla::Group;

/// What of the arguments' extents all ranks have alike.
enum class Alike : std::uint8_t {
  extents,            ///< all
  extents_less_rows,  ///< all but dimension 0, along which parts stand
  nothing,            ///< arguments are parts of arrays, whose layouts are attributes
  no_call,            ///< it is a message between two ranks
};

/// What a handler does.
struct Operation {
  std::string_view name;
  void (*run)(const Call&, Group&);
  Alike alike;
};

/// Of what differs between ranks rightly.
constexpr std::string_view counts_of_rank[] = {"sent", "received"};

int first_dimension_alike(const Call& call, Alike alike) {
  if (alike == Alike::nothing) return max_dimensions;
  if (alike == Alike::extents) return 0;
  return call.has("sent") && call.numbers("sent").empty() ? 0 : 1;
}

/// A context drives one GPU, and a stream belongs to one.
void require_device_of_group(const Call& call, const Context& context) {
  const Device own = context.device();
  const std::optional<int> found = call.device();
  const std::string there = found ? "cuda:" + std::to_string(*found) : "a GPU";
  if (own.kind != Device::Kind::cuda)
    throw ArgumentError(
        "the program runs on " + there +
        ", but the group's context is on the CPU: create the context with device=\"cuda\", or run the "
        "program on the CPU (jax.default_device)");
  if (!found || *found == own.index) return;
  throw ArgumentError(
      "the program runs on " + there + ", but the group's context is on cuda:" + std::to_string(own.index) +
      ": run the program on the GPU of the context (inside `with group:` it does, unless its arrays "
      "are on another device), or create the context with device=\"" +
      there + "\"");
}

/// A device executes what it is given without a look at the other ranks: the hosts compare first, so that a
/// call that differs gives an error, and no numbers.
void prepare_on_device(const Call& call, const Operation& operation, const Group& group) {
  const Context& context = group.context();
  if (operation.alike == Alike::no_call || group.is_whole()) return require_device_of_group(call, context);
  agree(context, operation.name, [&] {
    require_device_of_group(call, context);
    return call.facts(first_dimension_alike(call, operation.alike), counts_of_rank);
  });
}

/// One call has the group's context at a time. If a program has no result, XLA's report is not seen:
/// the group knows it, too.
template <const Operation& operation>
void in_group(const Call& call) {
  const std::shared_ptr<Group> group = xla::group_of(call);
  const std::lock_guard lock(group->mutex());
  try {
    if (call.space() == MemorySpace::device) prepare_on_device(call, operation, *group);
    operation.run(call, *group);
  } catch (...) {
    group->note_failure(xla::current_refusal().as_raised());
    throw;
  }
}

ReduceOptions joined(const Call& call) {
  return {.stream = call.stream(), .reduction = parse_reduction(call.text("reduction"))};
}

int rank_named(const Call& call, std::string_view name) {
  return static_cast<int>(call.number(name));
}

void all_reduce_buffers(const Call& call, Group& group) {
  all_reduce(group.context(), call.argument(0), call.result(0), joined(call));
}

/// The result has one row on the root, and none elsewhere.
void reduce_buffers(const Call& call, Group& group) {
  const int root = rank_named(call, "root");
  View result = call.argument(0);
  result.data = group.context().rank() == root ? call.result(0).data : nullptr;
  if (result.data == nullptr) result = {};
  reduce(group.context(), call.argument(0), result, joined(call), root);
}

/// In place: XLA has made result and argument one.
void broadcast_buffer(const Call& call, Group& group) {
  broadcast(group.context(), call.result(0), rank_named(call, "root"), call.stream());
}

void gather_buffers(const Call& call, Group& group) {
  const int root = rank_named(call, "root");
  const View result = group.context().rank() == root ? call.result(0) : View{};
  gather_v(group.context(), call.argument(0), result, call.numbers("counts"), root, call.stream());
}

void scatter_buffers(const Call& call, Group& group) {
  const int root = rank_named(call, "root");
  const View source = group.context().rank() == root ? call.argument(0) : View{};
  scatter_v(group.context(), source, call.result(0), call.numbers("counts"), root, call.stream());
}

void all_gather_buffers(const Call& call, Group& group) {
  all_gather_v(group.context(), call.argument(0), call.result(0), call.numbers("counts"), call.stream());
}

void reduce_scatter_buffers(const Call& call, Group& group) {
  reduce_scatter_v(group.context(), call.argument(0), call.result(0), call.numbers("counts"), joined(call));
}

void all_to_all_buffers(const Call& call, Group& group) {
  const auto sent = call.numbers("sent");
  if (sent.empty()) return all_to_all(group.context(), call.argument(0), call.result(0), call.stream());
  all_to_all_v(group.context(), call.argument(0), call.result(0), sent, call.numbers("received"),
               call.stream());
}

void scan_buffers(const Call& call, Group& group) {
  const Scan kind = call.number("exclusive") != 0 ? Scan::exclusive : Scan::inclusive;
  scan(group.context(), call.argument(0), call.result(0), joined(call), kind);
}

void send_buffer(const Call& call, Group& group) {
  send(group.context(), call.argument(0), rank_named(call, "to"), rank_named(call, "tag"), call.stream());
}

void receive_buffer(const Call& call, Group& group) {
  receive(group.context(), call.result(0), rank_named(call, "source"), rank_named(call, "tag"),
          call.stream());
}

void exchange_buffers(const Call& call, Group& group) {
  send_receive(group.context(), call.argument(0), rank_named(call, "to"), call.result(0),
               rank_named(call, "source"), rank_named(call, "tag"), call.stream());
}

void barrier_in_program(const Call& call, Group& group) {
  barrier(group.context(), call.stream());
}

void redistribute_buffers(const Call& call, Group& group) {
  const Array source = group.array(call, "source", call.argument(0));
  Array destination = group.array(call, "destination", call.result(0));
  redistribute_into(source, destination, {.stream = call.stream()});
}

FftOptions transform_of(const Call& call, const Layout& destination) {
  FftOptions options;
  for (const std::int64_t axis : call.numbers("axes")) options.axes.push_back(static_cast<int>(axis));
  options.norm = parse<Norm>(call.text("norm"));
  options.kind = parse<FftKind>(call.text("kind"));
  options.inverse = options.kind == FftKind::c2c && call.number("inverse") != 0;
  if (options.kind == FftKind::c2r) options.last_length = destination.shape()[options.axes.back()];
  return options;
}

/// Planned once: the functions of one line would compare arrays in ordinary memory with all ranks every time.
void transform_buffers(const Call& call, Group& group) {
  const Array input = group.array(call, "source", call.argument(0));
  Array output = group.array(call, "destination", call.result(0));
  FFT& transform = group.plan<FFT>("fft " + call.identity(), [&] {
    return FFT(group.context(), input.operand(), output.operand(), transform_of(call, output.layout()));
  });
  transform.execute(input, output, 1, call.stream());
}

/// Of both directions.
Halo& halo_of(const Call& call, Group& group) {
  return group.plan<Halo>("halo " + call.identity(), [&] {
    HaloOptions options;
    for (const std::int64_t width : call.numbers("lower")) options.lower.push_back(width);
    for (const std::int64_t width : call.numbers("upper")) options.upper.push_back(width);
    for (const std::int64_t round : call.numbers("periodic")) options.periodic.push_back(round != 0);
    return Halo(group.context(), group.operand(call, "layout", call.argument(0)), options);
  });
}

/// In place: the part is inside the result already, and what is outside of the array, too.
void refresh_ghost_cells(const Call& call, Group& group) {
  halo_of(call, group).refresh(call.result(0), call.stream());
}

void accumulate_ghost_cells(const Call& call, Group& group) {
  halo_of(call, group).accumulate(call.argument(0), call.result(0), call.stream());
}

void multiply_buffers(const Call& call, Group& group) {
  const Array a = group.array(call, "layout_a", call.argument(0)),
              b = group.array(call, "layout_b", call.argument(1));
  Array d = group.array(call, "d", call.result(0));
  MatmulOptions options;
  options.stream = call.stream();
  options.op_a = parse<Op>(call.text("op_a"));
  options.op_b = parse<Op>(call.text("op_b"));
  options.epilogue = parse<Epilogue>(call.text("epilogue"));
  options.compute = parse<ComputeType>(call.text("compute"));
  Array bias;
  EpilogueArrays arrays;
  if (!call.text("bias").empty()) {
    bias = group.array(call, "bias", call.argument(2));
    arrays.bias = &bias;
  }
  matmul_into(a, b, nullptr, d, options, arrays);
}

std::vector<Array> arrays_named(const Call& call, Group& group, const std::string& kind,
                                View (Call::*buffer)(std::int64_t) const) {
  std::vector<Array> arrays;
  for (std::string name = kind + "0"; call.has(name); name = kind + std::to_string(arrays.size()))
    arrays.push_back(group.array(call, name, (call.*buffer)(static_cast<std::int64_t>(arrays.size()))));
  return arrays;
}

/// The host waits: factorizations report on it whether they succeeded.
void compute_linear(const Call& call, Group& group) {
  const std::vector<Array> operands = arrays_named(call, group, "operand", &Call::argument);
  std::vector<Array> results = arrays_named(call, group, "result", &Call::result);
  if (const std::optional<Stream> stream = call.stream()) group.context().synchronize(stream);
  LinearOptions options;
  options.op = parse<Op>(call.text("op"));
  options.upper = call.number("upper") != 0;
  options.unit_diagonal = call.number("unit_diagonal") != 0;
  options.right = call.number("right") != 0;
  run_linear(call.text("function"), operands, results, options);
}

/// Makes a number of a token, or a token of a number: by it calls whose operands are distributed over devices
/// follow each other, since XLA partitions arrays only. The number is never read.
void pass_turn(const Call& /*call*/) {}

constexpr Operation operations[] = {
    {"all_reduce", all_reduce_buffers, Alike::extents},
    {"reduce", reduce_buffers, Alike::extents},
    {"broadcast", broadcast_buffer, Alike::extents},
    {"gather", gather_buffers, Alike::extents_less_rows},
    {"scatter", scatter_buffers, Alike::extents_less_rows},
    {"all_gather", all_gather_buffers, Alike::extents_less_rows},
    {"reduce_scatter", reduce_scatter_buffers, Alike::extents},
    {"all_to_all", all_to_all_buffers, Alike::extents_less_rows},
    {"scan", scan_buffers, Alike::extents},
    {"send", send_buffer, Alike::no_call},
    {"receive", receive_buffer, Alike::no_call},
    {"send_receive", exchange_buffers, Alike::no_call},
    {"barrier", barrier_in_program, Alike::extents},
    {"redistribute", redistribute_buffers, Alike::nothing},
    {"fft", transform_buffers, Alike::nothing},
    {"halo", refresh_ghost_cells, Alike::nothing},
    {"halo_accumulate", accumulate_ghost_cells, Alike::nothing},
    {"matmul", multiply_buffers, Alike::nothing},
    {"linalg", compute_linear, Alike::nothing},
};

/// The functions by name, as capsules.
template <MemorySpace space>
nb::dict handlers() {
  nb::dict all;
  const auto add = [&]<std::size_t... number>(std::index_sequence<number...>) {
    ((all[operations[number].name.data()] =
          nb::capsule(reinterpret_cast<const void*>(static_cast<xla::Error* (*)(xla::Frame*) noexcept>(
              &xla::handler<in_group<operations[number]>, space>)))),
     ...);
  };
  add(std::make_index_sequence<std::size(operations)>());
  all["turn"] = nb::capsule(reinterpret_cast<const void*>(
      static_cast<xla::Error* (*)(xla::Frame*) noexcept>(&xla::handler<pass_turn, space>)));
  return all;
}

}  // namespace

void bind_xla(nb::module_& module) {
  module.def(
      "xla_handlers",
      [](bool device) {
        return Dict(device ? handlers<MemorySpace::device>() : handlers<MemorySpace::host>());
      },
      nb::arg("device"));
  module.def("add_xla_group", &xla::add_group, nb::arg("contexts"));
  module.def("forget_xla_group", &xla::forget_group, nb::arg("number"));
  module.def("xla_group_failures", &xla::failures_of_group, nb::arg("number"));
  module.def("synchronize_xla_group", &xla::synchronize_group, nb::arg("number"), Unlocked());
}

}  // namespace partita::python
