#include "linear.hpp"

#include <array>

#include "blacs.hpp"

namespace partita::scalapack {

std::optional<bool> is_upper(char letter) {
  if (letter == 'U' || letter == 'u') return true;
  if (letter == 'L' || letter == 'l') return false;
  return std::nullopt;
}

void take_largest(int blacs_context, std::span<int> numbers) {
  const auto count = static_cast<int>(numbers.size());
  blacs().largest(blacs_context, "All", " ", count, 1, numbers.data(), count, nullptr, nullptr, -1, -1, -1);
}

LinearCall::LinearCall(const Routine& routine, int blacs_context, int* info)
    : routine_(routine), context_(blacs_context), info_(info), grid_(Coordinates::of(blacs_context)) {}

void LinearCall::add(const SubMatrix& matrix, const MatrixPositions& positions) {
  key_.add(matrix);
  arguments_.check(matrix, positions, context_, grid_);
  if (arguments_.position() == 0) require(layout_of(matrix, grid_).has_value(), positions.descriptor);
}

void LinearCall::add_plain(const SubMatrix& matrix, const MatrixPositions& positions) {
  add(matrix, positions);
  const Descriptor& given = matrix.descriptor;
  require(given.type == Descriptor::dense && given.rows.source >= 0 && given.columns.source >= 0,
          positions.descriptor);
}

void LinearCall::add_factorized(const SubMatrix& matrix, const MatrixPositions& positions) {
  add_plain(matrix, positions);
  if (arguments_.position() != 0) return;
  const Descriptor& given = matrix.descriptor;
  require(matrix.row % given.rows.block == 0, positions.descriptor - 2);
  require(matrix.column % given.columns.block == 0, positions.descriptor - 1);
  require(given.rows.block == given.columns.block, positions.descriptor);
}

void LinearCall::add_right_sides(const SubMatrix& matrix, const MatrixPositions& positions,
                                 const SubMatrix& a) {
  add_plain(matrix, positions);
  if (arguments_.position() != 0) return;
  const Deal& own = matrix.descriptor.rows;
  const Deal& of_a = a.descriptor.rows;
  require(matrix.row % own.block == a.row % of_a.block, positions.descriptor - 2);
  require(own.owner(matrix.row, grid_.rows) == of_a.owner(a.row, grid_.rows), positions.descriptor - 2);
  require(own.block == of_a.block, positions.descriptor);
}

bool LinearCall::agreed() const {
  constexpr int mask = 0x7fffffff;
  const int hash = static_cast<int>(key_.value() & static_cast<std::uint64_t>(mask));
  std::array<int, 3> largest{hash, mask - hash, arguments_.position() == 0 ? 0 : 1};
  take_largest(context_, largest);
  return largest[0] == mask - largest[1] && largest[2] == 0;
}

void LinearCall::refuse() const {
  const int position = arguments_.position();
  if (info_ != nullptr) *info_ = -position;
  if (position != 0) report_argument(context_, routine_.name, position);
}

}  // namespace partita::scalapack
