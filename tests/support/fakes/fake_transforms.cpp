#include "support/fakes/fake_transforms.hpp"

#include <atomic>
#include <complex>
#include <cstring>

#include "base/check.hpp"
#include "kernels/host/transform.hpp"
#include "support/models/lines_here.hpp"

namespace partita::testing {
namespace {

using devices::DeviceFft;

constexpr std::int64_t fake_workspace_bytes = 192;
constexpr int garbage = 0x7f;
std::atomic<int> prepared{0};
std::atomic<bool> have_lines{true};

kernels::TransformShape shape_of(const DeviceFft& what) {
  kernels::TransformShape shape;
  shape.kind = what.kind;
  shape.precision = what.single ? kernels::FftwPrecision::f32 : kernels::FftwPrecision::f64;
  std::int64_t from = what.from.stride, to = what.to.stride;
  for (std::size_t i = what.dimensions; i-- > 0;) {
    shape.lines.insert(shape.lines.begin(), {what.n.at(i), from, to});
    from *= what.from.embed.at(i);
    to *= what.to.embed.at(i);
  }
  if (what.batches > 1) shape.batch = {{what.batches, what.from.apart, what.to.apart}};
  return shape;
}

class FakeFft final : public devices::PreparedFft {
 public:
  explicit FakeFft(const DeviceFft& fft) : PreparedFft(fft), shape_(shape_of(fft)) {}

  std::int64_t workspace_bytes() const override { return fake_workspace_bytes; }

  void run(void* from, void* to, void* workspace) const {
    const kernels::TransformShape& shape = shape_;
    const bool comes_back = what.kind == TransformKind::complex_to_real;
    const bool spoils = comes_back && (shape.lines.size() > 1 || !is_half_spectrum(from));
    if (!comes_back || shape.lines.size() == 1)
      run(shape, from, to);  // FFTW keeps the input of one line only
    if (spoils)
      std::memset(to, garbage, static_cast<std::size_t>(kernels::items_of(shape_.kind, shape_.precision).to));
    std::memset(workspace, garbage, fake_workspace_bytes);
    if (comes_back) destroy(static_cast<char*>(from));
  }

 private:
  static void run(const kernels::TransformShape& shape, void* from, void* to) {
    const kernels::FftwLibrary& library = kernels::fftw(shape.precision);
    kernels::plan_transform(shape, kernels::memory_of(library, from, to))->run(from, to);
  }

  /// No imaginary parts where those of a real line have none: the vendor's library reads them at some
  /// lengths, and of several axes at once those that the complex transforms leave.
  bool is_half_spectrum(const void* from) const {
    return what.single ? is_half_spectrum(static_cast<const std::complex<float>*>(from))
                       : is_half_spectrum(static_cast<const std::complex<double>*>(from));
  }
  template <class Number>
  bool is_half_spectrum(const Number* from) const {
    const kernels::FftwLoop& line = shape_.lines.back();
    const std::int64_t last = line.count % 2 == 0 ? line.count / 2 * line.from_stride : 0;
    for (std::int64_t b = 0; b < what.batches; ++b) {
      const Number* const first = from + b * what.from.apart;
      if (first->imag() != 0 || first[last].imag() != 0) return false;
    }
    return true;
  }

  /// As the vendor's may.
  void destroy(char* from) const {
    const std::int64_t item = kernels::items_of(shape_.kind, shape_.precision).from;
    const kernels::FftwLoop& line = shape_.lines.back();
    for (std::int64_t b = 0; b < what.batches; ++b) {
      for (std::int64_t k = 0; k < line.count / 2 + 1; ++k)
        std::memset(from + (b * what.from.apart + k * line.from_stride) * item, garbage,
                    static_cast<std::size_t>(item));
    }
  }

  kernels::TransformShape shape_;
};

template <class Work>
void for_each_number(std::int64_t count, const Work& work) {
  for (std::int64_t number = 0; number < count; ++number) work(number);
}

}  // namespace

void fake_transforms_have_lines(bool they_do) {
  have_lines = they_do;
}

int fake_transforms_prepared() {
  return prepared;
}

std::shared_ptr<devices::PreparedFft> FakeTransforms::prepare(const DeviceFft& what) {
  check(what.batches > 0 && what.dimensions > 0 && what.dimensions <= DeviceFft::most_dimensions,
        "{} transforms of {} dimensions", what.batches, what.dimensions);
  for (const auto& known : prepared_) {
    if (known->what == what) return known;
  }
  ++prepared;
  return prepared_.emplace_back(std::make_shared<FakeFft>(what));
}

void FakeTransforms::transform(const devices::PreparedFft& fft, void* from, void* to, void* workspace,
                               Stream stream) {
  const std::int64_t number =
      (fft.what.single ? 1 : 2) * static_cast<std::int64_t>(sizeof(std::complex<float>));
  for (const void* const place : {from, to}) {
    check(reinterpret_cast<std::uintptr_t>(place) % static_cast<std::uintptr_t>(number) == 0,
          "a transform at an address that is no multiple of {}", number);
  }
  const auto& made = static_cast<const FakeFft&>(fft);
  put_(stream, [&made, from, to, workspace] { made.run(from, to, workspace); });
}

void FakeTransforms::pass(const kernels::cuda::LinePass& pass, Stream stream) {
  put_(stream, [pass] {
    for_each_number(pass.positions * pass.lines, [&](std::int64_t number) {
      if (pass.single) return kernels::cuda::write_element<float>(pass, number);
      kernels::cuda::write_element<double>(pass, number);
    });
  });
}

void FakeTransforms::twiddle(const kernels::cuda::TwiddlePass& pass, Stream stream) {
  put_(stream, [pass] {
    const std::int64_t length = kernels::cuda::row_length(pass);
    for_each_number(kernels::cuda::rows_of(pass), [&](std::int64_t row) {
      if (pass.single) return kernels::cuda::twiddle_row<float>(pass, row, 0, length, 1);
      kernels::cuda::twiddle_row<double>(pass, row, 0, length, 1);
    });
  });
}

bool FakeTransforms::has_lines_of(std::int64_t length, bool /*single*/) const {
  return have_lines && kernels::cuda::transforms_lines_of(length);
}

void FakeTransforms::transform_lines(const kernels::cuda::LineTransform& what, Stream stream) {
  put_(stream, [what] { transform_lines_here(what); });
}

bool FakeTransforms::has_planes_of(std::int64_t length, bool /*single*/, bool of_reals) const {
  return have_lines && kernels::cuda::transforms_planes_of(length, of_reals);
}

void FakeTransforms::transform_planes(const kernels::cuda::PlaneTransform& what, Stream stream) {
  put_(stream, [what] { transform_planes_here(what); });
}

}  // namespace partita::testing
