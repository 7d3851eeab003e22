// Everything: partition once, compose everywhere.
#pragma once

#include <partita/array.hpp>
#include <partita/collectives.hpp>
#include <partita/context.hpp>
#include <partita/distribution.hpp>
#include <partita/dlpack.hpp>
#include <partita/dtype.hpp>
#include <partita/error.hpp>
#include <partita/fft.hpp>
#include <partita/half.hpp>
#include <partita/io.hpp>
#include <partita/layout.hpp>
#include <partita/machine.hpp>
#include <partita/matmul.hpp>
#include <partita/memory.hpp>
#include <partita/plan.hpp>
#include <partita/redistribute.hpp>
#include <partita/settings.hpp>
#include <partita/spectral.hpp>
#include <partita/trace.hpp>
#include <partita/verify_numbers.hpp>
#include <partita/version.hpp>
