#include "matmul/share.hpp"

namespace partita::multiplication {

Share::Share(const Frame& frame, const Input& input)
    : frame_(frame), region_(input.operand.layout.region(frame.rank())) {
  if (!region_.empty()) replicas_ = input.operand.layout.owners(front(region_));
}

bool Share::is_read_by(int reader, const Region& wanted) const {
  if (!meet(region_, wanted)) return false;
  return Layout::choose_replica(replicas_, reader, frame_.problem.topology) == frame_.rank();
}

}  // namespace partita::multiplication
