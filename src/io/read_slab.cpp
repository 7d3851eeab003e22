#include "io/read_slab.hpp"

#include <algorithm>
#include <optional>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "io/whole_file.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

struct Target {
  FileHeader header;
  std::optional<Layout> pieces;  // as they are read
  std::optional<Layout> wanted;
};

Target agree_on_target(const Context& context, const std::string& path, const Distribution& distribution,
                       const FileReader& reader) {
  Target target;
  collectively(*context.state(), reader.operation, [&]() -> std::vector<Fact> {
    target.header = reader.inspect();
    const Shape& shape = target.header.shape;
    target.wanted.emplace(distribution, shape, context.size());
    const Distribution pieces =
        shape.empty() ? Distribution(Replicated()) : Distribution(file_slab(shape, target.header.order));
    target.pieces.emplace(pieces, shape, context.size());
    return {{"path", path},
            {"layout", target.wanted->to_string()},
            {"dtype", std::string(name(target.header.dtype))},
            {"order", target.header.order == Order::row_major ? "row-major" : "column-major"}};
  });
  return target;
}

}  // namespace

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
      allocate_on_heap(state, *target.pieces, dtype, target.header.order, reader.operation, where);
  collectively(*state, reader.operation, [&]() -> std::vector<Fact> {
    const bool slabs = !target.header.shape.empty();
    const std::int64_t item = size_of(dtype);
    const std::int64_t first = slabs ? slab_offset(*target.pieces, context.rank(), item) / item : 0;
    if (pieces.local_size() > 0) reader.read(first, pieces.local_size(), pieces.local().data);
    return {};
  });
  Array result = empty(context, *target.wanted, dtype, options, where);
  redistribute(pieces, result);
  return result;
}

}  // namespace partita
