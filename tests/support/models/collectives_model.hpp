// Views with known elements, and what the collectives should make of them, element by element.
#pragma once

#include "array/transfer.hpp"
#include "base/half.hpp"
#include "base/visit_dtype.hpp"
#include "context/context_state.hpp"
#include "device/device_synchronization.hpp"
#include "support/test.hpp"

namespace partita::testing {

using Number = std::complex<double>;

inline std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> result;
  for (int i = 0; i < dtype_count; ++i) result.push_back(static_cast<Dtype>(i));
  return result;
}

/// Those that can be reduced.
inline std::vector<Dtype> summed_dtypes() {
  std::vector<Dtype> result = all_dtypes();
  std::erase_if(result, [](Dtype dtype) { return !is_defined(Reduction::sum, dtype); });
  return result;
}

inline void write_number(Dtype dtype, void* element, Number number) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value{};
    if constexpr (is_small_float_type<T>) {
      value = from_float<T>(static_cast<float>(number.real()));
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      value = T(number);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = number.real() != 0;
    } else {
      value = static_cast<T>(number.real());
    }
    std::memcpy(element, &value, sizeof(value));
  });
}

inline Number read_number(Dtype dtype, const void* element) {
  return visit_dtype(dtype, [&](auto tag) -> Number {
    using T = typename decltype(tag)::type;
    T value{};
    std::memcpy(static_cast<void*>(&value), element, sizeof(value));
    if constexpr (is_small_float_type<T>) {
      return static_cast<double>(to_float(value));
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      return Number(value);
    } else {
      return static_cast<double>(value);
    }
  });
}

enum class Memory { dense, strided, heap, device, device_strided, device_heap };

inline bool is_on_device(Memory memory) {
  return memory >= Memory::device;
}
inline bool is_strided(Memory memory) {
  return memory == Memory::strided || memory == Memory::device_strided;
}

/// Every kind that the context has. The symmetric memory of one with a device is the device's.
inline std::vector<Memory> every_memory(const Context& context) {
  if (!context.state()->device) return {Memory::dense, Memory::strided, Memory::heap};
  return {Memory::dense, Memory::strided, Memory::device, Memory::device_strided, Memory::device_heap};
}

/// Dense, on the device where there is one.
inline Memory usual_memory(const Context& context) {
  return context.state()->device ? Memory::device : Memory::dense;
}
inline Memory strided_memory(const Context& context) {
  return context.state()->device ? Memory::device_strided : Memory::strided;
}

/// Calls `visit` with every index of the shape, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  if (volume(shape) == 0) return;
  Index index = Extents::filled(shape.size(), 0);
  for (bool more = true; more;) {
    visit(index);
    more = false;
    for (int d = shape.size() - 1; d >= 0 && !more; --d) {
      more = ++index[d] < shape[d];
      if (!more) index[d] = 0;
    }
  }
}

/// Separate memory with a view of it; what is between the view's elements must not be touched. What is
/// in device memory is written and looked at on the host.
class Block {
 public:
  /// Collective where the memory is the heap's.
  Block(const Context& context, Dtype dtype, const Shape& shape, Memory memory = Memory::dense)
      : context_(*context.state()), memory_(memory) {
    view_ = View::dense(nullptr, dtype, shape);
    std::int64_t elements = std::max<std::int64_t>(volume(shape), 1);
    if (is_strided(memory)) {  // column-major with gaps, and something before it
      std::int64_t step = 2;
      for (int d = 0; d < shape.size(); ++d) {
        view_.strides[d] = step;
        step = step * std::max<std::int64_t>(shape[d], 1) + 1;
      }
      first_ = 3 * size_of(dtype);
      elements = 3 + step;
    }
    bytes_ = elements * size_of(dtype);
    if (memory != Memory::heap) own_.resize(static_cast<std::size_t>(bytes_));
    if (memory == Memory::heap || memory == Memory::device_heap) {
      heap_ = SymmetricMemory::make_symmetric(context, bytes_);
    }
    std::memset(here(), 0xa5, static_cast<std::size_t>(bytes_));
    before_ = own_;
    place();
    upload();
  }
  ~Block() {
    if (memory_ != Memory::device && memory_ != Memory::device_strided) return;
    if (context_.failed()) return;  // streams may be using it for ever
    try {
      devices::finish_device(context_, "test");  // streams may still be using it
      context_.device->physical().release(there_);
    } catch (const Error&) {
      // A failed context: the memory stays.
    }
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const View& view() const { return view_; }
  /// On the host; `upload` makes it known.
  std::byte* at(const Index& index) const {
    std::int64_t offset = 0;
    for (int d = 0; d < index.size(); ++d) offset += index[d] * view_.strides[d];
    return here() + first_ + offset * size_of(view_.dtype);
  }
  void upload() { move(own_.data(), there_, true); }
  void download() { move(there_, own_.data(), false); }
  template <class Value>
  void set(const Value& value) {
    for_each_index(view_.extents,
                   [&](const Index& index) { write_number(view_.dtype, at(index), value(index)); });
    upload();
  }
  /// Elements that differ from `value`, and bytes next to them that were touched.
  template <class Value>
  std::int64_t wrong(const Value& value) {
    download();
    std::int64_t count = 0;
    std::array<std::byte, 16> expected{};
    for_each_index(view_.extents, [&](const Index& index) {
      write_number(view_.dtype, expected.data(), value(index));
      count += std::memcmp(expected.data(), at(index), static_cast<std::size_t>(size_of(view_.dtype))) != 0;
    });
    if (!is_strided(memory_)) return count;
    for_each_index(view_.extents, [&](const Index& index) {
      std::memset(at(index), 0xa5, static_cast<std::size_t>(size_of(view_.dtype)));
    });
    return count + (own_ != before_);
  }

 private:
  std::byte* here() const {
    return own_.empty() ? static_cast<std::byte*>(heap_.data()) : const_cast<std::byte*>(own_.data());
  }

  void place() {
    there_ = here();
    if (is_on_device(memory_)) {
      view_.space = MemorySpace::device;
      context_.device->use();
      there_ = static_cast<std::byte*>(
          memory_ == Memory::device_heap ? heap_.data() : context_.device->physical().allocate(bytes_));
    }
    view_.data = there_ + first_;
  }

  /// All bytes, after what the context's stream has been given.
  void move(std::byte* from, std::byte* to, bool up) {
    if (!is_on_device(memory_)) return;
    View source = View::dense(from, Dtype::u8, {bytes_});
    View destination = View::dense(to, Dtype::u8, {bytes_});
    (up ? destination : source).space = MemorySpace::device;
    arrays::copy_view(context_, source, destination);
  }

  ContextState& context_;
  Memory memory_;
  std::vector<std::byte> own_;  // empty: all is on the heap of the host
  std::vector<std::byte> before_;
  SymmetricMemory heap_;
  std::int64_t bytes_ = 0;
  std::int64_t first_ = 0;  // bytes before the view
  std::byte* there_ = nullptr;
  View view_;
};

/// Small whole numbers, exact in every dtype; of complex dtypes with an imaginary part.
inline Number known(Dtype dtype, int rank, const Index& index, int salt = 0) {
  std::int64_t mixed = 5 * rank + 3 * salt + 1;
  for (const std::int64_t i : index) mixed = 7 * mixed + 3 * i;
  const auto real = static_cast<double>((mixed >> 1) % 4);
  if (dtype == Dtype::boolean) return mixed % 3 != 0 ? 1.0 : 0.0;
  return is_complex(dtype) ? Number(real, static_cast<double>(mixed % 3) - 1) : Number(real);
}

inline auto of_rank(Dtype dtype, int rank, int salt = 0) {
  return [=](const Index& index) { return known(dtype, rank, index, salt); };
}

inline Number join(Reduction reduction, Dtype dtype, Number a, Number b) {
  const auto whole = [](Number x) { return static_cast<std::int64_t>(x.real()); };
  const bool x = a.real() != 0, y = b.real() != 0;
  if (dtype == Dtype::boolean && reduction == Reduction::sum) return x || y;
  switch (reduction) {
    case Reduction::sum:
      return a + b;
    case Reduction::product:
      return a * b;
    case Reduction::min:
      return std::min(a.real(), b.real());
    case Reduction::max:
      return std::max(a.real(), b.real());
    case Reduction::logical_and:
      return x && y;
    case Reduction::logical_or:
      return x || y;
    case Reduction::logical_xor:
      return x != y;
    case Reduction::bit_and:
      return static_cast<double>(whole(a) & whole(b));
    case Reduction::bit_or:
      return static_cast<double>(whole(a) | whole(b));
    case Reduction::bit_xor:
      return static_cast<double>(whole(a) ^ whole(b));
  }
  return {};
}

inline bool is_logical(Reduction reduction) {
  return reduction >= Reduction::logical_and && reduction <= Reduction::logical_xor;
}

/// The reduction of value(first), value(first + 1), ..., value(last - 1), in this order.
template <class Value>
Number joined(Reduction reduction, Dtype dtype, int first, int last, const Value& value) {
  Number result = value(first);
  for (int rank = first + 1; rank < last; ++rank) result = join(reduction, dtype, result, value(rank));
  return is_logical(reduction) ? Number(result.real() != 0) : result;
}

inline std::vector<Reduction> reductions_of(Dtype dtype) {
  std::vector<Reduction> result;
  for (int i = 0; i < reduction_count; ++i) {
    if (is_defined(static_cast<Reduction>(i), dtype)) result.push_back(static_cast<Reduction>(i));
  }
  return result;
}

}  // namespace partita::testing
