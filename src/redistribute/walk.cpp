#include "redistribute/walk.hpp"

namespace partita::redistribution {

Walk::Walk(const Problem& problem, const Method& method, const Staging& staging, PlanBuilder& builder)
    : problem_(problem),
      method_(method),
      staging_(staging),
      builder_(builder),
      ring_(builder, shared_buffer, staging.chunk == 0 ? 0 : staging.shared_bytes / staging.chunk,
            staging.chunk),
      sending_(builder, private_buffer, 0, staging.window),
      receiving_(builder, private_buffer, staging.window, staging.window) {
  if (method.uses_staging()) node_ = problem.topology.node_ranks(problem.topology.node(problem.rank));
}

std::vector<int> Walk::run(const Exchange& whole, const std::vector<Exchange>& parts) {
  std::vector<std::vector<Item>> items = scheduled(parts);
  std::vector<int> begins;
  open(whole);
  post_ahead();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    begins.push_back(static_cast<int>(builder_.plan().steps.size()));
    begin(parts[i]);
    for (Item& item : items[i]) act(item);
  }
  while (unpacked_ < passed_) unpack_oldest();
  close(whole);
  return begins;
}

// What a message carries is kept with its receive; the walk itself needs only to know when to unpack.
std::vector<std::vector<Item>> Walk::scheduled(const std::vector<Exchange>& parts) {
  std::vector<std::vector<Item>> result;
  std::size_t steps = 8;
  for (const Exchange& part : parts) {
    result.push_back(schedule(problem_, method_, staging_, part));
    steps += 2 * result.back().size() + 2 * part.outgoing.size();
    for (Item& item : result.back()) {
      if (item.action == Action::post) receives_.push_back({std::move(item)});
    }
  }
  builder_.plan().steps.reserve(steps);
  return result;
}

// Nobody waits before all its peers have been told that they may start.
void Walk::open(const Exchange& whole) {
  for (const Transfer& transfer : whole.incoming) {
    if (transfer.peer == problem_.rank) continue;
    if (method_.between(problem_, transfer.peer) == RedistributeMethod::pushed) {
      builder_.signal(transfer.peer, grant);
    }
  }
}

void Walk::begin(const Exchange& part) {
  for (const Transfer& transfer : part.outgoing) {
    if (method_.between(problem_, transfer.peer) != RedistributeMethod::direct) continue;
    builder_.signal(transfer.peer, ready);
    ++offered_[transfer.peer];
  }
  for (const Transfer& transfer : part.incoming) {
    if (transfer.peer == problem_.rank) continue;
    if (method_.between(problem_, transfer.peer) == RedistributeMethod::pushed) ++awaited_[transfer.peer];
  }
  if (!part.identity) return;
  builder_.fill(problem_.destination.layout.partial()->reduction, *part.identity,
                builder_.own(destination_buffer));
}

void Walk::act(Item& item) {
  switch (item.action) {
    case Action::produce:
      return produce(item);
    case Action::own:
      unpack_behind();
      return deliver(problem_.rank, item.contribution, std::move(item.region), builder_.own(source_buffer));
    case Action::read:
      unpack_behind();
      return read(item);
    case Action::write:
      return write(item);
    case Action::consume:
      unpack_behind();
      return consume(item);
    case Action::post:
      return post(passed_);
    case Action::send:
      return send(item);
    case Action::unpack:
      behind_bytes_ += problem_.bytes(item.region);
      ++passed_;
      while (too_far_behind()) unpack_oldest();
      return post_ahead();
  }
}

// The call is over when the peers have finished with this rank's source and slots, and its destination is
// whole.
void Walk::close(const Exchange& whole) {
  for (const Transfer& transfer : whole.outgoing) {
    const auto offered = offered_.find(transfer.peer);
    if (offered != offered_.end()) builder_.wait(transfer.peer, done, offered->second);
  }
  ring_.drain();
  for (const Transfer& transfer : whole.incoming) {
    const auto awaited = awaited_.find(transfer.peer);
    if (awaited != awaited_.end()) builder_.wait(transfer.peer, written, awaited->second);
  }
  builder_.finish(sending_.unfinished());
}

}  // namespace partita::redistribution
