// What a training step is made of: products, redistributions, and passes over local memory. The model is
// written against these alone, so that the same code trains (`Execution`) and is planned for ranks that are
// not there (`Estimate`).
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <partita/partita.hpp>
#include <utility>

#include "device/queue.hpp"

namespace transformer {

/// An array, or what would be one. A handle: copies share the memory.
class Tensor {
 public:
  Tensor() = default;  ///< none; only assignment is allowed
  explicit Tensor(partita::Operand operand, partita::Array array = {})
      : operand_(std::move(operand)), array_(std::move(array)) {}

  const partita::Operand& operand() const { return *operand_; }
  const partita::Layout& layout() const { return operand_->layout; }
  const partita::Shape& shape() const { return layout().shape(); }
  partita::Array& array() { return array_; }  ///< invalid in an estimate
  const partita::Array& array() const { return array_; }
  const partita::View& local() const { return array_.local(); }

 private:
  std::optional<partita::Operand> operand_;
  partita::Array array_;
};

/// As `partita::EpilogueArrays`.
struct EpilogueTensors {
  const Tensor* bias = nullptr;
  Tensor* auxiliary = nullptr;
  Tensor* gradient = nullptr;
};

/// All are called alike by all ranks; those that move something are collective.
class Operations {
 public:
  virtual ~Operations() = default;

  /// Contents are undefined.
  virtual Tensor empty(const partita::Shape& shape, const partita::Distribution& distribution,
                       partita::Dtype dtype, partita::Order order = partita::Order::row_major) = 0;
  /// The same local memory, from an element on, as part of another array: each rank's part has the local
  /// shape that `layout` gives it, with these strides, in elements. It must be inside.
  virtual Tensor as_strided(const Tensor& tensor, const partita::Layout& layout, std::int64_t first,
                            const partita::Strides& strides) = 0;
  /// d = F(alpha op(a) op(b) + beta c); c may be d, or null.
  virtual void matmul(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& d,
                      const partita::MatmulOptions& options = {}, const EpilogueTensors& tensors = {}) = 0;
  virtual void redistribute(const Tensor& source, Tensor& destination) = 0;
  /// Work of each rank, which it enqueues on that queue: it passes once over its part of these, and
  /// multiplies and adds so often (counted as two) in their dtype, as products do.
  using Body = std::function<void(const on_device::Queue& queue)>;
  virtual void pass(std::initializer_list<const Tensor*> tensors, const Body& body, double flops) = 0;
  void pass(std::initializer_list<const Tensor*> tensors, const Body& body) { pass(tensors, body, 0); }

 protected:
  Operations() = default;
  Operations(const Operations&) = default;
  Operations& operator=(const Operations&) = default;
  Operations(Operations&&) = default;
  Operations& operator=(Operations&&) = default;
};

/// On each rank its own part.
void set_to_zero(Operations& operations, Tensor& tensor);

/// On the ranks of a context: on a device all of it in the context's stream, and the host waits for nothing
/// that has been planned before.
class Execution final : public Operations {
 public:
  explicit Execution(const partita::Context& context)
      : context_(context), queue_(on_device::Queue::of(context)) {}
  const partita::Context& context() const { return context_; }

  Tensor empty(const partita::Shape& shape, const partita::Distribution& distribution, partita::Dtype dtype,
               partita::Order order) override;
  Tensor as_strided(const Tensor& tensor, const partita::Layout& layout, std::int64_t first,
                    const partita::Strides& strides) override;
  void matmul(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& d,
              const partita::MatmulOptions& options, const EpilogueTensors& tensors) override;
  void redistribute(const Tensor& source, Tensor& destination) override;
  void pass(std::initializer_list<const Tensor*> tensors, const Body& body, double flops) override;

 private:
  /// Of calls of the library: on the device they are enqueued, on the host they block.
  std::optional<partita::Stream> stream() const {
    return queue_.device.kind == partita::Device::Kind::cuda ? std::optional(queue_.stream) : std::nullopt;
  }

  partita::Context context_;
  on_device::Queue queue_;
};

}  // namespace transformer
