// Collectives and messages, on memory of any package; sorted parts that they have delivered are merged.
#include <nanobind/nanobind.h>

#include <partita/collectives.hpp>
#include <partita/merge.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

ReduceOptions reduced_by(const std::string& reduction) {
  return {.reduction = parse_reduction(reduction)};
}

using Counts = std::vector<std::int64_t>;

/// `call(source, destination)`, with the interpreter's lock free.
template <class Call>
void between(const nb::handle& source, const nb::handle& destination, const Call& call) {
  const Operands operands(source, destination);
  const nb::gil_scoped_release unlocked;
  call(operands.source(), operands.destination());
}

/// The same where only the root has a destination, or a source: None on the others.
template <class Call>
void with_root(const nb::handle& source, const nb::handle& destination, const Call& call) {
  std::optional<Memory> from, to;
  if (!source.is_none()) from.emplace("source", source, false);
  if (!destination.is_none()) to.emplace("destination", destination, true);
  const nb::gil_scoped_release unlocked;
  call(from ? from->view() : View{}, to ? to->view() : View{});
}

void broadcast_memory(const Context& context, const nb::object& array, int root, StreamHandle stream) {
  const Memory memory("array", array, context.rank() != root);
  const nb::gil_scoped_release unlocked;
  broadcast(context, memory.view(), root, stream_of(stream));
}

void reduce_memory(const Context& context, const nb::object& from, const nb::object& to,
                   const std::string& reduction, int root, StreamHandle stream) {
  const ReduceOptions options = in_stream(reduced_by(reduction), stream);
  with_root(from, to, [&](const View& a, const View& b) { reduce(context, a, b, options, root); });
}

void gather_memory(const Context& context, const nb::object& from, const nb::object& to, const Counts& counts,
                   int root, StreamHandle stream) {
  with_root(from, to, [&](const View& a, const View& b) {
    counts.empty() ? gather(context, a, b, root, stream_of(stream))
                   : gather_v(context, a, b, counts, root, stream_of(stream));
  });
}

void scatter_memory(const Context& context, const nb::object& from, const nb::object& to,
                    const Counts& counts, int root, StreamHandle stream) {
  with_root(from, to, [&](const View& a, const View& b) {
    counts.empty() ? scatter(context, a, b, root, stream_of(stream))
                   : scatter_v(context, a, b, counts, root, stream_of(stream));
  });
}

void all_reduce_memory(const Context& context, const nb::object& from, const nb::object& to,
                       const std::string& reduction, StreamHandle stream) {
  const ReduceOptions options = in_stream(reduced_by(reduction), stream);
  between(from, to, [&](const View& a, const View& b) { all_reduce(context, a, b, options); });
}

void all_gather_memory(const Context& context, const nb::object& from, const nb::object& to,
                       const Counts& counts, StreamHandle stream) {
  between(from, to, [&](const View& a, const View& b) {
    counts.empty() ? all_gather(context, a, b, stream_of(stream))
                   : all_gather_v(context, a, b, counts, stream_of(stream));
  });
}

void reduce_scatter_memory(const Context& context, const nb::object& from, const nb::object& to,
                           const Counts& counts, const std::string& reduction, StreamHandle stream) {
  const ReduceOptions options = in_stream(reduced_by(reduction), stream);
  between(from, to, [&](const View& a, const View& b) {
    counts.empty() ? reduce_scatter(context, a, b, options)
                   : reduce_scatter_v(context, a, b, counts, options);
  });
}

void all_to_all_memory(const Context& context, const nb::object& from, const nb::object& to,
                       const Counts& sent, const Counts& received, StreamHandle stream) {
  between(from, to, [&](const View& a, const View& b) {
    sent.empty() && received.empty() ? all_to_all(context, a, b, stream_of(stream))
                                     : all_to_all_v(context, a, b, sent, received, stream_of(stream));
  });
}

void scan_memory(const Context& context, const nb::object& from, const nb::object& to,
                 const std::string& reduction, bool exclusive, StreamHandle stream) {
  const ReduceOptions options = in_stream(reduced_by(reduction), stream);
  const Scan kind = exclusive ? Scan::exclusive : Scan::inclusive;
  between(from, to, [&](const View& a, const View& b) { scan(context, a, b, options, kind); });
}

void send_memory(const Context& context, const nb::object& array, int peer, int tag, StreamHandle stream) {
  const Memory memory("array", array, false);
  const nb::gil_scoped_release unlocked;
  send(context, memory.view(), peer, tag, stream_of(stream));
}

void receive_memory(const Context& context, const nb::object& array, int peer, int tag, StreamHandle stream) {
  const Memory memory("array", array, true);
  const nb::gil_scoped_release unlocked;
  receive(context, memory.view(), peer, tag, stream_of(stream));
}

void exchange_memory(const Context& context, const nb::object& sent, int to, const nb::object& received,
                     int from, int tag, StreamHandle stream) {
  between(sent, received, [&](const View& a, const View& b) {
    send_receive(context, a, to, b, from, tag, stream_of(stream));
  });
}

void merge_memory(const nb::object& values, const Counts& counts, const nb::object& destination) {
  const Memory runs("values", values, false), merged("destination", destination, true);
  const nb::gil_scoped_release unlocked;
  merge_runs(runs.view(), counts, merged.view());
}

}  // namespace

void bind_collectives(nb::module_& module) {
  const auto context = nb::arg("context"), source = nb::arg("source"), destination = nb::arg("destination"),
             array = nb::arg("array"), reduction = nb::arg("reduction"), counts = nb::arg("counts"),
             root = nb::arg("root"), peer = nb::arg("peer"), tag = nb::arg("tag");
  const auto stream = nb::arg("stream") = nb::none();
  const auto any_source = nb::arg("source").none(), any_destination = nb::arg("destination").none();
  module.def("broadcast", &broadcast_memory, context, array, root, stream);
  module.def("reduce", &reduce_memory, context, any_source, any_destination, reduction, root, stream);
  module.def("gather_memory", &gather_memory, context, any_source, any_destination, counts, root, stream);
  module.def("scatter_memory", &scatter_memory, context, any_source, any_destination, counts, root, stream);
  module.def("all_reduce", &all_reduce_memory, context, source, destination, reduction, stream);
  module.def("all_gather", &all_gather_memory, context, source, destination, counts, stream);
  module.def("reduce_scatter", &reduce_scatter_memory, context, source, destination, counts, reduction,
             stream);
  module.def("all_to_all", &all_to_all_memory, context, source, destination, nb::arg("sent"),
             nb::arg("received"), stream);
  module.def("scan", &scan_memory, context, source, destination, reduction, nb::arg("exclusive"), stream);
  module.def("send", &send_memory, context, array, peer, tag, stream);
  module.def("receive", &receive_memory, context, array, peer, tag, stream);
  module.def("send_receive", &exchange_memory, context, nb::arg("sent"), nb::arg("to"), nb::arg("received"),
             nb::arg("from_rank"), tag, stream);
  module.def("merge_runs", &merge_memory, nb::arg("values"), counts, destination);
}

}  // namespace partita::python
