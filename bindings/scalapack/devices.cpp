#include "devices.hpp"

#include <cstdlib>
#include <partita/error.hpp>
#include <string_view>

namespace partita::scalapack {

const std::optional<Machine>& machine_of_devices() {
  static const std::optional<Machine> machine = []() -> std::optional<Machine> {
    const char* const set = std::getenv("PARTITA_SCALAPACK_DEVICE");
    const std::string_view text = set == nullptr ? "" : set;
    constexpr std::string_view with_machine = "cuda:";
    if (text.empty() || text == "cpu") return std::nullopt;
    if (text == "cuda") return Machine::find("node-8-gpu");
    if (text.starts_with(with_machine)) return Machine::find(text.substr(with_machine.size()));
    throw ArgumentError("PARTITA_SCALAPACK_DEVICE is \"" + std::string(text) +
                        "\"; it must be cpu, cuda or cuda:MACHINE");
  }();
  return machine;
}

namespace {

Operand there(Operand operand) {
  operand = Operand::of(operand.layout, operand.dtype, Order::column_major, Residency::heap);
  operand.space = MemorySpace::device;
  return operand;
}

double bytes_of(const Operand& operand, int rank) {
  return static_cast<double>(operand.layout.local_size(rank) * size_of(operand.dtype));
}

double seconds(const MatmulOperands& operands, const Topology& topology, int rank,
               const MatmulOptions& options, const Machine& machine) {
  return price(plan_matmul(operands, topology, rank, options, machine), machine);
}

/// This process's part is copied from where it is.
Array copied_there(const Context& devices, const Array& array, bool is_read) {
  Array copied = empty(devices, array.layout(), array.dtype(),
                       {.residency = Residency::heap, .order = Order::column_major});
  if (is_read) copy(array.local(), copied);
  return copied;
}

}  // namespace

bool costs_less_on_devices(const MatmulOperands& operands, const Topology& topology,
                           const MatmulOptions& options, const Machine& devices) {
  const int rank = operands.d.layout.owner({0, 0});
  MatmulOperands moved = operands;
  moved.a = there(operands.a);
  moved.b = there(operands.b);
  if (operands.c) moved.c = there(*operands.c);
  moved.d = there(operands.d);
  double bytes = bytes_of(operands.a, rank) + bytes_of(operands.b, rank) + bytes_of(operands.d, rank);
  if (operands.c) bytes += bytes_of(*operands.c, rank);
  return seconds(moved, topology, rank, options, devices) + bytes / devices.bus_bandwidth <
         seconds(operands, topology, rank, options, Machine::here());
}

bool multiplied_on_devices(Grid& grid, const Array& a, const Array& b, const Array& c, bool reads_c,
                           const MatmulOptions& options) {
  const Context& devices = grid.devices();
  try {
    const Array moved_a = copied_there(devices, a, true), moved_b = copied_there(devices, b, true);
    Array moved_c = copied_there(devices, c, reads_c);
    matmul_into(moved_a, moved_b, reads_c ? &moved_c : nullptr, moved_c, options);
    copy(moved_c, c.local());
  } catch (const MemoryError&) {
    return false;
  }
  return true;
}

}  // namespace partita::scalapack
