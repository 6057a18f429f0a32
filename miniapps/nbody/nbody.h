// SPDX-License-Identifier: BSD-3-Clause
// Gravity between clusters of particles, like ChaNGa. Objects are pieces of space with equally many
// particles. Strongly accelerated particles take shorter time steps, so in most steps only a few
// are active, nearly all in the dense cores: the load is uneven and varies from step to step.
//
// In each step a piece sends the positions of its active particles to all pieces. Each piece
// replies with its gravity at these positions: near particles act singly, far groups as one mass
// (Barnes and Hut, 1986; for groups of targets: Barnes, 1990). A far piece replies only with its
// centre (Salmon, 1991). Forces, momentum and energy are checked. Particles stay in their piece.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "miniapps/program.h"
#include "miniapps/space.h"

#include "poise/base/random.h"

namespace poise::miniapps::nbody {

constexpr double kSoftening = 0.02, kMaxStep = 0.01, kAccuracy = 0.1;
constexpr std::size_t kLeaf = 8;  // maximum number of particles in a leaf

struct Particle {
  Vector at{}, velocity{};
  std::int64_t rung = 0;  // the body's time step is kMaxStep / 2^rung
};

/// Acceleration and potential at a point, softened after Plummer (G = 1, particles of mass 1).
struct Field {
  Vector acceleration{};
  double potential = 0;

  void add(const Vector& from, const Vector& at, std::size_t num_particles) {
    const Vector d = at - from;
    const double inverse = 1 / std::sqrt(kSoftening * kSoftening + dot(d, d));
    const double strength = num_particles * inverse;
    acceleration += strength * inverse * inverse * d;
    potential -= strength;
  }
  void add(const Field& other) {
    acceleration += other.acceleration;
    potential += other.potential;
  }
};

/// Sorts particles so that neighbours are consecutive, by recursive bisection of the longest side.
inline void arrange(std::span<Particle> particles) {
  if (particles.size() <= kLeaf) return;
  Box box;
  for (const Particle& particle : particles) box.add(particle.at);
  const std::size_t axis = box.longest_axis();
  std::ranges::sort(particles, {}, [axis](const Particle& particle) { return particle.at[axis]; });
  arrange(particles.first(particles.size() / 2));
  arrange(particles.subspan(particles.size() / 2));
}

/// A binary tree over particles that arrange() has sorted; particles may have moved since then.
struct Group : Box {
  std::span<const Vector> members;
  Vector centre{};
  std::vector<Group> halves;

  explicit Group(std::span<const Vector> some) : members(some) {
    const std::size_t size = members.size();
    for (const Vector& at : members) {
      add(at);
      centre += 1.0 / size * at;
    }
    if (size > kLeaf) halves = {Group(members.first(size / 2)), Group(members.subspan(size / 2))};
  }
  bool looks_small_from(const Box& box, double theta) const {
    return side() * side() < theta * theta * box.square_to(centre);
  }
};

/// Adds the gravity of `group` to the fields at the particles of `on`. If `group` looks small from
/// `on` (angle below theta), it acts as one mass. Else divides `on` or, if `on` is a leaf, `group`.
inline void pull(const Group& group, const Group& on, double theta, Field* fields) {
  const auto add = [&](const Vector& at, std::size_t num_particles) {
    for (std::size_t i = 0; i < on.members.size(); ++i)
      fields[i].add(on.members[i], at, num_particles);
  };
  if (group.looks_small_from(on, theta)) return add(group.centre, group.members.size());
  if (!on.halves.empty()) {
    pull(group, on.halves[0], theta, fields);
    return pull(group, on.halves[1], theta, fields + on.halves[0].members.size());
  }
  for (const Group& half : group.halves) pull(half, on, theta, fields);
  if (group.halves.empty())
    for (const Vector& at : group.members) add(at, 1);
}

struct Settings {
  std::uint32_t pieces = 64, particles = 8192, rungs = 4;
  double theta = 0.7;

  double mass() const { return 1.0 / particles; }
  double shortest_step() const { return kMaxStep / step_of(0); }
  /// Returns the time step of a rung, in units of the shortest time step.
  std::uint64_t step_of(std::int64_t rung) const { return 1U << (rungs - 1 - rung); }
};

struct Piece {
  Settings settings;
  std::uint64_t now = 0;  // step number; odd steps call attract(), even ones move() and tell()
  std::vector<Particle> particles;
  double first_energy = 0, energy = 0;      // measured when all particles are active
  Vector sampled{}, sample_acceleration{};  // position and acceleration of a particle at time 0

  void step(const Inbox& inbox, Outbox& outbox) {
    if (now % 2 == 1) attract(inbox, outbox);
    if (now % 2 == 0 && now > 0) move(inbox, now / 2 - 1);
    if (now % 2 == 0) tell(outbox, active(now / 2));
    ++now;
  }

  /// Returns the positions of particles whose time step begins at `time` (at time 0: of all).
  std::vector<Vector> active(std::uint64_t time) const {
    std::vector<Vector> active;
    for (const Particle& particle : particles)
      if (time % settings.step_of(particle.rung) == 0) active.push_back(particle.at);
    return active;
  }

  void tell(Outbox& outbox, const std::vector<Vector>& targets) const {
    if (targets.empty()) return;
    std::vector<ObjectId> all(settings.pieces);
    std::iota(all.begin(), all.end(), ObjectId{0});
    outbox.send_to_all(all, targets);
  }

  /// Replies with the piece's gravity at the received positions. A far piece sends only its centre.
  void attract(const Inbox& inbox, Outbox& outbox) const {
    const std::vector<Vector> own = active(0);
    const Group tree(own);
    for (const Mail& mail : inbox) {
      std::span<const Vector> at;
      mail.read(at);
      const Group targets(at);
      const bool is_far = tree.looks_small_from(targets, settings.theta);
      std::vector<Field> fields(is_far ? 0 : at.size());
      if (!is_far) pull(tree, targets, settings.theta, fields.data());
      outbox.send(mail.from(), tree.centre, own.size(), fields);
    }
  }

  void move(const Inbox& inbox, std::uint64_t time) {
    const std::vector<Vector> targets = active(time);
    std::vector<Field> fields(targets.size());
    for (const Mail& mail : inbox) {
      Vector centre;
      std::size_t num_particles = 0;
      std::span<const Field> pulls;
      mail.read(centre, num_particles, pulls);
      for (std::size_t i = 0; i < pulls.size(); ++i) fields[i].add(pulls[i]);
      for (std::size_t i = 0; pulls.empty() && i < fields.size(); ++i)
        fields[i].add(targets[i], centre, num_particles);
    }
    const bool all_are_active = time % settings.step_of(0) == 0;
    if (time == 0) sampled = targets[0];
    if (time == 0) sample_acceleration = settings.mass() * fields[0].acceleration;
    if (all_are_active) energy = 0;
    auto field = fields.begin();
    for (Particle& particle : particles) {
      if (time % settings.step_of(particle.rung) == 0) kick(particle, *field++, time);
      particle.at += settings.shortest_step() * particle.velocity;
    }
    if (time == 0) first_energy = energy;
    if (all_are_active) arrange(particles);
  }

  /// Leapfrog: a half kick ends the time step of a particle, another half kick begins the next.
  void kick(Particle& particle, const Field& field, std::uint64_t time) {
    const Vector acceleration = settings.mass() * field.acceleration;
    const auto half_step = [&] { return std::ldexp(0.5 * kMaxStep, -particle.rung); };
    if (time > 0) particle.velocity += half_step() * acceleration;
    if (time % settings.step_of(0) == 0) {
      const double potential = field.potential + 1 / kSoftening;  // minus the self-potential
      energy += 0.5 * settings.mass() *
                (dot(particle.velocity, particle.velocity) + settings.mass() * potential);
      const double limit = kAccuracy * std::sqrt(kSoftening / length(acceleration));
      particle.rung = 0;
      while (particle.rung + 1 < settings.rungs && 2 * half_step() > limit) ++particle.rung;
    }
    particle.velocity += half_step() * acceleration;
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(settings, now, particles, first_energy, energy, sampled, sample_acceleration);
  }
};

/// Three clusters; random velocities prevent collapse. The mass within radius r grows as √r.
inline std::vector<Particle> clusters(std::uint32_t num_particles) {
  Random random(1);
  const auto arrow = [&](double of_length) {
    const Vector v{random.normal(), random.normal(), random.normal()};
    return of_length / length(v) * v;
  };
  std::vector<Particle> all;
  const auto add = [&](double until_share, double mass, const Vector& centre, double radius) {
    while (all.size() < until_share * num_particles) {
      const double share = random.uniform(), r = radius * share * share;
      all.push_back({centre, arrow(0.8 * std::sqrt(mass * share / std::hypot(r, kSoftening)))});
      all.back().at += arrow(r);
    }
  };
  add(0.6, 0.6, {0, 0, 0}, 1);
  add(0.9, 0.3, {3, 1, 0}, 0.6);
  add(1, 0.1, {-1, -2, 2}, 2);
  arrange(all);
  return all;
}

struct Sums {
  double first_energy = 0, energy = 0, force_error = 0;
  Vector at{}, momentum{};

  Sums& operator+=(const Sums& other) {
    first_energy += other.first_energy;
    energy += other.energy;
    force_error += other.force_error;
    at += other.at;
    momentum += other.momentum;
    return *this;
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program : Settings {
  static constexpr const char* kName = "nbody";
  static constexpr const char* kSummary = "Gravity by a tree; few particles are active at a time.";
  std::uint64_t iterations = 64;
  std::vector<Particle> all;  // initial state, in the order of the pieces of space

  void add_options(Arguments& arguments) {
    arguments.add("--pieces", pieces, "pieces of space", 1, 100000);
    arguments.add("--particles", particles, "particles in total", 100, 1000000000);
    arguments.add("--theta", theta, "opening angle: smaller groups pull as one mass", 0.0, 1.0);
    arguments.add("--rungs", rungs, "lengths of time steps, each half of the previous", 1, 16);
  }
  void prepare() {
    if (pieces > particles) fail("--pieces {} must not exceed --particles {}", pieces, particles);
    all = clusters(particles);
  }
  ObjectId num_objects() const { return pieces; }
  std::uint64_t steps() const { return 2 * iterations + 1; }
  /// Encodes whether a step computes forces or moves particles, and how many rungs are active.
  std::uint32_t subphase_of(std::uint64_t step) const {
    const std::uint64_t time = step > 0 ? (step - 1) / 2 : 0;
    const auto rung = std::min(rungs - 1, static_cast<std::uint32_t>(std::countr_zero(time)));
    return 2 * rung + step % 2;
  }
  Piece object(ObjectId id) const {
    Piece piece{.settings = *this, .particles = {}};
    const auto first_of = [&](std::uint64_t i) { return all.begin() + i * particles / pieces; };
    piece.particles.assign(first_of(id), first_of(id + 1));
    return piece;
  }
  Sums sum_of(const Piece& piece) const {
    Sums sums{.first_energy = piece.first_energy, .energy = piece.energy};
    for (const Particle& particle : piece.particles) {
      sums.at += particle.at;
      sums.momentum += mass() * particle.velocity;
    }
    if (piece.now == 0) return sums;
    Field field;  // the exact field
    for (const Particle& other : all) field.add(piece.sampled, other.at, 1);
    const Vector exact = mass() * field.acceleration;
    sums.force_error = length(piece.sample_acceleration - exact) / length(exact);
    return sums;
  }
  double checksum(const Sums& sums) const { return sums.at[0] + sums.at[1] + sums.at[2]; }
  void check(const Sums& before, const Sums& after) const {
    const double forces = after.force_error / pieces;
    const double momentum = length(after.momentum - before.momentum);  // an absolute error
    const double energy = std::fabs(after.energy / after.first_energy - 1);
    fmt::print("forces off by {:.1e}, momentum by {:.1e}, energy {:.6f} by {:.1e}\n", forces,
               momentum, after.first_energy, energy);
    const double limit = theta == 0 ? 1e-12 : 0.02;
    if (!(forces < limit)) fail("the relative force error, {:.1e}, exceeds {:g}", forces, limit);
    if (!(momentum < (theta == 0 && rungs == 1 ? 1e-12 : 1e-3))) fail("momentum is not conserved");
    if (!(energy < 0.01)) fail("the relative change of the energy, {:.1e}, exceeds 0.01", energy);
  }
};

}  // namespace poise::miniapps::nbody
