#include "io/array_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <partita/redistribute.hpp>
#include <sstream>

#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "base/check.hpp"
#include "base/element_at.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::io {
namespace {

struct Target {
  FileHeader header;
  std::optional<Layout> pieces;  // as they are read
  std::optional<Layout> wanted;
};

Target agree_on_target(const Context& context, const std::string& path, const Distribution& distribution,
                       const FileReader& reader) {
  Target target;
  runtime::collectively(*context.state(), reader.operation, [&]() -> std::vector<Fact> {
    target.header = reader.inspect();
    const Shape& shape = target.header.shape;
    target.wanted.emplace(distribution, shape, context.size());
    const Distribution pieces =
        shape.empty() ? Distribution(Replicated()) : Distribution(file_slab(shape, target.header.order));
    target.pieces.emplace(pieces, shape, context.size());
    std::vector<Fact> facts{{"path", path}};
    facts.insert(facts.end(), reader.facts.begin(), reader.facts.end());
    facts.push_back({"layout", target.wanted->to_string()});
    facts.push_back({"dtype", std::string(name(target.header.dtype))});
    facts.push_back({"order", target.header.order == Order::row_major ? "row-major" : "column-major"});
    return facts;
  });
  return target;
}

void write_elements(const std::string& temporary, const Array& slab, std::int64_t first_element, int rank) {
  const Array part = arrays::on_host(slab);
  File file = File::open_to_write(temporary);
  const std::int64_t item = size_of(slab.dtype());
  file.write(first_element + slab_offset(slab.layout(), rank, item), part.local().data,
             slab.local_size() * item);
  file.close();
}

void write_part(ContextState& context, std::string_view operation, const FilePart& part,
                const std::string& written, std::int64_t first_element) {
  const Array slab = part.slab();
  const bool writes = arrays::is_first_holder(slab.layout(), context.rank());
  for (int turn = 0; turn < (part.write_in_turn ? context.size() : 1); ++turn) {
    runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
      if (!writes) return {};
      if (!part.write_in_turn) {
        write_elements(written, slab, first_element, context.rank());
      } else if (turn == context.rank() && slab.local_size() > 0) {
        part.write_in_turn(written, slab.layout().region(context.rank()), arrays::on_host(slab).local());
      }
      return {};
    });
  }
}

}  // namespace

Slab file_slab(const Shape& shape, Order order) {
  const int last = shape.size() - 1;
  for (int i = 0; i <= last; ++i) {
    const int axis = order == Order::row_major ? i : last - i;
    if (shape[axis] > 1) return Slab(axis);
  }
  return Slab(0);
}

std::int64_t slab_offset(const Layout& slab, int rank, std::int64_t item_bytes) {
  const Region region = slab.region(rank);
  if (region.empty() || region.sets.empty()) return 0;
  const auto axis = static_cast<std::size_t>(slab.distribution().as<Slab>()->axis);
  const std::int64_t whole = slab.shape()[static_cast<int>(axis)];
  return region.sets[axis].front() * (volume(slab.shape()) / whole) * item_bytes;
}

Array as_file_slab(const Array& array, Order order) {
  if (array.shape().empty()) return gather(array, 0);
  const Layout slab(file_slab(array.shape(), order), array.shape(), array.layout().ranks());
  const Operand wanted = Operand::of(slab, array.dtype(), order);
  const Operand& given = array.operand();
  if (given.dense && given.axis_order == wanted.axis_order && given.layout == slab) return array;
  RedistributeOptions options;
  options.order = order;
  return redistribute(array, slab, options);
}

void write_whole(ContextState& context, const std::string& path, const FileWriter& writer) {
  std::optional<OutputFile> output;
  std::string start;
  runtime::collectively(context, writer.operation, [&]() -> std::vector<Fact> {
    if (context.rank() == 0) {
      const auto first_elements = writer.begin(output.emplace(path));  // before `written` is asked
      start = fmt::format("{} {}", fmt::join(first_elements, " "), output->written());
    }
    return {{"path", path}};
  });
  std::istringstream begun(runtime::exchange(context, writer.operation, start).front());
  std::vector<std::int64_t> first_elements(writer.parts.size());
  for (std::int64_t& first : first_elements) begun >> first;
  begun.get();
  const std::string written(std::istreambuf_iterator<char>(begun), {});
  for (std::size_t i = 0; i < writer.parts.size(); ++i) {
    write_part(context, writer.operation, writer.parts[i], written, first_elements[i]);
  }
  runtime::collectively(context, writer.operation, [&]() -> std::vector<Fact> {
    if (output) output->commit();
    return {};
  });
}

std::int64_t bytes_of(const FileHeader& header, const std::string& path) {
  const bool empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
  std::int64_t bytes = empty ? 0 : size_of(header.dtype);
  for (const std::int64_t extent : header.shape) {
    check<FileError>(extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes),
                     "{}: the shape {} of {} has more than 2^63 - 1 bytes", path, to_string(header.shape),
                     name(header.dtype));
  }
  return bytes;
}

Array read_as_slab(const Context& context, const std::string& path, const Distribution& distribution,
                   const ArrayOptions& options, const FileReader& reader, SourcePlace where) {
  const std::shared_ptr<ContextState>& state = context.state();
  state->require_usable(reader.operation);
  const Target target = agree_on_target(context, path, distribution, reader);
  const Dtype dtype = target.header.dtype;
  const Array pieces =
      arrays::allocate_on_heap(state, *target.pieces, dtype, target.header.order, reader.operation, where);
  runtime::collectively(*state, reader.operation, [&]() -> std::vector<Fact> {
    const bool slabs = !target.header.shape.empty();
    const std::int64_t item = size_of(dtype);
    const std::int64_t first = slabs ? slab_offset(*target.pieces, context.rank(), item) / item : 0;
    if (pieces.local_size() == 0) return {};
    reader.read(first, pieces.local_size(), pieces.local().data);
    if (dtype == Dtype::boolean) normalize_booleans(pieces.local().data, pieces.local_size());
    return {};
  });
  Array result = empty(context, *target.wanted, dtype, options, where);
  redistribute(pieces, result);
  return result;
}

}  // namespace partita::io
