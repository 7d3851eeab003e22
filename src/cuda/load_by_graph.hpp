// Loading the kernels of a library before they are needed.
#pragma once

#include "cuda/stream.hpp"

namespace partita::cuda {

/// `put(stream)` puts work into a graph that is made and never started: what is loaded for it stays. Its
/// addresses are not looked at. Returns how many nodes the graph has. For a thread that harms no capture
/// (CudaBesideCaptures).
template <class Put>
std::size_t load_by_graph(const char* what, const Put& put) {
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
  std::size_t nodes = 0;
  cudaGraphExec_t loaded = nullptr;
  cudaError_t result = cudaGraphGetNodes(graph, nullptr, &nodes);
  if (result == cudaSuccess) result = cudaGraphInstantiate(&loaded, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(result, what);
  cudaGraphExecDestroy(loaded);
  return nodes;
}

}  // namespace partita::cuda
