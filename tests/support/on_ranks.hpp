// What tests on several ranks include: contexts on all ranks, arrays with known values in any memory, and
// checks that all ranks get the same.
#pragma once

#include "context/context_state.hpp"
#include "runtime/checks/agree.hpp"
#include "support/memory_checks.hpp"
#include "support/models/any_memory.hpp"
#include "support/models/array_model.hpp"
#include "support/needs_devices.hpp"
#include "support/rank_test.hpp"
#include "support/test.hpp"
