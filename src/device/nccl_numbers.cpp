#include "device/nccl_numbers.hpp"

#include <optional>

#include "base/check.hpp"

namespace partita {
namespace {

/// The type of NCCL, and how many of them an element is. None: NCCL has no such.
struct Numbers {
  NcclType type;
  std::int64_t per_element = 1;
};

std::optional<Numbers> numbers_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::i8:
      return Numbers{NcclType::i8};
    case Dtype::u8:
      return Numbers{NcclType::u8};
    case Dtype::i32:
      return Numbers{NcclType::i32};
    case Dtype::u32:
      return Numbers{NcclType::u32};
    case Dtype::i64:
      return Numbers{NcclType::i64};
    case Dtype::u64:
      return Numbers{NcclType::u64};
    case Dtype::f16:
      return Numbers{NcclType::f16};
    case Dtype::bf16:
      return Numbers{NcclType::bf16};
    case Dtype::f32:
      return Numbers{NcclType::f32};
    case Dtype::f64:
      return Numbers{NcclType::f64};
    case Dtype::c64:
      return Numbers{NcclType::f32, 2};
    case Dtype::c128:
      return Numbers{NcclType::f64, 2};
    case Dtype::boolean:  // any byte but 0 is "true" to us
    case Dtype::i16:
    case Dtype::u16:
      break;
  }
  return std::nullopt;
}

/// Only where the results are ours: NCCL's min and max of a NaN and a number are the number.
std::optional<NcclOperation> operation_of(Dtype dtype, Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return NcclOperation::sum;
    case Reduction::product:
      if (is_complex(dtype)) break;
      return NcclOperation::product;
    case Reduction::min:
      if (!is_integer(dtype)) break;
      return NcclOperation::min;
    case Reduction::max:
      if (!is_integer(dtype)) break;
      return NcclOperation::max;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool nccl_reduces(Dtype dtype, Reduction reduction) {
  return numbers_of(dtype) && operation_of(dtype, reduction);
}

NcclReducing nccl_reducing(std::int64_t count, Dtype dtype, Reduction reduction) {
  const std::optional<Numbers> numbers = numbers_of(dtype);
  const std::optional<NcclOperation> operation = operation_of(dtype, reduction);
  invariant(numbers && operation, "NCCL was asked for {} of {}", name(reduction), name(dtype));
  return {static_cast<std::size_t>(count * numbers->per_element), numbers->type, *operation};
}

}  // namespace partita
