#include "call.hpp"

#include <partita_scalapack.h>

#include <atomic>
#include <partita/export.hpp>

namespace partita::scalapack {
namespace {

std::atomic<long> computed{0};
std::atomic<long> handed_on{0};

}  // namespace

void count_call() {
  ++computed;
}
void count_handed_on() {
  ++handed_on;
}

}  // namespace partita::scalapack

PARTITA_API long partita_scalapack_calls() {
  return partita::scalapack::computed;
}
PARTITA_API long partita_scalapack_calls_handed_on() {
  return partita::scalapack::handed_on;
}
