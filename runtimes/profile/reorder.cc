// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/reorder.h"

#include <cstdio>
#include <dlfcn.h>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtimes/profile/interpret.h"
#include "runtimes/profile/machinery.h"
#include "runtimes/profile/reorder_request.h"
#include "runtimes/profile/session.h"
#include "runtimes/profile/settings.h"
#include "runtimes/profile/topology_edges.h"
#include "runtimes/profile/tuning.h"

#include "poise/base/clock.h"

namespace poise::profile {

namespace {

std::mutex mutex;
Reorderings done;  // guarded by it

/// The data that each rank sends to the deciding rank.
struct Head {
  RankSite site;
  std::int32_t world_rank = -1;
  // Number of edges that the rank will send; -1: its arguments are invalid.
  std::int32_t num_edges = -1;
};

/// The data that the deciding rank sends to each rank.
struct Place {
  std::int32_t is_reordered = 0;
  std::int32_t rank = 0;  // the process's rank in the new communicator
  // The new rank of the process whose old rank is `rank`. The program gave the neighbours of node
  // `rank` to that process, but this process must pass them to MPI.
  std::int32_t origin = 0;
};

/// The neighbours and edge weights of one node of a distributed graph, as they are passed to MPI.
/// The program may have passed them in its call on another rank.
struct Adjacency {
  std::vector<std::int32_t> ends[2], weights[2];  // in, out
};

/// Positions of the arguments of MPI_Dist_graph_create_adjacent.
struct Side {
  int degree, ends, weights;
};
constexpr Side kSides[2] = {{1, 2, 3}, {4, 5, 6}};
constexpr int kTag = 1;

/// Returns a function of the reordering library. Returns null and sets `reason` if the library
/// cannot be loaded.
template <typename Function>
Function in_library(const char* name, std::string& reason) {
  Dl_info own{};
  ::dladdr(reinterpret_cast<const void*>(&kSides), &own);
  const std::string path = own.dli_fname == nullptr ? "" : own.dli_fname;
  const std::string library = path.substr(0, path.rfind('/') + 1) + kReorderLibrary;
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol = opened == nullptr ? nullptr : ::dlsym(opened, name);
  if (symbol == nullptr) {
    const char* const error = ::dlerror();
    reason = error == nullptr ? "libpoise_reorder.so cannot be loaded" : error;
  }
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

class Reordered {
 public:
  Reordered(const MpiLibrary& mpi, Call& call)
      : mpi_(mpi),
        call_(call),
        arguments_(mpi, call.function, call.language, call.words),
        comm_(arguments_.comm(call.function.comm)),
        begin_ns_(wall_now_ns()) {
    mpi_.comm_rank(comm_, &rank_);
    mpi_.comm_size(comm_, &size_);
  }

  /// Decides the new order and replaces the arguments of the program's call. Returns false if the
  /// ranks keep their order; then the arguments are unchanged. Collective.
  bool begin() {
    if (size_ < 2 || size_ > tuning::kMaxReorderedRanks) return false;
    const Place place = decide();
    note_decision(place.is_reordered != 0);
    if (place.is_reordered == 0) return false;
    // MPI_Comm_split numbers the ranks in the order of their keys.
    if (mpi_.comm_split(comm_, 0, place.rank, &reordered_) != 0) return false;
    if (is(Meaning::dist_graph_create_adjacent)) exchange_adjacency(place);
    replace_handles();
    return true;
  }

  void end() {
    for (const auto& [position, word] : saved_) call_.words[position] = word;
    mpi_.comm_free(&reordered_);
  }

 private:
  bool is(Meaning meaning) const { return call_.function.meaning == meaning; }
  bool is_distributed() const {
    return is(Meaning::dist_graph_create) || is(Meaning::dist_graph_create_adjacent);
  }
  const int* array(int position) const {
    return reinterpret_cast<const int*>(call_.words[position]);
  }
  int number(int position) const { return arguments_.number(position); }
  std::span<const int> span(int position, int count) const {
    return {array(position), static_cast<std::size_t>(count)};
  }
  MpiLibrary::Weights weights_at(int position) const {
    const bool is_f08 = std::string_view(call_.function.name).ends_with("_f08_");
    return mpi_.weights_of(call_.language, is_f08, call_.words[position]);
  }

  /// Returns the edges that this rank's arguments describe, or nothing if MPI will refuse the
  /// arguments.
  std::optional<TopologyEdges> own_edges() const;
  std::optional<TopologyEdges> own_edges_of_distributed() const;
  Place decide();
  std::vector<TopologyEdge> gathered(const TopologyEdges& own, const std::vector<Head>& heads);
  std::vector<Place> order(const std::vector<Head>& heads, const TopologyEdges& edges);
  bool may_decide(const std::vector<Head>& heads);
  void note_decision(bool is_better);
  void exchange_adjacency(const Place& place);
  void replace_handles();
  void replace(int position, Word word) {
    saved_.emplace_back(position, call_.words[position]);
    call_.words[position] = word;
  }

  const MpiLibrary& mpi_;
  Call& call_;
  const Arguments arguments_;
  const Word comm_;
  const std::int64_t begin_ns_;
  int rank_ = 0, size_ = 1;
  Word reordered_ = 0;
  std::vector<std::pair<int, Word>> saved_;  // position and value of each replaced argument
  // Variables for the arguments that MPI gets instead of the program's. Fortran passes arguments by
  // address, so these variables must exist until the call returns.
  int fortran_comm_ = 0, no_ = 0, degrees_[2] = {};
  Adjacency adjacency_;
  std::string reason_;  // why the ranks keep their order; set on the deciding rank only
  ReorderAnswer answer_;
};

std::optional<TopologyEdges> Reordered::own_edges() const {
  if (is_distributed()) return own_edges_of_distributed();
  const int count = number(1);  // number of dimensions or nodes
  if (count < 1) return std::nullopt;
  // All ranks pass the same arguments, so only the deciding rank reads them.
  if (rank_ != 0) return TopologyEdges();
  if (is(Meaning::cart_create)) return cart_edges(span(2, count), span(3, count), size_);
  return graph_edges(span(2, count), array(3), size_);
}

std::optional<TopologyEdges> Reordered::own_edges_of_distributed() const {
  using Weights = MpiLibrary::Weights;
  const auto weights = [&](int position) {
    return weights_at(position) == Weights::none ? nullptr : array(position);
  };
  if (is(Meaning::dist_graph_create)) {
    if (number(1) < 0 || weights_at(5) == Weights::unknown) return std::nullopt;
    return dist_graph_edges(span(2, number(1)), array(3), array(4), weights(5), size_);
  }
  for (const Side& side : kSides)
    if (number(side.degree) < 0 || weights_at(side.weights) == Weights::unknown)
      return std::nullopt;
  return edges_out_of(rank_, span(kSides[1].ends, number(kSides[1].degree)),
                      weights(kSides[1].weights), size_);
}

/// True if all ranks passed arguments that MPI will accept, and the number of edges is within the
/// limit.
bool Reordered::may_decide(const std::vector<Head>& heads) {
  std::int64_t edges = 0;
  for (const Head& head : heads) {
    if (head.num_edges < 0) reason_ = "the arguments are not understood";
    edges += head.num_edges;
  }
  if (reason_.empty() && edges > tuning::kMaxReorderedEdges) reason_ = "too many edges";
  if (reason_.empty() && edges == 0) reason_ = "the topology has no edges";
  return reason_.empty();
}

Place Reordered::decide() {
  const std::optional<TopologyEdges> own = own_edges();
  Head head{.site = own_site()};
  mpi_.comm_rank(mpi_.world, &head.world_rank);
  if (own && std::ssize(*own) <= tuning::kMaxReorderedEdges) head.num_edges = own->size();
  std::vector<Head> heads(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  mpi_.gather(&head, sizeof head, mpi_.byte, heads.data(), sizeof head, mpi_.byte, 0, comm_);
  int goes_on = rank_ == 0 && may_decide(heads) ? 1 : 0;
  mpi_.bcast(&goes_on, sizeof goes_on, mpi_.byte, 0, comm_);
  if (goes_on == 0) return {};
  const TopologyEdges edges = is_distributed() ? gathered(*own, heads) : *own;
  std::vector<Place> places;
  if (rank_ == 0) places = order(heads, edges);
  Place place;
  mpi_.scatter(places.data(), sizeof place, mpi_.byte, &place, sizeof place, mpi_.byte, 0, comm_);
  return place;
}

/// Collects the edges of all ranks on rank 0.
std::vector<TopologyEdge> Reordered::gathered(const TopologyEdges& own,
                                              const std::vector<Head>& heads) {
  constexpr int kEdge = sizeof(TopologyEdge);
  std::vector<int> sizes, begins;
  int end = 0;
  for (const Head& head : heads) {
    sizes.push_back(head.num_edges * kEdge);
    begins.push_back(end);
    end += sizes.back();
  }
  std::vector<TopologyEdge> all(end / kEdge);
  mpi_.gatherv(own.data(), static_cast<int>(own.size()) * kEdge, mpi_.byte, all.data(),
               sizes.data(), begins.data(), mpi_.byte, 0, comm_);
  return all;
}

/// On rank 0: decides the new rank of each rank.
std::vector<Place> Reordered::order(const std::vector<Head>& heads, const TopologyEdges& edges) {
  const std::size_t size = heads.size();
  std::vector<Place> places(size);
  const auto reorder = in_library<Reorder>(kReorderSymbol, reason_);
  if (reorder == nullptr) return places;
  std::vector<RankSite> sites;
  std::vector<std::int32_t> world_ranks, rank_at(size);
  for (const Head& head : heads) {
    sites.push_back(head.site);
    world_ranks.push_back(head.world_rank);
  }
  const ReorderRequest request{sites.data(), world_ranks.data(), size,
                               edges.data(), edges.size(),       settings().machine.c_str()};
  answer_.rank_at = rank_at.data();
  if (!reorder(&request, &answer_)) {
    reason_ = answer_.reason;
    return places;
  }
  for (std::size_t rank = 0; rank < size; ++rank) places[rank_at[rank]].rank = rank;
  for (std::size_t rank = 0; rank < size; ++rank) {
    Place& place = places[rank];
    place.is_reordered = 1;
    place.origin = places[place.rank].rank;
  }
  return places;
}

void Reordered::note_decision(bool is_better) {
  const std::int64_t took_ns = wall_now_ns() - begin_ns_;
  {
    const std::scoped_lock lock(mutex);
    ++done.calls;
    if (is_better) ++done.reordered;
    done.deciding_ns += took_ns;
    done.before += answer_.before;
    done.after += answer_.after;
  }
  if (rank_ != 0 || settings().reorder != Settings::Reorder::verbose) return;
  const double took_ms = 1e-6 * took_ns;
  if (is_better)
    std::fprintf(stderr, "poise reorder: %s, %d ranks: weight x hops %.0f -> %.0f, in %.1f ms\n",
                 call_.function.name, size_, answer_.before, answer_.after, took_ms);
  else
    std::fprintf(stderr, "poise reorder: %s, %d ranks keep their order: %s (%.1f ms)\n",
                 call_.function.name, size_, reason_.c_str(), took_ms);
}

/// Sends neighbour lists between processes. The program gave the neighbours of node r to the
/// process with old rank r, but the process with new rank r must pass them to MPI.
void Reordered::exchange_adjacency(const Place& place) {
  void* const no_status = reinterpret_cast<void*>(mpi_.status_ignore);
  const auto exchange = [&](const int* own, int count, std::vector<std::int32_t>& its,
                            int its_count) {
    its.resize(static_cast<std::size_t>(its_count) + 1);  // never null
    mpi_.sendrecv(own, count * 4, mpi_.byte, rank_, kTag, its.data(), its_count * 4, mpi_.byte,
                  place.origin, kTag, reordered_, reinterpret_cast<Word>(no_status));
  };
  for (int s = 0; s < 2; ++s) {
    const Side& side = kSides[s];
    const int degree = number(side.degree);
    std::vector<std::int32_t> its_degree;
    exchange(&degree, 1, its_degree, 1);
    degrees_[s] = its_degree[0];
    exchange(array(side.ends), degree, adjacency_.ends[s], degrees_[s]);
  }
  // MPI requires that either all ranks pass edge weights or none does. If the program gave this
  // rank a node without edges, the program may have passed no weights on this rank. If the node
  // that this rank passes to MPI instead has weights, this rank must pass weights.
  for (int s = 0; s < 2; ++s) {
    const Side& side = kSides[s];
    const int degree = number(side.degree);
    const bool has_weights = weights_at(side.weights) == MpiLibrary::Weights::are_there;
    const int own_count = has_weights ? degree : 0;
    std::vector<std::int32_t> its_count;
    exchange(&own_count, 1, its_count, 1);
    exchange(has_weights ? array(side.weights) : nullptr, own_count, adjacency_.weights[s],
             its_count[0]);
    const bool its_are_there = its_count[0] > 0;
    if (its_are_there || has_weights)
      replace(side.weights, reinterpret_cast<Word>(adjacency_.weights[s].data()));
  }
  for (int s = 0; s < 2; ++s) {
    const Side& side = kSides[s];
    replace(side.degree,
            call_.language == Language::c ? degrees_[s] : reinterpret_cast<Word>(&degrees_[s]));
    replace(side.ends, reinterpret_cast<Word>(adjacency_.ends[s].data()));
  }
}

void Reordered::replace_handles() {
  fortran_comm_ = mpi_.fortran_comm(reordered_);
  const bool is_c = call_.language == Language::c;
  replace(call_.function.comm, is_c ? reordered_ : reinterpret_cast<Word>(&fortran_comm_));
  replace(call_.function.reorder, is_c ? 0 : reinterpret_cast<Word>(&no_));
}

Reorderings reorderings() {
  const std::scoped_lock lock(mutex);
  return done;
}

std::string trouble_with_machine(int num_ranks) {
  const std::string& machine = settings().machine;
  if (settings().reorder == Settings::Reorder::off || machine.empty()) return "";
  std::string reason;
  const auto check = in_library<CheckMachine>(kCheckMachineSymbol, reason);
  ReorderAnswer answer;
  if (check == nullptr || check(machine.c_str(), num_ranks, &answer)) return "";
  return "POISE_REORDER_MACHINE: " + std::string(answer.reason) +
         "; ranks are reordered for the job's hosts";
}

bool is_to_reorder(const Call& call) noexcept {
  if (call.function.reorder < 0 || settings().reorder == Settings::Reorder::off) return false;
  const Word word = call.words[call.function.reorder];
  const int reorder =
      call.language == Language::c ? static_cast<int>(word) : *reinterpret_cast<const int*>(word);
  return reorder != 0;
}

void begin_reordering(Call& call) noexcept {
  try {
    const char* why_not = nullptr;
    const MpiLibrary* const mpi = MpiLibrary::load(why_not);
    if (mpi == nullptr) return;
    const Arguments arguments(*mpi, call.function, call.language, call.words);
    const Word comm = arguments.comm(call.function.comm);
    int is_inter = 0;
    if (comm == mpi->comm_null || mpi->comm_test_inter(comm, &is_inter) != 0 || is_inter != 0)
      return;
    auto reordered = std::make_unique<Reordered>(*mpi, call);
    if (reordered->begin()) call.reordered = reordered.release();
  } catch (...) {  // out of memory: the program's ranks keep their order
  }
}

void end_reordering(Call& call) noexcept {
  if (call.reordered == nullptr) return;
  call.reordered->end();
  delete call.reordered;
  call.reordered = nullptr;
}

}  // namespace poise::profile
