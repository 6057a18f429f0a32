// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/generate.h"

#include <algorithm>
#include <utility>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/workload/loads.h"

namespace poise {

Workload stencil2d_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload stencil3d_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload stencil4d_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload ring_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload random_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload rmat_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload irregular_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload clusters_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload geometric_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload nbody_workload(TaskId, const Knobs&, std::uint64_t seed);
Workload leanmd_workload(TaskId, const Knobs&, std::uint64_t seed);

namespace {

constexpr std::string_view kNoYes[] = {"no", "yes"};

constexpr Knob periodic(bool initial) {
  return {"periodic", initial ? 1.0 : 0.0, 0, 1, "opposite sides of the grid are neighbours",
          kNoYes};
}
constexpr Knob degree(double initial, std::string_view help) {
  return {"degree", initial, 0, 1e4, help};
}
constexpr Knob partners(double initial) {
  return whole(
      {"k", initial, 0, 1e4,
       "number of tasks to which each task sends: at distance +1, -1, +2, -2, ... on the ring"});
}
constexpr Knob kDims = whole({"dims", 3, 2, 3, "dimensions of space"});

using Own1 = std::array<Knob, 1>;
using Own2 = std::array<Knob, 2>;
using Own3 = std::array<Knob, 3>;
using Own4 = std::array<Knob, 4>;

// Default loads of a skewed stencil: log-normal, and three times as high in one octant of the
// domain.
constexpr LoadDefaults kSkewed{.skew = Skew::lognormal, .hot = 3};

constexpr auto kStencil = load_knobs(kSkewed, Own1{periodic(false)});
constexpr auto kStencil4d = load_knobs(
    {.load_s = 0.13, .skew = Skew::uniform, .message_bytes = 260000, .task_bytes = 21.5e6},
    Own1{periodic(false)});
constexpr auto kJacobi2d =
    load_knobs({.load_s = 0.01, .skew = Skew::uniform, .hot = 2}, Own1{periodic(false)});
constexpr auto kImbalance =
    load_knobs({.load_s = 0.01, .hot = 1.5, .hot_growth = 0.5}, Own1{periodic(false)});
constexpr auto kPoisson3d =
    load_knobs({.load_s = 0.01, .message_bytes = 8000, .task_bytes = 1e6}, Own1{periodic(false)});
constexpr auto kRing = load_knobs({.skew = Skew::lognormal}, Own1{partners(2)});
constexpr auto kNeighbor = load_knobs({.message_bytes = 3.2e6}, Own1{partners(7)});
constexpr auto kRandom =
    load_knobs({.skew = Skew::lognormal}, Own1{degree(6, "mean number of partners")});
// The Charm++ program lb_test draws the load of a task as 50 ms plus 150 ms times the fourth power
// of a random number in [0, 1), so the mean load is 80 ms. The times in Table IV of Pilla et al.,
// ICPP 2012, fit 200 tasks with this mean if 4 % of the time is idle.
constexpr auto kLbTest = load_knobs({.load_s = 0.08, .skew = Skew::quartic, .spread = 0.375},
                                    Own1{degree(5, "mean number of partners")});
constexpr auto kGeometric =
    load_knobs({.skew = Skew::lognormal},
               Own2{degree(6, "mean number of partners away from the border"), kDims});
constexpr auto kRmat = load_knobs(
    {.skew = Skew::lognormal},
    Own4{degree(8, "mean number of partners, before duplicates and self-loops are dropped"),
         Knob{"a", 0.57, 0, 1,
              "probability of the quarter of the matrix with low rows and low columns"},
         Knob{"b", 0.19, 0, 1, "probability of the quarter with low rows and high columns"},
         Knob{"c", 0.19, 0, 1, "probability of the quarter with high rows and low columns"}});
constexpr auto kLeanmd = load_knobs({.load_s = 4e-3,
                                     .skew = Skew::lognormal,
                                     .spread = 0.25,
                                     .message_bytes = 100,
                                     .task_bytes = 2000});
constexpr auto kCommbench =
    load_knobs({.load_s = 1e-4, .message_bytes = 10000},
               Own2{degree(4, "mean number of partners"),
                    Knob{"bytes_spread", 1, 0, 3, "sigma of the log-normal message sizes"}});
constexpr auto kNbody = load_knobs(
    {.load_s = 0.01, .message_bytes = 5000, .task_bytes = 1e6},
    Own3{whole({"clusters", 8, 0, 1e6, "number of clusters; 0: space is filled evenly"}),
         Knob{"clustered", 0.8, 0, 1, "fraction of the tasks that is in clusters"},
         degree(6, "number of near partners on the space-filling curve, half on either side")});
constexpr auto kClusters = load_knobs(
    {.skew = Skew::lognormal, .message_bytes = 10000},
    Own3{whole({"fanout", 8, 2, 1e6,
                "number of tasks in a group, and of groups in a group of the next level"}),
         whole(degree(
             4,
             "number of partners that a task picks in its group; it picks one at each further "
             "level")),
         Knob{"decay", 0.25, 0, 1, "each further level multiplies message sizes by this"}});

constexpr Kind kKinds[] = {
    {"stencil2d", "2-D grid, 4 neighbours, skewed loads, a hot quadrant", "-", "blocked",
     stencil2d_workload, kStencil},
    {"stencil3d", "3-D grid, 6 neighbours, skewed loads, a hot octant", "-", "blocked",
     stencil3d_workload, kStencil},
    {"stencil4d", "4-D grid, 8 neighbours, large tasks, uneven initial placement",
     "Pilla 2012, V-B: 256 tasks", "uneven", stencil4d_workload, kStencil4d},
    {"ring", "each task sends to its two neighbours on a ring", "-", "blocked", ring_workload,
     kRing},
    {"random", "random partners", "-", "round_robin", random_workload, kRandom},
    {"geometric", "random points, partners within a radius", "-", "blocked", geometric_workload,
     kGeometric},
    {"rmat", "power-law graph by recursive quarters", "Chakrabarti, Zhan, Faloutsos 2004",
     "round_robin", rmat_workload, kRmat},
    {"leanmd", "molecular dynamics: 3-D cells and a compute task for each pair of near cells",
     "Pilla 2012, V-B: 1875 tasks", "round_robin", leanmd_workload, kLeanmd},
    {"lb_test", "random graph, loads of 50 to 200 ms, 80 on average", "Pilla 2012, V-B: 200 tasks",
     "round_robin", random_workload, kLbTest},
    {"kneighbor", "ring of k partners, bound by communication; slides 2011: k=3,message_bytes=1024",
     "Pilla 2012, V-B: 400 tasks", "round_robin", ring_workload, kNeighbor},
    {"commbench", "irregular partners and message sizes, little work",
     "Jeannot, Mercier, Tessier 2016", "round_robin", irregular_workload, kCommbench},
    {"jacobi2d", "2-D stencil bound by computation, imbalanced", "NumaLB slides 2011",
     "round_robin", stencil2d_workload, kJacobi2d},
    {"imbalance", "2-D grid whose imbalance grows over phases", "NumaLB slides 2011", "round_robin",
     stencil2d_workload, kImbalance},
    {"poisson3d", "3-D domain decomposition, balanced", "NumaLB slides 2011", "blocked",
     stencil3d_workload, kPoisson3d},
    {"nbody", "clustered bodies along a space-filling curve, as in ChaNGa",
     "Jeannot, Mercier, Tessier 2016", "blocked", nbody_workload, kNbody},
    {"clusters", "nested groups: tasks of a smaller common group exchange more bytes", "-",
     "round_robin", clusters_workload, kClusters},
};

/// Scales the loads so that they add up to total_s.
void scale_total(Workload& workload, double total_s) {
  const double sum_s = total_load_s(workload);
  if (!(sum_s > 0)) return;
  for (Task& task : workload.tasks) task.load_s *= total_s / sum_s;
}

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

std::string Recipe::text() const {
  const std::string settings = knobs.text();
  return settings.empty() ? std::string(kind->name) : fmt::format("{}:{}", kind->name, settings);
}

Recipe parse_recipe(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto rows = kinds();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Kind& kind) { return kind.name == name; });
  if (row == rows.end()) throw Error(unknown_name("kind of workload", name, names_of(rows)));
  Recipe recipe{&*row, Knobs(row->knobs)};
  if (name.size() < text.size())
    recipe.knobs.set_all(fmt::format("kind {}", name), text.substr(name.size() + 1));
  return recipe;
}

std::vector<Workload> generate(const Recipe& recipe, TaskId num_tasks, std::uint64_t seed,
                               std::uint32_t num_phases) {
  if (num_tasks == 0) fail("kind {}: the number of tasks is 0; use at least 1", recipe.kind->name);
  Workload calm = recipe.kind->make(num_tasks, recipe.knobs, seed);
  const std::vector<Task> calm_tasks = calm.tasks;

  std::vector<Workload> phases;
  phases.reserve(num_phases);
  std::vector<WideFactor> walk(calm.tasks.size());
  Random random(mix(seed ^ 0x6472696674));  // a separate stream of random numbers for "drift"
  for (std::uint32_t phase = 0; phase < num_phases; ++phase) {
    // All phases except the last start as copies of the workload `calm`; the last one takes over
    // `calm` itself, which saves a copy.
    phases.push_back(phase + 1 < num_phases ? calm : std::move(calm));
    Workload& workload = phases.back();
    workload.tasks = calm_tasks;
    if (phase > 0 && recipe.knobs["drift"] > 0) {
      walk_on(walk, recipe.knobs["drift"], random);
      apply_walk(walk, workload.tasks);
    }
    heat(workload, recipe.knobs, phase);
    if (phase > 0) scale_total(workload, total_load_s(phases.front()));
  }
  return phases;
}

}  // namespace poise
