// SPDX-License-Identifier: BSD-3-Clause
// For tests: lets the ranks of a job decide about given workloads, as if the ranks had measured
// them.
#pragma once

#include <gtest/gtest.h>
#include <map>
#include <utility>
#include <vector>

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/decide.h"
#include "runtimes/objects/rank_communication.h"

namespace poise::objects {

/// A job with one place per rank. Collective.
class Job {
 public:
  Job(CollectionOptions options, Workload workload, Placement (*start)(const JobLayout&))
      : options_(std::move(options)),
        workload_(std::move(workload)),
        layout_(discover_layout(MPI_COMM_WORLD, {1, options_.ranks_per_host})),
        current_(start(layout_)),
        communication_(MPI_COMM_WORLD, layout_, messenger_),
        ranks_(communication_.table()),
        directory_(directory()),
        decider_(MPI_COMM_WORLD, ranks_, directory_, options_, 1) {}

  const JobLayout& layout() const { return layout_; }
  const Placement& current() const { return current_; }
  Decision decide() { return decider_.decide(own_measurements()); }

  /// Returns the place of every object after all ranks have carried out their plans. Collective.
  Placement after(const MigrationPlan& plan) const {
    struct Row {
      ObjectId id;
      PlaceId place;
    };
    std::map<ObjectId, PlaceId> to;
    for (const auto& [rank, ids] : plan.leaving)
      for (const ObjectId id : ids) to[id] = layout_.places_of_rank[rank][0];
    std::vector<Row> rows;
    for (ObjectId id = 0; id < current_.num_tasks(); ++id)
      if (is_own(id)) rows.push_back({id, to.contains(id) ? to[id] : current_.of(id)});
    Placement placement(current_.num_tasks());
    for (const Row& row : allgather_rows(MPI_COMM_WORLD, rows)) placement.move(row.id, row.place);
    std::size_t here = 0;
    for (const PlaceId p : placement.places()) here += layout_.rank_of(p) == layout_.rank;
    EXPECT_EQ(plan.places, std::vector<PlaceId>(here, layout_.own_places()[0]));
    return placement;
  }

 private:
  bool is_own(ObjectId id) const { return layout_.rank_of(current_.of(id)) == layout_.rank; }

  Measurements own_measurements() const {
    Measurements own;
    for (ObjectId id = 0; id < current_.num_tasks(); ++id)
      if (is_own(id))
        own.rows.push_back({.id = id,
                            .place = current_.of(id),
                            .cpu_s = workload_.tasks[id].load_s,
                            .bytes = workload_.tasks[id].bytes,
                            .movable = workload_.tasks[id].movable ? 1u : 0u});
    for (const Message& message : workload_.messages)
      if (is_own(message.from)) own.messages.push_back(message);
    own.places.push_back({layout_.own_places()[0], 0, 0});
    return own;
  }

  ObjectDirectory directory() const {
    if (options_.mode != Mode::hierarchical) return {layout_, current_};
    GhostDirectory ghosts(current_.num_tasks(), layout_.position_of(layout_.rank),
                          layout_.num_ranks);
    const auto position = [&](ObjectId id) {
      return layout_.position_of(layout_.rank_of(current_.of(id)));
    };
    for (ObjectId id = 0; id < current_.num_tasks(); ++id) ghosts.add_initial(id, position(id));
    /// The directory learns the receivers of messages, as it does when messages are really sent.
    for (const Message& message : workload_.messages)
      if (is_own(message.from)) ghosts.learn(message.to, position(message.to));
    return {layout_, current_.num_tasks(), std::move(ghosts)};
  }

  CollectionOptions options_;
  Workload workload_;
  JobLayout layout_;
  Placement current_;
  Messenger messenger_{MPI_COMM_WORLD};
  RankCommunication communication_;
  Communicator ranks_;
  ObjectDirectory directory_;
  Decider decider_;
};

}  // namespace poise::objects
