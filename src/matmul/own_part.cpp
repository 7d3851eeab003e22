#include "matmul/own_part.hpp"

namespace partita::multiplication {

OwnPart::OwnPart(const Frame& frame, bool of_a)
    : frame_(frame), of_a_(of_a), region_(frame.problem.input(of_a).held.by(frame.rank())) {
  if (!region_.empty()) replicas_ = frame.problem.input(of_a).layout.owners(front(region_));
}

bool OwnPart::is_read_by(int reader) const {
  const Region wanted = region_of(frame_.problem, frame_.tile(reader), of_a_);
  if (!frame_.input(of_a_).moves || common_size(region_, wanted) == 0) return false;
  return Layout::choose_replica(replicas_, reader, frame_.problem.topology) == frame_.rank();
}

bool OwnPart::gives(int reader, const Region& piece) const {
  return holds_front(region_, piece) &&
         (replicas_.size() == 1 ||
          Layout::choose_replica(replicas_, reader, frame_.problem.topology) == frame_.rank());
}

}  // namespace partita::multiplication
