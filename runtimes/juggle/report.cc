// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "poise/online/juggle_causes.h"
#include "poise/trace/chrome.h"
#include "poise/trace/timeline.h"

namespace poise::juggle {

namespace {

using Json = nlohmann::ordered_json;

/// Run time of the thread, divided by the time that has passed since the balancer began to balance
/// it.
double share(const ThreadTally& thread) {
  const double since_s = thread.seen_s - thread.part_since_s;
  return since_s > 0 ? thread.run_s / since_s : 0;
}

/// The smallest and the largest share that a thread has. Threads that the balancer has only just
/// begun to balance have no share yet. If no thread has a share, both results are 0.
std::pair<double, double> least_and_most(const std::vector<ThreadTally>& threads) {
  double least = 1, most = 0;
  for (const ThreadTally& thread : threads) {
    if (thread.seen_s <= thread.part_since_s) continue;
    least = std::min(least, share(thread));
    most = std::max(most, share(thread));
  }
  return {std::min(least, most), most};
}

double per(double value, double over) { return over > 0 ? value / over : 0; }

}  // namespace

double fair_share(const Tally& tally) { return per(tally.fair_s, tally.threads_s); }

Prediction prediction(const Tally& tally) {
  double ran_s = 0;
  for (const ThreadTally& thread : tally.threads) ran_s += thread.run_s;
  return {per(ran_s, per(tally.fair_s, tally.part_s)),
          per(ran_s, per(tally.static_s, tally.part_s))};
}

std::string diagnosis_text(const Tally& tally) {
  std::string text;
  for (const JuggleCause& cause : causes_of(tally.facts, tally.tuning)) text += cause.text + "\n";
  return text;
}

std::string advice_text(const Tally& tally) {
  const JuggleCause cause = causes_of(tally.facts, tally.tuning).front();
  return is_for_user(cause.kind) ? cause.text + "\n" : "";
}

std::string summary_text(const Tally& tally) {
  const auto [least, most] = least_and_most(tally.threads);
  std::string text = fmt::format(
      "{:.2f} s, of which balancing was on for {:.2f} s; {} on cpus {}\n", tally.elapsed_s,
      tally.balancing_s, threads_text(tally.most_threads), cpu_list_text(tally.cpus));
  if (std::any_of(tally.speeds.begin(), tally.speeds.end(), [](double speed) { return speed < 1; }))
    text +=
        fmt::format("the cpus are unequal, with speeds {:.2f}\n", fmt::join(tally.speeds, ", "));
  text += fmt::format("each thread ran {:.1f}% to {:.1f}% of the time; fair is {:.1f}%\n",
                      100 * least, 100 * most, 100 * fair_share(tally));
  const Prediction predicted = prediction(tally);
  text += fmt::format(
      "their work in {:.2f} s; predicted on free cpus {:.2f} s balanced, {:.2f} s not\n",
      tally.part_s, predicted.balanced_s, predicted.static_s);
  text += fmt::format(
      "{} migrations, {:.1f} per second; {} refused, {} threads left to the program\n",
      tally.migrations, per(tally.migrations, tally.elapsed_s), tally.refusals, tally.own_choices);
  text += fmt::format(
      "{} balancing points of {:.0f} us cpu time each ({:.0f} if nothing moved, minimum {:.0f}); "
      "{:.2f}% of a cpu in total\n",
      tally.rounds, 1e6 * per(tally.rounds_cpu_s, tally.rounds),
      1e6 * per(tally.still_rounds_cpu_s, tally.still_rounds), 1e6 * tally.least_round_s,
      100 * per(tally.own_cpu_s, tally.elapsed_s));
  if (tally.reactions > 0)
    text += fmt::format("{} times threads reported that they wait, {:.0f} per second\n",
                        tally.reactions, per(tally.reactions, tally.elapsed_s));
  text += fmt::format("{} wake-ups before a balancing point was due\n", tally.early_wake_ups);
  return text + diagnosis_text(tally);
}

std::string summary_json(const Tally& tally) {
  const Prediction predicted = prediction(tally);
  Json threads = Json::array();
  for (const ThreadTally& thread : tally.threads)
    threads.push_back({{"process", thread.process},
                       {"thread", thread.id},
                       {"run_s", thread.run_s},
                       {"share", share(thread)},
                       {"lag_s", thread.lag_s},
                       {"migrations", thread.migrations}});
  Json causes = Json::array();
  for (const JuggleCause& cause : causes_of(tally.facts, tally.tuning))
    causes.push_back({{"kind", name_of(cause.kind)}, {"gain", cause.gain}, {"text", cause.text}});
  return Json{{"elapsed_s", tally.elapsed_s},
              {"balancing_s", tally.balancing_s},
              {"cpus", tally.cpus},
              {"speeds", tally.speeds},
              {"num_threads", tally.most_threads},
              {"fair_share", fair_share(tally)},
              {"program_run_s", tally.program_run_s},
              {"achieved_s", tally.part_s},
              {"predicted_s", predicted.balanced_s},
              {"predicted_static_s", predicted.static_s},
              {"period_s", tally.period_s},
              {"migrations", tally.migrations},
              {"refusals", tally.refusals},
              {"own_choices", tally.own_choices},
              {"balancing_points", tally.rounds},
              {"balancing_point_s", per(tally.rounds_cpu_s, tally.rounds)},
              {"least_balancing_point_s", tally.least_round_s},
              {"still_balancing_points", tally.still_rounds},
              {"still_balancing_point_s", per(tally.still_rounds_cpu_s, tally.still_rounds)},
              {"balancer_cpu_s", tally.own_cpu_s},
              {"wake_ups", tally.wake_ups},
              {"early_wake_ups", tally.early_wake_ups},
              {"reactions", tally.reactions},
              {"visits", tally.visits},
              {"action", name_of(tally.action)},
              {"causes", causes},
              {"threads", threads}}
             .dump(2) +
         "\n";
}

std::string trace_json(const Tally& tally) {
  ChromeTrace trace;
  for (const CpuId cpu : tally.cpus) trace.name_group(cpu, fmt::format("cpu {}", cpu));
  std::set<std::pair<CpuId, pid_t>> named;
  for (const Stay& stay : tally.stays) {
    const std::string name = fmt::format("thread {}", stay.id);
    if (named.emplace(stay.cpu, stay.id).second) trace.name_row({stay.cpu, stay.id}, name);
    trace.slice({stay.cpu, stay.id}, name, kActivities[0], stay.from_s, stay.to_s);
  }
  return trace.text("threads while bound to a cpu");
}

std::string live_text(const Tally& tally, std::size_t max_threads) {
  std::string text = fmt::format(
      "{:.1f} s, {}, a period of {:.0f} ms, {} migrations\n{:>10} {:>6} {:>9} {:>4} {:>10}\n",
      tally.elapsed_s, tally.is_balancing ? "balancing" : "watching", 1e3 * tally.period_s,
      tally.migrations, "thread", "share", "behind", "cpu", "migrations");
  std::size_t shown = 0;
  for (const ThreadTally& thread : tally.threads) {
    if (!thread.takes_part) continue;
    if (shown++ == max_threads) break;
    fmt::format_to(std::back_inserter(text), "{:>10} {:>5.1f}% {:>6.0f} ms {:>4} {:>10}\n",
                   thread.id, 100 * share(thread), 1e3 * thread.lag_s,
                   thread.cpu < 0 ? "-" : fmt::format("{}", thread.cpu), thread.migrations);
  }
  return text + causes_of(tally.facts, tally.tuning).front().text + "\n";
}

std::string live_line(const Tally& tally) {
  std::vector<ThreadTally> threads = tally.threads;
  std::erase_if(threads, [](const ThreadTally& thread) { return !thread.takes_part; });
  const auto [least, most] = least_and_most(threads);
  std::string text =
      fmt::format("{:.1f} s, {}, {}", tally.elapsed_s,
                  tally.is_balancing ? "balancing" : "watching", threads_text(threads.size()));
  if (most > 0) text += fmt::format(" with {:.1f}% to {:.1f}% of a cpu", 100 * least, 100 * most);
  text += fmt::format(", {} migrations", tally.migrations);
  const JuggleCause cause = causes_of(tally.facts, tally.tuning).front();
  if (cause.kind != JuggleCause::Kind::unknown) text += "; " + cause.text;
  return text + "\n";
}

}  // namespace poise::juggle
