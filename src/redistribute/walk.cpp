#include "redistribute/walk.hpp"

#include "plan/steps.hpp"

namespace partita::redistribution {

Walk::Walk(const Problem& problem, const Method& method, const Staging& staging, std::vector<Step>& steps)
    : problem_(problem),
      method_(method),
      staging_(staging),
      steps_(steps),
      sending_(staging.window),
      receiving_(staging.window) {
  if (method.uses_staging()) node_ = problem.topology.node_ranks(problem.topology.node(problem.rank));
}

void Walk::run(const Exchange& exchange) {
  // What a message carries is kept with its receive; the walk itself needs only to know when to unpack.
  std::vector<Item> items = schedule(problem_, method_, staging_, exchange);
  for (Item& item : items) {
    if (item.action == Action::post) receives_.push_back({std::move(item), -1, 0});
  }
  steps_.reserve(2 * items.size() + 2 * exchange.outgoing.size() + 8);
  open(exchange);
  post_ahead();
  for (Item& item : items) act(item);
  while (unpacked_ < passed_) unpack_oldest();
  close(exchange);
}

// Nobody waits before all its peers have been told that they may start.
void Walk::open(const Exchange& exchange) {
  for (const Transfer& transfer : exchange.outgoing) {
    if (method_.between(problem_, transfer.peer) == RedistributeMethod::direct) signal(transfer.peer, ready);
  }
  for (const Transfer& transfer : exchange.incoming) {
    if (transfer.peer == problem_.rank) continue;
    if (method_.between(problem_, transfer.peer) == RedistributeMethod::pushed) signal(transfer.peer, grant);
  }
  if (!exchange.identity) return;
  Step fill;
  fill.kind = StepKind::fill;
  fill.peer = problem_.rank;
  fill.region = *exchange.identity;
  fill.to = operand(destination_buffer, problem_.rank);
  fill.reduction = problem_.destination.layout.partial()->reduction;
  push(steps_, std::move(fill));
}

void Walk::act(Item& item) {
  switch (item.action) {
    case Action::produce:
      return produce(item);
    case Action::own:
      unpack_behind();
      return deliver(problem_.rank, item.contribution, std::move(item.region),
                     operand(source_buffer, problem_.rank));
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
void Walk::close(const Exchange& exchange) {
  for (const Transfer& transfer : exchange.outgoing) {
    const RedistributeMethod method = method_.between(problem_, transfer.peer);
    if (method == RedistributeMethod::direct) wait(transfer.peer, done, 1);
  }
  for (const Produced& produced : produced_) wait(produced.peer, done, produced.pieces);
  for (const Transfer& transfer : exchange.incoming) {
    if (transfer.peer == problem_.rank) continue;
    if (method_.between(problem_, transfer.peer) == RedistributeMethod::pushed)
      wait(transfer.peer, written, 1);
  }
  Step finish;
  finish.kind = StepKind::finish;
  while (!sending_.empty()) finish.after.push_back(sending_.pop());
  if (!finish.after.empty()) push(steps_, std::move(finish));
}

}  // namespace partita::redistribution
