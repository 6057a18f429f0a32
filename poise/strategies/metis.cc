// SPDX-License-Identifier: BSD-3-Clause
/// Metis: METIS cuts the graph of tasks into one part per place.
///
/// Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs"
/// and "Multilevel k-way partitioning scheme for irregular graphs", 1998. Parts have equal work
/// unless places differ in speed or in fixed work. METIS would leave a part empty if the part
/// should be lighter than the heaviest task. In that case, METIS first makes parts for groups of
/// places, and then divides each of these parts in the same way. METIS knows neither the machine
/// nor the current placement, but parts with close numbers are close in the graph. With `stay`,
/// parts are then exchanged so that most load stays where it is: first, nodes swap all their tasks,
/// then the places inside a node do. Uses the problem's seed. O((n + m) log p) with
/// method=recursive, for n tasks, m messages and p places.
#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <link.h>
#include <metis.h>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/partition/task_graph.h"
#include "poise/placement/fair_shares.h"
#include "poise/placement/renaming.h"
#include "poise/strategies/strategy.h"

namespace poise {

namespace {

/// Integer weights are scaled so that their sum is about this value. METIS adds up weights in its
/// own integers, which may have 32 bits.
constexpr double kTotalWeight = 1e9;
/// A place whose share is below this fraction of the average gets no tasks, because METIS does not
/// accept empty parts.
constexpr double kMinShare = 1e-3;

/// Serialises calls of METIS, because METIS uses the C library's random number generator, which all
/// threads share.
std::mutex random_numbers;

/// A place and the fraction of all work that it should get.
struct Share {
  PlaceId place;
  double part;
};

double sum_of(std::span<const Share> shares) {
  double sum = 0;
  for (const Share& share : shares) sum += share.part;
  return sum;
}

/// Returns for each group of places the fraction of all work that it should get.
std::vector<real_t> shares_of(std::span<const std::span<const Share>> groups) {
  double all = 0;
  for (const auto& group : groups) all += sum_of(group);
  std::vector<real_t> shares;
  for (const auto& group : groups) shares.push_back(static_cast<real_t>(sum_of(group) / all));
  return shares;
}

class Partitioner {
 public:
  Partitioner(const Problem& problem, const Knobs& knobs, std::vector<TaskId> tasks)
      : graph_(task_graph(problem, tasks, kTotalWeight)),
        seed_(problem.seed & 0x7fffffff),
        method_(knobs.choice("method") == "kway" ? METIS_PartGraphKway : METIS_PartGraphRecursive),
        tolerance_(static_cast<real_t>(knobs["tolerance"])),
        tasks_(std::move(tasks)),
        inner_(tasks_.size(), kOutside),
        placement_(problem.current) {
    std::vector<double> loads_s;
    for (const TaskId t : tasks_) loads_s.push_back(problem.workload.tasks[t].load_s);
    weights_ = whole_weights(loads_s, kTotalWeight);
  }

  Placement placement(std::span<const Share> shares) && {
    std::vector<std::int32_t> all(tasks_.size());
    std::iota(all.begin(), all.end(), 0);
    divide(all, shares);
    return std::move(placement_);
  }

 private:
  static constexpr idx_t kOutside = -1;

  /// Assigns the vertices (tasks) to places. If a task is heavier than a place's part, METIS first
  /// makes parts for groups of places; each of these parts is then divided in the same way.
  void divide(std::span<const std::int32_t> vertices, std::span<const Share> shares) {
    if (shares.size() == 1 || vertices.size() <= 1) {
      for (const std::int32_t v : vertices) placement_.move(tasks_[v], shares[0].place);
      return;
    }
    const std::size_t num_parts = parts_that_hold(vertices, shares);
    std::vector<std::span<const Share>> groups;
    for (std::size_t g = 0, begin = 0; g < num_parts; ++g) {
      const std::size_t end = shares.size() * (g + 1) / num_parts;
      groups.push_back(shares.subspan(begin, end - begin));
      begin = end;
    }
    const std::vector<idx_t> part = partition(vertices, groups);
    std::vector<std::vector<std::int32_t>> members(num_parts);
    for (std::size_t i = 0; i < vertices.size(); ++i) members[part[i]].push_back(vertices[i]);
    for (std::size_t g = 0; g < num_parts; ++g) divide(members[g], groups[g]);
  }

  /// Returns the number of parts into which METIS can divide the vertices in one call, at least 2.
  /// With more parts, some would have to be lighter than the heaviest task; METIS would then leave
  /// parts empty and print a warning to standard output.
  std::size_t parts_that_hold(std::span<const std::int32_t> vertices,
                              std::span<const Share> shares) const {
    double all = 0, largest = 1;
    for (const std::int32_t v : vertices) {
      all += weights_[v];
      largest = std::max<double>(largest, weights_[v]);
    }
    double least = shares[0].part;
    for (const Share& share : shares) least = std::min(least, share.part);
    const double smallest_part = all * least / sum_of(shares);
    const double fraction = std::min(1.0, smallest_part / largest);
    return std::max(std::size_t{2}, static_cast<std::size_t>(fraction * shares.size()));
  }

  /// Runs METIS. Returns the index of the part of each vertex.
  std::vector<idx_t> partition(std::span<const std::int32_t> vertices,
                               std::span<const std::span<const Share>> groups) {
    std::vector<idx_t> first{0}, neighbour, edge_weight, weight, part(vertices.size());
    for (std::size_t i = 0; i < vertices.size(); ++i) inner_[vertices[i]] = i;
    for (const std::int32_t v : vertices) {
      weight.push_back(weights_[v]);
      for (std::int32_t entry = graph_.first[v]; entry < graph_.first[v + 1]; ++entry) {
        const idx_t other = inner_[graph_.neighbour[entry]];
        if (other == kOutside) continue;
        neighbour.push_back(other);
        edge_weight.push_back(graph_.edge_weight[entry]);
      }
      first.push_back(neighbour.size());
    }
    for (const std::int32_t v : vertices) inner_[v] = kOutside;

    std::vector<real_t> shares = shares_of(groups);
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = seed_;
    idx_t num_vertices = vertices.size();
    idx_t num_parts = groups.size();
    idx_t one = 1, cut = 0;
    const std::scoped_lock lock(random_numbers);
    const int status = method_(&num_vertices, &one, first.data(), neighbour.data(), weight.data(),
                               nullptr, edge_weight.data(), &num_parts, shares.data(), &tolerance_,
                               options.data(), &cut, part.data());
    if (status != METIS_OK)
      fail("strategy metis: METIS failed with status {}; name another strategy", status);
    return part;
  }

  const TaskGraph graph_;
  const idx_t seed_;
  const decltype(&METIS_PartGraphKway) method_;
  real_t tolerance_;
  const std::vector<TaskId> tasks_;    // per vertex
  std::vector<std::int32_t> weights_;  // per vertex
  std::vector<idx_t> inner_;           // scratch: per vertex, its index in the part being divided
  Placement placement_;
};

/// Returns the places whose share is large enough to get tasks.
std::vector<Share> large_enough(std::span<const double> shares) {
  std::vector<Share> kept;
  for (PlaceId p = 0; p < shares.size(); ++p)
    if (shares[p] >= kMinShare / shares.size()) kept.push_back({p, shares[p]});
  return kept;
}

/// Returns the file that defines a function, or an empty result if that file cannot be determined.
/// The latter happens if the program is not position-independent and takes the address of the
/// function: the address is then that of a stub inside the program.
Dl_info definition_of(void* function) {
  Dl_info file{};
  ElfW(Sym)* symbol = nullptr;
  dladdr1(function, &file, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT);
  return symbol && symbol->st_shndx != SHN_UNDEF ? file : Dl_info{};
}

/// Throws Error if functions of another library take the place of METIS's. A program may link a
/// METIS whose idx_t has another size, or Scotch's functions of the same names; the dynamic linker
/// then binds our calls to those functions, which would write past the ends of our arrays.
void check_is_metis() {
  alignas(8) std::array<idx_t, 2 * METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());  // METIS sets METIS_NOPTIONS entries to -1
  bool is_metis = options[METIS_NOPTIONS - 1] == -1 && options[METIS_NOPTIONS] == 0;
  Dl_info file = definition_of(reinterpret_cast<void*>(METIS_SetDefaultOptions));
  for (const auto function : {METIS_PartGraphKway, METIS_PartGraphRecursive}) {
    const Dl_info other = definition_of(reinterpret_cast<void*>(function));
    is_metis &= !file.dli_fbase || !other.dli_fbase || file.dli_fbase == other.dli_fbase;
    if (other.dli_fbase) file = other;
  }
  if (is_metis) return;
  fail(
      "strategy metis: the program links another METIS ({}) instead of the one with which Poise "
      "was built; name another strategy",
      file.dli_fname == nullptr ? "statically" : file.dli_fname);
}

}  // namespace

Placement metis(const Problem& problem, const Knobs& knobs) {
  check_is_metis();
  std::vector<TaskId> movable;
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
    if (problem.workload.tasks[t].movable) movable.push_back(t);
  if (movable.empty()) return problem.current;
  const std::vector<double> shares =
      fair_shares(problem.machine, problem.workload, problem.current);
  const Placement placement =
      Partitioner(problem, knobs, std::move(movable)).placement(large_enough(shares));
  if (knobs["stay"] == 0) return placement;
  return renamed_to_stay(problem.machine, problem.workload, problem.current, placement, shares);
}

}  // namespace poise
