#include "density/device_swarm.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "density/passes.hpp"

namespace density {
namespace pt = partita;
namespace {

constexpr auto word = static_cast<std::int64_t>(sizeof(std::int64_t));

std::int64_t groups_of(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

std::int64_t most_of(const pt::Context& context, std::int64_t mine) {
  pt::all_reduce(context, pt::view(mine), pt::view(mine), {.reduction = pt::Reduction::max});
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
          "density: on devices the mesh must be distributed along dimension 0 only, not as " +
          mesh.to_string());
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
  context_.synchronize(queue_.stream);  // passes may still use what is freed
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

passes::Departures DeviceSwarm::watch() {
  const std::int64_t others = context_.size() - 1;
  if (others == 0) return {};
  const std::int64_t most_chunks = groups_of(most_, passes::chunk) + 1, numbers = others * chunks();
  reserve(places_, most_ * static_cast<std::int64_t>(sizeof(std::int32_t)));
  reserve(starts_, (others * most_chunks + 1) * word);
  on_device::for_each(queue_, numbers, passes::Clear{starts_.at<std::int64_t>()});
  watched_ = true;
  return {place_of_row_.at<std::int32_t>(), places_.at<std::int32_t>(), starts_.at<std::int64_t>(), chunks()};
}

void DeviceSwarm::scan(std::int64_t* numbers, std::int64_t count) const {
  const std::int64_t groups = groups_of(count, passes::Sum::group);
  auto* const sums = sums_.at<std::int64_t>();
  on_device::for_each_group(queue_, groups, passes::Sum{numbers, count, sums});
  on_device::for_each_group(queue_, groups, passes::Scan{numbers, count, sums});
}

// starts[place - 1][chunk] becomes where those of the chunk go.
std::vector<std::int64_t> DeviceSwarm::count_places() {
  const std::int64_t ranks = context_.size(), most_chunks = groups_of(most_, passes::chunk) + 1;
  reserve(sums_, groups_of((ranks - 1) * most_chunks, passes::Sum::group) * word);
  scan(starts_.at<std::int64_t>(), (ranks - 1) * chunks());
  std::vector<std::int64_t> firsts(static_cast<std::size_t>(ranks));
  pt::View starts = on_device_view(starts_.memory.data(), pt::Dtype::i64, {ranks});
  starts.strides[0] = chunks();
  pt::copy(context_, starts, pt::view(firsts), queue_.stream);
  std::vector<std::int64_t> counts{count_ - firsts.back()};
  for (std::size_t place = 1; place < firsts.size(); ++place)
    counts.push_back(firsts[place] - firsts[place - 1]);
  return counts;
}

void DeviceSwarm::migrate() {
  const auto ranks = static_cast<std::size_t>(context_.size()),
             own = static_cast<std::size_t>(context_.rank());
  if (ranks == 1) return;
  if (!watched_) on_device::for_each(queue_, count_, passes::Mark{particles_.at<double>(), watch()});
  watched_ = false;
  const std::vector<std::int64_t> counts = count_places();
  std::vector<std::int64_t> sent, received, all(ranks * ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    sent.push_back(counts[static_cast<std::size_t>(place_of(static_cast<int>(rank)))]);
  const auto many = static_cast<std::int64_t>(ranks);
  pt::all_gather(context_, pt::view(sent, {1, many}), pt::view(all, {many, many}));  // who sends to whom

  std::int64_t most_leaving = 0, most_arriving = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::int64_t leaving = 0, arriving = 0;
    for (std::size_t other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      leaving += all[rank * ranks + other];
      arriving += all[other * ranks + rank];
    }
    most_leaving = std::max(most_leaving, leaving);
    most_arriving = std::max(most_arriving, arriving);
    most_ = std::max(most_, all[rank * ranks + rank] + arriving);
    received.push_back(all[rank * ranks + own]);
  }
  reserve_for(most_leaving, most_arriving);
  leave();
  const std::int64_t leaving = count_ - sent[own];
  sent[own] = received[own] = 0;
  const std::int64_t arriving = std::accumulate(received.begin(), received.end(), std::int64_t{0});
  pt::all_to_all_v(context_, view_of(leaving_.at<Particle>(), leaving),
                   view_of(arriving_.at<Particle>(), arriving), sent, received, queue_.stream);
  arrive(leaving, arriving);
}

void DeviceSwarm::reserve_for(std::int64_t most_leaving, std::int64_t most_arriving) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(Particle));
  reserve(leaving_, most_leaving * bytes);
  reserve(arriving_, most_arriving * bytes);
  reserve(holes_, most_leaving * word);
  reserve(tail_, (4 * most_leaving + 1) * word);
  reserve(sums_, groups_of(2 * most_leaving, passes::Sum::group) * word);
  if (most_ * bytes <= particles_.bytes) return;
  const Buffer before = std::exchange(particles_, {});
  reserve(particles_, most_ * bytes);
  if (count_ > 0) {
    pt::copy(context_, view_of(before.at<Particle>(), count_), view_of(local().data(), count_),
             queue_.stream);
  }
  context_.synchronize(queue_.stream);  // for what was before
}

void DeviceSwarm::leave() const {
  on_device::for_each(
      queue_, count_,
      passes::Leave{particles_.at<double>(), places_.at<std::int32_t>(), starts_.at<std::int64_t>(), chunks(),
                    leaving_.at<double>(), holes_.at<std::int64_t>()});
}

// Who arrives takes the place of who left; what is left over of either is behind the particles.
void DeviceSwarm::arrive(std::int64_t leaving, std::int64_t arriving) {
  on_device::for_each(queue_, arriving,
                      passes::Arrive{arriving_.at<double>(), holes_.at<std::int64_t>(), leaving, count_,
                                     particles_.at<double>(), places_.at<std::int32_t>()});
  if (arriving < leaving) close_holes(arriving, leaving - arriving);
  count_ += arriving - leaving;
}

void DeviceSwarm::close_holes(std::int64_t filled, std::int64_t left) const {
  auto *const movers = tail_.at<std::int64_t>(), *const goals = movers + left, *const flags = goals + left;
  const passes::Tail tail{holes_.at<std::int64_t>() + filled,
                          left,
                          count_ - left,
                          places_.at<std::int32_t>(),
                          flags,
                          movers,
                          goals};
  on_device::for_each(queue_, left, passes::FlagTail{tail});
  scan(flags, 2 * left);
  on_device::for_each(queue_, left, passes::MatchTail{tail});
  on_device::for_each(queue_, left, passes::MoveTail{tail, particles_.at<double>()});
}

}  // namespace density
