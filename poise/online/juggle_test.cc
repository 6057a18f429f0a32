// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle.h"

#include <gmock/gmock.h>

#include "tests/support/seeds.h"

#include "poise/base/clock.h"
#include "poise/base/random.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Juggle, moves_the_thread_with_the_least_progress_to_the_fast_place) {
  // Figure 1 of the Juggle paper: threads 0 and 1 share place 0, and thread 2 has place 1 to
  // itself.
  const double progress_s[] = {0.5, 0.5, 1};
  const PlaceId place_of[] = {0, 0, 1};
  const double speed[] = {0.5, 1};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 1e-9), ElementsAre(Swap{0, 2}));
}

TEST(Juggle, moves_no_thread_if_all_have_made_the_same_progress) {
  const double progress_s[] = {1, 1, 1};
  const PlaceId place_of[] = {0, 0, 1};
  const double speed[] = {0.5, 1};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 1e-9), IsEmpty());
}

TEST(Juggle, swaps_two_threads_only_if_their_progress_differs_by_more_than_the_margin) {
  const double progress_s[] = {0.5, 0.5, 0.8};
  const PlaceId place_of[] = {0, 0, 1};
  const double speed[] = {0.5, 1};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 0.1), ElementsAre(Swap{0, 2}));
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 0.3), IsEmpty());
}

TEST(Juggle, the_slow_place_whose_threads_have_the_least_progress_is_the_first_to_swap_a_thread) {
  // The example in section 2.3 of the Juggle paper: only place 2 is fast. One thread of place 0 and
  // both threads of place 1 have made less progress than the average.
  const double progress_s[] = {3, 1, 1, 1, 3};
  const PlaceId place_of[] = {0, 0, 1, 1, 2};
  const double speed[] = {0.5, 0.5, 1};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 0), ElementsAre(Swap{2, 4}));
}

TEST(Juggle, swaps_one_thread_of_each_place_before_a_second_thread_of_any_place) {
  const double progress_s[] = {1, 1, 2, 2, 9, 9, 8, 8};
  const PlaceId place_of[] = {0, 0, 1, 1, 2, 2, 3, 3};
  const double speed[] = {1, 1, 2, 2};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 0),
              ElementsAre(Swap{0, 5}, Swap{2, 7}, Swap{1, 4}, Swap{3, 6}));
}

TEST(Juggle, keeps_threads_in_their_domain) {
  const double progress_s[] = {0, 0, 9, 9};
  const PlaceId place_of[] = {0, 0, 1, 2};
  const double speed[] = {1, 1, 2};
  const DomainId apart[] = {0, 1, 1}, together[] = {0, 0, 0};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed, apart}, 0), IsEmpty());
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed, together}, 0), ElementsAre(Swap{0, 3}));
}

TEST(Juggle, speeds_that_differ_only_by_rounding_count_as_equal_in_each_domain) {
  const double progress_s[] = {1, 2, 1, 2};
  const PlaceId place_of[] = {0, 1, 2, 3};
  const DomainId domain_of[] = {0, 0, 1, 1};
  const double more = 1 + 1e-15;
  const std::vector<double> rounded{0.3, 0.3 * more, 0.7, 0.7 * more}, faster{0.3, 0.31, 0.7, 0.7};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, rounded, domain_of}, 0), IsEmpty());
  EXPECT_THAT(juggle_swaps({progress_s, place_of, faster, domain_of}, 0), ElementsAre(Swap{0, 1}));
}

TEST(Juggle, takes_little_time_even_if_one_of_many_places_has_all_threads_but_one) {
  const std::vector<double> progress_s(200'000, 1);
  std::vector<PlaceId> place_of(progress_s.size(), 0);
  place_of.back() = 1;
  std::vector<double> speed(32'768, 1);
  speed[1] = 2;
  const double start_s = thread_cpu_now_s();
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 0), IsEmpty());
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 1), IsEmpty());
  EXPECT_LT(thread_cpu_now_s() - start_s, 2);
}

TEST(Juggle, ignores_places_without_threads) {
  const double progress_s[] = {0.5, 0.5, 1};
  const PlaceId place_of[] = {0, 0, 2};
  const double speed[] = {0.5, 0, 1};
  EXPECT_THAT(juggle_swaps({progress_s, place_of, speed}, 0), ElementsAre(Swap{0, 2}));
}

TEST(Juggle,
     swaps_each_thread_at_most_once_and_always_a_thread_behind_the_mean_with_one_ahead_of_it) {
  for (std::uint64_t seed = 0; seed < num_seeds(500); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto num_places = static_cast<PlaceId>(1 + random.below(9));
    const auto num_threads = static_cast<ThreadId>(random.below(40));
    const auto num_domains = 1 + random.below(num_places);
    std::vector<double> progress_s, speed;
    std::vector<PlaceId> place_of;
    std::vector<DomainId> domain_of;
    for (ThreadId t = 0; t < num_threads; ++t) {
      progress_s.push_back(static_cast<double>(random.below(5)));
      place_of.push_back(static_cast<PlaceId>(random.below(num_places)));
    }
    for (PlaceId p = 0; p < num_places; ++p) {
      speed.push_back(static_cast<double>(random.below(4)));
      domain_of.push_back(static_cast<DomainId>(p < num_domains ? p : random.below(num_domains)));
    }

    // A literal implementation of the rules in sections 2.2 and 2.3 of the paper (Hofmeyr et al.,
    // HPDC 2011).
    const auto mean = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values) sum += value;
      return sum / static_cast<double>(values.size());
    };
    std::vector<std::size_t> waiting(num_domains, 0), slots(num_domains, 0);
    std::vector<bool> may_rise(num_threads), may_fall(num_threads);
    for (ThreadId t = 0; t < num_threads; ++t) {
      const DomainId d = domain_of[place_of[t]];
      std::vector<double> peers, speeds;
      for (ThreadId u = 0; u < num_threads; ++u)
        if (domain_of[place_of[u]] == d) peers.push_back(progress_s[u]);
      for (PlaceId p = 0; p < num_places; ++p)
        if (domain_of[p] == d && std::count(place_of.begin(), place_of.end(), p) > 0)
          speeds.push_back(speed[p]);
      const bool behind = progress_s[t]<mean(peers), fast = speed[place_of[t]]> mean(speeds);
      may_rise[t] = behind && !fast;
      may_fall[t] = !behind && fast;
      waiting[d] += may_rise[t];
      slots[d] += may_fall[t];
    }

    std::vector<bool> moved(num_threads, false);
    std::vector<std::size_t> swapped(num_domains, 0);
    for (const Swap& swap : juggle_swaps({progress_s, place_of, speed, domain_of}, 0)) {
      EXPECT_TRUE(may_rise[swap.behind] && may_fall[swap.ahead]);
      EXPECT_EQ(domain_of[place_of[swap.behind]], domain_of[place_of[swap.ahead]]);
      EXPECT_FALSE(moved[swap.behind] || moved[swap.ahead]);
      moved[swap.behind] = moved[swap.ahead] = true;
      ++swapped[domain_of[place_of[swap.behind]]];
    }
    for (std::size_t d = 0; d < num_domains; ++d)
      EXPECT_EQ(swapped[d], std::min(waiting[d], slots[d]));
  }
}

TEST(Juggle, computes_the_speed_of_a_place_as_mean_progress_per_busy_time) {
  EXPECT_DOUBLE_EQ(measured_speed(1, 2, 1, 0), 0.5);
  EXPECT_DOUBLE_EQ(measured_speed(0.25, 1, 1, 0.75), 1);  // Juggle paper, section 2.1
  EXPECT_DOUBLE_EQ(measured_speed(0, 2, 1, 1), 1);        // both threads are blocked
  EXPECT_DOUBLE_EQ(measured_speed(0, 2, 1, 0), 0);        // another program uses the place
  EXPECT_DOUBLE_EQ(measured_speed(0, 0, 1, 1), 0);
  EXPECT_DOUBLE_EQ(measured_speed(0.25, 1, 1, 2), 1);
}

TEST(Juggle, the_most_crowded_domain_determines_the_number_of_threads_per_place) {
  // Section 4.1 of the Juggle paper: on 7 places, a phase of 8 threads takes 8/7 of the time for
  // which each thread computes. On two domains of 4 and of 3 places, it takes 4/3 of this time.
  EXPECT_DOUBLE_EQ(threads_per_place(8, std::vector<DomainId>(7, 0)), 8.0 / 7);
  EXPECT_DOUBLE_EQ(threads_per_place(8, std::vector<DomainId>{0, 0, 0, 0, 1, 1, 1}), 4.0 / 3);
  EXPECT_DOUBLE_EQ(threads_per_place(3, std::vector<DomainId>{0, 1, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(threads_per_place(3, std::vector<DomainId>{0, 0, 0, 0}), 0.75);
}

TEST(Juggle, distributes_threads_evenly_over_places_and_domains) {
  const DomainId four_and_three[] = {0, 0, 0, 0, 1, 1, 1};
  const auto places = deal_threads(8, four_and_three);
  EXPECT_THAT(places, ElementsAre(0, 1, 2, 3, 4, 5, 6, 4));
  for (std::uint32_t n = 0; n < 40; ++n)
    for (std::uint32_t domains = 1; domains <= 7; ++domains) {
      SCOPED_TRACE(testing::Message() << n << " threads over " << domains << " domains");
      std::vector<DomainId> domain_of;
      for (PlaceId p = 0; p < 7; ++p) domain_of.push_back(p * domains / 7);
      std::vector<std::uint32_t> of_place(7, 0), of_domain(domains, 0);
      for (const PlaceId p : deal_threads(n, domain_of)) {
        ++of_place[p];
        ++of_domain[domain_of[p]];
      }
      const auto [least, most] = std::minmax_element(of_place.begin(), of_place.end());
      EXPECT_LE(*most - *least, 1u);
      // If place p has more threads than place q, the domain of p has at most one thread more than
      // the domain of q.
      for (PlaceId p = 0; p < 7; ++p)
        for (PlaceId q = 0; q < 7; ++q) {
          if (of_place[p] <= of_place[q]) continue;
          EXPECT_LE(of_domain[domain_of[p]], of_domain[domain_of[q]] + 1);
        }
    }
}

/// Returns the swaps that follow from the rules of juggle_swaps(). Every place must have threads,
/// and no two threads may have the same progress.
std::vector<Swap> expected_swaps(const JuggleView& view, DomainId num_domains, double margin_s) {
  std::vector<Swap> swaps;
  for (DomainId d = 0; d < num_domains; ++d) {
    double sum_s = 0, threads = 0, speeds = 0, places = 0;
    for (PlaceId p = 0; p < view.speed.size(); ++p) {
      if (view.domain_of[p] != d) continue;
      speeds += view.speed[p];
      ++places;
    }
    for (ThreadId t = 0; t < view.place_of.size(); ++t) {
      if (view.domain_of[view.place_of[t]] != d) continue;
      sum_s += view.progress_s[t];
      ++threads;
    }
    // Each candidate: its turn among the candidates of its place, the mean progress of this place
    // (negated for fast places, so that the largest comes first), and the thread.
    using Candidate = std::tuple<std::size_t, double, ThreadId>;
    std::vector<Candidate> behind, ahead;
    for (PlaceId p = 0; p < view.speed.size(); ++p) {
      if (view.domain_of[p] != d) continue;
      const bool is_fast = view.speed[p] > speeds / places;
      std::vector<std::pair<double, ThreadId>> of_place;
      double of_place_s = 0, num_threads = 0;
      for (ThreadId t = 0; t < view.place_of.size(); ++t) {
        if (view.place_of[t] != p) continue;
        of_place_s += view.progress_s[t];
        ++num_threads;
        const bool is_behind = view.progress_s[t] < sum_s / threads + margin_s;
        if (is_behind != is_fast) of_place.emplace_back(view.progress_s[t] * (is_fast ? -1 : 1), t);
      }
      std::sort(of_place.begin(), of_place.end());
      const double order = of_place_s / num_threads * (is_fast ? -1 : 1);
      for (std::size_t turn = 0; turn < of_place.size(); ++turn)
        (is_fast ? ahead : behind).emplace_back(turn, order, of_place[turn].second);
    }
    std::sort(behind.begin(), behind.end());
    std::sort(ahead.begin(), ahead.end());
    for (std::size_t i = 0; i < std::min(behind.size(), ahead.size()); ++i)
      swaps.push_back({std::get<2>(behind[i]), std::get<2>(ahead[i])});
  }
  return swaps;
}

TEST(Juggle, makes_the_swaps_that_the_rules_of_the_juggle_paper_give_in_random_cases) {
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto num_domains = static_cast<DomainId>(1 + random.below(3));
    const auto num_places = static_cast<PlaceId>(num_domains + random.below(8));
    const auto num_threads = static_cast<ThreadId>(num_places + random.below(20));
    std::vector<double> progress_s, speed;
    std::vector<PlaceId> place_of;
    std::vector<DomainId> domain_of;
    for (ThreadId t = 0; t < num_threads; ++t) {
      progress_s.push_back(random.uniform());
      place_of.push_back(t < num_places ? t : static_cast<PlaceId>(random.below(num_places)));
    }
    for (PlaceId p = 0; p < num_places; ++p) {
      speed.push_back(random.uniform());
      domain_of.push_back(p < num_domains ? p : static_cast<DomainId>(random.below(num_domains)));
    }
    const JuggleView view{progress_s, place_of, speed, domain_of};
    const double margin_s = random.below(2) ? 0 : random.uniform(0, 0.3);
    EXPECT_EQ(juggle_swaps(view, margin_s), expected_swaps(view, num_domains, margin_s));
  }
}

TEST(Juggle, a_measured_speed_never_exceeds_the_number_of_seconds_in_the_period) {
  EXPECT_DOUBLE_EQ(measured_speed(3, 2, 5, 1), 1.5 * 5 / 4);
  EXPECT_EQ(measured_speed(8, 2, 5, 1), 5);
  EXPECT_EQ(measured_speed(0.5, 2, 5, 5), 5);
  EXPECT_EQ(measured_speed(0, 2, 5, 3), 3);
  EXPECT_EQ(measured_speed(0, 2, 5, 7), 5);
  EXPECT_EQ(measured_speed(0, 0, 5, 3), 0);
  EXPECT_DOUBLE_EQ(measured_speed(1.5, 1, 5, 3), 1.5 * 5 / 2);
}

TEST(Juggle, speeds_that_hardly_differ_from_the_mean_are_set_to_the_mean) {
  std::vector<double> speed{0.75, 1.1875, 1.0625, 0, 1};
  remove_noise(speed, 0.1);  // the speed 0 is ignored; the mean of the others is 1
  EXPECT_THAT(speed, ElementsAre(0.75, 1.1875, 1, 0, 1));
  speed = {0.75, 1.1875, 1.0625, 0, 1};
  remove_noise(speed, 0.19);
  EXPECT_THAT(speed, ElementsAre(0.75, 1, 1, 0, 1));
  speed = {2, 6};  // the mean is 4, so both differ from it by 50 %
  remove_noise(speed, 0.51);
  EXPECT_THAT(speed, ElementsAre(4, 4));
  speed = {2, 6};
  remove_noise(speed, 0.49);
  EXPECT_THAT(speed, ElementsAre(2, 6));
}

TEST(Juggle, the_number_of_threads_per_place_is_the_maximum_over_the_domains) {
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<DomainId> domain_of;
    for (std::uint64_t p = 0; p < 1 + random.below(9); ++p)
      domain_of.push_back(static_cast<DomainId>(random.below(4)));
    const auto num_threads = static_cast<std::uint32_t>(random.below(30));
    const auto place_of = deal_threads(num_threads, domain_of);
    double most = 1.0 * num_threads / static_cast<double>(domain_of.size());
    for (DomainId d = 0; d < 4; ++d) {
      const auto places = std::count(domain_of.begin(), domain_of.end(), d);
      const auto threads = std::count_if(place_of.begin(), place_of.end(),
                                         [&](PlaceId p) { return domain_of[p] == d; });
      if (places > 0)
        most = std::max(most, static_cast<double>(threads) / static_cast<double>(places));
    }
    EXPECT_DOUBLE_EQ(threads_per_place(num_threads, domain_of), most);
  }
}

TEST(Juggle, successive_threads_start_on_successive_places) {
  EXPECT_THAT(deal_threads(7, std::vector<DomainId>{0, 0, 0}), ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_THAT(deal_threads(4, std::vector<DomainId>{1, 3, 1, 3, 3}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(deal_threads(2, std::vector<DomainId>{2, 2, 2, 1}), ElementsAre(0, 3));
  EXPECT_THAT(deal_threads(6, std::vector<DomainId>{2, 2, 2, 1}), ElementsAre(0, 1, 2, 3, 0, 3));
}

/// Returns the moves by which even_out() spreads the ready threads, given the progress and the
/// place of every thread.
std::vector<Move> evened_out(const std::vector<double>& progress_s,
                             const std::vector<PlaceId>& place_of, std::size_t num_places,
                             const std::vector<bool>& is_ready,
                             const std::vector<DomainId>& domain_of = {}) {
  const std::vector<double> speed(num_places, 1);
  return even_out({progress_s, place_of, speed, domain_of}, is_ready);
}

TEST(EvenOut, moves_the_least_advanced_ready_thread_to_an_idle_place) {
  EXPECT_THAT(evened_out({3, 1, 2}, {0, 0, 0}, 2, {true, true, true}), ElementsAre(Move{1, 1}));
}

TEST(EvenOut, stops_when_the_numbers_of_threads_per_place_differ_by_at_most_one) {
  EXPECT_THAT(evened_out({1, 2, 3}, {0, 0, 1}, 2, {true, true, true}), IsEmpty());
  EXPECT_THAT(evened_out({1, 2, 3, 4}, {0, 0, 0, 0}, 2, {true, true, true, true}),
              ElementsAre(Move{0, 1}, Move{1, 1}));
}

TEST(EvenOut, takes_threads_from_the_place_with_most_ready_threads_so_that_few_move) {
  EXPECT_THAT(evened_out({5, 6, 7, 1, 2}, {0, 0, 0, 1, 1}, 3, {true, true, true, true, true}),
              ElementsAre(Move{0, 2}));
  EXPECT_THAT(evened_out({5, 6, 7, 1, 2, 3}, {0, 0, 0, 1, 1, 1}, 3, std::vector<bool>(6, true)),
              ElementsAre(Move{3, 2}, Move{0, 2}));
}

TEST(EvenOut, counts_and_moves_only_threads_that_are_ready) {
  EXPECT_THAT(evened_out({1, 2, 3}, {0, 0, 0}, 2, {true, false, false}), IsEmpty());
  EXPECT_THAT(evened_out({1, 2, 3, 4}, {0, 0, 1, 1}, 2, {true, true, false, false}),
              ElementsAre(Move{0, 1}));
}

TEST(EvenOut, fills_the_place_with_fewest_ready_threads_first) {
  EXPECT_THAT(evened_out({1, 2, 3, 4}, {0, 0, 0, 1}, 3, {true, true, true, true}),
              ElementsAre(Move{0, 2}));
}

TEST(EvenOut, moves_a_thread_to_the_first_of_several_idle_places) {
  EXPECT_THAT(evened_out({1, 2}, {0, 0}, 3, {true, true}), ElementsAre(Move{0, 1}));
}

TEST(EvenOut, spreads_blocked_threads_over_places_with_equally_few_ready_threads) {
  EXPECT_THAT(evened_out({1, 2, 3}, {0, 0, 1}, 3, {true, true, false}), ElementsAre(Move{0, 2}));
}

/// Returns the moves that follow from the rules of even_out(), found one at a time. No two threads
/// may have the same progress.
std::vector<Move> expected_moves(const JuggleView& view, std::vector<bool> is_ready,
                                 DomainId num_domains) {
  std::vector<PlaceId> place_of(view.place_of.begin(), view.place_of.end());
  std::vector<bool> has_moved(place_of.size(), false);
  std::vector<Move> moves;
  for (DomainId d = 0; d < num_domains; ++d)
    while (true) {
      std::vector<std::size_t> ready(view.speed.size(), 0), all(view.speed.size(), 0);
      for (ThreadId t = 0; t < place_of.size(); ++t) {
        ready[place_of[t]] += is_ready[t];
        ++all[place_of[t]];
      }
      std::optional<PlaceId> to;
      std::size_t most = 0;
      for (PlaceId p = 0; p < view.speed.size(); ++p) {
        if (view.domain_of[p] != d) continue;
        if (!to || std::pair(ready[p], all[p]) < std::pair(ready[*to], all[*to])) to = p;
        most = std::max(most, ready[p]);
      }
      if (!to || most < ready[*to] + 2) break;
      std::optional<ThreadId> least;
      for (ThreadId t = 0; t < place_of.size(); ++t)
        if (is_ready[t] && !has_moved[t] && view.domain_of[place_of[t]] == d &&
            ready[place_of[t]] == most && (!least || view.progress_s[t] < view.progress_s[*least]))
          least = t;
      moves.push_back({least.value(), *to});
      has_moved[*least] = true;
      place_of[*least] = *to;
    }
  return moves;
}

TEST(EvenOut, makes_the_moves_that_its_rules_give_in_random_cases) {
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto num_domains = static_cast<DomainId>(1 + random.below(3));
    const auto num_places = static_cast<PlaceId>(num_domains + random.below(6));
    std::vector<double> progress_s, speed(num_places, 1);
    std::vector<PlaceId> place_of;
    std::vector<bool> is_ready;
    std::vector<DomainId> domain_of;
    const std::uint64_t num_threads = random.below(25);
    for (std::uint64_t t = 0; t < num_threads; ++t) {
      progress_s.push_back(random.uniform());
      place_of.push_back(static_cast<PlaceId>(random.below(1 + random.below(num_places))));
      is_ready.push_back(random.below(3) > 0);
    }
    for (PlaceId p = 0; p < num_places; ++p)
      domain_of.push_back(p < num_domains ? p : static_cast<DomainId>(random.below(num_domains)));
    const JuggleView view{progress_s, place_of, speed, domain_of};
    EXPECT_EQ(even_out(view, is_ready), expected_moves(view, is_ready, num_domains));
  }
}

TEST(Waits, a_thread_counts_as_waiting_if_it_is_in_a_waiting_call_or_has_just_yielded) {
  for (const bool shares_place : {false, true}) {
    EXPECT_TRUE(is_waiting({.is_inside = true}, shares_place));
    EXPECT_TRUE(is_waiting({.since_yield_s = 0.0001}, shares_place));
    EXPECT_FALSE(is_waiting({.since_yield_s = 0.1}, shares_place));
  }
  EXPECT_TRUE(is_waiting({.since_yield_s = 0.004}, true));
  EXPECT_FALSE(is_waiting({.since_yield_s = 0.004}, false));
}

TEST(Waits,
     a_yield_counts_as_waiting_for_8_ms_if_the_thread_shares_its_place_and_otherwise_for_200_us) {
  EXPECT_TRUE(is_waiting({.since_yield_s = 0.0079}, true));
  EXPECT_FALSE(is_waiting({.since_yield_s = 0.0081}, true));
  EXPECT_TRUE(is_waiting({.since_yield_s = 0.00019}, false));
  EXPECT_FALSE(is_waiting({.since_yield_s = 0.00021}, false));
  EXPECT_FALSE(is_waiting({}, true));
}

TEST(EvenOut, keeps_threads_in_their_domain) {
  const std::vector<bool> all(3, true);
  EXPECT_THAT(evened_out({1, 2, 3}, {0, 0, 0}, 3, all, {0, 1, 1}), IsEmpty());
  EXPECT_THAT(evened_out({1, 2, 3}, {0, 0, 0}, 3, all, {0, 1, 0}), ElementsAre(Move{0, 2}));
}

}  // namespace
}  // namespace poise
