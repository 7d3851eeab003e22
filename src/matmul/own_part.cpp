#include "matmul/own_part.hpp"

namespace partita::multiplication {

OwnPart::OwnPart(const Frame& frame, const Input& input)
    : frame_(frame), region_(input.operand.layout.region(frame.rank())) {
  if (!region_.empty()) replicas_ = input.operand.layout.owners(front(region_));
}

bool OwnPart::is_read_by(int reader, const Region& wanted) const {
  if (!meet(region_, wanted)) return false;
  return Layout::choose_replica(replicas_, reader, frame_.problem.topology) == frame_.rank();
}

bool OwnPart::gives(int reader, const Region& piece) const {
  return holds_front(region_, piece) &&
         (replicas_.size() == 1 ||
          Layout::choose_replica(replicas_, reader, frame_.problem.topology) == frame_.rank());
}

}  // namespace partita::multiplication
