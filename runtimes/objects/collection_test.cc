// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/collection.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "runtimes/objects/gossip_testing.h"
#include "runtimes/objects/heavy_testing.h"

#include "poise/base/clock.h"
#include "poise/trace/timeline.h"
#include "poise/trace/trace.h"

namespace poise::objects {
namespace {

TEST(Collection, delivers_every_message_exactly_once_in_the_next_step) {
  expect_serial_results({});
}

TEST(Collection, messages_reach_objects_that_migrate) {
  for (const char* strategy : {"rotate", "random", "greedy", "poise", "keep"})
    for (const std::uint32_t period : {1u, 5u})
      expect_serial_results({.strategy = strategy, .period = period});
}

TEST(Collection, objects_larger_than_the_maximum_message_migrate_in_several_pieces) {
  expect_serial_results({.strategy = "rotate", .period = 2, .max_piece_bytes = 64});
}

TEST(Collection, program_results_do_not_depend_on_the_number_of_threads) {
  for (const std::uint32_t threads : {1u, 2u, 3u, 4u})
    for (const bool place_per_thread : {false, true})
      expect_serial_results({.strategy = "rotate",
                             .period = 3,
                             .threads = threads,
                             .place_per_thread = place_per_thread});
}

TEST(Collection, program_results_do_not_depend_on_which_ranks_decide) {
  for (const Mode mode : {Mode::root, Mode::replicated, Mode::hierarchical})
    for (const std::uint32_t ranks_per_host : {0u, 1u, 2u})
      expect_serial_results(
          {.strategy = "rotate", .period = 4, .mode = mode, .ranks_per_host = ranks_per_host});
}

TEST(Collection, program_results_do_not_depend_on_offloading) {
  for (const std::uint32_t threads : {1u, 3u})
    for (const char* placement : {"blocked", "uneven"})
      expect_serial_results({.strategy = "rotate",
                             .period = 5,
                             .placement = placement,
                             .mode = threads == 1 ? Mode::hierarchical : Mode::root,
                             .threads = threads,
                             .lend = true});
}

TEST(Collection, program_results_do_not_depend_on_automatic_balancing) {
  expect_serial_results({.strategy = "greedy", .is_automatic = true});
}

TEST(Collection, program_results_do_not_depend_on_the_communicator) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    Collection<Gossip> objects(half, kObjects, gossip, {.strategy = "rotate", .period = 2});
    objects.run(10);
    EXPECT_EQ(objects.values([](const Gossip& g) { return g.state; }), SerialHost().run(10));
  }
  MPI_Comm_free(&half);
}

TEST(Engine, a_failing_MPI_call_ends_the_job_whatever_error_handler_the_program_has_set) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  {
    const Engine engine(comm, 0, {}, {});
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(engine.comm(), &handler);
    EXPECT_TRUE(handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
  }
  MPI_Comm_free(&comm);
}

TEST(Collection, balances_measured_loads) {
  // At the start, all work is on the first rank.
  const auto make = [](ObjectId id) { return Heavy{id < 4 ? 4e-3 : 0}; };
  Collection<Heavy> objects(MPI_COMM_WORLD, 16, make, {.strategy = "greedy"});
  objects.run(2);
  const BalanceResult balanced = objects.balance();
  const double ranks = objects.num_ranks();
  EXPECT_NEAR(balanced.imbalance_before, ranks, 0.3 * ranks);
  std::vector<int> heavy_on(static_cast<std::size_t>(objects.num_ranks()));
  for (ObjectId id = 0; id < 4; ++id) ++heavy_on[static_cast<std::size_t>(objects.rank_of(id))];
  // The measured loads of the four heavy objects differ a little, so a rank may get more heavy
  // objects than another rank. But with up to four ranks, each rank must get at least one heavy
  // object.
  for (const int count : heavy_on) EXPECT_GE(count, objects.num_ranks() <= 4 ? 1 : 0);
}

TEST(Collection, automatic_balancing_checks_loads_again_soon_after_the_program_calls_balance) {
  const auto make = [](ObjectId) { return Heavy{2e-5}; };
  Collection<Heavy> objects(MPI_COMM_WORLD, 16, make,
                            {.strategy = "greedy", .is_automatic = true, .expected_steps = 40});
  if (objects.num_ranks() == 1) return;
  objects.run(21);  // loads are balanced, so checks become rare
  objects.balance();
  objects.for_each(
      [&](ObjectId, Heavy& object) { object.load_s = objects.rank() == 0 ? 1e-2 : 0; });
  objects.run(6);
  EXPECT_EQ(objects.totals().phase_steps, 2u);
}

TEST(Collection, automatic_balancing_detects_that_the_threads_of_a_rank_have_different_loads) {
  int num_ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const ObjectId num_objects = 8 * num_ranks;
  // On each rank, all work is in the objects of the first thread.
  const auto make = [](ObjectId id) { return Heavy{id % 8 < 4 ? 2e-3 : 0}; };
  Collection<Heavy> objects(
      MPI_COMM_WORLD, num_objects, make,
      {.strategy = "greedy", .is_automatic = true, .threads = 2, .place_per_thread = true});
  objects.run(6);
  EXPECT_EQ(objects.totals().phase_steps, 2u);
}

/// Returns the number of threads that this rank has according to OMP_NUM_THREADS.
int own_threads() {
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  return threads == nullptr ? 1 : std::atoi(threads);
}

TEST(Collection, ranks_get_objects_in_proportion_to_their_threads) {
  for (const Mode mode : {Mode::root, Mode::replicated, Mode::hierarchical}) {
    const auto make = [](ObjectId) { return Heavy{2e-3}; };
    Collection<Heavy> objects(MPI_COMM_WORLD, 24, make, {.strategy = "greedy", .mode = mode});
    objects.run(2);
    const BalanceResult result = objects.balance();
    int own = 0;
    objects.for_each([&](ObjectId, const Heavy&) { ++own; });
    double threads = own_threads();
    const double own_share = threads;
    sum_over_ranks(MPI_COMM_WORLD, {&threads, 1});
    EXPECT_NEAR(own, 24 * own_share / threads, 2);
    EXPECT_LT(result.imbalance_after, 1.4);
  }
}

/// Each step takes `load_s` seconds of wall time. It sleeps, so ranks may outnumber cores.
struct Sleeper {
  double load_s = 0;
  void step(const Inbox&, Outbox&) {
    const double until_s = wall_now_s() + load_s;
    while (wall_now_s() < until_s) ::usleep(200);
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(load_s);
  }
};

/// Objects 0 to 11 sleep, so that some of their steps are offloaded. Each sends to two objects to
/// which no other object sends.
struct SleepySender {
  ObjectId id = 0;
  void step(const Inbox&, Outbox& outbox) {
    if (id >= 12) return;
    Sleeper sleeper{4e-3};
    sleeper.step(Inbox({}), outbox);
    const ObjectId to[] = {24 + 2 * id, 25 + 2 * id};
    outbox.send_to_all(to, id);
  }
};

TEST(Collection,
     the_function_rank_of_finds_every_object_to_which_an_offloaded_step_has_sent_a_message) {
  Collection<SleepySender> objects(
      MPI_COMM_WORLD, 48, [](ObjectId id) { return SleepySender{id}; },
      {.clock = Clock::wall, .mode = Mode::hierarchical, .lend = true});
  objects.step();
  objects.for_each([&](ObjectId id, const SleepySender&) {
    if (id >= 12) return;
    EXPECT_NO_THROW(objects.rank_of(24 + 2 * id));
    EXPECT_NO_THROW(objects.rank_of(25 + 2 * id));
  });
}

/// In its first step, object 0 calls send_to_all with the receivers 7 and 1000. This call throws,
/// because there is no object 1000. In each later step, object 0 sends to object 7 only.
struct Careless {
  ObjectId id = 0;
  int num_received = 0;
  void step(const Inbox& inbox, Outbox& outbox) {
    num_received += static_cast<int>(inbox.size());
    if (id != 0) return;
    const ObjectId to[] = {7, 1000};
    if (std::exchange(is_first, false)) {
      EXPECT_THROW(outbox.send_to_all(to, id), Error);
    } else {
      outbox.send(7, id);
    }
  }
  bool is_first = true;
};

TEST(Collection, a_message_to_an_object_arrives_even_if_an_earlier_send_to_the_same_object_failed) {
  for (const Mode mode : {Mode::root, Mode::hierarchical}) {
    // With four ranks, object 7 is on rank 3, and rank 1 is its home.
    Collection<Careless> objects(MPI_COMM_WORLD, 16, [](ObjectId id) { return Careless{id}; },
                                 {.placement = "round_robin", .mode = mode});
    objects.run(5);
    EXPECT_EQ(objects.sum([](const Careless& object) { return object.num_received; }), 3);
  }
}

TEST(Collection, throws_if_asked_for_the_rank_of_an_object_that_does_not_exist) {
  for (const Mode mode : {Mode::root, Mode::hierarchical})
    for (const ObjectId num_objects : {0u, 5u}) {
      const Collection<Gossip> objects(MPI_COMM_WORLD, num_objects, gossip, {.mode = mode});
      EXPECT_THROW(objects.rank_of(num_objects), Error);
      EXPECT_THROW(objects.rank_of(~ObjectId{0}), Error);
    }
}

TEST(CollectionInWallTime, idle_ranks_run_offloaded_steps_and_the_load_is_charged_to_the_owner) {
  const auto make = [](ObjectId id) { return Sleeper{id < 12 ? 4e-3 : 0}; };
  Collection<Sleeper> objects(MPI_COMM_WORLD, 48, make,
                              {.strategy = "keep", .clock = Clock::wall, .lend = true});
  objects.run(5);
  const Totals totals = objects.totals();
  const double ranks = objects.num_ranks();
  EXPECT_GT(totals.load_s, 5 * 12 * 4e-3);
  // Without offloading, all of the load would run on rank 0.
  EXPECT_LT(totals.busiest_s, (ranks > 1 ? 0.9 : 1.1) * totals.load_s);
  const BalanceResult balanced = objects.balance();
  EXPECT_NEAR(balanced.imbalance_before, ranks, 0.3 * ranks);
}

int warnings_in(const std::string& text) {
  int count = 0;
  for (auto at = text.find("warning:"); at != text.npos; at = text.find("warning:", at + 1))
    ++count;
  return count;
}

TEST(Collection, moves_no_object_and_warns_once_if_a_strategy_exceeds_its_time_budget) {
  Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip,
                             {.strategy = "rotate", .period = 2, .budget_s = 1e-9});
  testing::internal::CaptureStderr();
  objects.run(10);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings_in(output), objects.rank() == 0 ? 1 : 0) << output;
  EXPECT_EQ(objects.totals().migrations, 0u);
  EXPECT_EQ(objects.values([](const Gossip& g) { return g.state; }), SerialHost().run(10));
}

TEST(Collection, if_a_strategy_fails_nothing_changes_and_one_warning_is_printed) {
  // The strategy orb fails, because it needs positions, which Gossip does not have.
  Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip, {.strategy = "orb", .period = 5});
  testing::internal::CaptureStderr();
  objects.run(10);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings_in(output), objects.rank() == 0 ? 1 : 0) << output;
  EXPECT_EQ(output.find("strategy orb failed") != output.npos, objects.rank() == 0) << output;
  EXPECT_EQ(objects.totals().migrations, 0u);
  EXPECT_EQ(objects.values([](const Gossip& g) { return g.state; }), SerialHost().run(10));
}

TEST(Collection, reductions_add_up_values_in_the_order_of_object_ids) {
  Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip, {.strategy = "rotate", .period = 1});
  objects.run(3);
  double expected = 0;
  for (ObjectId id = 0; id < kObjects; ++id) expected += 0.1 * id;
  EXPECT_EQ(objects.sum([](const Gossip& g) { return 0.1 * g.id; }), expected);
  EXPECT_EQ(objects.sum([](const Gossip&) { return true; }), int{kObjects});
  EXPECT_EQ(objects.sum([](const Gossip&) { return static_cast<unsigned char>(200); }),
            200 * int{kObjects});
}

/// Object 0 sends one message to all objects, and each receiver keeps the message's address.
struct Pointing {
  ObjectId id = 0;
  std::vector<std::uintptr_t> addresses = {};
  void step(const Inbox& inbox, Outbox& outbox) {
    addresses.clear();
    for (const Mail& mail : inbox) {
      std::span<const double> view;
      mail.read(view);
      EXPECT_EQ(static_cast<const void*>(view.data() + view.size()),
                static_cast<const void*>(mail.bytes().data() + mail.bytes().size()));
      addresses.push_back(reinterpret_cast<std::uintptr_t>(view.data()));
    }
    std::vector<ObjectId> all;
    for (ObjectId to = 0; to < kObjects; ++to) all.push_back(to);
    if (id == 0) outbox.send_to_all(all, std::vector<double>(1000, 0.5));
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, addresses);
  }
};

TEST(Collection, receivers_on_a_rank_share_one_copy_of_a_message) {
  Collection<Pointing> objects(MPI_COMM_WORLD, kObjects, [](ObjectId id) { return Pointing{id}; });
  objects.run(2);
  std::vector<std::uintptr_t> addresses;
  objects.for_each([&](ObjectId, const Pointing& object) {
    ASSERT_EQ(object.addresses.size(), 1u);
    addresses.push_back(object.addresses[0]);
  });
  EXPECT_EQ(std::count(addresses.begin(), addresses.end(), addresses[0]),
            static_cast<std::ptrdiff_t>(addresses.size()));
}

TEST(Collection, measures_loads_by_subphase_with_and_without_offloading) {
  int rank = 0, num_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const std::string path =
      broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_kinds_{}.poise", ::getpid()));
  CollectionOptions options{.strategy = "rotate", .period = 6, .trace = path, .threads = 2};
  options.subphase_of_step = [](std::uint64_t step) { return step % 3 == 1 ? 1u : 0u; };
  for (const bool offloads : {false, true})
    for (const Mode mode : {Mode::root, Mode::replicated, Mode::hierarchical}) {
      options.lend = offloads;
      options.mode = mode;
      {
        Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip, options);
        objects.run(kSteps);
        EXPECT_EQ(objects.values([](const Gossip& g) { return g.state; }),
                  SerialHost().run(kSteps));
      }
      if (rank != 0) continue;
      for (const Phase& phase : read_trace(path).phases) {
        const Workload& workload = phase.workload;
        ASSERT_EQ(workload.subphase_load_s.size(), kObjects);
        // The test checks the sum over all objects, because the measured time of a single object
        // may be 0 if its step is short.
        double second_s = 0;
        for (ObjectId id = 0; id < kObjects; ++id) {
          ASSERT_EQ(workload.subphase_load_s[id].size(), 2u);
          const double sum_s = workload.subphase_load_s[id][0] + workload.subphase_load_s[id][1];
          second_s += workload.subphase_load_s[id][1];
          EXPECT_NEAR(sum_s, workload.tasks[id].load_s, 1e-9 + 1e-6 * sum_s);
        }
        EXPECT_GT(second_s, 0);
      }
      std::remove(path.c_str());
    }
}

TEST(Collection, refuses_subphase_numbers_of_64_and_above) {
  CollectionOptions options;
  options.subphase_of_step = [](std::uint64_t step) { return step < 2 ? 63u : 64u; };
  Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip, options);
  objects.run(2);
  EXPECT_THROW(objects.step(), Error);
}

TEST(Collection, a_collection_without_objects_makes_decisions_without_any_warning) {
  for (const Mode mode : {Mode::root, Mode::replicated, Mode::hierarchical}) {
    const std::string path =
        broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_none_{}.poise", ::getpid()));
    testing::internal::CaptureStderr();
    {
      Collection<Gossip> objects(MPI_COMM_WORLD, 0, gossip,
                                 {.period = 1, .mode = mode, .trace = path});
      objects.run(2);
      EXPECT_EQ(objects.balance().imbalance_after, 1);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::remove(path.c_str());
  }
}

/// An object whose position is not a number in steps 3 to 5.
struct Lost {
  int num_steps = 0;
  void step(const Inbox&, Outbox&) { ++num_steps; }
  std::array<double, 3> position() const {
    return {num_steps >= 3 && num_steps < 6 ? std::nan("") : 1.0, 0, 0};
  }
};

TEST(Collection, a_trace_lacks_only_the_phases_whose_measurements_are_invalid) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path =
      broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_lost_{}.poise", ::getpid()));
  testing::internal::CaptureStderr();
  {
    Collection<Lost> objects(MPI_COMM_WORLD, 4, [](ObjectId) { return Lost(); },
                             {.period = 2, .trace = path});
    objects.run(8);  // positions are invalid in the second of four decisions
  }
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings_in(output), rank == 0 ? 2 : 0) << output;
  if (rank != 0) return;
  EXPECT_NE(output.find("strategy poise failed"), output.npos) << output;
  EXPECT_NE(output.find("a phase is missing from the trace"), output.npos) << output;
  EXPECT_EQ(read_trace(path).phases.size(), 3u);
  std::remove(path.c_str());
}

TEST(Collection, a_trace_in_vt_json_format_is_complete_after_the_run_and_leaves_no_temporary_file) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string stem =
      broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_vt_{}", ::getpid()));
  {
    Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip,
                               {.strategy = "rotate", .period = 4, .trace = stem + ".json"});
    objects.run(10);
  }
  if (rank != 0) return;
  const Trace trace = read_trace(stem);
  EXPECT_EQ(trace.phases.size(), 3u);
  EXPECT_NE(::access((stem + ".json.poise").c_str(), F_OK), 0);
  for (std::uint32_t r = 0; r < trace.num_places; ++r)
    EXPECT_EQ(std::remove(fmt::format("{}.{}.json", stem, r).c_str()), 0);
}

TEST(Collection, a_timeline_shows_every_place) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path =
      broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_timeline_{}.json", ::getpid()));
  double wall_s = 0;
  std::uint32_t num_places = 0;
  {
    Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip,
                               {.strategy = "rotate",
                                .period = 4,
                                .timeline = path,
                                .threads = 2,
                                .place_per_thread = true});
    objects.run(10);
    wall_s = objects.totals().wall_s;
    num_places = objects.layout().machine.num_places();
  }
  if (rank != 0) return;
  const Timeline timeline = read_timeline(path);
  std::remove(path.c_str());
  EXPECT_EQ(timeline.title, "objects, strategy rotate");
  ASSERT_EQ(timeline.places.size(), num_places);
  for (const auto& spans : timeline.places) {
    const auto [work_s, wait_s, balance_s] = seconds_of(spans);
    EXPECT_GT(balance_s, 0);
    EXPECT_GT(work_s, 0);
    EXPECT_LE(work_s + wait_s + balance_s, end_s(timeline));
    // The times for which a place worked, waited and balanced do not overlap, so their sum is at
    // most the wall time of the slowest rank.
    EXPECT_LE(work_s + wait_s + balance_s, 1.001 * wall_s);
  }
}

// A struct whose destructor runs a collection.
struct RunsAtEnd {
  std::string timeline;
  ~RunsAtEnd() {
    Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip, {.timeline = timeline});
    objects.run(3);
  }
};

TEST(Collection,
     a_collection_that_runs_in_a_destructor_during_stack_unwinding_writes_its_timeline) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path =
      broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_unwound_{}.json", ::getpid()));
  try {
    const RunsAtEnd last{path};
    throw 1;
  } catch (int) {
  }
  if (rank != 0) return;
  EXPECT_EQ(read_timeline(path).title, "objects, strategy poise");
  std::remove(path.c_str());
}

TEST(Collection, collections_with_the_same_timeline_path_write_different_files) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string stem =
      broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_both_{}", ::getpid()));
  {
    Collection<Gossip> first(MPI_COMM_WORLD, kObjects, gossip,
                             {.name = "first", .timeline = stem + ".json"});
    Collection<Gossip> second(MPI_COMM_WORLD, kObjects, gossip,
                              {.name = "second", .timeline = stem + ".json"});
    first.run(2);
    second.run(2);
  }
  if (rank != 0) return;
  for (const auto& [ending, title] : {std::pair(".json", "first, strategy poise"),
                                      std::pair(".2.json", "second, strategy poise")}) {
    EXPECT_EQ(read_timeline(stem + ending).title, title);
    EXPECT_EQ(std::remove((stem + ending).c_str()), 0);
  }
}

TEST(Collection, a_timeline_with_offloading_is_valid_even_if_some_ranks_have_no_objects) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path =
      broadcast_text(MPI_COMM_WORLD, fmt::format("/tmp/objects_lent_{}.json", ::getpid()));
  {
    Collection<Heavy> objects(MPI_COMM_WORLD, 1, [](ObjectId) { return Heavy{1e-3}; },
                              {.timeline = path, .lend = true});
    objects.run(3);
  }
  if (rank != 0) return;
  const Timeline timeline = read_timeline(path);
  std::remove(path.c_str());
  for (const auto& spans : timeline.places) {
    const auto [work_s, wait_s, balance_s] = seconds_of(spans);
    EXPECT_LE(work_s + wait_s, end_s(timeline));
  }
}

TEST(Collection, a_trace_has_one_phase_before_each_decision_and_one_after_the_last_decision) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string path = fmt::format("/tmp/objects_{}.poise", ::getpid());
  path = broadcast_text(MPI_COMM_WORLD, path);
  {
    Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip,
                               {.strategy = "rotate", .period = 4, .trace = path});
    objects.run(10);
  }
  if (rank != 0) return;
  const Trace trace = read_trace(path);
  std::remove(path.c_str());
  ASSERT_EQ(trace.phases.size(), 3u);
  std::uint64_t messages = 0;
  for (const Phase& phase : trace.phases) {
    EXPECT_EQ(phase.workload.num_tasks(), kObjects);
    EXPECT_GT(phase.wall_s, 0);
    EXPECT_GT(total_load_s(phase.workload), 0);
    for (const Message& message : phase.workload.messages) messages += message.count;
  }
  EXPECT_GT(messages, kObjects);
  EXPECT_EQ(trace.phases[1].placement == trace.phases[0].placement, trace.num_places == 1);
}

}  // namespace
}  // namespace poise::objects
