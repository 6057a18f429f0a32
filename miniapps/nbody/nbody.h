// Gravity in clusters of particles, in ChaNGa's role. Objects are pieces of space with as many
// particles each. Those that fall fast take shorter time steps, so that in most steps only a few
// are active, nearly all in the dense cores: load is uneven, and it varies from step to step.
//
// In each step a piece tells all where its active particles are, and each piece answers with its
// pull on them: of near particles singly, of far ones as one mass (Barnes and Hut, 1986; for groups
// of neighbours: Barnes, 1990), which is all a far piece needs to be told (Salmon, 1991). Forces,
// momentum and energy are checked. Particles keep their piece.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "miniapps/nbody/clusters.h"
#include "miniapps/nbody/tree.h"
#include "miniapps/program.h"

namespace poise::miniapps::nbody {

constexpr double kLongestStep = 0.01, kAccuracy = 0.1;
constexpr std::size_t kSamples = 64;  // particles whose forces are checked

struct Settings {
  std::uint32_t pieces = 64, particles = 8192, rungs = 4;
  double theta = 0.7;

  double shortest_step() const { return kLongestStep / static_cast<double>(1U << (rungs - 1)); }
};

struct Piece {
  ObjectId id = 0;
  Settings settings;
  std::uint64_t now = 0;  // steps: attract() in odd ones, move() and tell() in even ones
  std::vector<Particle> particles;
  double first_energy = 0, energy = 0;                    // when all are active
  std::vector<std::pair<std::uint32_t, Vector>> samples;  // first accelerations

  void step(const Inbox& inbox, Outbox& outbox) {
    if (now % 2 == 1) attract(inbox, outbox);
    if (now % 2 == 0 && now > 0) move(inbox, now / 2 - 1);
    if (now % 2 == 0) tell(outbox, now / 2);
    ++now;
  }

  bool is_sync(std::uint64_t time) const { return time % (1U << (settings.rungs - 1)) == 0; }
  double mass() const { return 1.0 / settings.particles; }

  /// Those whose time step begins at a time (in units of the shortest step); neighbours follow one
  /// another.
  std::vector<std::size_t> active(std::uint64_t time) const {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < particles.size(); ++i)
      if (time % (1U << (settings.rungs - 1 - particles[i].rung)) == 0) active.push_back(i);
    return active;
  }

  void tell(Outbox& outbox, std::uint64_t time) const {
    std::vector<Vector> at;
    for (const std::size_t i : active(time)) at.push_back(particles[i].at);
    if (at.empty()) return;
    std::vector<ObjectId> all(settings.pieces);
    std::iota(all.begin(), all.end(), ObjectId{0});
    outbox.send_to_all(all, at);
  }

  /// What this piece does to all active particles, a group of neighbours at a time. A piece far
  /// away is told but its mass, and works out the pull.
  void attract(const Inbox& inbox, Outbox& outbox) const {
    std::vector<Mass> masses;
    for (const Particle& particle : particles) masses.push_back({particle.at, mass()});
    const Tree tree(std::move(masses));
    for (const Mail& mail : inbox) {
      std::span<const Vector> at;
      mail.read(at);
      const bool is_far = tree.looks_small_from(box_of(at), settings.theta);
      std::vector<Field> fields(is_far ? 0 : at.size());
      for (std::size_t first = 0; first < fields.size(); first += kGroup) {
        const std::size_t count = std::min(kGroup, at.size() - first);
        pull(tree, at.subspan(first, count), std::span(fields).subspan(first, count));
      }
      outbox.send(mail.from(), is_far ? tree.all() : Mass(), fields);
    }
  }

  void pull(const Tree& tree, std::span<const Vector> group, std::span<Field> fields) const {
    tree.for_each_seen_from(box_of(group), settings.theta, [&](const Mass& mass) {
      for (std::size_t i = 0; i < group.size(); ++i) fields[i].add(group[i], mass);
    });
  }

  void move(const Inbox& inbox, std::uint64_t time) {
    const std::vector<std::size_t> moving = active(time);
    std::vector<Field> fields(moving.size());
    for (const Mail& mail : inbox) {
      Mass far;
      std::span<const Field> pulls;
      mail.read(far, pulls);
      for (std::size_t i = 0; i < pulls.size(); ++i) fields[i] += pulls[i];
      for (std::size_t i = 0; pulls.empty() && i < moving.size(); ++i)
        fields[i].add(particles[moving[i]].at, far);
    }
    double sum = 0;
    for (std::size_t i = 0; i < moving.size(); ++i)
      sum += kick(particles[moving[i]], fields[i], time);
    if (is_sync(time)) {
      energy = sum;
      arrange(particles);
    }
    if (time == 0) first_energy = energy;
    for (Particle& particle : particles)
      for (std::size_t a = 0; a < 3; ++a)
        particle.at[a] += settings.shortest_step() * particle.velocity[a];
  }

  /// Ends a particle's time step and begins the next: half a kick each. Returns its energy between.
  double kick(Particle& particle, const Field& field, std::uint64_t time) {
    const auto push = [&] {
      const double half = 0.5 * kLongestStep / static_cast<double>(1U << particle.rung);
      for (std::size_t a = 0; a < 3; ++a) particle.velocity[a] += half * field.acceleration[a];
    };
    if (time > 0) push();
    double square = 0, speed = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      square += field.acceleration[a] * field.acceleration[a];
      speed += particle.velocity[a] * particle.velocity[a];
    }
    if (is_sync(time)) {
      const double limit = kAccuracy * std::sqrt(kSoftening / std::sqrt(square));
      double step = kLongestStep;
      for (particle.rung = 0; particle.rung + 1 < settings.rungs && step > limit; step /= 2)
        ++particle.rung;
    }
    if (time == 0 && particle.id % (settings.particles / kSamples) == 0)
      samples.emplace_back(particle.id, field.acceleration);
    push();
    const double potential = field.potential + mass() / kSoftening;  // not that of itself
    return 0.5 * mass() * (speed + potential);
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, settings, now, particles, first_energy, energy, samples);
  }
};

struct Sums {
  double first_energy = 0, energy = 0, checksum = 0, speed = 0;
  Vector momentum{};
  std::array<Vector, kSamples> samples{};
  Sums& operator+=(const Sums& other) {
    first_energy += other.first_energy;
    energy += other.energy;
    checksum += other.checksum;
    speed += other.speed;
    for (std::size_t a = 0; a < 3; ++a) {
      momentum[a] += other.momentum[a];
      for (std::size_t s = 0; s < kSamples; ++s) samples[s][a] += other.samples[s][a];
    }
    return *this;
  }
};

/// Settings, objects and results.
struct Program : Settings {
  static constexpr const char* kName = "nbody";
  static constexpr const char* kSummary =
      "Gravity by trees, between clusters of particles of which few are active at a time.";
  std::uint64_t iterations = 64;
  std::vector<Particle> all;  // at first, piece by piece

  void add_options(Arguments& arguments) {
    arguments.add("--pieces", pieces, "of space", 1, 100000);
    arguments.add("--particles", particles, "in all", 100, 1000000000);
    arguments.add("--theta", theta, "how large a group may look that counts as one", 0.0, 1.0);
    arguments.add("--rungs", rungs, "time steps, each half as long as the one before", 1, 16);
  }
  void prepare() {
    if (pieces > particles) fail("--pieces {} is above --particles {}", pieces, particles);
    all = clusters(particles);
  }
  ObjectId num_objects() const { return pieces; }
  std::uint64_t steps() const { return 2 * iterations + 1; }
  /// Steps that attract and steps that move, by the rungs that are active.
  std::uint32_t subphase_of(std::uint64_t step) const {
    const bool attracts = step % 2 == 1;
    const std::uint64_t time = attracts || step == 0 ? step / 2 : step / 2 - 1;
    const auto rung =
        std::min<std::uint32_t>(rungs - 1, static_cast<std::uint32_t>(std::countr_zero(time)));
    return 2 * rung + (attracts ? 1 : 0);
  }
  Piece object(ObjectId id) const {
    Piece piece{.id = id, .settings = *this, .particles = {}, .samples = {}};
    const auto first = [&](std::uint64_t of) {
      return all.begin() + static_cast<std::ptrdiff_t>(of * particles / pieces);
    };
    piece.particles.assign(first(id), first(id + 1));
    return piece;
  }
  Sums sum_of(const Piece& piece) const {
    Sums sums{.first_energy = piece.first_energy, .energy = piece.energy};
    for (const Particle& particle : piece.particles) {
      double square = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        sums.checksum += particle.at[a];
        sums.momentum[a] += particle.velocity[a];
        square += particle.velocity[a] * particle.velocity[a];
      }
      sums.speed += std::sqrt(square);
    }
    for (const auto& [id, acceleration] : piece.samples) {
      const std::size_t sample = id / (particles / kSamples);
      if (sample < kSamples) sums.samples[sample] = acceleration;
    }
    return sums;
  }
  double checksum(const Sums& sums) const { return sums.checksum; }

  /// Root mean square of the errors of the sampled forces over that of the forces.
  double force_error(const Sums& sums) const {
    double error = 0, whole = 0;
    for (std::size_t s = 0; s < kSamples; ++s) {
      const Vector& at = all[s * (particles / kSamples)].at;
      Field field;
      for (const Particle& other : all) field.add(at, {other.at, 1.0 / particles});
      for (std::size_t a = 0; a < 3; ++a) {
        const double d = sums.samples[s][a] - field.acceleration[a];
        error += d * d;
        whole += field.acceleration[a] * field.acceleration[a];
      }
    }
    return std::sqrt(error / whole);
  }
  void check(const Sums& before, const Sums& after) const {
    const double forces = force_error(after);
    const double energy = std::fabs(after.energy / after.first_energy - 1);
    double momentum = 0;
    for (std::size_t a = 0; a < 3; ++a)
      momentum = std::max(momentum, std::fabs(after.momentum[a] - before.momentum[a]));
    momentum /= after.speed;
    fmt::print("forces off by {:.1e}, momentum by {:.1e}, energy {:.6f} by {:.1e}\n", forces,
               momentum, after.first_energy, energy);
    const bool is_exact = theta == 0 && rungs == 1;
    if (!(forces < (theta == 0 ? 1e-12 : 0.02))) fail("the forces are wrong");
    if (!(momentum < (is_exact ? 1e-12 : 1e-3))) fail("momentum is not conserved");
    if (!(energy < 0.01)) fail("energy is not conserved");
  }
};

}  // namespace poise::miniapps::nbody
