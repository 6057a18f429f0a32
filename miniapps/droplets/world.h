// Droplets of particles drifting through a periodic box that is cut into cubic cells: the physics,
// one cell at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace poise::droplets {

using Vector = std::array<double, 3>;

struct Particle {
  Vector position{}, velocity{};
  friend bool operator==(const Particle&, const Particle&) = default;
};

inline constexpr std::size_t kNeighbours = 26;

/// A cell and what its neighbours put into it; slot s belongs to its neighbour s.
struct Cell {
  std::vector<Particle> particles;
  std::array<std::vector<Vector>, kNeighbours> positions_from;
  std::array<std::vector<Particle>, kNeighbours> arrivals_from;
};

/// What one cell sent to another in one stage.
struct Sent {
  std::uint32_t to;
  std::size_t bytes;
};

/// The box. A step has three stages, each over all cells before the next may start; within a stage
/// cells are independent, and what a cell computes does not depend on who computes it or when.
///
/// Particles of mass 1 repel each other when near and attract a little when farther apart, up to a
/// distance of one cell: forces are mutual, so momentum is conserved.
class World {
 public:
  /// A box of side^3 cells, side >= 3, with this many particles, three quarters of them in
  /// droplets. The same seed gives the same world.
  World(std::uint32_t side, std::uint32_t num_particles, std::uint64_t seed);

  std::uint32_t num_cells() const { return static_cast<std::uint32_t>(cells_.size()); }
  const Cell& cell(std::uint32_t c) const { return cells_[c]; }
  Vector centre_of(std::uint32_t c) const;

  /// Stage 1: tells the neighbours where this cell's particles are.
  void publish(std::uint32_t c, std::vector<Sent>& sent);
  /// Stage 2: moves this cell's particles by one time step and hands over those that leave.
  void advance(std::uint32_t c, std::vector<Sent>& sent);
  /// Stage 3: takes in the particles that arrived.
  void absorb(std::uint32_t c);

  Vector momentum() const;
  /// Sum of the lengths of all velocities: the scale on which momentum is exact.
  double speed_sum() const;
  friend bool operator==(const World& a, const World& b);

 private:
  std::uint32_t neighbour(std::uint32_t c, std::size_t slot) const;
  std::uint32_t cell_of(const Vector& position) const;
  Vector force_on(const Particle& particle, std::uint32_t c) const;
  std::size_t slot_towards(std::uint32_t from, std::uint32_t to) const;

  std::uint32_t side_;
  std::vector<Cell> cells_;
};

}  // namespace poise::droplets
