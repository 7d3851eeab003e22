#include "density/device_swarm.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "density/passes.hpp"

namespace density {
namespace pt = partita;
namespace {

std::int64_t groups_of(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

std::int64_t most_of(const pt::Context& context, std::int64_t mine) {
  pt::all_reduce(context, pt::view(mine), pt::view(mine), {pt::Reduction::max});
  return mine;
}

pt::View on_device_view(void* memory, pt::Dtype dtype, const pt::Shape& extents) {
  pt::View view = pt::View::dense(memory, dtype, extents);
  view.space = pt::MemorySpace::device;
  return view;
}

/// Who owns each of the mesh's planes.
std::vector<int> owners_of_planes(const pt::Layout& mesh) {
  std::vector<int> owners;
  const pt::Shape& shape = mesh.shape();
  for (std::int64_t plane = 0; plane < shape[0]; ++plane) {
    owners.push_back(mesh.owner({plane, 0, 0}));
    if (mesh.owner({plane, shape[1] - 1, shape[2] - 1}) != owners.back())
      throw pt::UnsupportedError(
          "density: on devices the mesh is to be cut along dimension 0 alone, not as " + mesh.to_string());
  }
  return owners;
}

}  // namespace

DeviceSwarm::DeviceSwarm(const pt::Context& context, const pt::Layout& mesh, const Particles& particles)
    : context_(context),
      queue_(on_device::Queue::of(context)),
      count_(static_cast<std::int64_t>(particles.size())),
      most_(most_of(context, count_)) {
  reserve(particles_, most_ * static_cast<std::int64_t>(sizeof(Particle)));
  if (count_ > 0) {
    pt::View from = view_of(const_cast<Particle*>(particles.data()), count_);
    from.space = pt::MemorySpace::host;
    pt::copy(context_, from, view_of(local().data(), count_), queue_.stream);
  }
  std::vector<std::int32_t> places;
  for (const int owner : owners_of_planes(mesh)) places.push_back(place_of(owner));
  reserve(place_of_row_, static_cast<std::int64_t>(places.size() * sizeof(std::int32_t)));
  const auto planes = static_cast<std::int64_t>(places.size());
  pt::copy(context_, pt::view(places), on_device_view(place_of_row_.memory.data(), pt::Dtype::i32, {planes}),
           queue_.stream);
}

std::span<Particle> DeviceSwarm::local() const {
  return {particles_.at<Particle>(), static_cast<std::size_t>(count_)};
}

Particles DeviceSwarm::on_host() const {
  Particles particles(static_cast<std::size_t>(count_));
  if (count_ == 0) return particles;
  pt::View to = view_of(particles.data(), count_);
  to.space = pt::MemorySpace::host;
  pt::copy(context_, view_of(local().data(), count_), to, queue_.stream);
  return particles;
}

void DeviceSwarm::reserve(Buffer& buffer, std::int64_t bytes) const {
  if (bytes <= buffer.bytes) return;
  buffer.bytes = bytes + bytes / 8;
  buffer.memory = pt::SymmetricMemory::make_symmetric(context_, buffer.bytes, pt::MemorySpace::device);
}

std::int64_t DeviceSwarm::chunks() const {
  return std::max<std::int64_t>(groups_of(count_, passes::chunk), 1);
}

// Those that stay come first.
int DeviceSwarm::place_of(int rank) const {
  return rank == context_.rank() ? 0 : rank < context_.rank() ? rank + 1 : rank;
}

pt::View DeviceSwarm::view_of(Particle* particles, std::int64_t count) {
  return on_device_view(particles, pt::Dtype::f64, {count, passes::particle_numbers});
}

// starts[place][chunk] becomes where those of the chunk go.
void DeviceSwarm::sort_places() {
  const std::int64_t ranks = context_.size(), most_chunks = groups_of(most_, passes::chunk) + 1;
  constexpr auto word = static_cast<std::int64_t>(sizeof(std::int64_t));
  reserve(places_, most_ * static_cast<std::int64_t>(sizeof(std::int32_t)));
  reserve(starts_, ranks * most_chunks * word);
  reserve(sums_, groups_of(ranks * most_chunks, passes::group) * word);
  const auto* const particles = particles_.at<const double>();
  auto* const places = places_.at<std::int32_t>();
  auto *const starts = starts_.at<std::int64_t>(), *const sums = sums_.at<std::int64_t>();
  on_device::for_each(queue_, count_, passes::Mark{particles, place_of_row_.at<std::int32_t>(), places});
  on_device::for_each(queue_, chunks(), passes::Count{places, count_, chunks(), ranks, starts});
  const std::int64_t numbers = ranks * chunks(), groups = groups_of(numbers, passes::group);
  on_device::for_each(queue_, groups, passes::Sums{starts, numbers, sums});
  on_device::for_each(queue_, 1, passes::Scan{sums, groups});
  on_device::for_each(queue_, groups, passes::Spread{starts, numbers, sums});
}

std::vector<std::int64_t> DeviceSwarm::count_places() const {
  const std::int64_t ranks = context_.size();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
  pt::View starts = on_device_view(starts_.memory.data(), pt::Dtype::i64, {ranks});
  starts.strides[0] = chunks();
  pt::copy(context_, starts, pt::view(counts), queue_.stream);
  for (std::size_t place = 0; place < counts.size(); ++place) {
    const std::int64_t end = place + 1 < counts.size() ? counts[place + 1] : count_;
    counts[place] = end - counts[place];
  }
  return counts;
}

void DeviceSwarm::migrate() {
  const auto ranks = static_cast<std::size_t>(context_.size()),
             own = static_cast<std::size_t>(context_.rank());
  if (ranks == 1) return;
  sort_places();
  const std::vector<std::int64_t> counts = count_places();
  std::vector<std::int64_t> sent, all(ranks * ranks), received;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    sent.push_back(counts[static_cast<std::size_t>(place_of(static_cast<int>(rank)))]);
  const auto many = static_cast<std::int64_t>(ranks);
  pt::all_gather(context_, pt::view(sent, {1, many}), pt::view(all, {many, many}));  // who sends to whom

  std::int64_t most_leaving = 0;
  most_ = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::int64_t leaving = 0, then = 0;
    for (std::size_t other = 0; other < ranks; ++other) {
      if (other != rank) leaving += all[rank * ranks + other];
      then += all[other * ranks + rank];
    }
    most_leaving = std::max(most_leaving, leaving);
    most_ = std::max(most_, then);
    received.push_back(all[rank * ranks + own]);
  }
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(Particle));
  reserve(others_, most_ * bytes);
  reserve(leaving_, most_leaving * bytes);
  const std::int64_t kept = counts.front();
  on_device::for_each(
      queue_, count_,
      passes::Scatter{particles_.at<double>(), places_.at<std::int32_t>(), starts_.at<std::int64_t>(),
                      chunks(), kept, others_.at<double>(), leaving_.at<double>()});
  sent[own] = received[own] = 0;
  const std::int64_t arriving = std::accumulate(received.begin(), received.end(), std::int64_t{0});
  pt::all_to_all_v(context_, view_of(leaving_.at<Particle>(), count_ - kept),
                   view_of(others_.at<Particle>() + kept, arriving), sent, received, queue_.stream);
  std::swap(particles_, others_);
  count_ = kept + arriving;
}

}  // namespace density
