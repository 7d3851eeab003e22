#include "transformer/estimate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <partita/device_report.hpp>
#include <partita/settings.hpp>

#include "transformer/model.hpp"

namespace transformer {
namespace pt = partita;
namespace {

/// Of a block on the symmetric heap: whole pages, and huge ones where it is as large.
std::int64_t on_heap(std::int64_t bytes) {
  constexpr std::int64_t page = 4096, huge_page = std::int64_t{2} << 20;
  const std::int64_t unit = bytes < huge_page ? page : huge_page;
  return (bytes + unit - 1) / unit * unit;
}

/// That the products of a device work in: of cuBLASLt, and of cuBLAS (docs/devices.md).
constexpr std::int64_t product_workspace = 2 * (std::int64_t{32} << 20);

/// That CUDA's context takes of a device for itself: so it was on a H200 (driver 580, as nvidia-smi says it).
constexpr std::int64_t device_context = std::int64_t{527} << 20;

std::int64_t scratch_of(const pt::Plan& plan) {
  std::int64_t bytes = 0;
  for (const pt::Buffer& buffer : plan.buffers) {
    if (buffer.kind != pt::BufferKind::operand && buffer.view_of < 0) bytes += buffer.bytes;
  }
  return bytes;
}

/// Of up to 64 ranks as they wait for each other. Beyond, of the dearest of a few, each on its own: ranks
/// differ in little but the rest where something does not divide, and plans of thousands take long to make.
double seconds_of(const pt::Planner& planner, int ranks, const pt::Machine& machine) {
  constexpr int most = 64, few = 4;
  if (ranks <= most) return pt::simulate(planner, ranks, machine).seconds;
  double seconds = 0;
  for (int i = 0; i < few; ++i) {
    seconds = std::max(seconds, pt::price(planner((ranks - 1) / (few - 1) * i), machine));
  }
  return seconds;
}

std::optional<pt::Operand> operand_of(const Tensor* tensor) {
  return tensor == nullptr ? std::nullopt : std::optional(tensor->operand());
}

std::string key_of(const pt::MatmulOperands& operands, const pt::MatmulOptions& options) {
  std::string key =
      fmt::format("{} {} {} {} {}", static_cast<int>(options.op_a), static_cast<int>(options.op_b),
                  static_cast<int>(options.epilogue), options.alpha.real(), options.beta.real());
  for (const pt::Operand& operand : {operands.a, operands.b, operands.d}) key += "; " + operand.to_string();
  for (const auto& operand :
       {operands.c, operands.epilogue.bias, operands.epilogue.auxiliary, operands.epilogue.gradient}) {
    key += "; " + (operand ? operand->to_string() : "none");
  }
  return key;
}

}  // namespace

Estimate::Estimate(const pt::Topology& topology, const pt::Machine& machine, int rank, pt::MemorySpace space)
    : topology_(topology),
      machine_(machine),
      rank_(rank),
      space_(space),
      scratch_(space == pt::MemorySpace::device ? product_workspace : 0),
      context_(space == pt::MemorySpace::device ? device_context : 0) {}

Tensor Estimate::empty(const pt::Shape& shape, const pt::Distribution& distribution, pt::Dtype dtype,
                       pt::Order order) {
  const pt::Layout layout(distribution, shape, topology_.ranks());
  arrays_ += on_heap(layout.largest_local_size() * pt::size_of(dtype));
  pt::Operand operand = pt::Operand::of(layout, dtype, order, pt::Residency::heap);
  operand.space = space_;
  return Tensor(operand);
}

Tensor Estimate::as_strided(const Tensor& tensor, const pt::Layout& layout, std::int64_t /*first*/,
                            const pt::Strides& /*strides*/) {
  pt::Operand operand = pt::Operand::of(layout, tensor.operand().dtype);
  operand.dense = false;
  operand.space = space_;
  return Tensor(operand);
}

void Estimate::matmul(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& d,
                      const pt::MatmulOptions& options, const EpilogueTensors& tensors) {
  const pt::MatmulOperands operands{
      .a = a.operand(),
      .b = b.operand(),
      .c = operand_of(c),
      .d = d.operand(),
      .epilogue = {.bias = operand_of(tensors.bias),
                   .auxiliary = operand_of(tensors.auxiliary),
                   .gradient = operand_of(tensors.gradient)},
  };
  const bool in_place = c == &d;
  execute(key_of(operands, options) + (in_place ? " in place" : ""),
          [&](int rank) { return pt::plan_matmul(operands, topology_, rank, options, machine_, in_place); });
}

void Estimate::redistribute(const Tensor& source, Tensor& destination) {
  const pt::Operand &from = source.operand(), &to = destination.operand();
  execute(from.to_string() + " to " + to.to_string(),
          [&](int rank) { return pt::plan_redistribute(from, to, topology_, rank); });
}

/// A key says all that a plan follows from.
void Estimate::execute(const std::string& key, const pt::Planner& planner) {
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    const pt::Plan plan = planner(rank_);
    scratch_ += scratch_of(plan);
    const double seconds = seconds_of(planner, topology_.ranks(), machine_);
    found = plans_.emplace(key, Priced{{plan.operation, plan.method, pt::traffic(plan)}, seconds}).first;
  }
  executions_.push_back(found->second.execution);
  seconds_ += found->second.seconds;
}

// Each element is read or written; what a copy counts once is both. Products are made meanwhile.
void Estimate::pass(std::initializer_list<const Tensor*> tensors, const Body& /*body*/, double flops) {
  double bytes = 0;
  for (const Tensor* const tensor : tensors) {
    bytes +=
        static_cast<double>(tensor->layout().largest_local_size() * pt::size_of(tensor->operand().dtype));
  }
  const auto neighbours = static_cast<double>(topology_.node_ranks(topology_.node(rank_)).size());
  const double moved =
      bytes / 2 / std::min(machine_.copy_bandwidth, machine_.node_copy_bandwidth / neighbours);
  seconds_ += flops == 0
                  ? moved
                  : std::max(moved, flops / machine_.product_flops((*tensors.begin())->operand().dtype));
}

Estimate estimate_step(const Settings& settings, int data, const pt::Topology& topology,
                       const pt::Machine& machine, int rank, pt::MemorySpace space) {
  Estimate estimate(topology, machine, rank, space);
  Model model(estimate, settings, estimate.mesh(data));
  model.train({}, 1);
  return estimate;
}

std::int64_t memory_of_a_rank(const pt::Context& context) {
  const std::vector<pt::SettingReport> settings = pt::report_settings();
  const auto limit = std::find_if(settings.begin(), settings.end(),
                                  [](const auto& setting) { return setting.option == "memory_limit"; });
  const std::int64_t most = limit == settings.end() ? 0 : std::atoll(limit->value.c_str());
  if (most > 0) return most;
  if (context.device().kind == pt::Device::Kind::cuda) {
    return pt::report_devices().devices.at(static_cast<std::size_t>(context.device().index)).memory_bytes;
  }
  const pt::Topology& topology = context.topology();
  const auto neighbours =
      static_cast<std::int64_t>(topology.node_ranks(topology.node(context.rank())).size());
  return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE) / neighbours;
}

void require_memory(const Estimate& estimate, const Settings& settings, std::int64_t available) {
  if (estimate.bytes() <= available) return;
  throw pt::MemoryError(fmt::format(
      "transformer: {} parameters need {} bytes on each rank ({} of arrays, {} of plans{}), and there are "
      "{}; "
      "use more ranks or a smaller model",
      settings.parameters(), estimate.bytes(), estimate.array_bytes(), estimate.scratch_bytes(),
      estimate.context_bytes() > 0 ? fmt::format(", {} of the device's context", estimate.context_bytes())
                                   : "",
      available));
}

}  // namespace transformer
