// Which symbols of the shared library are public. Everything else is hidden.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define PARTITA_API __attribute__((visibility("default")))
#else
#define PARTITA_API
#endif
