// D = F(A B + beta C) of one GPU, by columns, so that everything may come with the product. Bound: cuBLASLt's
// product alone, in the fastest of its first eight ways.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <partita/device_report.hpp>
#include <partita/matmul.hpp>

#include "benchmarks/cuda_matmul.hpp"
#include "benchmarks/cuda_products.hpp"

namespace partita::benchmarks {
namespace {

struct Ended {
  const char* name;
  Epilogue epilogue;
  bool with_c = false;
  bool weights = false;  ///< B is transposed, as where the gradients of weights are made, and D is of f32

  bool has_bias() const {
    return epilogue == Epilogue::bias || epilogue == Epilogue::gelu_bias ||
           epilogue == Epilogue::gelu_bias_aux;
  }
  bool has_gradient() const {
    return epilogue == Epilogue::dgelu_bias_gradient || epilogue == Epilogue::bias_gradient_a;
  }
  bool has_auxiliary() const {
    return epilogue != Epilogue::none && epilogue != Epilogue::bias && epilogue != Epilogue::gelu_bias &&
           epilogue != Epilogue::bias_gradient_a;
  }
};

constexpr std::int64_t rows = 28672, columns = 8192, depth = 8192;
constexpr int turns = 5;

Array make(const Context& context, const Shape& shape, Dtype dtype) {
  return zeros(context, shape, Replicated(), dtype,
               {.order = Order::column_major, .space = MemorySpace::device});
}

std::optional<Result> run(const Context& world, const Options& options, const std::string& name,
                          const Ended& what) {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions on_devices;
  on_devices.device = Device::cuda();
  const Context context = initialize(on_devices);
  const auto products = make_cublas_lt();
  if (!products) return std::nullopt;
  const Dtype dtype = Dtype::bf16, result = what.weights ? Dtype::f32 : dtype;
  Array a = make(context, {rows, depth}, dtype);
  Array b = make(context, what.weights ? Shape{columns, depth} : Shape{depth, columns}, dtype);
  fill_random(a, 1);
  fill_random(b, 2);
  const Array c = make(context, {rows, columns}, result), bias = make(context, {rows}, dtype);
  Array d = make(context, {rows, columns}, result), auxiliary = make(context, d.shape(), result);
  Array gradient = make(context, {rows}, result);
  MatmulOptions how{.epilogue = what.epilogue, .result = result};
  if (what.weights) how.op_b = Op::transpose;
  if (what.with_c) how.beta = 1;
  EpilogueArrays arrays;
  MatmulOperands operands{.a = a.operand(), .b = b.operand(), .d = d.operand()};
  if (what.with_c) operands.c = c.operand();
  if (what.has_bias()) arrays.bias = &bias, operands.epilogue.bias = bias.operand();
  if (what.has_auxiliary()) arrays.auxiliary = &auxiliary, operands.epilogue.auxiliary = auxiliary.operand();
  if (what.has_gradient()) arrays.gradient = &gradient, operands.epilogue.gradient = gradient.operand();
  Matmul plan(context, operands, how);
  plan.reset(a, b, what.with_c ? &c : nullptr, d, arrays);
  // By rows, as the peer has it, B^T A^T.
  products->choose({columns, rows, depth, dtype, result}, b.local().data, a.local().data, d.local().data);
  auto* const stream = static_cast<cudaStream_t>(context.stream().handle);
  const std::vector<double> seconds =
      measure(world,
              {{"ours",
                [&] {
                  for (int i = 0; i < turns; ++i) plan.execute(Stream{});
                  context.synchronize();
                }},
               {"cublaslt_local",
                [&] {
                  for (int i = 0; i < turns; ++i)
                    products->run(b.local().data, a.local().data, d.local().data, stream);
                  (void)cudaStreamSynchronize(stream);
                }}},
              options.runs);
  const std::int64_t bytes =
      (rows * depth + depth * columns) * size_of(dtype) + rows * columns * size_of(result);
  return Result{"matmul", name, 1, bytes, seconds[0] / turns, {}, "cublaslt_local", seconds[1] / turns};
}

}  // namespace

std::vector<Case> cuda_epilogue_cases() {
  std::vector<Case> cases;
  for (const Ended& what :
       {Ended{"bias", Epilogue::bias}, Ended{"bias-c", Epilogue::bias, true},
        Ended{"gelu-bias", Epilogue::gelu_bias}, Ended{"gelu-bias-aux", Epilogue::gelu_bias_aux},
        Ended{"dgelu", Epilogue::dgelu}, Ended{"dgelu-bias-gradient", Epilogue::dgelu_bias_gradient},
        Ended{"drelu", Epilogue::drelu}, Ended{"bias-gradient-a", Epilogue::bias_gradient_a, false, true}}) {
    const std::string name =
        fmt::format("epilogue-{}-{}x{}x{}/cuda/bf16/heap", what.name, rows, columns, depth);
    cases.push_back(
        {"matmul",
         name,
         {1},
         [=](const Context& world, const Options& options) { return run(world, options, name, what); },
         Device::Kind::cuda});
  }
  return cases;
}

}  // namespace partita::benchmarks
