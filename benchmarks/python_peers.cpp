#include "benchmarks/python_peers.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <partita/collectives.hpp>
#include <partita/error.hpp>

#include "benchmarks/apart.hpp"

namespace partita::benchmarks {
namespace {

std::string from_environment(const char* name, const char* otherwise) {
  const char* const given = std::getenv(name);
  return given != nullptr ? given : otherwise;
}

/// Null: it does not run here.
std::shared_ptr<Apart> started(std::vector<std::string> words, int ranks) {
  words.front() = from_environment("PARTITA_BENCH_PEERS", PARTITA_PEERS) + "/" + words.front();
  if (!std::filesystem::exists(words.front())) return nullptr;
  words.insert(words.begin(), from_environment("PARTITA_BENCH_PYTHON", "python3"));
  try {
    auto peer = std::make_shared<Apart>(ranks > 0 ? on_ranks_apart(words, ranks) : words);
    (void)peer->work();
    return peer;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

bool add_python_peer(const Context& context, std::vector<Contender>& contenders, const std::string& name,
                     std::vector<std::string> words, int ranks) {
  std::shared_ptr<Apart> peer;
  if (context.rank() == 0) peer = started(std::move(words), ranks);
  int has_peer = peer ? 1 : 0;
  broadcast(context, view(has_peer));
  if (has_peer == 1) contenders.push_back({name, {}, {}, [peer] { return peer->work(); }});
  return has_peer == 1;
}

}  // namespace partita::benchmarks
