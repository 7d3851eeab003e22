// Rader's convolution or FFTW's own plan: both are timed where plans are measured.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <partita/error.hpp>
#include <tuple>

#include "base/pages.hpp"
#include "kernels/host/buffered_lines.hpp"
#include "kernels/host/rader.hpp"
#include "kernels/host/rader_lines.hpp"
#include "kernels/host/transform.hpp"

namespace partita::kernels {
namespace {

constexpr std::int64_t lines = 16;
constexpr int rounds = 12;
constexpr std::int64_t longest_padded = 2048;

Pages allocate(std::int64_t bytes) {
  Pages memory = allocate_pages(bytes);
  if (!memory) throw MemoryError("no memory to time local transforms on");
  std::fill_n(memory.get(), bytes, '\0');
  return memory;
}

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The shortest times of some lines that follow each other, in turn: other programs take cores for a while.
bool is_faster(TransformKind kind, FftwPrecision precision, std::int64_t length) {
  const std::int64_t bytes = lines * length * items_of(kind, precision).from;
  TransformShape shape;
  shape.kind = kind;
  shape.precision = precision;
  shape.measure = true;
  shape.lines = {{length, 1, 1}};
  shape.batch = {{lines, length, length}};
  const auto whole = plan_transform(shape, {});
  const auto rader = rader_lines(kind, precision, shape.lines.front(), shape.batch, true);
  const Pages from = allocate(bytes), to = allocate(bytes), workspace = allocate(rader->workspace_bytes());
  double theirs = 1e9, ours = 1e9;
  for (int i = 0; i < rounds; ++i) {
    theirs = std::min(theirs, seconds([&] { whole->run(from.get(), to.get()); }));
    ours = std::min(ours, seconds([&] { rader->run(from.get(), to.get(), workspace.get(), 1); }));
  }
  return ours < theirs;
}

/// Without measuring: convolutions with zeros behind lose where the lines do not stay in the first cache.
bool is_faster_as_a_rule(std::int64_t length) {
  const std::int64_t prime = largest_prime_factor(length);
  return convolution_length(prime) == prime - 1 || length <= longest_padded;
}

}  // namespace

bool rader_pays(TransformKind kind, FftwPrecision precision, std::int64_t length, bool measure) {
  const bool is_complex = kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
  if (!is_complex || !has_rader(length)) return false;
  if (!measure) return is_faster_as_a_rule(length);
  // Never destroyed: plans may be made in static destructors.
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<std::tuple<TransformKind, FftwPrecision, std::int64_t>, bool>;
  const std::lock_guard lock(*mutex);
  const auto key = std::tuple(kind, precision, length);
  const auto found = known->find(key);
  if (found != known->end()) return found->second;
  return known->emplace(key, is_faster(kind, precision, length)).first->second;
}

}  // namespace partita::kernels
