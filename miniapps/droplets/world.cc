#include "miniapps/droplets/world.h"

#include <algorithm>
#include <cmath>

#include "poise/base/check.h"
#include "poise/base/random.h"

namespace poise::droplets {

namespace {

constexpr double kTimeStep = 0.05;
constexpr double kStrength = 0.01;
constexpr double kRest = 0.7;  // nearer: repulsion. Below 2/3 matter would collapse.
constexpr std::uint32_t kDroplets = 6;

/// Slots and their steps: slot s leads one way, slot 25 - s back.
constexpr std::array<std::array<int, 3>, kNeighbours> kSteps = [] {
  std::array<std::array<int, 3>, kNeighbours> steps{};
  std::size_t slot = 0;
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x)
        if (x != 0 || y != 0 || z != 0) steps[slot++] = {x, y, z};
  return steps;
}();

constexpr std::size_t opposite(std::size_t slot) { return kNeighbours - 1 - slot; }

double wrapped(double x, double length) {
  x -= length * std::floor(x / length);
  return x < length ? x : 0;  // rounding may have reached the border
}

/// The shortest of a difference and its periodic images.
double nearest(double difference, double length) {
  if (difference > length / 2) return difference - length;
  if (difference < -length / 2) return difference + length;
  return difference;
}

/// Adds the force of a particle at `other` on one at `position`.
void add_force(const Vector& position, const Vector& other, double length, Vector& force) {
  Vector away;
  double square = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    away[axis] = nearest(position[axis] - other[axis], length);
    square += away[axis] * away[axis];
  }
  if (square >= 1 || square == 0) return;
  const double distance = std::sqrt(square);
  const double strength = kStrength * (kRest - distance) * (1 - distance) / distance;
  for (std::size_t axis = 0; axis < 3; ++axis) force[axis] += strength * away[axis];
}

}  // namespace

World::World(std::uint32_t side, std::uint32_t num_particles, std::uint64_t seed)
    : side_(side), cells_(std::size_t{side} * side * side) {
  POISE_CHECK(side >= 3);
  Random random(seed);
  std::array<Particle, kDroplets> droplets;
  for (Particle& droplet : droplets)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      droplet.position[axis] = random.uniform(0, side);
      droplet.velocity[axis] = random.uniform(-1, 1);
    }
  for (std::uint32_t i = 0; i < num_particles; ++i) {
    Particle particle;
    const bool is_vapour = i % 4 == 0;
    const Particle& droplet = droplets[i % kDroplets];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double x =
          is_vapour ? random.uniform(0, side) : droplet.position[axis] + 0.8 * random.normal();
      particle.position[axis] = wrapped(x, side);
      particle.velocity[axis] = 0.05 * random.normal() + (is_vapour ? 0 : droplet.velocity[axis]);
    }
    cells_[cell_of(particle.position)].particles.push_back(particle);
  }
}

Vector World::centre_of(std::uint32_t c) const {
  return {c % side_ + 0.5, c / side_ % side_ + 0.5, c / side_ / side_ + 0.5};
}

void World::publish(std::uint32_t c, std::vector<Sent>& sent) {
  const auto& particles = cells_[c].particles;
  for (std::size_t slot = 0; slot < kNeighbours; ++slot) {
    const std::uint32_t to = neighbour(c, slot);
    auto& inbox = cells_[to].positions_from[opposite(slot)];
    inbox.clear();
    for (const Particle& particle : particles) inbox.push_back(particle.position);
    if (!inbox.empty()) sent.push_back({to, inbox.size() * sizeof(Vector)});
  }
}

void World::advance(std::uint32_t c, std::vector<Sent>& sent) {
  Cell& cell = cells_[c];
  // All forces before the first particle moves.
  std::vector<Vector> forces;
  forces.reserve(cell.particles.size());
  for (const Particle& particle : cell.particles) forces.push_back(force_on(particle, c));

  std::array<std::vector<Particle>*, kNeighbours> outbox;
  for (std::size_t slot = 0; slot < kNeighbours; ++slot) {
    outbox[slot] = &cells_[neighbour(c, slot)].arrivals_from[opposite(slot)];
    outbox[slot]->clear();
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cell.particles.size(); ++i) {
    Particle particle = cell.particles[i];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      particle.velocity[axis] += kTimeStep * forces[i][axis];
      particle.position[axis] =
          wrapped(particle.position[axis] + kTimeStep * particle.velocity[axis], side_);
    }
    const std::uint32_t to = cell_of(particle.position);
    if (to == c)
      cell.particles[kept++] = particle;
    else
      outbox[slot_towards(c, to)]->push_back(particle);
  }
  cell.particles.resize(kept);
  for (std::size_t slot = 0; slot < kNeighbours; ++slot)
    if (!outbox[slot]->empty())
      sent.push_back({neighbour(c, slot), outbox[slot]->size() * sizeof(Particle)});
}

void World::absorb(std::uint32_t c) {
  Cell& cell = cells_[c];
  for (const auto& arrivals : cell.arrivals_from)
    cell.particles.insert(cell.particles.end(), arrivals.begin(), arrivals.end());
}

Vector World::momentum() const {
  Vector sum{};
  for (const Cell& cell : cells_)
    for (const Particle& particle : cell.particles)
      for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += particle.velocity[axis];
  return sum;
}

double World::speed_sum() const {
  double sum = 0;
  for (const Cell& cell : cells_)
    for (const Particle& particle : cell.particles)
      sum += std::hypot(particle.velocity[0], particle.velocity[1], particle.velocity[2]);
  return sum;
}

bool operator==(const World& a, const World& b) {
  return std::equal(a.cells_.begin(), a.cells_.end(), b.cells_.begin(), b.cells_.end(),
                    [](const Cell& x, const Cell& y) { return x.particles == y.particles; });
}

std::uint32_t World::neighbour(std::uint32_t c, std::size_t slot) const {
  const auto step = [&](std::uint32_t at, int by) {
    return (at + side_ + static_cast<std::uint32_t>(by)) % side_;
  };
  const auto& by = kSteps[slot];
  return step(c % side_, by[0]) +
         side_ * (step(c / side_ % side_, by[1]) + side_ * step(c / side_ / side_, by[2]));
}

std::uint32_t World::cell_of(const Vector& position) const {
  const auto at = [&](std::size_t axis) { return static_cast<std::uint32_t>(position[axis]); };
  return at(0) + side_ * (at(1) + side_ * at(2));
}

Vector World::force_on(const Particle& particle, std::uint32_t c) const {
  Vector force{};
  for (const Particle& other : cells_[c].particles)
    add_force(particle.position, other.position, side_, force);
  for (const auto& positions : cells_[c].positions_from)
    for (const Vector& other : positions) add_force(particle.position, other, side_, force);
  return force;
}

std::size_t World::slot_towards(std::uint32_t from, std::uint32_t to) const {
  std::size_t slot = 0;
  while (slot < kNeighbours && neighbour(from, slot) != to) ++slot;
  POISE_CHECK(slot < kNeighbours);  // a particle moves less than a cell in a step
  return slot;
}

}  // namespace poise::droplets
