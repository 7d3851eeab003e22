// The transforms of one line.
#include <array>
#include <functional>
#include <partita/fft.hpp>
#include <string_view>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "fft/operation.hpp"
#include "fft/problem.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using fourier::Transformation;

constexpr std::array<std::string_view, 11> functions{"fft", "rfft", "irfft", "dct", "dct", "dct",
                                                     "dct", "dst",  "dst",   "dst", "dst"};

std::string_view function_of(FftKind kind) {
  return functions.at(static_cast<std::size_t>(kind));
}

/// What a function is called for.
struct Call {
  FftKind kind = FftKind::c2c;
  bool inverse = false;
};

/// What a function is called for leaves no room for another kind or direction in its options.
FftOptions as_called(const FftOptions& options, const Call& call) {
  const auto [kind, inverse] = call;
  check(options.kind == FftKind::c2c || options.kind == kind,
        "{}{} does not compute the kind of transform in its options: call {}{}", inverse ? "i" : "",
        function_of(kind), options.inverse ? "i" : "", function_of(options.kind));
  const bool backwards = inverse || kind == FftKind::c2r;
  check(!options.inverse || backwards || kind == FftKind::c2c,
        "{} is the forward transform, but its options request the inverse", function_of(kind));
  FftOptions result = options;
  result.kind = kind;
  result.inverse = inverse || (kind == FftKind::c2c && options.inverse);
  return result;
}

/// The context's plan, made where there is none yet. Collective when it is made; otherwise without any
/// communication.
std::shared_ptr<Transformation> kept(ContextState& context, const Operand* result, bool in_place,
                                     const Operand& input, const FftOptions& options,
                                     const std::function<fourier::Request()>& request) {
  contexts::PlanKey key("fft");
  key.add(input, in_place, options.wisdom_file);
  if (result != nullptr) (void)key.add(*result);
  fourier::for_each_option(options, key);
  return execution::Operation::kept<Transformation>(context, key, request);
}

ContextState& usable_context(const Array& input) {
  check(input.valid(), "fft: input is an empty Array");
  input.context_state()->require_usable("fft");
  return *input.context_state();
}

/// Throws what the call as such is refused for, the same on every rank.
FftOptions checked(ContextState& context, const FftOptions& options, const Call& call) {
  FftOptions result;
  runtime::check_or_tell_all(context, "fft", [&] { result = as_called(options, call); });
  return result;
}

Array transformed(const Array& input, const Call& call, const FftOptions& given, SourcePlace where) {
  ContextState& context = usable_context(input);
  const FftOptions options = checked(context, given, call);
  const Operand& from = input.state()->operand;
  const auto transformation =
      kept(context, nullptr, false, from, options, [&] { return fourier::into_new(context, from, options); });
  Array result = transformation->result(input.context_state(), 1, transformation->purpose(), where);
  transformation->run(input, result, 1, given.stream);
  return result;
}

/// n of the real side is that of the output, where nothing is said.
FftOptions to_length_of(const Array& output, FftOptions options) {
  const bool halved_back = options.kind == FftKind::c2r;
  const int last = options.axes.empty() ? output.shape().size() - 1 : options.axes.back();
  const bool known = last >= 0 && last < output.shape().size();
  if (halved_back && options.last_length == 0 && known) options.last_length = output.shape()[last];
  return options;
}

void transform_into(const Array& input, Array& output, const Call& call, const FftOptions& given) {
  ContextState& context = usable_context(input);
  check(output.valid(), "fft: output is an empty Array");
  const bool in_place = input.state() == output.state();
  const auto check_arrays = [&] { fourier::check_aliasing(input, output, in_place); };
  if (arrays::known_on_all_ranks(input, output)) {
    runtime::check_or_tell_all(context, "fft", check_arrays);
  } else {
    runtime::collectively(context, "fft", check_arrays);
  }
  const FftOptions options = to_length_of(output, checked(context, given, call));
  const Operand &from = input.state()->operand, &to = output.state()->operand;
  const auto transformation = kept(context, &to, in_place, from, options, [&]() -> fourier::Request {
    return {from, to, options, in_place};
  });
  transformation->run(input, output, 1, given.stream);
}

// Types I to IV stand behind one another.
FftKind kind_of_type(const Array& input, FftKind first, int type) {
  if (type < 1 || type > 4) {
    runtime::collectively(*input.context_state(), "fft", [&]() -> std::vector<Fact> {
      throw ArgumentError(fmt::format("type {}: the types of cosine and sine transforms are 1 to 4", type));
    });
  }
  return static_cast<FftKind>(static_cast<int>(first) + type - 1);
}

}  // namespace

Layout result_layout(const Context& context, const Operand& input, const FftOptions& options) {
  check(context.state() != nullptr, "fft: the context was moved away");
  const ContextState& state = *context.state();
  return result_layout(input, state.topology(input.space), options, state.machine);
}

Array fft(const Array& input, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("fft");
  return transformed(input, {FftKind::c2c, false}, options, where);
}

Array ifft(const Array& input, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("ifft");
  return transformed(input, {FftKind::c2c, true}, options, where);
}

Array rfft(const Array& input, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("rfft");
  return transformed(input, {FftKind::r2c, false}, options, where);
}

Array irfft(const Array& input, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("irfft");
  return transformed(input, {FftKind::c2r, false}, options, where);
}

Array dct(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("dct");
  return transformed(input, {kind_of_type(input, FftKind::dct1, type), false}, options, where);
}

Array idct(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("idct");
  return transformed(input, {kind_of_type(input, FftKind::dct1, type), true}, options, where);
}

Array dst(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("dst");
  return transformed(input, {kind_of_type(input, FftKind::dst1, type), false}, options, where);
}

Array idst(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  const runtime::PublicCall call("idst");
  return transformed(input, {kind_of_type(input, FftKind::dst1, type), true}, options, where);
}

void fft_into(const Array& input, Array& output, const FftOptions& options) {
  transform_into(input, output, {FftKind::c2c, false}, options);
}

void ifft_into(const Array& input, Array& output, const FftOptions& options) {
  transform_into(input, output, {FftKind::c2c, true}, options);
}

void rfft_into(const Array& input, Array& output, const FftOptions& options) {
  transform_into(input, output, {FftKind::r2c, false}, options);
}

void irfft_into(const Array& input, Array& output, const FftOptions& options) {
  transform_into(input, output, {FftKind::c2r, false}, options);
}

void dct_into(const Array& input, Array& output, int type, const FftOptions& options) {
  transform_into(input, output, {kind_of_type(input, FftKind::dct1, type), false}, options);
}

void idct_into(const Array& input, Array& output, int type, const FftOptions& options) {
  transform_into(input, output, {kind_of_type(input, FftKind::dct1, type), true}, options);
}

void dst_into(const Array& input, Array& output, int type, const FftOptions& options) {
  transform_into(input, output, {kind_of_type(input, FftKind::dst1, type), false}, options);
}

void idst_into(const Array& input, Array& output, int type, const FftOptions& options) {
  transform_into(input, output, {kind_of_type(input, FftKind::dst1, type), true}, options);
}

}  // namespace partita
