// What tests on several ranks include: contexts on all ranks, arrays with known values in any memory, and
// checks that all ranks get the same.
#pragma once

#include "context/context_state.hpp"
#include "ranks/any_memory.hpp"
#include "ranks/array_model.hpp"
#include "ranks/memory_checks.hpp"
#include "ranks/needs_devices.hpp"
#include "ranks/rank_test.hpp"
#include "runtime/checks/agree.hpp"
#include "support/test.hpp"
