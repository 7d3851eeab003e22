// Graphs of the work that libraries put into streams: to load kernels before they are needed, and to count
// them. Addresses are not looked at. For a thread that harms no capture (CudaBesideCaptures).
#pragma once

#include "cuda/stream.hpp"

namespace partita::cuda {

struct DestroyCudaGraph {
  void operator()(cudaGraph_t graph) const noexcept { cudaGraphDestroy(graph); }
  /// One that runs is destroyed when it is done.
  void operator()(cudaGraphExec_t program) const noexcept {
    const CudaBesideCaptures unharmed;
    cudaGraphExecDestroy(program);
  }
};
using CudaGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyCudaGraph>;
using CudaProgram = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyCudaGraph>;

/// What `put(stream)` puts into a stream.
template <class Put>
CudaGraph captured(const char* what, const Put& put) {
  const CudaStream aside = new_cuda_stream();
  check_cuda(cudaStreamBeginCapture(aside.get(), cudaStreamCaptureModeRelaxed), what);
  cudaGraph_t graph = nullptr;
  try {
    put(Stream(aside.get()));
  } catch (...) {
    if (cudaStreamEndCapture(aside.get(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
    throw;
  }
  check_cuda(cudaStreamEndCapture(aside.get(), &graph), what);
  return CudaGraph(graph);
}

inline int launches_of(const CudaGraph& graph, const char* what) {
  std::size_t nodes = 0;
  check_cuda(cudaGraphGetNodes(graph.get(), nullptr, &nodes), what);
  return static_cast<int>(nodes);
}

inline CudaProgram program_of(const CudaGraph& graph, const char* what) {
  cudaGraphExec_t made = nullptr;
  check_cuda(cudaGraphInstantiate(&made, graph.get(), 0), what);
  return CudaProgram(made);
}

/// Puts work into a graph that is made and never started: what is loaded for it stays.
template <class Put>
void load_by_graph(const char* what, const Put& put) {
  (void)program_of(captured(what, put), what);
}

}  // namespace partita::cuda
