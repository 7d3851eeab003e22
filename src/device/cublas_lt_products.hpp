// Products by cuBLASLt, whose first answer to how is often not the best of its first ones: they are timed
// once.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/cublas_lt_library.hpp"
#include "device/device_math.hpp"
#include "device/device_memory.hpp"
#include "device/product_choices.hpp"

namespace partita::devices {

/// A product with its descriptors, and the way in which it is made.
class CublasLtProduct {
 public:
  /// Throws Error where the library does not take it.
  CublasLtProduct(const CublasLtLibrary& library, CublasLtHandle handle, const DeviceGemm& what);

  /// Whether memory at such places is aligned as it was said to be.
  bool takes(const GemmPlaces& places) const;
  /// The first ways that the library knows, within so much workspace.
  std::vector<CublasLtAnswer> ask(std::size_t workspace_bytes) const;
  /// Makes it this way from here on; false: it does not suit, and nothing changes.
  bool take(const CublasLtAlgorithm& algorithm, std::size_t workspace_bytes);
  const DeviceGemm& what() const { return what_; }
  const CublasLtAlgorithm& algorithm() const { return algorithm_; }
  /// Gives a cublasStatus_t.
  int multiply(const GemmPlaces& places, const void* alpha, const void* beta, const DeviceMemory& workspace,
               Stream stream) const;

 private:
  struct Destroy {
    int (*destroy)(CublasLtDescriptor);
    void operator()(CublasLtDescriptor descriptor) const { destroy(descriptor); }
  };
  using Descriptor = std::unique_ptr<void, Destroy>;

  Descriptor matrix(Dtype dtype, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                    std::int64_t stride) const;
  void describe_epilogue();
  CublasLtDescriptor addend() const { return what_.addend ? addend_.get() : c_.get(); }
  void require(int status, const char* what) const;

  const CublasLtLibrary& library_;
  CublasLtHandle handle_;
  DeviceGemm what_;
  Descriptor product_, a_, b_, c_, addend_;
  CublasLtAlgorithm algorithm_;
};

/// All of a context.
class CublasLtProducts {
 public:
  /// Null: there is no cuBLASLt, or it does not start.
  static std::unique_ptr<CublasLtProducts> make(Accelerator& device, const DeviceMemory& workspace);
  ~CublasLtProducts();
  CublasLtProducts(const CublasLtProducts&) = delete;
  CublasLtProducts& operator=(const CublasLtProducts&) = delete;

  /// In the way that was found to be the fastest, or is found now; where it may not try, in the library's own
  /// best. Null: the library has none.
  std::unique_ptr<CublasLtProduct> prepare(const DeviceGemm& what, bool may_try);
  /// Makes it in the way that the ranks have agreed on; whether that is another one.
  bool follow_choice(CublasLtProduct& product);

  /// What has been chosen since this was asked last; another plan's tries begin.
  std::string news() {
    spent_ = 0;
    return choices_.news();
  }
  void agree(std::span<const std::string> news) { choices_.agree(news); }

 private:
  CublasLtProducts(Accelerator& device, const CublasLtLibrary& library, const DeviceMemory& workspace,
                   std::shared_ptr<cublasLtContext> handle)
      : device_(device), library_(library), workspace_(workspace), handle_(std::move(handle)) {}

  std::string name_of(const DeviceGemm& what) const;
  std::optional<std::size_t> fastest(CublasLtProduct& product, const DeviceGemm& what,
                                     const std::vector<CublasLtAnswer>& answers);

  Accelerator& device_;
  const CublasLtLibrary& library_;
  const DeviceMemory& workspace_;
  std::shared_ptr<cublasLtContext> handle_;
  ChoicesOfContext choices_;
  double spent_ = 0;  // seconds of this plan's tries
};

}  // namespace partita::devices
