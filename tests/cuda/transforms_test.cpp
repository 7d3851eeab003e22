// What a GPU transforms, against the host's FFTW and the same passes as plain code.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cuda/device_case.hpp"
#include "device/device_memory.hpp"
#include "support/fakes/fake_transforms.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using devices::DeviceFft;
using kernels::cuda::LinePass;
using kernels::cuda::LineStep;
using kernels::cuda::LineTransform;
using kernels::cuda::TwiddlePass;

/// The numbers of either precision.
struct Numbers {
  bool single = false;
  std::vector<char> bytes;

  std::size_t count() const { return bytes.size() / (single ? sizeof(float) : sizeof(double)); }
  void clear(std::int64_t i) {
    const std::size_t size = single ? sizeof(float) : sizeof(double);
    std::memset(bytes.data() + static_cast<std::size_t>(i) * size, 0, size);
  }
  double at(std::size_t i) const {
    if (!single) return reinterpret_cast<const double*>(bytes.data())[i];
    return static_cast<double>(reinterpret_cast<const float*>(bytes.data())[i]);
  }
};

class CudaTransformsTest : public CudaDeviceTest {
 protected:
  CudaTransformsTest() { random_.seed(std::random_device()()); }

  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (!device_) return;
    if (device_->transforms() == nullptr) GTEST_SKIP() << "no cuFFT: " << device_->why_no_transforms();
  }

  Numbers random_numbers(std::int64_t count, bool single) {
    std::uniform_real_distribution<double> any(-1, 1);
    Numbers result{single, {}};
    result.bytes.resize(static_cast<std::size_t>(count) * (single ? sizeof(float) : sizeof(double)));
    for (std::int64_t i = 0; i < count; ++i) {
      if (single) {
        reinterpret_cast<float*>(result.bytes.data())[i] = static_cast<float>(any(random_));
      } else {
        reinterpret_cast<double*>(result.bytes.data())[i] = any(random_);
      }
    }
    return result;
  }

  devices::DeviceMemory upload(const Numbers& numbers) {
    devices::DeviceMemory memory(*device_, static_cast<std::int64_t>(numbers.bytes.size()));
    EXPECT_EQ(cudaMemcpy(memory.data(), numbers.bytes.data(), numbers.bytes.size(), cudaMemcpyDefault),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return memory;
  }
  void download(const devices::DeviceMemory& memory, Numbers& numbers) {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(numbers.bytes.data(), memory.data(), numbers.bytes.size(), cudaMemcpyDefault),
              cudaSuccess);
  }

  /// Without imaginary parts where half spectra of one line have none: of others the library promises
  /// nothing.
  static void make_half_spectra(Numbers& numbers, const DeviceFft& what) {
    for (std::int64_t b = 0; b < what.batches; ++b) {
      for (const std::int64_t k : {std::int64_t{0}, what.n[0] % 2 == 0 ? what.n[0] / 2 : 0})
        numbers.clear(2 * (b * what.from.apart + k * what.from.stride) + 1);
    }
  }

  static void expect_near(const Numbers& there, const Numbers& here, const std::string& what) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < here.count(); ++i) {
      difference += std::pow(there.at(i) - here.at(i), 2);
      size += std::pow(here.at(i), 2);
    }
    EXPECT_LE(std::sqrt(difference), (here.single ? 1e-5 : 1e-13) * std::sqrt(size)) << what;
  }

  /// Planes of such rows, whose results are `pitch` numbers apart, and of their columns those from `begin` to
  /// `end`, cut in two somewhere; three times, or once in place.
  void expect_planes_of_host(const LineTransform& rows, std::int64_t pitch, std::int64_t begin,
                             std::int64_t end, const Numbers& from, bool in_place, const std::string& text) {
    const std::int64_t n = rows.length, planes = rows.counts[0], cut = number(1, n - 1);
    const std::int64_t item = rows.single ? 8 : 16;
    LineTransform columns;
    columns.single = rows.single;
    columns.backward = rows.backward;
    columns.length = n;
    columns.scale = 0.75;
    columns.from_along = pitch;
    columns.neighbours = end - begin;
    columns.loops = 1;
    columns.counts[0] = planes;
    columns.from_strides[0] = n * pitch;
    columns.pieces = 2;
    columns.piece[0] = {0, nullptr, pitch, 1, {cut * pitch}};
    columns.piece[1] = {cut, nullptr, pitch, 1, {(n - cut) * pitch}};
    Numbers counters = random_numbers(kernels::cuda::counters_of(planes), true);
    std::ranges::fill(counters.bytes, decltype(counters.bytes)::value_type{});
    Numbers here = from, between = random_numbers(2 * planes * n * pitch, rows.single);
    Numbers to = random_numbers(2 * planes * n * pitch, rows.single);
    const devices::DeviceMemory counters_there = upload(counters), from_there = upload(from),
                                between_there = upload(between), to_there = upload(to);
    const auto run = [&](devices::DeviceTransforms& by, void* source, void* middle, void* result,
                         void* count) {
      kernels::cuda::PlaneTransform what{rows, columns, static_cast<std::uint32_t*>(count)};
      what.rows.from = source;
      what.rows.piece[0].to = in_place ? source : middle;
      what.columns.from = static_cast<char*>(what.rows.piece[0].to) + begin * item;
      for (const std::int64_t p : {0, 1})
        what.columns.piece[p].to = static_cast<char*>(result) + (p * planes * cut * pitch + begin) * item;
      by.transform_planes(what, device_->stream());
    };
    for (int again = 0; again < (in_place ? 1 : 3); ++again) {
      run(*device_->transforms(), from_there.data(), between_there.data(), to_there.data(),
          counters_there.data());
      run(host_, here.bytes.data(), between.bytes.data(), to.bytes.data(), counters.bytes.data());
    }
    Numbers result = to;
    download(to_there, result);
    expect_near(result, to, text);
  }

  FakeTransforms host_{[](Stream, const std::function<void()>& work) { work(); }};
};

TEST_F(CudaTransformsTest, LinesAreThoseOfTheHost) {
  constexpr std::array kinds{TransformKind::complex_forward, TransformKind::complex_backward,
                             TransformKind::real_to_complex, TransformKind::complex_to_real};
  for (int round = 0; round < 120; ++round) {
    DeviceFft what;
    what.kind = kinds[static_cast<std::size_t>(round) % kinds.size()];
    what.single = number(0, 1) == 0;
    what.dimensions =
        what.kind == TransformKind::complex_to_real ? 1 : static_cast<std::size_t>(number(1, 3));
    what.batches = number(1, 5);
    for (std::size_t i = 0; i < what.dimensions; ++i)
      what.n.at(i) = number(2, what.dimensions == 1 ? 300 : 30);
    const auto lay_out = [&](DeviceFft::Side& side, bool halved) {
      side.stride = number(1, 3);
      std::int64_t elements = side.stride;
      for (std::size_t i = what.dimensions; i-- > 0;) {
        const bool half = halved && i + 1 == what.dimensions;
        side.embed.at(i) = (half ? what.n.at(i) / 2 + 1 : what.n.at(i)) + number(0, 2);
        elements *= side.embed.at(i);
      }
      side.apart = elements;
      return elements * what.batches;
    };
    // Lines in whose padding cuFFT writes (see DeviceTransforms::transform).
    const auto make_room = [&] {
      const bool has_padding = what.to.stride == 1 && what.to.embed[0] == 2 * (what.n[0] / 2 + 1);
      if (has_padding) what.to.apart = ++what.to.embed[0];
      return has_padding ? what.batches : 0;
    };
    const bool from_real = what.kind == TransformKind::real_to_complex;
    const bool to_real = what.kind == TransformKind::complex_to_real;
    Numbers from = random_numbers((from_real ? 1 : 2) * lay_out(what.from, to_real), what.single);
    if (to_real) make_half_spectra(from, what);
    std::int64_t elements = lay_out(what.to, from_real);
    if (to_real) elements += make_room();
    Numbers to = random_numbers((to_real ? 1 : 2) * elements, what.single);
    const devices::DeviceMemory from_there = upload(from), to_there = upload(to);
    const auto there = device_->transforms()->prepare(what), here = host_.prepare(what);
    const devices::DeviceMemory workspace(*device_, std::max<std::int64_t>(there->workspace_bytes(), 1));
    device_->transforms()->transform(*there, from_there.data(), to_there.data(), workspace.data(),
                                     device_->stream());
    std::vector<char> memory(static_cast<std::size_t>(here->workspace_bytes()));
    host_.transform(*here, from.bytes.data(), to.bytes.data(), memory.data(), {});
    Numbers result = to;
    download(to_there, result);
    expect_near(result, to,
                fmt::format("round {}: kind {} of {}, {} batches, strides {} and {}", round,
                            static_cast<int>(what.kind),
                            fmt::join(what.n.begin(), what.n.begin() + what.dimensions, " x "), what.batches,
                            what.from.stride, what.to.stride));
  }
}

TEST_F(CudaTransformsTest, PassesAreThoseOfTheHost) {
  for (int step = 0; step <= static_cast<int>(LineStep::after_4); ++step) {
    for (const bool sine : {false, true}) {
      for (const std::int64_t n : {2, 3, 8, 9}) {
        LinePass pass;
        pass.step = static_cast<LineStep>(step);
        pass.single = number(0, 1) == 0;
        pass.sine = sine;
        pass.n = n;
        pass.positions = n / 2;
        pass.first = 1;
        pass.lines = 3;
        pass.along = number(0, 1) == 0;
        pass.scale = 0.75;
        pass.batch.loops = 2;
        constexpr std::int64_t line = 40;
        for (int l = 0; l < 2; ++l) {
          pass.batch.counts[l] = 2;
          pass.batch.strides[l][0] = pass.batch.strides[l][1] = line * (2 - l);
        }
        const Numbers from = random_numbers(2 * 4 * line, pass.single);
        Numbers to = random_numbers(2 * 4 * line, pass.single);
        const devices::DeviceMemory from_there = upload(from), to_there = upload(to);
        pass.from = from_there.data();
        pass.to = to_there.data();
        device_->transforms()->pass(pass, device_->stream());
        pass.from = from.bytes.data();
        pass.to = to.bytes.data();
        host_.pass(pass, {});
        Numbers result = to;
        download(to_there, result);
        expect_near(result, to, "step " + std::to_string(step) + " of " + std::to_string(n));
      }
    }
  }
}

/// Lines of [2][length][neighbours], or of [2][neighbours][length], into two pieces of other order.
TEST_F(CudaTransformsTest, LinesForSeveralOwnersAreThoseOfTheHost) {
  for (std::int64_t length = 2; length <= LineTransform::longest; length *= 2) {
    for (int round = 0; round < 8; ++round) {
      LineTransform what;
      what.single = round % 2 == 0;
      what.backward = round % 4 < 2;
      what.length = length;
      what.scale = 0.75;
      what.neighbours = number(1, 40);
      const bool along = round >= 6;
      what.from_along = along ? 1 : what.neighbours;
      what.from_apart = along ? length : 1;
      what.loops = 1;
      what.counts[0] = 2;
      what.from_strides[0] = length * what.neighbours;
      const std::int64_t cut = number(1, length - 1);
      what.pieces = 2;
      for (int p = 0; p < 2; ++p) {
        LineTransform::Piece& piece = what.piece[p];
        const std::int64_t held = p == 0 ? cut : length - cut;
        piece.first = p == 0 ? 0 : cut;
        piece.along = along ? 1 : what.neighbours;
        piece.apart = along ? held : 1;
        piece.strides[0] = held * what.neighbours;
      }
      what.link_share = round % 4 * 0.25;
      what.over_links = round % 3 == 0;
      const std::int64_t numbers = 4 * length * what.neighbours;
      const Numbers from = random_numbers(numbers, what.single);
      Numbers to = random_numbers(numbers, what.single);
      const devices::DeviceMemory from_there = upload(from), to_there = upload(to);
      const std::int64_t item = what.single ? 8 : 16;
      const auto run = [&](devices::DeviceTransforms& by, const void* source, void* destination) {
        what.from = source;
        for (int p = 0; p < 2; ++p)
          what.piece[p].to = static_cast<char*>(destination) + p * 2 * cut * what.neighbours * item;
        by.transform_lines(what, device_->stream());
      };
      run(*device_->transforms(), from_there.data(), to_there.data());
      run(host_, from.bytes.data(), to.bytes.data());
      Numbers result = to;
      download(to_there, result);
      expect_near(result, to, std::to_string(length) + ", round " + std::to_string(round));
    }
  }
}

/// Rows and columns of planes, in place or not, of whose columns some go into two owners; again and again
/// with the same counters.
TEST_F(CudaTransformsTest, PlanesForSeveralOwnersAreThoseOfTheHost) {
  for (std::int64_t n = 2; n <= kernels::cuda::PlaneTransform::longest; n *= 2) {
    for (int round = 0; round < 6; ++round) {
      const bool in_place = round % 3 == 0;
      const std::int64_t planes = round < 4 ? number(1, 20) : std::max<std::int64_t>(64, 100000 / (n * n));
      const std::int64_t begin = number(0, n / 2), end = number(begin + 1, n);
      LineTransform rows;
      rows.single = round % 2 == 0;
      rows.backward = round % 4 < 2;
      rows.length = rows.from_apart = rows.neighbours = n;
      rows.loops = rows.pieces = 1;
      rows.counts[0] = planes;
      rows.from_strides[0] = n * n;
      rows.piece[0] = {0, nullptr, 1, n, {n * n}};
      expect_planes_of_host(rows, n, begin, end, random_numbers(2 * planes * n * n, rows.single), in_place,
                            std::to_string(n) + ", round " + std::to_string(round));
    }
  }
}

/// Rows of real numbers, two at once, and the columns of their half spectra, of which there are an odd
/// number.
TEST_F(CudaTransformsTest, PlanesOfRealsAreThoseOfTheHost) {
  for (std::int64_t n = kernels::cuda::PlaneTransform::shortest_of_reals;
       n <= kernels::cuda::PlaneTransform::longest; n *= 2) {
    for (int round = 0; round < 4; ++round) {
      const bool whole = round >= 2;
      const std::int64_t planes = number(1, 20), row = n + number(0, 3), spectrum = n / 2 + 1 + number(0, 3);
      const std::int64_t begin = whole ? 0 : number(0, n / 2 - 1);
      const std::int64_t end = whole ? n / 2 + 1 : number(begin + 1, n / 2 + 1);
      LineTransform rows;
      rows.single = round % 2 == 0;
      rows.of_reals = true;
      rows.length = n;
      rows.from_pair = row;
      rows.to_pair = spectrum;
      rows.from_apart = 2 * row;
      rows.neighbours = n / 2;
      rows.loops = rows.pieces = 1;
      rows.counts[0] = planes;
      rows.from_strides[0] = n * row;
      rows.piece[0] = {0, nullptr, 1, 2 * spectrum, {n * spectrum}};
      expect_planes_of_host(rows, spectrum, begin, end, random_numbers(planes * n * row, rows.single), false,
                            std::to_string(n) + ", round " + std::to_string(round));
    }
  }
}

TEST_F(CudaTransformsTest, RootsOfUnityAreThoseOfTheHost) {
  for (const bool single : {false, true}) {
    for (const std::int64_t length : {std::int64_t{35}, std::int64_t{1} << 40}) {
      TwiddlePass pass;
      pass.single = single;
      pass.length = length;
      pass.sign = single ? 1 : -1;
      pass.offset[1] = length / 3;
      pass.offset[2] = 2;
      pass.loops.loops = 2;
      for (int l = 0; l < 2; ++l) {
        pass.loops.counts[l] = 16;
        pass.loops.strides[l][0] = l == 0 ? 16 : 1;
        pass.loops.strides[l][1 + l] = 1;
      }
      Numbers numbers = random_numbers(2 * 256, single);
      const devices::DeviceMemory there = upload(numbers);
      pass.data = there.data();
      device_->transforms()->twiddle(pass, device_->stream());
      pass.data = numbers.bytes.data();
      host_.twiddle(pass, {});
      Numbers result = numbers;
      download(there, result);
      expect_near(result, numbers, std::to_string(length));
    }
  }
}

}  // namespace
}  // namespace partita::testing
