#include "fft/spectral_pair.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "context/kept_plans.hpp"
#include "device/device_synchronization.hpp"
#include "execute/host/scratch.hpp"
#include "fft/operation.hpp"
#include "fft/problem.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::spectral {
namespace {

bool is_field(Dtype dtype) {
  return is_complex(dtype) || dtype == Dtype::f32 || dtype == Dtype::f64;
}

struct KeptSpectrum {
  Operand operand;
  execution::Scratch memory;

  KeptSpectrum(ContextState& context, const Operand& like)
      : operand(like), memory(context, buffer_of(like), MemorySpace::device) {}

  static Buffer buffer_of(const Operand& like) {
    const std::int64_t bytes = like.layout.largest_local_size() * size_of(like.dtype);
    return {"spectrum", BufferKind::shared, {}, std::max<std::int64_t>(bytes, 1)};
  }
};

}  // namespace

Pair options_of(const Array& field, const SpectralOptions& options, std::string_view operation,
                const Caller& caller) {
  check(field.valid(), "{}: the field is an empty Array", operation);
  Pair pair;
  runtime::collectively(*field.context_state(), std::string(operation), [&]() -> std::vector<Fact> {
    if (!caller.stream) devices::require_no_capture(*field.context_state(), operation);
    check(is_field(field.dtype()), "{}: the field is {}; f32, f64, c64 and c128 have a spectrum", operation,
          name(field.dtype()));
    const Layout& layout = field.layout();
    check(layout.dimensions() > 0, "{}: a scalar has no axis to transform", operation);
    check<UnsupportedError>(layout.members().empty() && layout.whole_shape() == layout.shape(),
                            "{}: the field is a window of another layout, {}", operation, layout.to_string());
    pair.forward.axes = all_or(options.axes, layout.dimensions());
    pair.forward.output = Output::cheapest;
    pair.forward.measure = options.measure;
    check(options.lengths.empty() || options.lengths.size() == pair.forward.axes.size(),
          "{}: {} periods for {} axes", operation, options.lengths.size(), pair.forward.axes.size());
    for (const double length : options.lengths) {
      check(length > 0, "{}: a period of {} units", operation, length);
    }
    std::vector<Fact> facts{{"axes", fmt::format("{}", fmt::join(pair.forward.axes, ","))},
                            {"periods", fmt::format("{}", fmt::join(options.lengths, ","))}};
    pair.inverse = pair.forward;
    pair.inverse.output = Output::given;
    pair.inverse.residency = options.residency;
    pair.inverse.overwrite_input = true;  // the spectrum has no other user
    pair.inverse.distribution = layout.distribution();
    if (!is_complex(field.dtype())) {
      pair.forward.kind = FftKind::r2c;
      pair.halved_axis = pair.forward.axes.back();
      pair.inverse.last_length = layout.shape()[pair.halved_axis];
    }
    return facts;
  });
  return pair;
}

void follow(const Array& array, std::string_view operation, const std::optional<Stream>& stream) {
  if (!stream) return;
  check(array.valid(), "{}: the array is an empty Array", operation);
  arrays::require_stream_of_device(operation, array.local().space == MemorySpace::device, *stream);
  devices::follow(*array.context_state(), operation, *stream);
}

void follow_together(const Array& array, std::string_view operation, const std::optional<Stream>& stream) {
  if (!stream) return;
  check(array.valid(), "{}: the array is an empty Array", operation);
  array.context_state()->require_usable(operation);
  runtime::collectively(*array.context_state(), operation, [&] { follow(array, operation, stream); });
}

bool lies_on_device(const Array& array) {
  return array.local().space == MemorySpace::device;
}

Stream stream_of(const Caller& caller) {
  return caller.stream.value_or(Stream{});
}

namespace {

/// What is in host memory blocks.
FftOptions with_stream(FftOptions options, const Caller& caller, bool on_device) {
  if (on_device) options.stream = stream_of(caller);
  return options;
}

}  // namespace

Array kept_spectrum(const Array& field, const Pair& pair, std::string_view name) {
  const std::shared_ptr<ContextState>& context = field.context_state();
  const Operand from = field.operand();
  contexts::PlanKey key(name);
  key.add(from);
  fourier::for_each_option(pair.forward, key);
  const auto kept = contexts::kept_plan<KeptSpectrum>(*context, key, [&] {
    std::optional<Operand> operand;
    runtime::collectively(*context, name, [&]() -> std::vector<Fact> {
      operand = fourier::into_new(*context, from, pair.forward).output;
      return {{"input", from.to_string()}};
    });
    return std::make_shared<KeptSpectrum>(*context, *operand);
  });
  char* const address = kept->memory.on_rank(context->rank());
  const std::int64_t offset = context->heap_in(kept->operand.space).offset_of(address);
  return arrays::array_on(context, kept->operand, std::shared_ptr<void>(kept, address), offset);
}

Array forward(const Array& field, const Pair& pair, const Caller& caller, std::string_view name) {
  const bool real = pair.halved_axis >= 0, on_device = lies_on_device(field);
  FftOptions options = with_stream(pair.forward, caller, on_device);
  if (!on_device) return real ? rfft(field, options, caller.where) : fft(field, options, caller.where);
  Array spectrum = kept_spectrum(field, pair, name);
  options.output = Output::as_input;  // its distribution is kept
  real ? rfft_into(field, spectrum, options) : fft_into(field, spectrum, options);
  return spectrum;
}

Array inverse(const Array& spectrum, const Pair& pair, const Caller& caller) {
  const FftOptions options = with_stream(pair.inverse, caller, lies_on_device(spectrum));
  return pair.halved_axis >= 0 ? irfft(spectrum, options, caller.where)
                               : ifft(spectrum, options, caller.where);
}

void inverse_into(const Array& spectrum, Array& result, const Pair& pair, const Caller& caller) {
  FftOptions options = with_stream(pair.inverse, caller, lies_on_device(spectrum) && lies_on_device(result));
  options.output = Output::as_input;
  options.distribution.reset();
  pair.halved_axis >= 0 ? irfft_into(spectrum, result, options) : ifft_into(spectrum, result, options);
}

void finish(const Array& field, std::string_view operation, const Caller& caller) {
  if (!caller.stream) devices::finish_device(*field.context_state(), operation);
}

}  // namespace partita::spectral
