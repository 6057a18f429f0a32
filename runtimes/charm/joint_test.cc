// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/joint.h"

#include <gmock/gmock.h>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "tests/support/seeds.h"

#include "poise/distributed/simulated_testing.h"

namespace poise::charm {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kObjects = 48;

/// A ring of objects. Object i is on PE pes[i]; every eighth object is pinned.
struct Ring {
  std::vector<std::int32_t> pes;
  std::uint32_t num_pes = 4;

  Statistics on(std::int32_t pe) const {
    Statistics own;
    own.pes.resize(1);
    own.pes[0].number = pe;
    own.pes[0].core_os_index = pe;
    for (std::uint64_t i = 0; i < pes.size(); ++i) {
      if (pes[i] != pe) continue;
      own.objects.push_back({{i, 1}, 1.0 + i % 5, 0, 0, i % 8 != 0});
      const std::uint64_t next = (i + 1) % pes.size();
      own.messages.push_back({{i, 1}, {next, 1}, -1, 0, 0, 1, 1000, pes[next]});
    }
    return own;
  }

  /// Returns the loads of the PEs.
  std::vector<double> loads_s() const {
    std::vector<double> loads(num_pes);
    for (std::uint64_t i = 0; i < pes.size(); ++i) loads[pes[i]] += 1.0 + i % 5;
    return loads;
  }
};

Ring ring(const std::function<std::int32_t(std::uint64_t)>& pe_of) {
  Ring all;
  for (std::uint64_t i = 0; i < kObjects; ++i) all.pes.push_back(pe_of(i));
  return all;
}

/// The balancers of all PEs.
class Pes {
 public:
  explicit Pes(const std::string& setting, std::uint32_t num_pes = 4) : balancers_(num_pes) {
    balancers_[0].prepare(setting);
  }

  /// Lets all PEs decide. `change`, if given, first changes the statistics of each PE.
  std::vector<JointDecision> decide(
      const Ring& all, const std::function<void(std::uint32_t, Statistics&)>& change = {}) {
    std::vector<JointDecision> decisions(balancers_.size());
    SimulatedRanks simulated(balancers_.size());
    simulated.run([&](const poise_communication& table) {
      Statistics own = all.on(table.rank);
      if (change) change(table.rank, own);
      std::vector<std::int32_t> unavailable;
      if (table.rank < num_listing_) unavailable = unavailable_;
      decisions[table.rank] = balancers_[table.rank].decide(own, unavailable, table);
    });
    calls_ = simulated.calls(0);
    return decisions;
  }

  /// Number of collective calls (reductions and exchanges) that the last decision made.
  std::uint64_t calls() const { return calls_; }
  JointBalancer& of(std::uint32_t pe) { return balancers_[pe]; }
  /// Marks the PEs in `unavailable` as unavailable in the statistics of the first `num_listing`
  /// PEs. (A Charm++ program may tell one PE or all PEs which PEs are unavailable.)
  void mark(std::vector<std::int32_t> unavailable, std::uint32_t num_listing = 1) {
    unavailable_ = std::move(unavailable);
    num_listing_ = num_listing;
  }

 private:
  std::vector<JointBalancer> balancers_;
  std::vector<std::int32_t> unavailable_;
  std::uint32_t num_listing_ = 1;
  std::uint64_t calls_ = 0;
};

Ring after(const Ring& before, const std::vector<JointDecision>& decisions) {
  Ring all = before;
  for (std::int32_t pe = 0; pe < std::ssize(decisions); ++pe) {
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < before.pes.size(); ++i)
      if (before.pes[i] == pe) all.pes[i] = decisions[pe].pe_of_object.at(next++);
  }
  return all;
}

std::vector<std::string> warnings(const std::vector<JointDecision>& decisions) {
  std::vector<std::string> texts;
  for (const JointDecision& decision : decisions)
    if (!decision.warning.empty()) texts.push_back(decision.warning);
  return texts;
}

TEST(JointBalancer, balances_a_ring_whose_objects_are_all_on_one_pe) {
  const Ring before = ring([](std::uint64_t) { return 2; });
  for (const char* strategy : {"poise", "greedy_refine", "nuco", "greedy", "refine"}) {
    SCOPED_TRACE(strategy);
    Pes pes(strategy);
    const auto decisions = pes.decide(before);
    EXPECT_THAT(warnings(decisions), IsEmpty());
    const std::vector<double> loads = after(before, decisions).loads_s();
    EXPECT_LT(*std::max_element(loads.begin(), loads.end()), 1.2 * 142 / 4);
    for (std::uint64_t i = 0; i < kObjects; i += 8) EXPECT_EQ(decisions[2].pe_of_object[i], 2);
  }
}

TEST(JointBalancer, every_pe_learns_how_many_objects_arrive_on_it) {
  const Ring before = ring([](std::uint64_t i) { return i < 40 ? 0 : 3; });
  Pes pes("greedy");
  const auto decisions = pes.decide(before);
  const Ring now = after(before, decisions);
  std::vector<std::uint64_t> arriving(4);
  std::uint64_t moves = 0;
  for (std::uint64_t i = 0; i < kObjects; ++i)
    if (now.pes[i] != before.pes[i]) ++arriving[now.pes[i]], ++moves;
  EXPECT_GT(moves, 0u);
  for (std::uint32_t pe = 0; pe < 4; ++pe) {
    EXPECT_EQ(decisions[pe].num_arriving, arriving[pe]);
    EXPECT_EQ(decisions[pe].num_moves, moves);
    EXPECT_EQ(decisions[pe].num_objects, kObjects);
  }
}

TEST(JointBalancer,
     the_number_of_reductions_and_exchanges_per_decision_hardly_grows_with_the_number_of_pes) {
  POISE_SKIP_IF_SLOW();
  const Ring before = ring([](std::uint64_t) { return 2; });
  for (const std::uint32_t num_pes : {4, 100}) {  // 4 PEs: one level of groups; 100 PEs: two levels
    Pes pes("poise", num_pes), without_messages("greedy_refine", num_pes);
    pes.decide(before), without_messages.decide(before);
    EXPECT_LE(pes.calls(), 160u);  // docs/charm_trees.md states 160, 100 and 320, too
    EXPECT_LE(without_messages.calls(), 100u);
    Pes again("poise", num_pes);
    again.decide(before, [](std::uint32_t, Statistics& own) {
      for (ObjectRow& object : own.objects) object.wall_s = 1e-6;
    });
    EXPECT_LE(again.calls(), 320u);
  }
}

TEST(JointBalancer, a_spike_of_one_load_at_one_decision_causes_no_migrations) {
  const Ring before = ring([](std::uint64_t i) { return i / 12; });
  const auto with_spike = [](double spike_s) {
    return [spike_s](std::uint32_t pe, Statistics& own) {
      for (ObjectRow& object : own.objects) object.wall_s = 1;
      if (pe == 2) own.objects[5].wall_s = spike_s;
    };
  };
  Pes pes("poise");
  EXPECT_EQ(pes.decide(before, with_spike(1))[0].num_moves, 0u);
  EXPECT_EQ(pes.decide(before, with_spike(9))[0].num_moves, 0u);
  EXPECT_GT(pes.decide(before, with_spike(9))[0].num_moves, 0u);  // a lasting load is not a spike
}

TEST(JointBalancer, moves_nothing_if_there_is_nothing_to_gain) {
  const Ring before = ring([](std::uint64_t i) { return i / 12; });
  const auto even = [](std::uint32_t, Statistics& own) {
    for (ObjectRow& object : own.objects) object.wall_s = 1;
  };
  const auto decisions = Pes("poise").decide(before, even);
  EXPECT_EQ(after(before, decisions).pes, before.pes);
  EXPECT_THAT(warnings(decisions), IsEmpty());
}

TEST(JointBalancer, tells_the_pes_of_senders_where_receivers_have_moved) {
  const Ring before = ring([](std::uint64_t i) { return i < 40 ? 0 : 3; });
  const auto decisions = Pes("greedy_comm").decide(before);
  const Ring now = after(before, decisions);
  std::map<std::pair<std::int32_t, std::uint64_t>, std::int32_t> told;
  for (const JointDecision& decision : decisions)
    for (const News& news : decision.news) told[{news.told_pe, news.object.id}] = news.pe;
  for (std::uint64_t i = 0; i < kObjects; ++i) {
    const std::uint64_t next = (i + 1) % kObjects;
    if (now.pes[i] == now.pes[next]) continue;
    if (now.pes[i] == before.pes[i] && now.pes[next] == before.pes[next]) continue;
    EXPECT_EQ(told.at({now.pes[i], next}), now.pes[next]) << i;
  }
}

TEST(JointBalancer,
     a_sender_whose_messages_made_a_detour_learns_the_pe_of_the_receiver_even_if_no_object_moves) {
  const Ring before = ring([](std::uint64_t i) { return i / 12; });
  const auto detour = [](std::uint32_t pe, Statistics& own) {
    for (ObjectRow& object : own.objects) object.wall_s = 1;
    if (pe == 1) own.messages.back().last_known_pe = 3;  // its receiver, object 24, is on PE 2
  };
  const auto decisions = Pes("poise").decide(before, detour);
  EXPECT_THAT(decisions[0].news, IsEmpty());
  ASSERT_EQ(decisions[1].news.size(), 1u);
  EXPECT_EQ(decisions[1].news[0].object.id, 24u);
  EXPECT_EQ(decisions[1].news[0].pe, 2);
  EXPECT_EQ(decisions[1].news[0].told_pe, 1);
}

TEST(JointBalancer, messages_to_unknown_objects_cause_no_warning) {
  const Ring before = ring([](std::uint64_t) { return 0; });
  const auto unknown = [](std::uint32_t, Statistics& own) {
    for (MessageRow& message : own.messages) message.to.array = 9;
  };
  EXPECT_THAT(warnings(Pes("poise").decide(before, unknown)), IsEmpty());
}

TEST(JointBalancer, if_one_pe_fails_all_objects_stay_and_one_pe_warns_once) {
  const Ring before = ring([](std::uint64_t i) { return i % 4; });
  const auto wrong = [](std::uint32_t pe, Statistics& own) {
    if (pe >= 1) own.objects[0].wall_s = std::numeric_limits<double>::quiet_NaN();
  };
  Pes pes("rotate");
  const auto decisions = pes.decide(before, wrong);
  EXPECT_EQ(after(before, decisions).pes, before.pes);
  EXPECT_THAT(decisions, Each(testing::Field(&JointDecision::num_arriving, 0u)));
  ASSERT_EQ(warnings(decisions).size(), 1u);
  EXPECT_THAT(
      decisions[1].warning,
      HasSubstr("strategy rotate failed, so objects stay where they are: load_s[0] is nan"));
  EXPECT_THAT(warnings(pes.decide(before, wrong)), IsEmpty());
  const auto again = pes.decide(before);  // the next decision succeeds
  EXPECT_EQ(again[0].num_moves, kObjects - kObjects / 8);
}

TEST(JointBalancer, all_movable_objects_leave_unavailable_pes_until_they_are_available_again) {
  const Ring before = ring([](std::uint64_t i) { return i % 4; });
  for (const char* strategy : {"keep", "rotate", "poise", "greedy", "nuco", "treematch"}) {
    SCOPED_TRACE(strategy);
    Pes pes(strategy);
    pes.mark({1, 3});
    const auto decisions = pes.decide(before);
    EXPECT_THAT(warnings(decisions), IsEmpty());
    const Ring now = after(before, decisions);
    std::vector<std::uint64_t> arriving(4);
    for (std::uint64_t i = 0; i < kObjects; ++i) {
      if (now.pes[i] != before.pes[i]) ++arriving[now.pes[i]];
      if (i % 8 == 0)
        EXPECT_EQ(now.pes[i], before.pes[i]);
      else
        EXPECT_EQ(now.pes[i] % 2, 0) << i;
    }
    for (std::uint32_t pe = 0; pe < 4; ++pe) EXPECT_EQ(decisions[pe].num_arriving, arriving[pe]);
  }
  Pes pes("greedy");
  pes.mark({1});
  const Ring without = after(before, pes.decide(before));
  pes.mark({});
  EXPECT_GT(after(without, pes.decide(without)).loads_s()[1], 20);
  pes.mark({0, 1, 2, 3});
  EXPECT_THAT(warnings(pes.decide(before)),
              testing::ElementsAre(HasSubstr("all PEs are marked unavailable")));
}

TEST(JointBalancer, objects_leave_a_pe_that_all_256_pes_mark_as_unavailable) {
  const Ring before = ring([](std::uint64_t i) { return i % 4; });
  Pes pes("keep", 256);
  pes.mark({1}, 256);
  const Ring now = after(before, pes.decide(before));
  for (std::uint64_t i = 0; i < kObjects; ++i)
    EXPECT_EQ(now.pes[i] != before.pes[i], before.pes[i] == 1) << i;  // no object on PE 1 is pinned
}

TEST(JointBalancer, all_pes_use_the_strategy_and_the_decision_counter_of_the_first_pe) {
  const Ring before = ring([](std::uint64_t i) { return i % 4; });
  Pes once("random"), again("random"), seeded("random");
  const auto first = after(before, once.decide(before)).pes,
             second = after(before, once.decide(before)).pes;
  EXPECT_EQ(after(before, again.decide(before)).pes, first);
  EXPECT_NE(second, first);
  seeded.of(0).restart(1);
  EXPECT_EQ(after(before, seeded.decide(before)).pes, second);
  EXPECT_EQ(once.of(3).strategy(), "random");
  EXPECT_EQ(once.of(3).num_decisions(), 2u);
}

TEST(JointBalancer, settings_that_cannot_work_are_refused) {
  const auto error = [](const std::string& setting) -> std::string {
    try {
      JointBalancer().prepare(setting);
    } catch (const std::runtime_error& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_THAT(error("gredy"), HasSubstr("+PoiseLB: unknown strategy \"gredy\""));
  EXPECT_THAT(error("orb"), HasSubstr("strategy orb needs positions"));
  EXPECT_THAT(error("multistep"), HasSubstr("strategy multistep needs loads of past phases"));
  EXPECT_EQ(error("nuco:alpha=1e-5"), "");
  EXPECT_TRUE(joint_wants_messages("nuco"));
  EXPECT_FALSE(joint_wants_messages("greedy"));
}

}  // namespace
}  // namespace poise::charm
