#include "runtime/board/ring_probe.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/check.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/groups/process_group.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

constexpr std::string_view sending = "send";
constexpr std::size_t longest_name = 40;
// With what stands around them: other nodes get as much of a text as a farewell holds.
constexpr std::size_t longest_list = 300;
static_assert(longest_list + 200 < longest_farewell);

std::string ranks_of(const Runtime& context) {
  if (context.split_from == 0) return "all ranks";
  std::vector<int> ranks = context.ranks_there;
  std::ranges::sort(ranks);
  return cut_to(rank_list(ranks), longest_name);
}

std::uint32_t place_of(RingProbe& probe, const Runtime& context) {
  const auto found = std::ranges::find(probe.contexts, context.identity, &RingProbe::InContext::identity);
  const auto place = static_cast<std::uint32_t>(found - probe.contexts.begin());
  if (found == probe.contexts.end()) probe.contexts.push_back({context.identity, ranks_of(context)});
  return place;
}

std::vector<RingProbe::Stop> stops_by_rank(const RingProbe& ring) {
  std::vector<RingProbe::Stop> stops = ring.stops;
  std::ranges::sort(stops, {}, &RingProbe::Stop::rank);
  return stops;
}

std::string text_of_messages(const RingProbe& ring) {
  std::vector<int> ranks;
  for (const RingProbe::Stop& stop : stops_by_rank(ring)) ranks.push_back(stop.rank);
  std::string who = rank_list(ranks);
  if (ranks.size() < ring.waits.size()) who += fmt::format(" and {} more", ring.waits.size() - ranks.size());
  if (!ring.receives)
    return fmt::format(
        "send: {} send to each other in a cycle and none of them receives: large messages wait for their "
        "receivers; send_receive does both concurrently",
        who);
  if (!ring.sends)
    return fmt::format("receive: {} receive from each other in a cycle and none of them sends", who);
  return fmt::format(
      "send, receive: {} wait for each other's messages in a cycle: large messages wait for their "
      "receivers; send_receive does both concurrently",
      who);
}

/// "barrier of one context on rank 0; all_reduce of another context on rank 1".
std::string calls_text(const RingProbe& ring) {
  std::vector<std::string> calls;
  std::vector<int> ranks;
  std::vector<std::uint32_t> numbered;  // the contexts, in the order of their lowest ranks
  for (const RingProbe::Stop& stop : stops_by_rank(ring)) {
    auto number = std::ranges::find(numbered, stop.context);
    if (number == numbered.end()) number = numbered.insert(numbered.end(), stop.context);
    const auto place = static_cast<std::size_t>(number - numbered.begin());
    const std::string& in = ring.contexts[stop.context].ranks;
    ranks.push_back(stop.rank);
    if (!ring.several_contexts)
      calls.push_back(stop.operation);
    else if (ring.contexts.size() == 2)
      calls.push_back(fmt::format("{} of {} context", stop.operation, place == 0 ? "one" : "another"));
    else
      calls.push_back(fmt::format("{} of context {} ({})", stop.operation, place + 1, in));
  }
  std::string text = cut_to(values_of_ranks(calls, ranks), longest_list);
  if (ranks.size() < ring.waits.size())
    text += fmt::format(", and {} more ranks", ring.waits.size() - ranks.size());
  return text;
}

std::string number_word(std::size_t number) {
  constexpr std::array words{"two", "three", "four", "five", "six"};
  return number >= 2 && number < 2 + words.size() ? words[number - 2] : fmt::format("{}", number);
}

}  // namespace

void add_stop(RingProbe& probe, const Runtime& context, std::string_view operation, bool for_message) {
  (!for_message ? probe.calls : operation == sending ? probe.sends : probe.receives) = true;
  if (!probe.contexts.empty() && probe.contexts.front().identity != context.identity)
    probe.several_contexts = true;
  if (probe.stops.size() == RingProbe::most_named) return;
  const std::uint32_t place = place_of(probe, context);
  probe.stops.push_back(
      {context.rank_of_first(context.rank()), place, cut_to(std::string(operation), longest_name)});
}

std::string ring_text(const RingProbe& ring) {
  if (!ring.several_contexts && !ring.calls) return text_of_messages(ring);
  const std::string calls = calls_text(ring);
  if (!ring.several_contexts)
    return fmt::format("the ranks called different operations: {}, which wait for each other in a cycle",
                       calls);
  return fmt::format(
      "the ranks use {} contexts in different orders: {}, which wait for each other{}; all ranks use the "
      "contexts that they share in one common order",
      number_word(ring.contexts.size()), calls, ring.contexts.size() == 2 ? "" : " in a cycle");
}

}  // namespace partita::runtime
