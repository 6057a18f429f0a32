// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_team.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <map>
#include <numeric>

#include "poise/base/error.h"
#include "poise/base/random.h"

namespace poise {
namespace {

using testing::Each;
using testing::Le;

constexpr double kWorkPerS = 3e9;

/// A simulated kernel that shares every place fairly among its ready threads. Threads that the
/// balancer does not control stay on their initial place.
class Kernel {
 public:
  Kernel(JuggleTeam& team, std::uint32_t num_places) : team_(team), num_places_(num_places) {}

  struct Thread {
    std::uint64_t key = 0;
    PlaceId home = 0;
    bool is_bound = false;
    double run_s = 0, wait_s = 0, work = 0;
    std::function<bool(double)> is_ready = [](double) { return true; };
    std::optional<PlaceId> place = {};
  };

  void add(PlaceId home, bool is_bound, std::function<bool(double)> is_ready = {}) {
    Thread thread;
    thread.key = next_key_++;
    thread.home = home;
    thread.is_bound = is_bound;
    if (is_ready) thread.is_ready = std::move(is_ready);
    threads.push_back(thread);
  }

  void run_until(double end_s) {
    while (now_s < end_s) {
      std::vector<ThreadReading> readings;
      for (const Thread& thread : threads) {
        ThreadReading reading{.key = thread.key,
                              .run_s = thread.run_s,
                              .wait_s = thread.wait_s,
                              .is_bound = thread.is_bound};
        if (thread.is_bound) reading.own_place = thread.home;
        if (counts_work) reading.work = thread.work;
        readings.push_back(reading);
      }
      for (const JuggleOrder& order : team_.balance(readings, now_s)) {
        ++orders;
        for (Thread& thread : threads)
          if (thread.key == order.key) thread.place = order.place;
      }
      advance(now_s + team_.next_s() * random_.uniform(0.9, 1.1));
    }
  }

  std::vector<std::uint32_t> threads_on() const {
    std::vector<std::uint32_t> count(num_places_, 0);
    for (const Thread& thread : threads) ++count[thread.place.value_or(thread.home)];
    return count;
  }

  double spread_s() const {
    const auto less = [](const Thread& a, const Thread& b) { return a.run_s < b.run_s; };
    const auto [least, most] = std::minmax_element(threads.begin(), threads.end(), less);
    return most->run_s - least->run_s;
  }

  bool is_touched() const {
    return std::any_of(threads.begin(), threads.end(),
                       [](const Thread& thread) { return thread.place.has_value(); });
  }

  std::vector<Thread> threads;
  double now_s = 0;
  int orders = 0;
  // Number of threads of other programs that compute on each place.
  std::vector<std::uint32_t> strangers = {};
  std::vector<double> speed = {};  // per place
  bool counts_work = false;

 private:
  void advance(double end_s) {
    constexpr double kStepS = 0.001;
    for (; now_s < end_s; now_s += kStepS) {
      std::vector<std::uint32_t> ready = strangers;
      ready.resize(num_places_, 0);
      for (const Thread& thread : threads)
        ready[thread.place.value_or(thread.home)] += thread.is_ready(now_s) ? 1 : 0;
      for (Thread& thread : threads) {
        if (!thread.is_ready(now_s)) continue;
        const PlaceId place = thread.place.value_or(thread.home);
        const double share = 1.0 / ready[place];
        thread.run_s += kStepS * share;
        thread.work += kWorkPerS * kStepS * share * (speed.empty() ? 1 : speed[place]);
        thread.wait_s += kStepS * (1 - share);
      }
    }
  }

  JuggleTeam& team_;
  std::uint32_t num_places_;
  std::uint64_t next_key_ = 1;
  Random random_{1};
};

std::vector<JugglePlace> places(std::uint32_t num) { return std::vector<JugglePlace>(num); }

JuggleSettings proactive() { return {.policy = JugglePolicy::proactive}; }

TEST(JuggleTeam, a_main_thread_that_only_starts_the_others_is_soon_left_out_of_balancing) {
  JuggleTeam team(proactive(), places(2));
  Kernel kernel(team, 2);
  kernel.add(0, false, [](double now_s) { return now_s < 0.05; });
  for (int t = 0; t < 3; ++t) kernel.add(0, false);
  kernel.run_until(2);
  EXPECT_EQ(team.num_taking_part(), 3u);
  EXPECT_FALSE(kernel.threads[0].place);
}

TEST(JuggleTeam, threads_that_run_4_ms_out_of_800_ms_are_not_left_out_of_balancing) {
  JuggleTeam team({.policy = JugglePolicy::proactive, .period_s = 0.02}, places(1));
  std::vector<ThreadReading> readings(200);
  for (std::size_t t = 0; t < readings.size(); ++t) readings[t].key = t + 1;
  // Each thread runs for 4 ms at a time, and the kernel reports a wait only when it ends.
  std::vector<double> since_s(readings.size(), 0);
  double next_s = 0;
  for (int turn = 0; turn < 4 * 200; ++turn) {
    const double now_s = 0.004 * turn;
    ThreadReading& reading = readings[static_cast<std::size_t>(turn) % readings.size()];
    double& waits_since_s = since_s[static_cast<std::size_t>(turn) % readings.size()];
    reading.wait_s += now_s - waits_since_s;
    reading.run_s += 0.004;
    waits_since_s = now_s + 0.004;
    if (now_s < next_s) continue;
    team.balance(readings, now_s);
    next_s = now_s + 0.02;
    if (turn > 3 * 200) {
      EXPECT_GE(team.num_taking_part(), 195u) << "after " << now_s << " s";
    }
  }
}

TEST(JuggleTeam, a_thread_that_waits_a_long_time_for_other_threads_is_not_left_out_of_balancing) {
  JuggleTeam team(proactive(), places(2));
  Kernel kernel(team, 2);
  kernel.add(0, false, [](double now_s) { return now_s < 2 || now_s > 4; });
  for (int t = 0; t < 3; ++t) kernel.add(0, false);
  kernel.run_until(3.9);
  EXPECT_EQ(team.num_taking_part(), 4u);
}

TEST(JuggleTeam, progress_of_threads_differs_by_less_than_three_balancing_periods) {
  // For n threads on m places, theorem 1 of the Juggle paper limits the difference in progress
  // between two threads to T / (ceil(n/m) floor(n/m)) at balancing points, where T is the time
  // between two balancing points. Measurements in discrete steps and the margin add to this
  // difference. Without balancing, it would grow to as much as half of the run time.
  for (const auto& [n, m] : {std::pair{3, 2}, {8, 7}, {16, 12}, {13, 4}, {33, 32}}) {
    SCOPED_TRACE(testing::Message() << n << " threads on " << m << " places");
    JuggleTeam team(proactive(), places(static_cast<std::uint32_t>(m)));
    Kernel kernel(team, static_cast<std::uint32_t>(m));
    for (int t = 0; t < n; ++t) kernel.add(static_cast<PlaceId>(t % m), true);
    kernel.run_until(30);
    EXPECT_LT(kernel.spread_s(), 3 * 0.1);
    const double fair_s = kernel.now_s * m / n;
    for (const auto& thread : kernel.threads) EXPECT_NEAR(thread.run_s, fair_s, 0.02 * fair_s);
  }
}

TEST(JuggleTeam, the_numbers_of_threads_on_any_two_places_differ_by_at_most_one) {
  JuggleTeam team(proactive(), places(5));
  Kernel kernel(team, 5);
  Random random(7);
  for (int t = 0; t < 13; ++t) kernel.add(0, false);
  for (int second = 1; second <= 20; ++second) {
    kernel.run_until(second);
    if (second % 4 == 0) kernel.threads.erase(kernel.threads.begin() + 1 + random.below(5));
    if (second % 4 == 2) kernel.add(0, false);
    kernel.run_until(kernel.now_s + 0.35);  // long enough to find and place a thread
    const auto on = kernel.threads_on();
    EXPECT_LE(*std::max_element(on.begin(), on.end()), *std::min_element(on.begin(), on.end()) + 1);
  }
}

TEST(JuggleTeam, does_not_balance_before_the_expected_number_of_threads_exists) {
  JuggleSettings settings = proactive();
  settings.expected_threads = 3;
  JuggleTeam team(settings, places(2));
  Kernel kernel(team, 2);
  kernel.add(0, true);
  kernel.add(0, true);
  kernel.run_until(2);
  EXPECT_FALSE(kernel.is_touched());
  kernel.add(1, true);
  kernel.run_until(3);
  EXPECT_TRUE(kernel.is_touched());
}

TEST(JuggleTeam, does_not_move_threads_that_do_not_compute) {
  JuggleTeam team(proactive(), places(2));
  Kernel kernel(team, 2);
  for (int t = 0; t < 3; ++t) kernel.add(0, false);
  kernel.add(1, false, [](double now_s) { return std::fmod(now_s, 1) < 0.01; });
  kernel.run_until(5);
  EXPECT_EQ(team.num_taking_part(), 3u);
  EXPECT_FALSE(kernel.threads[3].place.has_value());
}

TEST(JuggleTeam, threads_that_run_30_ms_out_of_300_ms_are_not_left_out_of_balancing) {
  JuggleTeam team(proactive(), places(2));
  Kernel kernel(team, 2);
  const auto turn = [](double now_s) { return std::fmod(now_s, 0.3) < 0.03; };
  for (int t = 0; t < 3; ++t) kernel.add(0, false, turn);
  kernel.run_until(5);
  EXPECT_EQ(team.num_taking_part(), 3u);
}

TEST(JuggleTeam, distributes_all_threads_anew_when_the_set_of_usable_places_changes) {
  JuggleTeam team(proactive(), places(4));
  Kernel kernel(team, 4);
  for (int t = 0; t < 6; ++t) kernel.add(static_cast<PlaceId>(t % 4), false);
  kernel.run_until(1);
  team.set_places(places(2));
  kernel.run_until(1.5);
  EXPECT_THAT(kernel.threads_on(), testing::ElementsAre(3, 3, 0, 0));
  team.set_places(places(3));
  kernel.run_until(2);
  EXPECT_THAT(kernel.threads_on(), testing::ElementsAre(2, 2, 2, 0));
}

TEST(JuggleTeam, unusable_places_are_not_reported_as_places_to_which_threads_are_bound) {
  JuggleTeam team({.policy = JugglePolicy::off}, places(4));
  Kernel kernel(team, 4);
  for (int t = 0; t < 3; ++t) kernel.add(3, true);
  kernel.run_until(2);
  EXPECT_THAT(team.facts().bound_on, testing::ElementsAre(0, 0, 0, 3));
  team.set_places(places(2));
  EXPECT_THAT(team.facts().bound_on, testing::IsEmpty());
  kernel.threads.clear();
  for (int t = 0; t < 2; ++t) kernel.add(1, true);
  kernel.run_until(4);
  EXPECT_THAT(team.facts().bound_on, testing::ElementsAre(0, 2));
  EXPECT_EQ(team.facts().threads, 3u);
}

TEST(JuggleTeam, does_not_move_threads_that_are_excluded_from_balancing) {
  JuggleTeam team(proactive(), places(2));
  Kernel kernel(team, 2);
  for (int t = 0; t < 3; ++t) kernel.add(0, false);
  kernel.run_until(1);
  team.leave_alone(kernel.threads[0].key);
  kernel.run_until(2);
  EXPECT_FALSE(kernel.threads[0].place.has_value());
  EXPECT_EQ(team.num_taking_part(), 2u);
}

TEST(JuggleTeam, reactive_balancing_gives_the_places_of_sleeping_threads_to_other_threads) {
  JuggleTeam team({.policy = JugglePolicy::reactive}, places(2));
  Kernel kernel(team, 2);
  for (PlaceId home = 0; home < 5; ++home)  // threads 1 and 3, on place 1, sleep from 2 s on
    kernel.add(home % 2, true, [=](double now_s) { return home % 2 == 0 || now_s < 2; });
  kernel.run_until(3);
  const auto run_s = [&] {
    return kernel.threads[0].run_s + kernel.threads[2].run_s + kernel.threads[4].run_s;
  };
  const double before_s = run_s();
  kernel.run_until(4);
  EXPECT_NEAR(run_s() - before_s, 2, 0.05);  // both places are in use
}

/// Three threads on two places. They compute all the time and report when they wait.
class TeamThatReports : public testing::Test {
 protected:
  explicit TeamThatReports(JugglePolicy policy = JugglePolicy::reactive)
      : team({.policy = policy}, places(2)) {
    for (; now_s < 2; now_s += team.next_s()) balance();
  }
  void balance() {
    std::vector<ThreadReading> readings;
    for (std::uint64_t key = 1; key <= 3; ++key)
      readings.push_back(
          {.key = key, .run_s = now_s * 2 / 3, .wait_s = now_s / 3, .waits = WaitReport()});
    team.balance(readings, now_s);
  }
  PlaceId place_of(std::size_t member) const { return *team.members()[member].place; }

  double now_s = 0;
  JuggleTeam team;
};

TEST_F(TeamThatReports,
       one_of_two_threads_that_share_a_place_moves_at_once_to_the_place_of_a_waiting_thread) {
  ASSERT_EQ(place_of(0), place_of(2));
  const JuggleTeam::Wait waits[] = {{1}, {2, {.is_inside = true}}, {3}};
  const auto orders = team.react_to(waits);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].place, place_of(1));
  EXPECT_NE(place_of(0), place_of(2));
}

TEST_F(TeamThatReports, moves_no_thread_if_both_threads_of_a_shared_place_wait) {
  const JuggleTeam::Wait waits[] = {{1, {.is_inside = true}}, {3, {.is_inside = true}}};
  EXPECT_TRUE(team.react_to(waits).empty());
}

TEST_F(TeamThatReports, looks_for_waiting_threads_only_if_the_program_does_not_report_them) {
  EXPECT_EQ(team.next_s(), 0.1);
  std::vector<ThreadReading> silent;
  for (std::uint64_t key = 1; key <= 3; ++key)
    silent.push_back({.key = key, .run_s = now_s * 2 / 3, .wait_s = now_s / 3});
  team.balance(silent, now_s);
  EXPECT_EQ(team.next_s(), 0.02);
}

TEST(JuggleTeam,
     still_reacts_to_waiting_threads_after_threads_have_ended_while_the_balancer_was_stopped) {
  JuggleTeam team({.policy = JugglePolicy::reactive}, places(2));
  double now_s = 0;
  const auto balance = [&](std::uint64_t first, std::uint64_t last) {
    std::vector<ThreadReading> readings;
    for (std::uint64_t key = first; key <= last; ++key) {
      const double ready_s = key <= 2 ? 0 : now_s;  // threads 1 and 2 sleep
      readings.push_back(
          {.key = key, .run_s = ready_s * 2 / 3, .wait_s = ready_s / 3, .waits = WaitReport()});
    }
    team.balance(readings, now_s);
  };
  for (; now_s < 2; now_s += team.next_s()) balance(1, 5);
  ASSERT_EQ(team.num_taking_part(), 3u);
  now_s += 10;
  balance(3, 7);
  const JuggleTeam::Wait waits[] = {{3}, {4, {.is_inside = true}}, {5}};
  EXPECT_EQ(team.react_to(waits).size(), 1u);
}

TEST(JuggleTeam, the_proactive_policy_moves_no_thread_to_the_place_of_a_waiting_thread) {
  JuggleTeam team(proactive(), places(2));
  Kernel kernel(team, 2);
  for (int t = 0; t < 3; ++t) kernel.add(0, false);
  kernel.run_until(2);
  const JuggleTeam::Wait waits[] = {{kernel.threads[0].key, {.is_inside = true}},
                                    {kernel.threads[1].key}};
  EXPECT_TRUE(team.react_to(waits).empty());
}

TEST(JuggleTeam, if_two_threads_swap_places_the_less_advanced_one_moves_first) {
  for (const std::size_t behind : {0u, 1u}) {
    SCOPED_TRACE(behind);
    JuggleTeam team(proactive(), places(2));
    std::vector<ThreadReading> readings{{.key = 1}, {.key = 2}};
    std::vector<JuggleOrder> orders;
    int times_moved = 0;
    for (double now_s = 0; times_moved < 2 && now_s < 5; now_s += team.next_s()) {
      orders = team.balance(readings, now_s);
      times_moved += !orders.empty();  // the first orders only give each thread a place
      for (std::size_t i = 0; i < 2; ++i) {
        const double share = i == behind ? 0.5 : 1;
        readings[i].run_s += share * team.next_s();
        readings[i].wait_s += (1 - share) * team.next_s();
      }
    }
    ASSERT_EQ(orders.size(), 2u);
    EXPECT_EQ(orders.front().key, readings[behind].key);
  }
}

TEST(JuggleTeam, memory_domains_have_equally_many_threads_again_after_a_thread_has_ended) {
  JuggleTeam team(proactive(), {{0}, {0}, {1}, {1}});
  Kernel kernel(team, 4);
  for (int t = 0; t < 7; ++t) kernel.add(0, false);
  kernel.run_until(1);
  // One domain has four threads (2 + 2 on its places), the other has three (2 + 1). Then one of
  // these three ends. The numbers of threads on any two places still differ by at most one, but
  // those of the two domains differ by two.
  const auto before = kernel.threads_on();
  const PlaceId first = before[0] + before[1] == 3 ? 0 : 2;
  const auto ends =
      std::find_if(kernel.threads.begin(), kernel.threads.end(), [&](const Kernel::Thread& thread) {
        return *thread.place >= first && *thread.place < first + 2 && before[*thread.place] == 2;
      });
  ASSERT_NE(ends, kernel.threads.end());
  kernel.threads.erase(ends);
  kernel.run_until(2);
  const auto on = kernel.threads_on();
  EXPECT_EQ(on[0] + on[1], 3u);
  EXPECT_EQ(on[2] + on[3], 3u);
}

TEST(JuggleTeam, a_domain_that_has_lost_a_thread_gets_one_from_a_domain_with_two_more_threads) {
  for (const PlaceId left : {0u, 1u}) {
    SCOPED_TRACE(left);
    JuggleTeam team(proactive(), {{0}, {0}, {1}, {1}, {1}});
    Kernel kernel(team, 5);
    for (int t = 0; t < 9; ++t) kernel.add(0, false);
    kernel.run_until(1);
    ASSERT_THAT(kernel.threads_on(), testing::ElementsAre(2, 2, 2, 2, 1));
    const auto ends =
        std::find_if(kernel.threads.begin(), kernel.threads.end(),
                     [&](const Kernel::Thread& thread) { return thread.place == left; });
    kernel.threads.erase(ends);
    kernel.run_until(2);
    const auto on = kernel.threads_on();
    EXPECT_EQ(on[0] + on[1], 4u);
    EXPECT_EQ(on[2] + on[3] + on[4], 4u);
  }
}

TEST(JuggleTeam,
     several_threads_change_domains_in_one_step_if_several_threads_of_one_domain_ended) {
  JuggleTeam team(proactive(), {{0}, {0}, {0}, {1}, {1}, {1}, {1}});
  Kernel kernel(team, 7);
  for (int t = 0; t < 13; ++t) kernel.add(0, false);
  kernel.run_until(1);
  ASSERT_THAT(kernel.threads_on(), testing::ElementsAre(2, 2, 2, 2, 2, 2, 1));
  for (PlaceId place = 0; place < 3; ++place)
    kernel.threads.erase(
        std::find_if(kernel.threads.begin(), kernel.threads.end(),
                     [&](const Kernel::Thread& thread) { return thread.place == place; }));
  kernel.run_until(kernel.now_s + 0.001);  // balances once
  const auto on = kernel.threads_on();
  EXPECT_EQ(on[0] + on[1] + on[2], 5u);
  EXPECT_EQ(on[3] + on[4] + on[5] + on[6], 5u);
  EXPECT_THAT(on, Each(Le(2u)));
}

TEST(JuggleTeam, the_least_advanced_thread_of_a_domain_changes_to_a_domain_with_fewer_threads) {
  JuggleTeam team(proactive(), {{0}, {0}, {1}, {1}});
  Kernel kernel(team, 4);
  for (int t = 0; t < 8; ++t)  // each thread sleeps for a different time
    kernel.add(0, false,
               [t](double now_s) { return now_s < 0.7 || now_s > 0.7 + 0.02 * (5 * t % 8); });
  kernel.run_until(1);
  ASSERT_THAT(kernel.threads_on(), Each(2));
  for (PlaceId place = 2; place < 4; ++place)
    kernel.threads.erase(
        std::find_if(kernel.threads.begin(), kernel.threads.end(),
                     [&](const Kernel::Thread& thread) { return thread.place == place; }));
  const auto before = kernel.threads;
  kernel.run_until(kernel.now_s + 0.001);  // balances once
  std::vector<double> stay_s, move_s;
  for (const JuggleMember& member : team.members())
    for (std::size_t t = 0; t < before.size(); ++t)
      if (member.last.key == before[t].key && *before[t].place < 2)
        (*kernel.threads[t].place < 2 ? stay_s : move_s).push_back(member.progress_s);
  ASSERT_EQ(move_s.size(), 1u);
  EXPECT_THAT(stay_s, Each(testing::Gt(move_s[0])));
}

TEST(JuggleTeam, no_thread_changes_domains_if_places_would_then_have_unequal_numbers_of_threads) {
  JuggleTeam team(proactive(), {{0}, {0}, {1}, {1}, {1}});
  Kernel kernel(team, 5);
  for (int t = 0; t < 10; ++t) kernel.add(0, false);
  kernel.run_until(1);
  EXPECT_THAT(kernel.threads_on(), Each(2));
}

TEST(JuggleTeam, threads_stay_in_their_domain) {
  JuggleTeam team(proactive(), {{0, 1}, {0, 1}, {1, 1}, {1, 1}});
  Kernel kernel(team, 4);
  for (int t = 0; t < 6; ++t) kernel.add(0, true);
  kernel.run_until(0.5);
  std::vector<bool> is_left;
  for (const auto& thread : kernel.threads) is_left.push_back(thread.place.value() < 2);
  EXPECT_EQ(std::count(is_left.begin(), is_left.end(), true), 3);
  kernel.run_until(5);
  for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(kernel.threads[t].place.value() < 2, is_left[t]);
  EXPECT_LT(kernel.spread_s(), 0.3);
}

TEST(JuggleTeam, equalises_the_progress_of_threads_on_places_of_unequal_speed) {
  // A fast and a slow place have one thread each. To do equal work, the threads have to swap places
  // again and again.
  JuggleTeam team(proactive(), {{0, 1}, {0, 0.5}});
  Kernel kernel(team, 2);
  kernel.add(0, true);
  kernel.add(1, true);
  kernel.run_until(20);
  const auto members = team.members();
  EXPECT_NEAR(members[0].progress_s, members[1].progress_s, 0.2);
  EXPECT_GT(kernel.orders, 20);
}

TEST(JuggleTeam, equalises_the_work_that_threads_report_if_speeds_of_places_are_unknown) {
  for (const auto& [n, m] : {std::pair{2, 2}, {3, 2}, {8, 7}}) {
    SCOPED_TRACE(testing::Message() << n << " threads on " << m << " places");
    JuggleTeam team(proactive(), places(static_cast<std::uint32_t>(m)));
    Kernel kernel(team, static_cast<std::uint32_t>(m));
    kernel.speed.assign(static_cast<std::size_t>(m), 1);
    kernel.speed.back() = 0.5;
    kernel.counts_work = true;
    for (int t = 0; t < n; ++t) kernel.add(static_cast<PlaceId>(t % m), true);
    kernel.run_until(30);
    const double fair = kWorkPerS * kernel.now_s * (m - 0.5) / n;
    for (const auto& thread : kernel.threads) EXPECT_NEAR(thread.work, fair, 0.02 * fair);
  }
}

TEST(JuggleTeam, equalises_the_work_of_threads_once_the_speeds_of_places_are_known) {
  constexpr double kLearnedS = 5;
  for (const auto& [n, m] : {std::pair{2, 2}, {3, 2}, {8, 7}}) {
    SCOPED_TRACE(testing::Message() << n << " threads on " << m << " places");
    JuggleTeam team(proactive(), places(static_cast<std::uint32_t>(m)));
    Kernel kernel(team, static_cast<std::uint32_t>(m));
    kernel.speed.assign(static_cast<std::size_t>(m), 1);
    kernel.speed.back() = 0.5;
    for (int t = 0; t < n; ++t) kernel.add(static_cast<PlaceId>(t % m), true);
    kernel.run_until(kLearnedS);
    const auto before = kernel.threads;
    team.set_speeds(kernel.speed);
    kernel.run_until(kLearnedS + 30);
    const double fair = kWorkPerS * (kernel.now_s - kLearnedS) * (m - 0.5) / n;
    for (std::size_t t = 0; t < before.size(); ++t)
      EXPECT_NEAR(kernel.threads[t].work - before[t].work, fair, 0.02 * fair);
  }
}

/// Result of watch(): whether the policy `automatic` moved any thread, and whether it balances the
/// threads at the end.
struct Watched {
  bool was_touched = false, is_balancing = false;
};

Watched watch(std::uint32_t num_places, const std::function<void(Kernel&)>& fill,
              double seconds = 10) {
  JuggleTeam team({}, places(num_places));
  Kernel kernel(team, num_places);
  fill(kernel);
  kernel.run_until(seconds);
  return {kernel.orders > 0, team.is_balancing()};
}

TEST(JuggleTeamAuto, balances_threads_that_are_bound_unevenly) {
  const Watched bound = watch(2, [](Kernel& kernel) {
    for (PlaceId home : {0, 0, 1}) kernel.add(home, true);
  });
  EXPECT_TRUE(bound.is_balancing);
  const Watched both_on_one = watch(2, [](Kernel& kernel) {
    for (PlaceId home : {0, 0}) kernel.add(home, true);
  });
  EXPECT_TRUE(both_on_one.is_balancing);
}

TEST(JuggleTeamAuto, does_not_move_threads_that_are_already_in_balance) {
  for (const bool is_bound : {false, true}) {
    const Watched even = watch(2, [&](Kernel& kernel) {
      for (PlaceId home : {0, 1, 0, 1}) kernel.add(home, is_bound);
    });
    EXPECT_FALSE(even.was_touched) << is_bound;
  }
}

TEST(JuggleTeamAuto, balances_bound_threads_if_another_program_uses_a_place) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  kernel.strangers = {0, 1};
  for (PlaceId home : {0, 1}) kernel.add(home, true);
  kernel.run_until(20);
  EXPECT_TRUE(team.is_balancing());
  // The other program takes half of place 1, so the two threads share one and a half places. Until
  // the balancer has detected that program, the thread on place 1 falls behind.
  EXPECT_LT(kernel.spread_s(), 1);
  for (const auto& thread : kernel.threads) EXPECT_NEAR(thread.run_s, 15, 0.6);
  kernel.strangers = {0, 0};
  kernel.run_until(40);
  EXPECT_FALSE(team.is_balancing());
}

TEST(JuggleTeamAuto, balances_bound_threads_once_a_place_is_known_to_be_slow) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  for (PlaceId home : {0, 1}) kernel.add(home, true);
  kernel.run_until(10);
  EXPECT_FALSE(kernel.is_touched());
  EXPECT_GT(std::min(team.wanted(0), team.wanted(1)), 0.9);
  team.set_speeds(std::vector{1.0, 0.5});
  kernel.run_until(20);
  EXPECT_TRUE(team.is_balancing());
}

TEST(JuggleTeamAuto, does_not_move_threads_if_other_programs_use_all_places) {
  const Watched shared = watch(2, [](Kernel& kernel) {
    kernel.strangers = {1, 1};
    for (PlaceId home : {0, 1, 0, 1}) kernel.add(home, true);
  });
  EXPECT_FALSE(shared.was_touched);
}

TEST(JuggleTeamAuto, threads_that_take_turns_sleeping_do_not_make_a_place_look_slow) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  const auto first = [](double now_s) { return std::fmod(now_s, 1) < 0.5; };
  kernel.add(0, true, first);
  kernel.add(0, true, [&](double now_s) { return !first(now_s); });
  for (int t = 0; t < 2; ++t) kernel.add(1, true);
  // Thread 1 sleeps at first, so the balancer learns late that it computes. Until then, three
  // threads share two places.
  kernel.run_until(5);
  kernel.orders = 0;
  kernel.run_until(30);
  EXPECT_EQ(kernel.orders, 0);
}

TEST(JuggleTeamAuto, balances_unbound_threads_if_the_kernel_lets_some_fall_behind) {
  EXPECT_TRUE(watch(2, [](Kernel& kernel) {
                for (PlaceId home : {0, 0, 1}) kernel.add(home, false);
              }).is_balancing);
}

TEST(JuggleTeamAuto,
     leaves_unbound_threads_alone_if_equal_progress_would_gain_less_than_5_percent) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  for (PlaceId t = 0; t < 41; ++t) kernel.add(t % 2, false);  // place 0: 21 threads; 1: 20
  kernel.run_until(20);
  EXPECT_EQ(kernel.orders, 0);
}

TEST(JuggleTeamAuto, leaves_unbound_threads_that_sleep_at_barriers_to_the_kernel) {
  const Watched free = watch(2, [](Kernel& kernel) {
    for (PlaceId home : {0, 0}) kernel.add(home, false);
    kernel.add(1, false, [](double now_s) { return std::fmod(now_s, 1) < 0.5; });
  });
  EXPECT_FALSE(free.was_touched);
}

TEST(JuggleTeamAuto, stops_balancing_bound_threads_with_short_phases) {
  const Watched brief = watch(2, [](Kernel& kernel) {
    for (PlaceId home : {0, 0}) kernel.add(home, true);
    kernel.add(1, true, [](double now_s) { return std::fmod(now_s, 0.01) < 0.005; });
  });
  EXPECT_FALSE(brief.is_balancing);
}

/// Adds two threads on place 0 and one on place 1 that meet at a barrier. The thread on place 1
/// waits for half of each phase.
void add_three_with_phases(Kernel& kernel, double phase_s) {
  for (PlaceId home : {0, 0}) kernel.add(home, true);
  kernel.add(1, true, [phase_s](double now_s) { return std::fmod(now_s, phase_s) < phase_s / 2; });
}

TEST(JuggleTeamAuto, never_moves_bound_threads_with_short_phases) {
  for (const double phase_s : {0.004, 0.01, 0.03, 0.06}) {
    const Watched brief = watch(
        2, [&](Kernel& kernel) { add_three_with_phases(kernel, phase_s); }, 30);
    EXPECT_FALSE(brief.was_touched) << phase_s;
  }
}

TEST(JuggleTeamAuto, never_moves_threads_with_short_phases_after_a_long_serial_part) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  kernel.add(1, true, [](double now_s) { return now_s < 7 || std::fmod(now_s, 0.01) < 0.005; });
  kernel.run_until(7);
  for (PlaceId home : {0, 0}) kernel.add(home, true);
  kernel.run_until(30);
  EXPECT_EQ(team.num_taking_part(), 3u);
  EXPECT_EQ(kernel.orders, 0);
}

TEST(JuggleTeamAuto, begins_within_the_first_second_to_balance_programs_with_long_phases) {
  for (const double phase_s : {0.2, 0.5, 4.0}) {
    JuggleTeam team({}, places(2));
    Kernel kernel(team, 2);
    add_three_with_phases(kernel, phase_s);
    kernel.run_until(1);
    EXPECT_TRUE(team.is_balancing()) << phase_s;
  }
}

TEST(JuggleTeamAuto, balances_programs_whose_long_phases_begin_after_a_long_serial_part) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  kernel.add(1, true);
  kernel.run_until(7);
  EXPECT_FALSE(team.is_balancing());
  for (PlaceId home : {0, 0}) kernel.add(home, true);
  kernel.run_until(8.5);
  EXPECT_TRUE(team.is_balancing());
}

TEST(JuggleTeamAuto, balances_each_of_several_programs_that_run_one_after_another) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  for (PlaceId home : {0, 0, 1}) kernel.add(home, true);
  kernel.run_until(2);
  for (int program = 0; program < 5; ++program) {
    EXPECT_TRUE(team.is_balancing()) << program;
    kernel.threads.clear();
    for (PlaceId home : {0, 0, 1}) kernel.add(home, true);
    kernel.run_until(kernel.now_s + 2);
  }
}

TEST(JuggleTeamAuto, shortens_the_balancing_period_if_the_phases_of_the_program_are_short) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  const auto phase = [](double now_s) { return std::fmod(now_s, 0.25) < 0.13; };
  for (PlaceId home : {0, 0}) kernel.add(home, true, phase);
  kernel.add(1, true, phase);
  kernel.run_until(10);
  EXPECT_TRUE(team.is_balancing());
  EXPECT_LT(team.period_s(), 0.09);
  EXPECT_GE(team.period_s(), 0.02);
}

TEST(JuggleTeamAuto, stops_balancing_when_threads_are_created_at_a_high_rate) {
  JuggleTeam team({}, places(2));
  Kernel kernel(team, 2);
  for (PlaceId home : {0, 0, 1}) kernel.add(home, true);
  kernel.run_until(2);
  EXPECT_TRUE(team.is_balancing());
  for (int round = 1; round <= 60; ++round) {
    for (int i = 0; i < 5; ++i) kernel.add(0, true, [](double) { return false; });
    kernel.run_until(2 + 0.1 * round);
    kernel.threads.resize(3);
  }
  EXPECT_FALSE(team.is_balancing());
}

/// A team, and the readings of its threads, which the test sets. The keys are 1, 2 and so on.
struct Rounds {
  Rounds(const JuggleSettings& settings, std::vector<JugglePlace> its_places, std::size_t threads)
      : team(settings, std::move(its_places)), readings(threads) {
    for (std::size_t i = 0; i < threads; ++i) readings[i].key = i + 1;
  }
  /// Balances after real_s seconds, in which each thread ran and waited for the given times.
  std::vector<JuggleOrder> round(double real_s, const std::vector<double>& run_s,
                                 const std::vector<double>& wait_s = {}) {
    if (now_s == 0) team.balance(readings, now_s);
    for (std::size_t i = 0; i < run_s.size(); ++i) readings[i].run_s += run_s[i];
    for (std::size_t i = 0; i < wait_s.size(); ++i) readings[i].wait_s += wait_s[i];
    return team.balance(readings, now_s += real_s);
  }
  /// Balances after real_s seconds, in which each place was shared with another program. Thread i
  /// starts on place i.
  std::vector<JuggleOrder> shared_round(double real_s, const std::vector<double>& share_of_place) {
    std::vector<double> run_s, wait_s;
    for (std::size_t i = 0; i < readings.size(); ++i) {
      const auto place = i < team.members().size() ? team.members()[i].place : std::nullopt;
      run_s.push_back(real_s * share_of_place[place.value_or(i)]);
      wait_s.push_back(real_s - run_s.back());
    }
    return round(real_s, run_s, wait_s);
  }
  std::vector<bool> take_part() const {
    std::vector<bool> take;
    for (const JuggleMember& member : team.members()) take.push_back(member.takes_part);
    return take;
  }

  JuggleTeam team;
  std::vector<ThreadReading> readings;
  double now_s = 0;
};

const JuggleSettings kOff = {.policy = JugglePolicy::off};

TEST(JuggleTeam,
     a_thread_joins_the_team_after_it_ran_for_5_or_waited_for_50_percent_of_each_of_two_rounds) {
  Rounds rounds(kOff, places(2), 4);
  const auto round = [&] {
    rounds.round(0.02, {0.0009, 0.0011, 0, 0}, {0, 0, 0.0101, 0.0099});
    return rounds.take_part();
  };
  EXPECT_EQ(round(), std::vector(4, false));
  EXPECT_EQ(round(), (std::vector{false, true, true, false}));
  EXPECT_EQ(round(), (std::vector{false, true, true, false}));
  EXPECT_EQ(rounds.team.num_taking_part(), 2u);
}

TEST(JuggleTeam,
     after_five_rounds_of_sleep_the_busy_rounds_of_a_thread_are_counted_from_zero_again) {
  for (const auto& [quiet, waited_s, takes_part] :
       {std::tuple{4, 0.0, true}, {5, 0.0, false}, {5, 0.05, true}, {5, 0.03, false}}) {
    Rounds rounds(kOff, places(1), 1);
    rounds.round(0.02, {0.01});
    for (int i = 0; i < quiet; ++i) rounds.round(0.02, {0});
    rounds.round(0.02, {0.015}, {waited_s});
    EXPECT_EQ(rounds.team.num_taking_part() == 1, takes_part) << quiet << ", " << waited_s;
    rounds.round(0.02, {0.01});
    EXPECT_EQ(rounds.team.num_taking_part(), 1u);
  }
}

// The sleep after which a thread is left out: five times its run time, but at least 300 ms plus 8
// ms times the number of threads per place, and at most 10 s.
TEST(JuggleTeam, a_thread_is_left_out_only_after_it_has_slept_for_five_times_its_run_time) {
  for (const auto& [num_threads, num_places, run_s, least_s] : {std::tuple{2, 1, 0.06, 0.316},
                                                                {8, 1, 0.06, 0.364},
                                                                {8, 4, 0.07, 0.35},
                                                                {2, 1, 0.1, 0.5},
                                                                {2, 1, 1.9, 9.5},
                                                                {2, 1, 3.0, 10.0}}) {
    SCOPED_TRACE(testing::Message() << num_threads << " threads that ran for " << run_s << " s");
    Rounds rounds(kOff, places(static_cast<std::uint32_t>(num_places)),
                  static_cast<std::size_t>(num_threads));
    for (ThreadReading& reading : rounds.readings) reading.run_s = run_s - 0.06;
    std::vector<double> gained_s(rounds.readings.size(), 0.03);
    for (int i = 0; i < 2; ++i) rounds.round(0.03, gained_s);
    ASSERT_EQ(rounds.team.num_taking_part(), gained_s.size());
    gained_s[1] = 0;
    const double busy_s = rounds.now_s;
    while (rounds.team.num_taking_part() == gained_s.size() && rounds.now_s < 20)
      rounds.round(0.03, gained_s);
    EXPECT_FALSE(rounds.team.members()[1].takes_part);
    EXPECT_GT(rounds.now_s - busy_s, least_s - 1e-6);
    EXPECT_LE(rounds.now_s - busy_s, least_s + 0.03 + 1e-6);
    EXPECT_NEAR(rounds.team.members()[1].run_at_leave_s, run_s, 1e-9);
    gained_s[1] = 0.03;
    for (int i = 0; i < 2; ++i) rounds.round(0.03, gained_s);
    EXPECT_EQ(rounds.team.num_taking_part(), gained_s.size()) << "it takes part again";
    EXPECT_NEAR(rounds.team.members()[1].run_apart_s, run_s - 0.06 + 2 * 0.03 + 0.06, 1e-9)
        << "before it first took part, and since it was left out";
  }
}

TEST(JuggleTeam, a_thread_that_was_left_out_takes_part_again_after_two_busy_rounds) {
  Rounds rounds(kOff, places(1), 1);
  const auto takes_part_after = [&](double gained_s) {
    rounds.round(0.2, {gained_s});
    return rounds.team.num_taking_part() == 1;
  };
  EXPECT_FALSE(takes_part_after(0.012));
  EXPECT_TRUE(takes_part_after(0.012));
  EXPECT_TRUE(takes_part_after(0));
  EXPECT_FALSE(takes_part_after(0)) << "it slept for 400 ms";
  EXPECT_FALSE(takes_part_after(0.012));
  EXPECT_TRUE(takes_part_after(0.012));
}

TEST(JuggleTeam, progress_is_run_time_weighted_by_the_speed_of_the_place) {
  Rounds rounds(proactive(), {{0, 1}, {0, 0.5}}, 2);
  for (int i = 0; i < 2; ++i) rounds.round(0.02, {0.02, 0.01});
  EXPECT_NEAR(rounds.team.average_progress_s(), 0.03, 1e-12) << "no place yet";
  rounds.round(0.02, {0.02, 0.02});
  const auto members = rounds.team.members();
  EXPECT_NEAR(members[0].progress_s, 0.06, 1e-12);
  EXPECT_NEAR(members[1].progress_s, 0.03, 1e-12);
  rounds.team.set_speeds(std::vector{0.25, 1.0});
  rounds.round(0.02, {0.02, 0.01});
  EXPECT_NEAR(members[0].progress_s, 0.065, 1e-12);
  EXPECT_NEAR(members[1].progress_s, 0.04, 1e-12);
  EXPECT_NEAR(rounds.team.average_progress_s(), 0.0525, 1e-12);
  EXPECT_NEAR(members[1].worked_s, 0.04, 1e-12);
}

TEST(JuggleTeam,
     progress_is_the_work_that_a_thread_counts_divided_by_the_mean_rate_of_all_threads) {
  Rounds rounds(kOff, places(2), 3);
  for (ThreadReading& reading : rounds.readings) reading.work = 500;
  rounds.readings[2].work.reset();
  rounds.round(0.02, {0.02, 0.02, 0.01});
  const auto progress_s = [&](std::size_t i) { return rounds.team.members()[i].progress_s; };
  EXPECT_NEAR(progress_s(0), 0.02, 1e-12) << "the rate is not known before any work is done";
  *rounds.readings[0].work += 60;
  *rounds.readings[1].work += 20;
  rounds.round(0.02, {0.02, 0.02, 0.01});
  EXPECT_NEAR(progress_s(0), 0.02 + 60 / 2000.0, 1e-12);
  EXPECT_NEAR(progress_s(1), 0.02 + 20 / 2000.0, 1e-12);
  EXPECT_NEAR(progress_s(2), 0.02, 1e-12);
  *rounds.readings[0].work += 100;
  *rounds.readings[1].work += 60;
  rounds.round(0.02, {0.02, 0.02, 0.01});
  const double rate = 2000 + (4000 - 2000) / 8.0;
  EXPECT_NEAR(progress_s(0), 0.05 + 100 / rate, 1e-12);
  EXPECT_NEAR(progress_s(1), 0.03 + 60 / rate, 1e-12);
}

TEST(JuggleTeam,
     when_balancing_begins_the_progress_of_threads_is_limited_to_20_periods_around_the_mean) {
  Rounds rounds(proactive(), places(2), 3);
  rounds.round(0.02, {0, 0, 0});
  rounds.round(60, {50, 10, 28});  // too long for a round: no thread joins the team
  EXPECT_EQ(rounds.team.num_taking_part(), 0u);
  for (int i = 0; i < 2; ++i) rounds.round(0.02, {0.02, 0.02, 0.02});
  ASSERT_TRUE(rounds.team.is_balancing());
  const auto members = rounds.team.members();
  const double average_s = (50 + 10 + 28) / 3.0 + 0.04;
  EXPECT_NEAR(members[0].progress_s, average_s + 2, 1e-9);
  EXPECT_NEAR(members[1].progress_s, average_s - 2, 1e-9);
  EXPECT_NEAR(members[2].progress_s, 28.04, 1e-9);
}

TEST(JuggleTeam, a_thread_that_joins_gets_the_mean_progress_of_the_others_and_the_emptiest_place) {
  Rounds rounds({.policy = JugglePolicy::proactive, .period_s = 10}, places(3), 5);
  for (int i = 0; i < 3; ++i) rounds.round(0.02, {0.02, 0.012, 0.01, 0.008, 0.006});
  rounds.readings.push_back({.key = 6, .run_s = 7});
  rounds.round(0.02, {0.02, 0.012, 0.01, 0.008, 0.006});
  rounds.round(0.02, {0.02, 0.012, 0.01, 0.008, 0.006, 0.01});
  EXPECT_EQ(rounds.team.num_taking_part(), 5u);
  const auto orders = rounds.round(0.02, {0.02, 0.012, 0.01, 0.008, 0.006, 0.01});
  EXPECT_EQ(orders, (std::vector<JuggleOrder>{{6, 2}}));
  EXPECT_EQ(rounds.team.num_taking_part(), 6u);
  EXPECT_NEAR(rounds.team.members()[5].progress_s, 6 * 0.056 / 5, 1e-9);
  EXPECT_NEAR(rounds.team.members()[5].run_apart_s, 7.02, 1e-9);
  EXPECT_EQ(rounds.team.members()[5].migrations, 1u);
  EXPECT_EQ(rounds.team.members()[0].migrations, 1u);
}

TEST(JuggleTeam,
     places_threads_in_order_of_progress_and_does_so_again_when_the_set_of_places_changes) {
  Rounds rounds(proactive(), places(2), 3);
  rounds.round(0.02, {0, 0, 0});
  rounds.round(9, {0.3, 0.1, 0.2});
  EXPECT_TRUE(rounds.round(0.02, {0.02, 0.02, 0.02}).empty());
  const std::vector<JuggleOrder> dealt = {{2, 1}, {3, 0}, {1, 0}};
  EXPECT_EQ(rounds.round(0.02, {0.02, 0.02, 0.02}), dealt);
  EXPECT_TRUE(rounds.round(0.02, {0.02, 0.02, 0.02}).empty());
  rounds.team.set_places(places(2));
  EXPECT_EQ(rounds.round(0.02, {0.02, 0.02, 0.02}), dealt);
  EXPECT_EQ(rounds.team.members()[1].migrations, 2u);
  rounds.team.leave_alone(3);
  rounds.team.leave_alone(1);
  rounds.team.leave_alone(2);
  rounds.team.leave_alone(1);
  const std::vector<JuggleOrder> freed = {{2}, {3}, {1}};
  EXPECT_EQ(rounds.round(0.02, {0.02, 0.02, 0.02}), freed);
  EXPECT_EQ(rounds.team.num_taking_part(), 0u);
  EXPECT_EQ(rounds.team.average_progress_s(), 0);
}

TEST(JuggleTeam, the_next_balancing_point_comes_after_20_ms_while_threads_are_being_watched) {
  JuggleSettings settings{.policy = JugglePolicy::off, .period_s = 0.3};
  EXPECT_EQ(JuggleTeam(settings, places(1)).next_s(), 0.3);
  EXPECT_EQ(JuggleTeam({.policy = JugglePolicy::off, .period_s = 60}, places(1)).next_s(), 1);
  settings.policy = JugglePolicy::proactive;
  Rounds rounds(settings, places(1), 1);  // a single thread is not balanced
  EXPECT_EQ(rounds.team.next_s(), 0.02);
  while (rounds.now_s < 0.97) {
    rounds.round(0.02, {0.02});
    EXPECT_EQ(rounds.team.next_s(), 0.02) << rounds.now_s;
  }
  for (int i = 0; i < 2; ++i) rounds.round(0.02, {0.02});
  EXPECT_EQ(rounds.team.next_s(), 0.3);
}

TEST(JuggleTeam, threads_are_measured_every_second_in_a_long_period_but_move_only_at_its_end) {
  JuggleTeam team({.policy = JugglePolicy::proactive, .period_s = 60}, places(2));
  Kernel kernel(team, 2);
  for (int thread = 0; thread < 3; ++thread) kernel.add(0, false);
  kernel.run_until(55);
  EXPECT_EQ(team.next_s(), 1);
  EXPECT_EQ(kernel.orders, 3) << "the first places";
  kernel.run_until(65);
  EXPECT_EQ(kernel.orders, 5) << "two threads have changed places";
}

TEST(JuggleTeam, a_reactive_policy_looks_for_waiting_threads_five_times_per_period) {
  for (const auto& [period_s, next_s] :
       {std::pair{0.3, 0.06}, {0.1, 0.02}, {0.05, 0.02}, {0.01, 0.01}})
    for (const JugglePolicy policy : {JugglePolicy::reactive, JugglePolicy::proactive}) {
      Rounds rounds({.policy = policy, .period_s = period_s}, places(2), 2);
      const double round_s = rounds.team.next_s();
      for (int i = 0; i < 2; ++i) rounds.round(round_s, {round_s, round_s});
      ASSERT_TRUE(rounds.team.is_balancing());
      EXPECT_DOUBLE_EQ(rounds.team.next_s(), policy == JugglePolicy::reactive ? next_s : period_s);
    }
}

TEST(JuggleTeam,
     a_reactive_policy_moves_a_thread_to_a_place_whose_thread_is_ready_less_than_half_the_time) {
  for (const double ready : {0.45, 0.55}) {
    Rounds rounds({.policy = JugglePolicy::reactive}, places(2), 3);
    for (int i = 0; i < 2; ++i) rounds.round(0.02, {0.01, 0.02, 0.009}, {0.01, 0, 0.01});
    const auto orders =
        rounds.round(0.02, {0.01, 0.2 * 0.02, 0.01}, {0.01, (ready - 0.2) * 0.02, 0.01});
    if (ready < 0.5)
      EXPECT_EQ(orders, (std::vector<JuggleOrder>{{3, 1}}));
    else
      EXPECT_TRUE(orders.empty());
  }
}

// The thread on place 0 runs for 60% of the time. The first orders give each thread a place.
TEST(JuggleTeam,
     threads_swap_places_at_the_end_of_a_round_if_three_quarters_of_the_period_have_passed) {
  Rounds rounds(proactive(), places(2), 2);
  std::vector<int> moved;
  for (int round = 1; round <= 13; ++round)
    if (!rounds.shared_round(0.02, {0.6, 1}).empty()) moved.push_back(round);
  EXPECT_THAT(moved, testing::ElementsAre(2, 5, 13));
  EXPECT_EQ(rounds.team.members()[0].migrations, 3u);
  EXPECT_NEAR(rounds.team.members()[0].progress_s, 0.06 + 0.16, 1e-12);
  EXPECT_NEAR(rounds.team.members()[1].progress_s, 0.1 + 0.6 * 0.16, 1e-12);
}

TEST(JuggleTeam, differences_of_place_speeds_below_a_tenth_of_the_mean_count_as_noise) {
  for (const double share : {0.79, 0.85}) {
    Rounds rounds(proactive(), places(2), 2);
    int swaps = -1;  // does not count the first orders, which only give each thread a place
    for (int round = 1; round <= 40; ++round)
      swaps += !rounds.shared_round(0.02, {share, 1}).empty();
    EXPECT_EQ(swaps > 0, share < 0.8) << share;
  }
}

// In the first three rounds, place 1 is slow; in the last two, place 0 is.
TEST(JuggleTeam, a_period_of_two_ticks_has_half_the_usual_weight_in_the_mean_speed_of_a_place) {
  Rounds rounds({.policy = JugglePolicy::proactive, .period_s = 0.01}, places(2), 2);
  for (const auto& [share, moves] : {std::pair{std::vector<double>{1, 0.5}, false},
                                     {{1, 0.5}, true},
                                     {{1, 0.5}, true},
                                     {{0.1, 1}, false},
                                     {{0.1, 1}, true}})
    EXPECT_EQ(rounds.shared_round(0.01, share).size(), moves ? 2u : 0u) << rounds.now_s;
}

TEST(JuggleTeam, a_reactive_policy_does_not_count_a_thread_that_has_just_yielded_as_ready) {
  for (const auto& [shares, since_yield_s, moves] : {std::tuple{true, 0.0079, true},
                                                     {true, 0.0081, false},
                                                     {false, 0.00019, true},
                                                     {false, 0.00021, false}}) {
    Rounds rounds({.policy = JugglePolicy::reactive}, places(2), shares ? 5u : 3u);
    for (ThreadReading& reading : rounds.readings) reading.waits = WaitReport();
    const std::vector<double> half(rounds.readings.size(), 0.01);
    for (int i = 0; i < 3; ++i) rounds.round(0.02, half, half);
    // Thread 2 is on place 1. If `shares` is true, thread 4 is there, too.
    std::vector<JuggleTeam::Wait> waits{{2, {.since_yield_s = since_yield_s}}};
    if (shares) waits.push_back({4, {.since_yield_s = since_yield_s}});
    EXPECT_EQ(!rounds.team.react_to(waits).empty(), moves) << shares << ", " << since_yield_s;
  }
}

TEST(JuggleTeam, every_policy_has_a_name) {
  for (const auto* name : {"auto", "proactive", "reactive", "hybrid", "off"})
    EXPECT_EQ(name_of(juggle_policy_named(name)), name);
  EXPECT_THROW(juggle_policy_named("proactiv"), Error);
}

TEST(JuggleStance, each_pause_in_balancing_is_at_least_as_long_as_the_previous_one) {
  JuggleStance stance(0.1);
  const JuggleSigns good{.is_uneven = true, .is_bound = true, .phase_s = 1}, bad{.phase_s = 1};
  double now_s = 0;
  std::vector<double> rests_s;
  for (int change = 0; change < 9; ++change) {
    while (stance.next(good, now_s) == JuggleAction::leave) now_s += 0.125;
    stance.next(bad, now_s);
    const double down_s = now_s;
    while (stance.next(good, now_s) == JuggleAction::leave) now_s += 0.125;
    rests_s.push_back(now_s - down_s);
    stance.next(bad, now_s);
  }
  EXPECT_EQ(rests_s.front(), 1);
  EXPECT_TRUE(std::is_sorted(rests_s.begin(), rests_s.end()));
  EXPECT_EQ(rests_s.back(), 64);
}

TEST(JuggleStance, does_nothing_while_the_length_of_phases_is_unknown) {
  JuggleStance stance(0.1);
  EXPECT_EQ(stance.next({.is_uneven = true, .is_bound = true}, 0), JuggleAction::leave);
  EXPECT_EQ(stance.next({.is_uneven = true, .is_bound = true, .phase_s = 1}, 0),
            JuggleAction::rotate);
}

TEST(JuggleStance, the_balancing_period_is_a_fifth_of_a_program_phase_but_within_given_limits) {
  EXPECT_DOUBLE_EQ(period_for(1, 0.1), 0.1);
  EXPECT_DOUBLE_EQ(period_for(0.25, 0.1), 0.05);
  EXPECT_DOUBLE_EQ(period_for(0.01, 0.1), 0.005);
  EXPECT_DOUBLE_EQ(phase_length_s(5), 0.4);
  EXPECT_GT(phase_length_s(0), 1e6);
}

}  // namespace
}  // namespace poise
