// What the terminal can do.
#pragma once

namespace partita::tools {

struct Terminal {
  bool output = false;       ///< stdout is one
  bool error = false;        ///< stderr is one
  bool colours = false;      ///< on stdout; NO_COLOR and TERM=dumb say no
  bool true_colour = false;  ///< 24 bits, else 256 colours
  int columns = 80;
};

/// Of this process; in a job of ours, of the process that started the job.
Terminal terminal();

/// Leaves what this process knows in the environment, for the ranks that it starts: their own stdout and
/// stderr are pipes.
void pass_terminal_on();

}  // namespace partita::tools
