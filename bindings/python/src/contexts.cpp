// Contexts, and how they begin.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <partita/along.hpp>
#include <partita/collectives.hpp>
#include <partita/context.hpp>
#include <partita/device_report.hpp>
#include <partita/machine.hpp>
#include <partita/machine_report.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "destruction.hpp"

namespace partita::python {

namespace {

constexpr std::pair<std::string_view, Device::Kind> kinds[] = {
    {"any", Device::Kind::any}, {"cpu", Device::Kind::cpu}, {"cuda", Device::Kind::cuda}};

/// "any", "cpu", "cuda" or "cuda:1".
Device parse_device(const std::string& text) {
  const std::size_t colon = text.find(':');
  Device device{named("device", text.substr(0, colon), kinds), -1};
  if (colon == std::string::npos) return device;
  const std::string number = text.substr(colon + 1);
  if (device.kind != Device::Kind::cuda || number.empty() || number.size() > 4 ||
      number.find_first_not_of("0123456789") != std::string::npos)
    throw ArgumentError("device \"" + text + "\" is not known; known: any, cpu, cuda, cuda:NUMBER");
  device.index = std::stoi(number);
  return device;
}

std::string device_text(const Device& device) {
  if (device.kind != Device::Kind::cuda) return "cpu";
  return "cuda:" + std::to_string(device.index);
}

/// Whether the ranks that are threads of `run` are to end. Their waits look at it.
struct Interruption {
  std::atomic<bool> wanted{false};
};

/// Python has noted Ctrl-C, or another signal, and it is for the main thread to act on it.
void look_for_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

ContextOptions prepared(ContextOptions options, const std::string& device) {
  options.device = parse_device(device);
  return options;
}

Context start(ContextOptions options, const std::string& device, std::uintptr_t address, int bytes,
              const std::string& implementation) {
  options = prepared(std::move(options), device);
  Communicator& communicator = options.communicator;
  if (bytes < 0 || static_cast<std::size_t>(bytes) > communicator.handle.size())
    throw ArgumentError("initialize: a communicator of " + std::to_string(bytes) + " bytes");
  if (bytes > 0) {
    // The address of an MPI_Comm, as mpi4py gives it.
    std::memcpy(communicator.handle.data(), reinterpret_cast<const void*>(address),
                static_cast<std::size_t>(bytes));
  }
  communicator.handle_bytes = bytes;
  communicator.implementation = implementation;
  options.on_wait = look_for_signals;
  return initialize(options);
}

/// `body` returns what went wrong, in one line, or nothing.
void run_threads(int ranks, const nb::typed<nb::callable, std::string(Context)>& body, ContextOptions options,
                 const std::string& device, const std::shared_ptr<Interruption>& interruption) {
  options = prepared(std::move(options), device);
  options.on_wait = [interruption] {
    if (interruption->wanted) throw Error("interrupted");
  };
  const nb::gil_scoped_release unlocked;
  ThreadGroup::run(
      ranks,
      [&](Context& context) {
        std::string wrong;
        {
          const nb::gil_scoped_acquire lock;
          wrong = nb::cast<std::string>(body(Context(context)));
        }
        if (!wrong.empty()) throw Error(wrong);
      },
      options);
}

/// One context per name in `devices`, by rank: contexts of one group in this process, made concurrently.
std::vector<Context> start_group(const ContextOptions& options, const std::vector<std::string>& devices) {
  const ThreadGroup group(static_cast<int>(devices.size()));
  std::vector<std::optional<Context>> made(devices.size());
  std::vector<std::exception_ptr> errors(devices.size());
  const auto start_rank = [&](std::size_t rank) {
    try {
      ContextOptions own = prepared(options, devices[rank]);
      own.communicator = group.member(static_cast<int>(rank));
      own.on_wait = look_for_signals;
      made[rank] = initialize(own);
    } catch (...) {
      errors[rank] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) threads.emplace_back(start_rank, rank);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  std::vector<Context> contexts;
  for (std::optional<Context>& context : made) contexts.push_back(std::move(*context));
  return contexts;
}

/// Options by name, as words and numbers.
void bind_options(nb::module_& module) {
  using O = ContextOptions;
  nb::class_<O> options(module, "ContextOptions");
  options.def(nb::init<>())
      .def_prop_rw(
          "deadline", [](const O& o) { return std::chrono::duration<double>(o.deadline).count(); },
          [](O& o, double seconds) {
            if (!(seconds >= 0.001 && seconds <= 3.2e7))
              throw ArgumentError("deadline: a number of seconds, from 0.001 to 3.2e7");
            o.deadline = std::chrono::milliseconds(std::llround(seconds * 1000));
          })
      .def_rw("ranks_per_node", &O::ranks_per_node)
      .def_rw("threads", &O::threads)
      .def_rw("machine", &O::machine)
      .def_rw("memory_limit", &O::memory_limit)
      .def_rw("plan_cache_size", &O::plan_cache_size)
      .def_rw("plan_cache_bytes", &O::plan_cache_bytes)
      .def_rw("device_lanes", &O::device_lanes);
  const auto word = [&](const char* what, auto member) {
    using Option = std::remove_reference_t<decltype(std::declval<O&>().*member)>;
    options.def_prop_rw(
        what, [member](const O& o) { return std::string(name(o.*member)); },
        [what, member](O& o, const std::string& text) { o.*member = parse<Option>(text, what); });
  };
  word("log", &O::log);
  word("cross_memory", &O::cross_memory);
  word("device_heap", &O::device_heap);
  word("device_collectives", &O::device_collectives);
  word("device_messages", &O::device_messages);
  word("copy_way", &O::copy_way);
}

void bind_machine(nb::module_& module) {
  nb::class_<Machine>(module, "Machine", "Parameters of the cost model: bytes per second, and seconds.")
      .def_ro("copy_bandwidth", &Machine::copy_bandwidth)
      .def_ro("node_copy_bandwidth", &Machine::node_copy_bandwidth)
      .def_ro("copy_latency", &Machine::copy_latency)
      .def_ro("signal_latency", &Machine::signal_latency)
      .def_ro("peer_bandwidth", &Machine::peer_bandwidth)
      .def_ro("network_bandwidth", &Machine::network_bandwidth)
      .def_ro("network_latency", &Machine::network_latency)
      .def_ro("flops", &Machine::flops)
      .def("product_flops", &Machine::product_flops, nb::arg("factors"));
}

}  // namespace

void bind_contexts(nb::module_& module) {
  bind_options(module);
  bind_machine(module);
  nb::class_<Context>(module, "Context")
      .def_prop_ro("rank", &Context::rank)
      .def_prop_ro("size", &Context::size)
      .def_prop_ro("threads", &Context::threads)
      .def_prop_ro("topology", &Context::topology, nb::rv_policy::copy)
      .def_prop_ro("machine", &Context::machine, nb::rv_policy::copy)
      .def_prop_ro("device", [](const Context& self) { return device_text(self.device()); })
      .def_prop_ro("failed", &Context::failed)
      .def_prop_ro("failure", &Context::failure)
      .def("fail", &Context::fail, nb::arg("why"), Unlocked())
      .def(
          "barrier", [](const Context& self, StreamHandle stream) { barrier(self, stream_of(stream)); },
          nb::arg("stream") = nb::none(), Unlocked())
      .def("collect", &Context::collect, Unlocked())
      // In Python variables outlive the block that closes, so what they hold is not logged as a leak.
      .def(
          "close", [](Context& self) { return self.close(false); }, Unlocked())
      .def_prop_ro("stream",
                   [](const Context& self) -> StreamHandle {
                     const Stream own = self.stream();
                     if (!own.given) return std::nullopt;
                     return reinterpret_cast<std::uintptr_t>(own.handle);
                   })
      .def(
          "synchronize",
          [](const Context& self, StreamHandle stream) { self.synchronize(stream_of(stream)); },
          nb::arg("stream") = nb::none(), Unlocked())
      .def(
          "subgroup", [](const Context& self, const std::vector<int>& ranks) { return self.subgroup(ranks); },
          nb::arg("ranks"), Unlocked())
      .def("split", &Context::split, nb::arg("colour"), nb::arg("key") = 0, Unlocked())
      .def(
          "along",
          [](const Context& self, const Mesh& mesh, const std::vector<std::string>& axes) {
            return along(self, mesh, axes);
          },
          nb::arg("mesh"), nb::arg("axes"), Unlocked())
      .def(
          "__eq__", [](const Context& a, const Context& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Context& self) { return std::hash<const void*>{}(self.state().get()); });
  nb::class_<Interruption>(module, "Interruption")
      .def(nb::init<>())
      .def_prop_rw(
          "wanted", [](const Interruption& self) { return self.wanted.load(); },
          [](Interruption& self, bool wanted) { self.wanted = wanted; });
  module.def("initialize", &start, nb::arg("options"), nb::arg("device"), nb::arg("address"),
             nb::arg("bytes"), nb::arg("implementation"), Unlocked());
  module.def("run_threads", &run_threads, nb::arg("ranks"), nb::arg("body"), nb::arg("options"),
             nb::arg("device"), nb::arg("interruption"));
  module.def("initialize_group", &start_group, nb::arg("options"), nb::arg("devices"), Unlocked());
  module.def("is_launched_rank", &is_launched_rank);
  module.def(
      "device_count",
      [] {
        const DeviceReport report = report_devices();
        return report.note.empty() ? report.devices.size() : 0;
      },
      Unlocked());
}

}  // namespace partita::python
