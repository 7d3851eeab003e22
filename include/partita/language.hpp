// The language that the public headers are written in.
#pragma once

#if defined(__cplusplus) && __cplusplus <= 201703L
#error "Partita needs C++20: compile with -std=c++20 or newer"
#endif
