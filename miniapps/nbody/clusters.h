// Particles in three clusters, the dense cores of which fall fast.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "miniapps/nbody/tree.h"

#include "poise/base/random.h"

namespace poise::miniapps::nbody {

constexpr std::size_t kGroup = 16;

struct Particle {
  Vector at{}, velocity{};
  std::uint32_t id = 0, rung = 0;  // its time step is the longest over 2^rung
};

/// Orders particles so that neighbours follow one another: halves across the longest side, again
/// and again, in whole groups.
inline void arrange(std::span<Particle> particles) {
  if (particles.size() <= kGroup) return;
  Box box;
  for (const Particle& particle : particles) box.add(particle.at);
  const std::size_t axis = box.longest_axis();
  std::sort(particles.begin(), particles.end(), [axis](const Particle& a, const Particle& b) {
    return a.at[axis] != b.at[axis] ? a.at[axis] < b.at[axis] : a.id < b.id;
  });
  const std::size_t half = (particles.size() / 2 + kGroup - 1) / kGroup * kGroup;
  arrange(particles.first(half));
  arrange(particles.subspan(half));
}

/// A cluster whose mass within r grows as √r, each particle about as fast as in a circle there.
inline Particle in_cluster(const Vector& centre, double radius, double mass, Random& random) {
  const auto direction = [&] {
    for (;;) {
      const Vector v{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
      const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
      const double length = std::sqrt(square);
      if (square < 1 && square > 1e-6) return Vector{v[0] / length, v[1] / length, v[2] / length};
    }
  };
  const double share = random.uniform(), r = radius * share * share;
  const double speed = 0.8 * std::sqrt(mass * share / std::sqrt(r * r + kSoftening * kSoftening));
  const Vector towards = direction(), moving = direction();
  Particle particle;
  for (std::size_t a = 0; a < 3; ++a) {
    particle.at[a] = centre[a] + r * towards[a];
    particle.velocity[a] = speed * moving[a];
  }
  return particle;
}

/// Numbered so that neighbours follow one another.
inline std::vector<Particle> clusters(std::uint32_t num_particles) {
  Random random(1);
  std::vector<Particle> all;
  for (std::uint32_t i = 0; i < num_particles; ++i) {
    const double share = (i + 0.5) / num_particles;
    if (share < 0.6)
      all.push_back(in_cluster({0, 0, 0}, 1, 0.6, random));
    else if (share < 0.9)
      all.push_back(in_cluster({3, 1, 0}, 0.6, 0.3, random));
    else
      all.push_back(in_cluster({-1, -2, 2}, 2, 0.1, random));
  }
  for (std::uint32_t i = 0; i < num_particles; ++i) all[i].id = i;
  arrange(all);
  for (std::uint32_t i = 0; i < num_particles; ++i) all[i].id = i;
  return all;
}

}  // namespace poise::miniapps::nbody
