// Tests of matrix multiply in device memory.
#pragma once

#include "support/fakes/fake_device.hpp"
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {

#define DEVICE_MATMUL_TEST(name) DEVICE_TEST_OF(DeviceMatmul, name)

inline Array random_array(Context& context, const Shape& shape, const Distribution& how, std::uint64_t seed,
                          ArrayOptions options = {}, Dtype dtype = Dtype::f64) {
  Array array = empty(context, shape, how, dtype, options);
  fill_random(array, seed);
  return array;
}

}  // namespace partita::testing
