// Runs the pieces of docs/guide.md: on the ranks of a launcher, or on N ranks as threads.
//
//   partita_guide [N]
#include <cstdlib>
#include <iostream>

#include "guide/piece.hpp"

namespace {

void run_pieces(const partita::Context& context) {
  for (const guide::Piece& piece : guide::pieces) {
    try {
      piece.run(context);
    } catch (const std::exception& error) {
      throw std::runtime_error(piece.name + ": " + error.what());
    }
    context.barrier();  // the next one may write the same files
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    if (count > 1) {
      partita::ThreadGroup::run(std::atoi(values[1]), run_pieces);
    } else {
      run_pieces(partita::initialize());
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
