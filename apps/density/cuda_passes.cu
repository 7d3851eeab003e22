#include "density/deposit.hpp"
#include "density/passes.hpp"
#include "device/for_each.cuh"

namespace on_device::cuda {

template void for_each(const density::passes::Clear&, std::int64_t, void*);
template void for_each_group(const density::passes::Deposit&, std::int64_t, void*);
template void for_each_cell(const density::passes::Weigh&, const std::array<std::int64_t, 3>&, void*);
template void for_each_cell(const density::passes::Solve&, const std::array<std::int64_t, 3>&, void*);
template void for_each_cell(const density::passes::Differentiate&, const std::array<std::int64_t, 3>&, void*);
template void for_each(const density::passes::Push&, std::int64_t, void*);
template void for_each(const density::passes::Mark&, std::int64_t, void*);
template void for_each_group(const density::passes::Sum&, std::int64_t, void*);
template void for_each_group(const density::passes::Scan&, std::int64_t, void*);
template void for_each(const density::passes::Leave&, std::int64_t, void*);
template void for_each(const density::passes::Arrive&, std::int64_t, void*);
template void for_each(const density::passes::FlagTail&, std::int64_t, void*);
template void for_each(const density::passes::MatchTail&, std::int64_t, void*);
template void for_each(const density::passes::MoveTail&, std::int64_t, void*);

}  // namespace on_device::cuda
