// Lines of parts of arrays, as launches of a device transform them.
#pragma once

#include <vector>

#include "execute/lower.hpp"
#include "execute/works/device_bound_work.hpp"

namespace partita::execution {

/// A loop over lines; strides in elements, of what is read and by piece.
struct LineLoop {
  int dimension = 0;
  std::int64_t count = 0;
  std::int64_t from = 0;
  std::vector<std::int64_t> to;
};

/// Lines of a work whose parts, some of those of its result, are cut alike along all dimensions but that of
/// the lines. The work stays where it is; its kind may be real to complex, too.
class LinesOfParts {
 public:
  /// Throws UnsupportedError where kernels do not know such pieces.
  LinesOfParts(const TransformInto& work, const WorkBinding& binding, std::vector<const Part*> parts);

  /// By dimension, but for that of the lines.
  const std::vector<LineLoop>& loops() const { return loops_; }
  /// Without addresses, loops and neighbours.
  const kernels::cuda::LineTransform& what() const { return what_; }
  /// Says where they are now.
  void place(kernels::cuda::LineTransform& what, const AddressOf& address, double scale) const;

 private:
  struct LineSide {
    Side where;
    std::int64_t item = 0;    // bytes of an element
    std::int64_t offset = 0;  // bytes, of the first element of the first line
  };
  static LineSide side(const Part& part, const WorkBinding& binding);
  static std::int64_t walk(const IndexSet& elements, LineSide& side, int dimension);
  void add_lines();
  void add_loop(int dimension);

  const TransformInto& work_;
  std::vector<const Part*> parts_;
  LineSide from_;
  std::vector<LineSide> to_;  // by part
  std::vector<LineLoop> loops_;
  kernels::cuda::LineTransform what_;
};

/// All of them in one launch. The innermost loop is that over neighbours.
class LinesLaunch {
 public:
  /// `link_share`: see LineTransform. Throws UnsupportedError for too many loops.
  LinesLaunch(LinesOfParts lines, double link_share);

  void enqueue(devices::DeviceTransforms& device, const AddressOf& address, double scale, Stream stream);

 private:
  LinesOfParts lines_;
  kernels::cuda::LineTransform what_;
};

/// Lines along one axis and then along another, in one launch: planes of both, in loops over the other
/// dimensions.
class PlanesLaunch {
 public:
  /// Throws UnsupportedError for too many loops.
  PlanesLaunch(LinesOfParts rows, int row_axis, LinesOfParts columns, int column_axis);

  std::int64_t planes() const { return kernels::cuda::planes_of(what_); }
  /// `counters`: see PlaneTransform. Columns are scaled.
  void enqueue(devices::DeviceTransforms& device, const AddressOf& address, const Place& counters,
               double scale, Stream stream);

 private:
  LinesOfParts rows_, columns_;
  kernels::cuda::PlaneTransform what_;
};

}  // namespace partita::execution
