#include "device/cublas_lt_products.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.hpp"
#include "cuda/stream.hpp"
#include "device/cublas_lt_tries.hpp"
#include "device/cublas_types.hpp"

namespace partita::devices {
namespace {

constexpr int ways_tried = 8;
/// Of all products of a plan, about.
constexpr double most_seconds_of_plan = 1.4;

/// Of 16 bits a bias and an activation come with the sums before they are rounded, and are right, only where
/// all operands have this layout; otherwise by a pass over the rounded result (cuBLASLt 13.1). With an
/// addend of another layout than the result, cuBLASLt reports a misaligned address.
bool follows_well(const DeviceGemm& what) {
  constexpr std::int64_t even = 16;
  const bool follows = what.activation != Activation::identity || what.bias;
  const bool lies_otherwise =
      what.addend && (what.addend->leading != what.leading || what.addend->stride != what.stride);
  if (!lies_otherwise && (!follows || size_of(what.result) > 2)) return true;
  const DeviceGemm::Beside addend = what.addend.value_or(DeviceGemm::Beside{0, 0});
  const std::int64_t of_factors = what.a.leading | what.a.stride | what.b.leading | what.b.stride;
  const std::int64_t of_results = what.m | what.leading | what.stride | addend.leading | addend.stride;
  return (of_factors * size_of(what.a.dtype)) % even == 0 &&
         (of_results * size_of(what.result)) % even == 0 && what.alignment % even == 0;
}

}  // namespace

// --- one product

CublasLtProduct::CublasLtProduct(const CublasLtLibrary& library, CublasLtHandle handle,
                                 const DeviceGemm& what)
    : library_(library), handle_(handle), what_(what) {
  CublasLtDescriptor made = nullptr;
  require(library.make_product(&made, static_cast<int>(cublas_compute(what)),
                               static_cast<int>(*cublas_type(wide(what.result)))),
          "describe a product");
  product_ = Descriptor(made, {library.destroy_product});
  const auto operation = [&](CublasLtOfProduct which, BlasOp op) {
    const auto value = static_cast<std::int32_t>(cublas_operation(op));
    require(library.set_product(made, which, &value, sizeof value), "describe a product");
  };
  operation(CublasLtOfProduct::operation_a, what.a.op);
  operation(CublasLtOfProduct::operation_b, what.b.op);
  if (!what.ends_with_sums()) describe_epilogue();
  const bool plain_a = what.a.op == BlasOp::none, plain_b = what.b.op == BlasOp::none;
  a_ = matrix(what.a.dtype, plain_a ? what.m : what.k, plain_a ? what.k : what.m, what.a.leading,
              what.a.stride);
  b_ = matrix(what.b.dtype, plain_b ? what.k : what.n, plain_b ? what.n : what.k, what.b.leading,
              what.b.stride);
  c_ = matrix(what.result, what.m, what.n, what.leading, what.stride);
  if (what.addend) {
    addend_ = matrix(what.result, what.m, what.n, what.addend->leading, what.addend->stride);
  }
}

void CublasLtProduct::describe_epilogue() {
  const auto set = [this](CublasLtOfProduct which, std::int32_t value) {
    require(library_.set_product(product_.get(), which, &value, sizeof value), "describe an epilogue");
  };
  const auto bit = [](bool is, CublasLtEpilogue what) { return is ? static_cast<std::int32_t>(what) : 0; };
  const std::int32_t bits = bit(what_.activation == Activation::relu, CublasLtEpilogue::relu) |
                            bit(what_.activation == Activation::gelu, CublasLtEpilogue::gelu) |
                            bit(what_.activation == Activation::dgelu, CublasLtEpilogue::dgelu) |
                            bit(what_.auxiliary.has_value(), CublasLtEpilogue::auxiliary) |
                            bit(what_.bias.has_value(), CublasLtEpilogue::bias);
  if (bits != 0) set(CublasLtOfProduct::epilogue, bits);
  if (what_.bias) set(CublasLtOfProduct::bias_type, static_cast<std::int32_t>(*cublas_type(*what_.bias)));
  if (!what_.auxiliary) return;
  const auto lie = [this](CublasLtOfProduct which, std::int64_t value) {
    require(library_.set_product(product_.get(), which, &value, sizeof value), "describe an epilogue");
  };
  lie(CublasLtOfProduct::auxiliary_leading, what_.auxiliary->leading);
  if (what_.batches > 1) lie(CublasLtOfProduct::auxiliary_stride, what_.auxiliary->stride);
}

CublasLtProduct::Descriptor CublasLtProduct::matrix(Dtype dtype, std::int64_t rows, std::int64_t columns,
                                                    std::int64_t leading, std::int64_t stride) const {
  CublasLtDescriptor made = nullptr;
  require(library_.make_matrix(&made, static_cast<int>(*cublas_type(dtype)), static_cast<std::uint64_t>(rows),
                               static_cast<std::uint64_t>(columns), leading),
          "describe a matrix");
  Descriptor matrix(made, {library_.destroy_matrix});
  if (what_.batches == 1) return matrix;
  const auto batches = static_cast<std::int32_t>(what_.batches);
  require(library_.set_matrix(made, CublasLtOfMatrix::batches, &batches, sizeof batches), "describe a batch");
  require(library_.set_matrix(made, CublasLtOfMatrix::stride, &stride, sizeof stride), "describe a batch");
  return matrix;
}

void CublasLtProduct::require(int status, const char* what) const {
  check<Error>(status == 0, "cuBLASLt: {}: {}", what, status == 0 ? "" : library_.status_string(status));
}

bool CublasLtProduct::takes(const GemmPlaces& places) const {
  const auto are_multiples = [](std::int64_t of, auto... addresses) {
    return (reinterpret_cast<std::uintptr_t>(addresses) | ...) % static_cast<std::uintptr_t>(of) == 0;
  };
  return are_multiples(what_.alignment, places.a, places.b, places.c, places.addend) &&
         are_multiples(bias_alignment, places.bias, places.auxiliary);
}

std::vector<CublasLtAnswer> CublasLtProduct::ask(std::size_t workspace_bytes) const {
  CublasLtDescriptor made = nullptr;
  require(library_.make_preference(&made), "set the preferences");
  const Descriptor preference(made, {library_.destroy_preference});
  const auto prefer = [&](int which, const auto& value) {
    require(library_.set_preference(made, which, &value, sizeof value), "set the preferences");
  };
  prefer(static_cast<int>(CublasLtPreference::workspace_bytes), std::uint64_t{workspace_bytes});
  for (int operand = 0; operand < 4; ++operand) {
    prefer(static_cast<int>(CublasLtPreference::least_alignment_of_a) + operand,
           static_cast<std::uint32_t>(what_.alignment));
  }
  std::vector<CublasLtAnswer> answers(ways_tried);
  int count = 0;
  const int status = library_.ask(handle_, product_.get(), a_.get(), b_.get(), addend(), c_.get(), made,
                                  ways_tried, answers.data(), &count);
  answers.resize(status == 0 ? static_cast<std::size_t>(count) : 0);
  std::erase_if(answers, [](const CublasLtAnswer& answer) { return answer.status != 0; });
  return answers;
}

bool CublasLtProduct::take(const CublasLtAlgorithm& algorithm, std::size_t workspace_bytes) {
  CublasLtAnswer answer;
  const int status =
      library_.check(handle_, product_.get(), a_.get(), b_.get(), addend(), c_.get(), &algorithm, &answer);
  if (status != 0 || answer.workspace_bytes > workspace_bytes) return false;
  algorithm_ = algorithm;
  return true;
}

int CublasLtProduct::multiply(const GemmPlaces& places, const void* alpha, const void* beta,
                              const DeviceMemory& workspace, Stream stream) const {
  const auto place = [this](bool has, CublasLtOfProduct which, const void* where) {
    return has ? library_.set_product(product_.get(), which, &where, sizeof where) : 0;
  };
  int status = place(what_.bias.has_value(), CublasLtOfProduct::bias, places.bias);
  if (status == 0)
    status = place(what_.auxiliary.has_value(), CublasLtOfProduct::auxiliary, places.auxiliary);
  if (status != 0) return status;
  const void* const added = what_.addend ? places.addend : places.c;
  return library_.multiply(handle_, product_.get(), alpha, places.a, a_.get(), places.b, b_.get(), beta,
                           added, addend(), places.c, c_.get(), &algorithm_, workspace.data(),
                           static_cast<std::size_t>(workspace.bytes()), cuda::native(stream));
}

// --- all of them

std::unique_ptr<CublasLtProducts> CublasLtProducts::make(Accelerator& device, const DeviceMemory& workspace) {
  const CublasLtLibrary& library = CublasLtLibrary::of_process();
  CublasLtHandle handle = nullptr;
  const cuda::CudaBesideCaptures unharmed;
  if (!library.why_none.empty() || library.create(&handle) != 0) return nullptr;
  std::shared_ptr<cublasLtContext> made(handle, [&library](CublasLtHandle one) {
    const cuda::CudaBesideCaptures unharmed_too;
    library.destroy(one);
  });
  return std::unique_ptr<CublasLtProducts>(new CublasLtProducts(device, library, workspace, std::move(made)));
}

CublasLtProducts::~CublasLtProducts() {
  device_.physical().release(std::move(handle_));  // it synchronizes the device
}

std::string CublasLtProducts::name_of(const DeviceGemm& what) const {
  return words_of(what, fmt::format("cuBLASLt {}", library_.version), device_.physical());
}

std::unique_ptr<CublasLtProduct> CublasLtProducts::prepare(const DeviceGemm& what, bool may_try) {
  if (what.batches > std::numeric_limits<std::int32_t>::max()) return nullptr;
  // Its gelu is off by 2^-12 |x| (cuBLASLt 13.1), good for 16 bits alone.
  const bool approximates = what.activation == Activation::gelu || what.activation == Activation::dgelu;
  if (approximates && size_of(what.result) > 2) return nullptr;
  if (!follows_well(what)) return nullptr;
  const auto room = static_cast<std::size_t>(workspace_.bytes());
  std::unique_ptr<CublasLtProduct> product;
  try {
    product = std::make_unique<CublasLtProduct>(library_, handle_.get(), what);
  } catch (const Error&) {
    return nullptr;  // the library does not support this product
  }
  const std::string name = name_of(what);
  CublasLtAlgorithm known;
  if (read_words(choices_.find(name), known.words) && product->take(known, room)) return product;
  const std::vector<CublasLtAnswer> answers = product->ask(room);
  if (answers.empty()) return nullptr;
  const std::optional<std::size_t> best = may_try ? fastest(*product, what, answers) : 0;
  if (!best || !product->take(answers[*best].algorithm, room)) return nullptr;
  if (may_try) choices_.keep(name, words_of(answers[*best].algorithm.words));
  return product;
}

bool CublasLtProducts::follow_choice(CublasLtProduct& product) {
  CublasLtAlgorithm agreed;
  if (!read_words(choices_.find(name_of(product.what())), agreed.words) || agreed == product.algorithm())
    return false;
  return product.take(agreed, static_cast<std::size_t>(workspace_.bytes()));
}

/// By number; nothing: none of them makes it. Where there is no memory for tries, or no time, the library's
/// own best. The workspace of tries is not the context's, whose streams may be busy.
std::optional<std::size_t> CublasLtProducts::fastest(CublasLtProduct& product, const DeviceGemm& what,
                                                     const std::vector<CublasLtAnswer>& answers) {
  if (answers.size() == 1 || spent_ > most_seconds_of_plan) return 0;
  const bool plain_a = what.a.op == BlasOp::none, plain_b = what.b.op == BlasOp::none;
  const CublasFactor alpha(1, what.result), beta(what.addend ? 1 : 0, what.result);
  try {
    Tries tries;
    const auto matrix = [&](std::int64_t leading, std::int64_t lines, std::int64_t stride, Dtype dtype) {
      return tries.memory(device_, (leading * lines + stride * (what.batches - 1)) * size_of(dtype), dtype);
    };
    const DeviceMemory a = matrix(what.a.leading, plain_a ? what.k : what.m, what.a.stride, what.a.dtype),
                       b = matrix(what.b.leading, plain_b ? what.n : what.k, what.b.stride, what.b.dtype),
                       c = matrix(what.leading, what.n, what.stride, what.result),
                       auxiliary = what.auxiliary ? matrix(what.auxiliary->leading, what.n,
                                                           what.auxiliary->stride, what.result)
                                                  : DeviceMemory(),
                       addend = what.addend
                                    ? matrix(what.addend->leading, what.n, what.addend->stride, what.result)
                                    : DeviceMemory(),
                       workspace(device_, workspace_.bytes());
    const GemmPlaces places{a.data(), b.data(), c.data(), workspace.data(), addend.data(), auxiliary.data()};
    const auto run = [&](Stream stream) {
      return product.multiply(places, alpha.bytes, beta.bytes, workspace, stream);
    };
    const auto take = [&](std::size_t way) {
      return product.take(answers[way].algorithm, static_cast<std::size_t>(workspace.bytes()));
    };
    const std::optional<std::size_t> best = tries.fastest(answers.size(), take, run);
    spent_ += tries.spent();
    return best;
  } catch (const MemoryError&) {
    return 0;
  }
}

}  // namespace partita::devices
