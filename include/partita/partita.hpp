// Everything: partition once, compose everywhere.
#pragma once

#include <partita/along.hpp>
#include <partita/array.hpp>
#include <partita/array_reductions.hpp>
#include <partita/collectives.hpp>
#include <partita/context.hpp>
#include <partita/distribution.hpp>
#include <partita/dlpack.hpp>
#include <partita/dtype.hpp>
#include <partita/elementwise.hpp>
#include <partita/error.hpp>
#include <partita/fft.hpp>
#include <partita/io.hpp>
#include <partita/layout.hpp>
#include <partita/machine.hpp>
#include <partita/matmul.hpp>
#include <partita/memory.hpp>
#include <partita/plan.hpp>
#include <partita/redistribute.hpp>
#include <partita/scalar.hpp>
#include <partita/settings.hpp>
#include <partita/spectral.hpp>
#include <partita/trace.hpp>
#include <partita/verify_numbers.hpp>
#include <partita/version.hpp>
