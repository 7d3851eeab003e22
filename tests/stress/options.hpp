// What the stress program is asked to do.
#pragma once

#include <string>

namespace partita::testing {

struct StressOptions {
  int seconds = -1;
  int seed = -1;
  int only = -1;
  int from = 0;
  std::string calls = "off";
  std::string mismatches = "on";
  std::string lost = "on";
};

/// Of the arguments that main.cpp lists, and the environment; sets the kind and number of ranks. Ends the
/// process with code 2 where one is unknown.
StressOptions read_arguments(int argc, char** argv);

}  // namespace partita::testing
