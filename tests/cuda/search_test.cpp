// Searches, counts, gathers and scans of a GPU against the host's kernels.
#include "kernels/host/search.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/visit_dtype.hpp"
#include "cuda/device_case.hpp"
#include "cuda/load_by_graph.hpp"
#include "device/device_memory.hpp"
#include "device/device_sorting.hpp"
#include "kernels/host/number_runs.hpp"
#include "kernels/host/scan.hpp"
#include "kernels/host/selection.hpp"
#include "kernels/host/sort.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

class CudaSearchTest : public CudaDeviceTest {
 protected:
  /// Numbers up to `most`, or a fourth of it, some of them NaN where there is one.
  std::vector<char> numbers(Dtype dtype, std::int64_t count, std::int64_t most = 100, bool with_nan = true) {
    std::vector<double> values(static_cast<std::size_t>(count));
    const bool real = !is_integer(dtype) && dtype != Dtype::boolean;
    for (double& value : values) {
      value = static_cast<double>(number(0, dtype == Dtype::boolean ? 1 : most)) / (real ? 4 : 1);
      if (real && with_nan && number(0, 50) == 0) value = std::numeric_limits<double>::quiet_NaN();
    }
    std::vector<char> made(static_cast<std::size_t>(count * size_of(dtype)));
    if (real) {
      kernels::store_run(values.data(), count, reinterpret_cast<std::byte*>(made.data()), dtype, 0, 1);
      return made;
    }
    visit_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto* const to = reinterpret_cast<T*>(made.data());
      if constexpr (std::is_integral_v<T>)
        std::ranges::transform(values, to, [](double value) { return static_cast<T>(value); });
    });
    return made;
  }

  template <class T>
  devices::DeviceMemory there(const std::vector<T>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    devices::DeviceMemory made(*device_, std::max<std::int64_t>(bytes, 1));
    EXPECT_EQ(cudaMemcpy(made.data(), values.data(), values.size() * sizeof(T), cudaMemcpyDefault),
              cudaSuccess);
    return made;
  }

  template <class T>
  void expect(const devices::DeviceMemory& found, const std::vector<T>& wanted, const std::string& what) {
    std::vector<T> values(wanted.size());
    ASSERT_EQ(cudaStreamSynchronize(static_cast<cudaStream_t>(device_->stream().handle)), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(values.data(), found.data(), values.size() * sizeof(T), cudaMemcpyDefault),
              cudaSuccess);
    EXPECT_TRUE(values == wanted) << what;
  }

  /// Of as many values as are looked for, among `many` elements.
  void expect_places(Dtype dtype, Dtype value_dtype, std::int64_t many, std::int64_t count) {
    const std::int64_t most = size_of(dtype) < 4 || number(0, 1) == 0 ? 100 : 1000000;
    const std::vector<char> given = numbers(dtype, many, most);
    const std::vector<char> values =
        numbers(value_dtype, count, size_of(value_dtype) < 4 ? std::min<std::int64_t>(most, 127) : most + 7);
    std::vector<char> sorted(given.size());
    if (many > 0) kernels::sort({dtype, false, many, given.data(), sorted.data(), nullptr});
    const devices::DeviceMemory from = there(sorted), wanted = there(values);
    for (const bool after : {false, true}) {
      std::vector<std::int64_t> places(static_cast<std::size_t>(count));
      std::vector<char> contained(places.size());
      const devices::DeviceMemory places_there = there(places), contained_there = there(contained);
      SearchPass pass{dtype,         value_dtype, many,          sorted.data(), count,
                      values.data(), after,       places.data(), nullptr};
      kernels::search(pass);
      pass.places = nullptr;
      pass.contained = reinterpret_cast<bool*>(contained.data());
      kernels::search(pass);
      pass.sorted = from.data();
      pass.values = wanted.data();
      pass.contained = static_cast<bool*>(contained_there.data());
      device().search(pass, device_->stream());
      pass.contained = nullptr;
      pass.places = static_cast<std::int64_t*>(places_there.data());
      device().search(pass, device_->stream());
      const std::string what = fmt::format("{} {} in {} {}", count, name(value_dtype), many, name(dtype));
      expect(places_there, places, what);
      expect(contained_there, contained, what);
    }
  }

  /// Of the host's kernel, where `given` and `made` are, `apart` bytes behind their beginnings.
  void expect_gathered(GatherPass pass, std::int64_t apart, const std::string& what) {
    std::vector<char> given(
        static_cast<std::size_t>(apart + pass.outer * pass.extent * pass.width * pass.element_bytes));
    for (char& byte : given) byte = static_cast<char>(number(-128, 127));
    std::vector<char> made(
        static_cast<std::size_t>(apart + pass.outer * pass.count * pass.width * pass.element_bytes));
    std::vector<std::int64_t> indices(
        static_cast<std::size_t>(pass.own ? pass.outer * pass.count * pass.width : pass.count));
    const bool inside = pass.outside == Outside::none;
    const std::int64_t before = pass.extent + number(0, 1);
    for (std::int64_t& index : indices)
      index = inside ? number(0, pass.extent - 1) : number(-before, pass.extent - 1);
    std::vector<std::int64_t> reported(1);
    const devices::DeviceMemory from = there(given), to = there(made), chosen = there(indices),
                                reported_there = there(reported);
    pass.from = given.data() + apart;
    pass.indices = indices.data();
    pass.to = made.data() + apart;
    pass.reported = reported.data();
    kernels::gather(pass);
    pass.from = static_cast<const char*>(from.data()) + apart;
    pass.indices = static_cast<const std::int64_t*>(chosen.data());
    pass.to = static_cast<char*>(to.data()) + apart;
    pass.reported = static_cast<std::int64_t*>(reported_there.data());
    device().gather(pass, device_->stream());
    expect(to, made, what);
    expect(reported_there, reported, what);
  }

  devices::DeviceSorting& device() { return dynamic_cast<devices::DeviceSorting&>(*device_); }
};

bool is_ordered(int dtype) {
  return kernels::is_sorted_here(static_cast<Dtype>(dtype));
}

bool real_or_unsigned_64(Dtype dtype) {
  return dtype == Dtype::u64 || (!is_integer(dtype) && dtype != Dtype::boolean);
}

TEST_F(CudaSearchTest, PlacesAreThoseOfTheHost) {
  for (int d = 0; d <= static_cast<int>(Dtype::f64); ++d) {
    if (!is_ordered(d)) continue;
    const auto dtype = static_cast<Dtype>(d);
    for (const std::int64_t many : {0, 1, 7, 1000, 70001}) expect_places(dtype, dtype, many, 20011);
    for (const std::int64_t many : {0, 1, 255, 256, 300001}) expect_places(dtype, dtype, many, 150001);
    expect_places(Dtype::f64, dtype, 70001, 150001);
    expect_places(Dtype::f64, dtype, 200, 1000);
    if (real_or_unsigned_64(dtype)) continue;
    expect_places(Dtype::i64, dtype, 70001, 150001);
    expect_places(Dtype::i64, dtype, 200, 1000);
  }
}

TEST_F(CudaSearchTest, CountsAreThoseOfTheHost) {
  for (int d = 0; d <= static_cast<int>(Dtype::f64); ++d) {
    if (!is_ordered(d)) continue;
    const auto dtype = static_cast<Dtype>(d);
    const bool integers = is_integer(dtype);
    for (const std::int64_t bins : {1, 5, 100, 3000, 5000, 20000}) {  // of blocks' counters, and without
      const std::int64_t count = number(0, 1) == 0 ? number(0, 300) : number(100000, 900000);
      const std::vector<char> given = numbers(dtype, count);
      std::vector<double> edges(static_cast<std::size_t>(bins + 1)), weights(static_cast<std::size_t>(count));
      for (double& edge : edges) edge = static_cast<double>(number(0, 200)) / 4;
      std::ranges::sort(edges);
      if (number(0, 1) == 0) {  // of one width
        for (std::int64_t b = 0; b <= bins; ++b)
          edges[static_cast<std::size_t>(b)] = 3 + 40 * static_cast<double>(b) / static_cast<double>(bins);
      }
      for (double& weight : weights) weight = static_cast<double>(number(0, 8)) / 8;  // whose sums are exact
      std::vector<std::int64_t> whole(edges.begin(), edges.end());
      const devices::DeviceMemory from = there(given), edges_there = there(edges), whole_there = there(whole),
                                  weights_there = there(weights);
      for (const int kind : {0, 1, 2}) {
        if (kind > 0 && (!integers || dtype == Dtype::u64)) continue;
        const void* const ends[] = {edges.data(), whole.data(), nullptr};
        const void* const ends_there[] = {edges_there.data(), whole_there.data(), nullptr};
        CountPass pass;
        pass.dtype = dtype;
        pass.count = count;
        pass.bins = bins;
        pass.edge_dtype = kind == 0 ? Dtype::f64 : Dtype::i64;
        const std::string what = fmt::format("{} {} in {} bins, {}", count, name(dtype), bins, kind);
        std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), -1);
        std::vector<double> sums(static_cast<std::size_t>(bins), -1);
        const devices::DeviceMemory counts_there = there(counts), sums_there = there(sums);
        for (const bool weighted : {false, true}) {
          pass.from = given.data();
          pass.edges = ends[kind];
          pass.weights = weighted ? weights.data() : nullptr;
          pass.to = weighted ? static_cast<void*>(sums.data()) : counts.data();
          kernels::count(pass);
          pass.from = from.data();
          pass.edges = ends_there[kind];
          pass.weights = weighted ? static_cast<const double*>(weights_there.data()) : nullptr;
          pass.to = weighted ? sums_there.data() : counts_there.data();
          device().count(pass, device_->stream());
        }
        expect(counts_there, counts, what);
        expect(sums_there, sums, what);
      }
    }
  }
}

TEST_F(CudaSearchTest, GathersAreThoseOfTheHost) {
  for (const std::int64_t element : {1, 2, 4, 8, 16}) {
    for (int round = 0; round < 40; ++round) {
      GatherPass pass;
      pass.element_bytes = element;
      pass.width = round % 3 == 0 ? 1 : number(1, 40);
      pass.outer = round % 2 == 0 ? 1 : number(1, 50);
      pass.count = number(1, 300);
      pass.extent = number(1, 100);
      pass.own = round % 5 == 0;
      pass.outside = static_cast<Outside>(round % 4);
      expect_gathered(pass, element * number(0, 1), fmt::format("round {} of {} bytes", round, element));
    }
  }
}

/// Of lines that blocks copy to shared memory, and some that they do not.
TEST_F(CudaSearchTest, GathersInLinesAreThoseOfTheHost) {
  for (const std::int64_t element : {1, 2, 4, 8, 16}) {
    for (int round = 0; round < 12; ++round) {
      GatherPass pass;
      pass.element_bytes = element;
      pass.outer = number(200, 600);
      pass.count = number(200, 700);
      pass.extent = round % 3 == 0 ? 49152 / element - round % 2 : number(1, 3000);
      pass.own = round % 2 == 0;
      pass.outside = static_cast<Outside>(round % 4);
      expect_gathered(pass, element * number(0, 1), fmt::format("round {} of {} bytes", round, element));
    }
  }
  GatherPass many;  // several lines a block
  many.element_bytes = 4;
  many.outer = 3001;
  many.count = 257;
  many.extent = 301;
  many.outside = Outside::report;
  expect_gathered(many, 0, "many lines");
}

TEST_F(CudaSearchTest, GathersOfManyElementsAreThoseOfTheHost) {
  GatherPass pass;
  pass.element_bytes = 4;
  pass.count = 5000001;
  pass.extent = 100000;
  pass.outside = Outside::report;
  expect_gathered(pass, 4, "elements");
  pass.width = 999;
  pass.count = 5001;
  pass.extent = 501;
  expect_gathered(pass, 4, "rows");
  pass.width = 1000;
  expect_gathered(pass, 0, "rows of 16 bytes");
}

TEST_F(CudaSearchTest, ScansAreThoseOfTheHost) {
  const std::pair<Dtype, Dtype> dtypes[] = {{Dtype::f64, Dtype::f64},     {Dtype::f32, Dtype::f64},
                                            {Dtype::u32, Dtype::u64},     {Dtype::i32, Dtype::i64},
                                            {Dtype::boolean, Dtype::i64}, {Dtype::i16, Dtype::i16}};
  for (const auto& [from_dtype, dtype] : dtypes) {
    for (const std::int64_t lines : {1, 7}) {
      for (const std::int64_t length : {1, 1000, 300001}) {
        const std::vector<char> given = numbers(from_dtype, lines * length, 100, false);
        std::vector<char> made(static_cast<std::size_t>(lines * length * size_of(dtype)));
        const devices::DeviceMemory from = there(given), to = there(made);
        kernels::ScanPass pass{dtype, from_dtype, false, lines, length, 1, given.data(), made.data()};
        kernels::scan(pass);
        pass.from = from.data();
        pass.to = to.data();
        const devices::DeviceMemory scratch(*device_,
                                            std::max<std::int64_t>(device().scan_scratch_bytes(pass), 1));
        device().scan(pass, scratch.data(), device_->stream());
        expect(to, made, fmt::format("{} x {} {} in {}", lines, length, name(from_dtype), name(dtype)));
      }
    }
  }
}

// The driver's queue holds about a thousand, whose number a context has to know before.
TEST_F(CudaSearchTest, LaunchesAreToldBefore) {
  struct Counted final : devices::LaunchGate {
    void launching(Stream /*stream*/, int more) override { launches += more; }
    int launches = 0;
  };
  const auto expect_told = [&](const std::string& what, const auto& put) {
    Counted counted;
    device_->set_gate(&counted);
    const cuda::CudaGraph graph = cuda::captured("count launches", put);
    device_->set_gate(nullptr);
    EXPECT_LE(cuda::launches_of(graph, "count launches"), counted.launches) << what;
  };
  for (const std::int64_t count : {1000, 1 << 22}) {
    const devices::DeviceMemory from(*device_, 8 * count), to(*device_, 8 * count),
        order(*device_, 8 * count);
    auto* const places = static_cast<std::int64_t*>(order.data());
    for (const Dtype dtype : {Dtype::u8, Dtype::f16, Dtype::f32, Dtype::f64}) {
      for (std::int64_t* const wanted : {static_cast<std::int64_t*>(nullptr), places}) {
        const kernels::SortPass pass{dtype, false, count, from.data(), to.data(), wanted};
        const devices::DeviceMemory scratch(*device_, device().sort_scratch_bytes(pass));
        expect_told(fmt::format("sort {} {}", count, name(dtype)),
                    [&](Stream stream) { device().sort(pass, scratch.data(), stream); });
      }
    }
    for (const std::int64_t lines : {1, 4}) {
      const kernels::ScanPass pass{Dtype::f64, Dtype::f64, false,       lines,
                                   count / 4,  1,          from.data(), to.data()};
      const devices::DeviceMemory scratch(*device_, device().scan_scratch_bytes(pass));
      expect_told(fmt::format("scan {} x {}", lines, count / 4),
                  [&](Stream stream) { device().scan(pass, scratch.data(), stream); });
    }
    for (std::int64_t* const wanted : {static_cast<std::int64_t*>(nullptr), places}) {
      const TruePass pass{count, static_cast<const bool*>(from.data()), wanted,
                          static_cast<std::int64_t*>(to.data())};
      const devices::DeviceMemory scratch(*device_, device().true_scratch_bytes(pass));
      expect_told(fmt::format("find true of {}", count),
                  [&](Stream stream) { device().find_true(pass, scratch.data(), stream); });
    }
    CountPass pass;
    pass.count = count;
    pass.bins = 20000;
    pass.edge_dtype = Dtype::i64;
    pass.dtype = Dtype::i32;
    pass.from = from.data();
    pass.to = to.data();
    expect_told(fmt::format("count {}", count), [&](Stream stream) { device().count(pass, stream); });
  }
}

}  // namespace
}  // namespace partita::testing
