// SPDX-License-Identifier: BSD-3-Clause
// Heat conduction in a rod, divided into pieces that live on MPI ranks and migrate to where they
// run best.
#include <cstdio>

#include "runtimes/objects/collection.h"

using namespace poise::objects;

constexpr ObjectId kPieces = 64;

struct Piece {
  ObjectId id = 0;
  std::vector<double> heat;
  double left = 0, right = 0;  // heat at the nearest point of each neighbour

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) (mail.from() < id ? left : right) = mail.as<double>();
    double before = left;
    for (std::size_t i = 0; i < heat.size(); ++i) {
      const double here = heat[i], after = i + 1 < heat.size() ? heat[i + 1] : right;
      heat[i] += 0.25 * (before - 2 * here + after);
      before = here;
    }
    if (id > 0) outbox.send(id - 1, heat.front());
    if (id + 1 < kPieces) outbox.send(id + 1, heat.back());
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, heat, left, right);
  }
};

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  {
    Collection<Piece> rod(MPI_COMM_WORLD, kPieces, [](ObjectId id) {
      return Piece{id, std::vector<double>(100 + 10 * id, id == 0 ? 1.0 : 0.0)};
    });
    rod.run(1000);
    const double sum = rod.sum([](const Piece& piece) { return piece.heat.back(); });
    if (rod.rank() == 0) std::printf("sum of the ends: %.12f\n", sum);
  }
  MPI_Finalize();
}
