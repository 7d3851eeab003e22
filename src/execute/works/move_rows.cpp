// Rows that exchanges move from one set of rows to another, packed and unpacked in host memory.
#include "execute/works/bound_work.hpp"
#include "execute/works/column_major.hpp"
#include "plan/row_moves.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

template <class T>
class BoundMoveRows final : public BoundWork {
 public:
  BoundMoveRows(const MoveRows& work, const WorkBinding& binding)
      : matrix_(work.matrix, binding),
        pivots_(work.pivots, binding, work.pivots.region.size()),
        packed_(work.packed, binding),
        bytes_(work.bytes, binding, 1),
        rows_(work.matrix.region.sets[0]),
        others_(work.others),
        first_(work.pivots.region.sets[0].front()),
        packs_(work.packs),
        moves_(static_cast<std::size_t>(pivots_.size())) {
    packed_.require_one_run("packed matrix");
    locations_.reserve(2 * static_cast<std::size_t>(pivots_.size()));
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    find({pivots_.data<std::int32_t>(address), static_cast<std::size_t>(pivots_.size())});
    const auto count = static_cast<std::int64_t>(locations_.size());
    invariant(count <= packed_.rows(), "{} rows move, but there is room for {}", count, packed_.rows());
    *bytes_.data<std::int64_t>(address) = count * matrix_.columns() * static_cast<std::int64_t>(sizeof(T));
    T* packed = packed_.whole<T>(address).data;
    matrix_.for_each_run<T>(address, [&](const kernels::ColumnMatrix<T>& run) {
      for (std::int64_t j = 0; j < run.columns; ++j, packed += count)
        move(run.data + j * run.leading, packed);
    });
  }

 private:
  /// The rows of the matrix that move, in the order in which they are packed.
  void find(std::span<const std::int32_t> pivots) {
    moves_.find(pivots, first_);
    locations_.clear();
    for (const planning::RowMove& move :
         packs_ ? moves_.between(rows_, others_) : moves_.between(others_, rows_))
      locations_.push_back(rows_.position(packs_ ? move.from : move.to));
  }

  void move(T* column, T* packed) const {
    for (std::size_t i = 0; i < locations_.size(); ++i) {
      T& element = column[locations_[i]];
      if (packs_) {
        packed[i] = element;
      } else {
        element = packed[i];
      }
    }
  }

  ColumnMajorPart matrix_;
  AdjacentPart pivots_;
  ColumnMajorPart packed_;
  AdjacentPart bytes_;
  IndexSet rows_, others_;
  std::int64_t first_;
  bool packs_;
  planning::RowMoves moves_;
  std::vector<std::int64_t> locations_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_move_rows(const MoveRows& work, const WorkBinding& binding) {
  return bind_in_dtype<BoundMoveRows>(planning::dtype_at(binding.plan, work.matrix.place), "row exchange",
                                      work, binding);
}

}  // namespace partita::execution
