// SPDX-License-Identifier: BSD-3-Clause
// A flame that spreads through a sheet of fuel: a typical Charm++ program with a 2-D chare array,
// structured dagger, AtSync and pup. It does not use Poise's API.
//
// Blocks that burn cost many times as much as others, and the flame front moves, so a balanced
// placement does not stay balanced. To balance the program with Poise, build Poise's balancers. Add
//
//     -module PoiseLB
//
// to the line that links the program, with -L and -l for the library of the balancers. Start it
// with
//
//     ./charm_flame +p4 +balancer NucoLB
//
// A program whose chares migrate needs: usesAtSync in the constructor, a migration constructor, pup
// of the whole state, AtSync at a point where the chare has no outstanding messages, and
// ResumeFromSync to continue.
//
// The sum of heat and fuel must be constant. The counts at the end do not depend on the number of
// PEs or the balancer.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "flame.decl.h"

/*readonly*/ CProxy_Main mainProxy;
/*readonly*/ int num_blocks;  // per side
/*readonly*/ int num_points;  // points per side of a block
/*readonly*/ int num_steps;
/*readonly*/ int period;

// Fraction of a temperature difference that is conducted in a step. The scheme is stable if this
// number is below 1/4.
constexpr double kConduction = 0.2;
constexpr double kIgnition = 0.15;  // heat at which fuel burns
constexpr double kRate = 0.05;      // burning rate per step
// Number of time steps of the chemical reaction within one step of the simulation. Chemistry is
// fast and needs small time steps.
constexpr int kBurningSubsteps = 200;

enum Side { kLeft, kRight, kBelow, kAbove };

class Main : public CBase_Main {
 public:
  explicit Main(CkArgMsg* m) {
    mainProxy = thisProxy;
    if (!read(m)) {
      CkError(
          "charm_flame: usage: charm_flame [BLOCKS [POINTS [STEPS [PERIOD]]]], each at least 1\n");
      CkExit(2);
      return;
    }
    CProxy_Block blocks = CProxy_Block::ckNew(num_blocks, num_blocks);
    start_s_ = CkWallTimer();
    blocks.run();
  }

  /// Receives the sums of heat and fuel before the first step and after the last.
  void finished(int, double* sums) {
    CkPrintf("%d steps of %d blocks on %d PEs: %.4f s\n", num_steps, num_blocks * num_blocks,
             CkNumPes(), CkWallTimer() - start_s_);
    CkPrintf("heat and fuel %.9g at first, %.9g at last\n", sums[0], sums[1]);
    is_conserved_ = std::fabs(sums[1] / sums[0] - 1) < 1e-9;
  }

  void counted(int, long* counts) {
    if (is_conserved_) CkPrintf("%ld points burnt, heat %ld\n", counts[0], counts[1]);
    if (!is_conserved_) CkError("charm_flame: heat and fuel are not conserved\n");
    CkExit(is_conserved_ ? 0 : 1);
  }

 private:
  static bool read(CkArgMsg* m) {
    int settings[] = {8, 32, 400, 25};
    for (int i = 1; i < m->argc && i <= 4; ++i) settings[i - 1] = std::atoi(m->argv[i]);
    num_blocks = settings[0];
    num_points = settings[1];
    num_steps = settings[2];
    period = settings[3];
    const bool is_good =
        m->argc <= 5 && num_blocks > 0 && num_points > 0 && num_steps > 0 && period > 0;
    delete m;
    return is_good;
  }

  double start_s_ = 0;
  bool is_conserved_ = false;
};

class Block : public CBase_Block {
  Block_SDAG_CODE

      public : Block()
      : heat(frame() * frame(), 0.0), fuel(frame() * frame(), 0.0) {
    usesAtSync = true;
    for (int y = 1; y <= num_points; ++y)
      for (int x = 1; x <= num_points; ++x) fuel[at(x, y)] = 1;
    if (thisIndex.x == 0 && thisIndex.y == 0) heat[at(1, 1)] = 40;  // the spark
    before = sum();
  }
  explicit Block(CkMigrateMessage* m) : CBase_Block(m) {}

  void pup(PUP::er& p) override {
    p | step;
    p | num_edges;
    p | before;
    p | heat;
    p | fuel;
  }

  /// Sends this block a message that makes it continue. If ResumeFromSync() itself sent messages,
  /// Charm++ would not count them as messages of this block.
  void ResumeFromSync() override { thisProxy(thisIndex.x, thisIndex.y).resumed(); }

 private:
  static std::size_t frame() { return static_cast<std::size_t>(num_points) + 2; }
  static std::size_t at(int x, int y) {
    return static_cast<std::size_t>(y) * frame() + static_cast<std::size_t>(x);
  }

  /// Sends the four edges. The sheet is a torus; a block's left edge becomes the right frame of its
  /// left neighbour.
  void send_edges() {
    const int n = num_points;
    send(-1, 0, kRight, at(1, 1), frame());
    send(1, 0, kLeft, at(n, 1), frame());
    send(0, -1, kAbove, at(1, 1), 1);
    send(0, 1, kBelow, at(1, n), 1);
  }
  void send(int dx, int dy, Side side, std::size_t first, std::size_t stride) {
    std::vector<double> values;
    for (int i = 0; i < num_points; ++i)
      values.push_back(heat[first + static_cast<std::size_t>(i) * stride]);
    thisProxy((thisIndex.x + dx + num_blocks) % num_blocks,
              (thisIndex.y + dy + num_blocks) % num_blocks)
        .edge(step, side, num_points, values.data());
  }
  void receive(int side, int n, const double* values) {
    const std::size_t first[] = {at(0, 1), at(n + 1, 1), at(1, 0), at(1, n + 1)};
    const std::size_t stride = side == kLeft || side == kRight ? frame() : 1;
    for (int i = 0; i < n; ++i)
      heat[first[side] + static_cast<std::size_t>(i) * stride] = values[i];
  }

  void conduct() {
    std::vector<double> next = heat;
    for (int y = 1; y <= num_points; ++y)
      for (int x = 1; x <= num_points; ++x) {
        const std::size_t p = at(x, y);
        next[p] += kConduction * ((heat[p - 1] + heat[p + 1]) +
                                  (heat[p - frame()] + heat[p + frame()]) - 4 * heat[p]);
      }
    heat.swap(next);
  }

  /// Burns fuel at every point that is hot enough.
  void burn() {
    for (int y = 1; y <= num_points; ++y)
      for (int x = 1; x <= num_points; ++x) {
        const std::size_t p = at(x, y);
        if (heat[p] < kIgnition || fuel[p] < 1e-3) continue;
        for (int i = 0; i < kBurningSubsteps; ++i) {
          const double burnt = kRate / kBurningSubsteps * heat[p] * fuel[p] / (1 + heat[p]);
          heat[p] += burnt;
          fuel[p] -= burnt;
        }
      }
  }

  double sum() const {
    double total = 0;
    for (int y = 1; y <= num_points; ++y)
      for (int x = 1; x <= num_points; ++x) total += heat[at(x, y)] + fuel[at(x, y)];
    return total;
  }

  /// Contributes to the results. Counts are integers, so their sums are the same in any order.
  void report() {
    double sums[] = {before, sum()};
    contribute(sizeof sums, sums, CkReduction::sum_double,
               CkCallback(CkReductionTarget(Main, finished), mainProxy));
    long counts[] = {0, 0};
    for (int y = 1; y <= num_points; ++y)
      for (int x = 1; x <= num_points; ++x) {
        counts[0] += fuel[at(x, y)] < 0.5;
        counts[1] += std::lround(heat[at(x, y)] * (1 << 20));
      }
    contribute(sizeof counts, counts, CkReduction::sum_long,
               CkCallback(CkReductionTarget(Main, counted), mainProxy));
  }

  int step = 0, num_edges = 0;
  double before = 0;
  std::vector<double> heat, fuel;  // with a frame of ghost points for the neighbours' heat
};

#include "flame.def.h"
