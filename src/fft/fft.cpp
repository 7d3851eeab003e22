// The transforms of one line.
#include <partita/fft.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "fft/problem.hpp"
#include "fft/runner.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

using fourier::Runner;

/// The context's plan into a new array, made where there is none yet. Collective when it is made; otherwise
/// without any communication.
std::shared_ptr<Runner> cached_plan(ContextState& context, const Operand& input, const FftOptions& options) {
  const std::string key =
      fmt::format("fft {} | {} | {}", input.to_string(), fourier::to_string(options), options.wisdom_file);
  return context.plans.find_or_make<Runner>(key, [&] {
    return std::make_shared<Runner>(context, [&] { return fourier::into_new(context, input, options); });
  });
}

Array transformed(const Array& input, const FftOptions& options, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = input.context_state();
  context->require_usable("fft");
  const std::shared_ptr<Runner> runner = cached_plan(*context, input.operand(), options);
  const Operand& output = runner->request().output;
  Array result = arrays::allocate_on_heap(context, output.layout, output.dtype, options.order,
                                          "fft " + fourier::to_string(options), where);
  runner->run(input, result, 1);
  return result;
}

Array transformed(const Array& input, FftKind kind, bool inverse, FftOptions options, SourcePlace where) {
  options.kind = kind;
  options.inverse = inverse;
  return transformed(input, options, where);
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

Array fft(const Array& input, const FftOptions& options, SourcePlace where) {
  return transformed(input, FftKind::c2c, options.inverse, options, where);
}

Array ifft(const Array& input, const FftOptions& options, SourcePlace where) {
  return transformed(input, FftKind::c2c, true, options, where);
}

Array rfft(const Array& input, const FftOptions& options, SourcePlace where) {
  return transformed(input, FftKind::r2c, false, options, where);
}

Array irfft(const Array& input, const FftOptions& options, SourcePlace where) {
  return transformed(input, FftKind::c2r, false, options, where);
}

Array dct(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  return transformed(input, kind_of_type(input, FftKind::dct1, type), false, options, where);
}

Array idct(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  return transformed(input, kind_of_type(input, FftKind::dct1, type), true, options, where);
}

Array dst(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  return transformed(input, kind_of_type(input, FftKind::dst1, type), false, options, where);
}

Array idst(const Array& input, int type, const FftOptions& options, SourcePlace where) {
  return transformed(input, kind_of_type(input, FftKind::dst1, type), true, options, where);
}

}  // namespace partita
