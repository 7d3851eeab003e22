#include "execute/works/device_product_epilogue.hpp"

#include <utility>

namespace partita::execution {

std::optional<MatrixBeside::Lies> MatrixBeside::find(const BlasCall& call) {
  const int rows = part_.dimensions() - 2;
  std::optional<AxisRun> along = part_.even_axis(rows), across = part_.even_axis(rows + 1);
  if (!along || !across || part_.dtype() != call.what.result) return std::nullopt;
  if (call.exchanged) std::swap(along, across);
  const kernels::MatrixShape matrix{call.what.m, call.what.n, along->step[0], across->step[0]};
  if (!kernels::blas_form(matrix).by_columns) return std::nullopt;
  offset_ = along->offset[0] + across->offset[0];
  Lies lies;
  lies.leading = kernels::blas_factor(matrix, false).leading;
  std::int64_t batches = 1;
  for (int d = rows - 1; d >= 0; --d) {
    const std::optional<AxisRun> batch = part_.even_axis(d);
    if (!batch || (batches > 1 && batch->count > 1 && batch->step[0] != lies.stride * batches))
      return std::nullopt;
    offset_ += batch->offset[0];
    if (batches == 1 && batch->count > 1) lies.stride = batch->step[0];
    batches *= batch->count;
  }
  if (batches != call.what.batches) return std::nullopt;
  stride_ = lies.stride;
  return lies;
}

ProductEpilogue::ProductEpilogue(const ApplyEpilogue& work, const DeviceWorkBinding& binding)
    : activation_(work.activation), beta_(work.beta), bias_along_rows_(work.bias_along_rows) {
  if (work.has_bias) bias_.emplace(work.bias, binding.memory);
  if (work.has_c) addend_.emplace(work.c, binding);
  if (work.has_auxiliary) auxiliary_.emplace(work.auxiliary, binding);
}

bool ProductEpilogue::add_to(BlasCall& call) {
  call.what.activation = activation_;
  if (addend_) call.what.addend = addend_->find(call);
  return add_bias(call) && addend_.has_value() == call.what.addend.has_value() && add_auxiliary(call);
}

bool ProductEpilogue::add_bias(BlasCall& call) {
  if (!bias_) return true;
  const std::optional<AxisRun> run = bias_->even_axis(0);
  if (bias_along_rows_ == call.exchanged || !run || run->step[0] != 1) return false;
  bias_offset_ = run->offset[0];
  call.what.bias = bias_->dtype();
  return true;
}

bool ProductEpilogue::add_auxiliary(BlasCall& call) {
  if (!auxiliary_) return true;
  call.what.auxiliary = auxiliary_->find(call);
  const std::optional<MatrixBeside::Lies>& lies = call.what.auxiliary;
  return lies && (lies->leading | lies->stride) % devices::auxiliary_elements == 0;
}

void ProductEpilogue::place(devices::GemmPlaces& places, const AddressOf& address) const {
  if (bias_) places.bias = bias_->base(address) + bias_offset_ * size_of(bias_->dtype());
  if (addend_) places.addend = addend_->at(address);
  if (auxiliary_) places.auxiliary = auxiliary_->at(address);
}

}  // namespace partita::execution
