// SPDX-License-Identifier: BSD-3-Clause
// Measures what each tuned number of the strategy `poise` (poise/search/tuning.h) and of `poise
// juggle` (poise/online/juggle_tuning.h) contributes. The benchmark halves and doubles one number
// at a time, on cases that were not used for the tuning.
//
//     tuning_bench [--of=poise|juggle] [--seed=N] [--draws=N] [--only=TEXT] [--names=A,B,...]
//                  [--together=A=1,B=2,...] [--benchmark_out=FILE]
//
// For each changed value the benchmark divides results with this value by results with the original
// value. For the total time (steps * iteration + migration), and for the iteration time of
// `poise:from_scratch=1`, it prints the geometric mean, the minimum and the maximum of these ratios
// over all cases. For the CPU seconds it prints one ratio: the sum over all decisions with the
// changed value, divided by the sum with the original one. With --together the benchmark instead
// makes a single run in which all listed numbers are changed. A number is not needed if all its
// ratios of total and iteration times are within half a per cent of 1. Those ratios are the same in
// each run of the benchmark; the ratio of CPU seconds is not.
//
// A number of `poise juggle` is not needed if no changed value changes a decision on simulated
// cpus.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/objective/cases.h"
#include "bench/options.h"
#include "bench/tuning/juggle.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/online/juggle_tuning.h"
#include "poise/placement/metrics.h"
#include "poise/search/tuning.h"
#include "poise/strategies/strategy.h"

namespace {

using namespace poise;
using namespace poise::bench;
using nlohmann::json;

// A ratio that differs from 1 by more than this counts as an effect.
constexpr double kEffect = 0.005;

struct TuningOptions {
  CaseChoice cases{.seed = 14, .draws = 1, .only = {}, .model = "physical"};
  std::string of, names, together, out;
};

/// Results with a changed value of a tuned number, divided by results with the original value.
struct Ratios {
  double log_sum = 0, least = std::numeric_limits<double>::infinity(), largest = 0;
  double cpu_s = 0, usual_cpu_s = 0;
  int cases = 0;

  void add(double ratio) {
    log_sum += std::log(ratio);
    least = std::min(least, ratio);
    largest = std::max(largest, ratio);
    ++cases;
  }
  double geometric_mean() const { return std::exp(log_sum / std::max(1, cases)); }
  bool has_effect() const { return least < 1 - kEffect || largest > 1 + kEffect; }
  double cpu() const { return usual_cpu_s > 0 ? cpu_s / usual_cpu_s : 1; }
};

/// A change of one or several tuned numbers, and the effects of the change. `setting` has
/// NAME=VALUE for each changed number, separated by commas.
struct Variant {
  std::string setting;
  /// Ratios of the total times, and of the iteration times with `poise:from_scratch=1`.
  Ratios total, from_scratch;

  bool has_effect() const { return total.has_effect() || from_scratch.has_effect(); }
};

/// Returns two settings NAME=VALUE for each tuned number: half of its value and twice its value.
/// If `names`, a list separated by commas, is not empty, only the numbers in it are changed.
std::vector<std::string> settings_of(std::span<const Knob> knobs, const std::string& names) {
  std::vector<std::string> settings;
  for (const Knob& knob : knobs) {
    if (!names.empty() &&
        fmt::format(",{},", names).find(fmt::format(",{},", knob.name)) == std::string::npos)
      continue;
    for (const double factor : {0.5, 2.0}) {
      const double value = std::clamp(factor * knob.initial, knob.min, knob.max);
      const bool is_whole = knob.initial == std::floor(knob.initial) &&
                            knob.min == std::floor(knob.min) && knob.initial >= 1;
      const double taken = is_whole ? std::round(value) : value;
      if (taken != knob.initial) settings.push_back(fmt::format("{}={}", knob.name, taken));
    }
  }
  return settings;
}

struct Answer {
  double total_s, cpu_s;
};

Answer answer_of(const Case& of, bool from_scratch, const std::string& setting) {
  const Choice choice =
      parse_strategy(from_scratch ? fmt::format("poise:from_scratch=1{}", setting)
                                  : fmt::format("poise:steps={}{}", of.steps, setting));
  const double before_s = process_cpu_now_s();
  const Placement placed = choice.rebalance(of.problem());
  const double taken_s = process_cpu_now_s() - before_s;
  const Metrics metrics = evaluate(of.machine, of.workload, of.machine.costs(), of.current, placed);
  return {from_scratch ? metrics.iteration_s : of.steps * metrics.iteration_s + metrics.migration_s,
          taken_s};
}

void try_variants(const Case& of, std::vector<Variant>& variants) {
  for (const bool from_scratch : {false, true}) {
    const Answer usual = answer_of(of, from_scratch, "");
    if (!(usual.total_s > 0)) continue;
    for (Variant& variant : variants) {
      const Answer answer = answer_of(of, from_scratch, "," + variant.setting);
      Ratios& ratios = from_scratch ? variant.from_scratch : variant.total;
      ratios.add(answer.total_s / usual.total_s);
      ratios.cpu_s += answer.cpu_s;
      ratios.usual_cpu_s += usual.cpu_s;
    }
  }
}

json json_of(const Ratios& ratios) {
  return {{"geometric_mean", ratios.geometric_mean()},
          {"least", ratios.least},
          {"largest", ratios.largest},
          {"cpu", ratios.cpu()}};
}

json row_of(const Variant& variant) {
  return {{"name", variant.setting},
          {"cases", variant.total.cases},
          {"total", json_of(variant.total)},
          {"from_scratch", json_of(variant.from_scratch)},
          {"has_effect", variant.has_effect()}};
}

std::string text_of(const Ratios& ratios) {
  return fmt::format("{:.4f} from {:.4f} to {:.4f}, cpu {:.2f}", ratios.geometric_mean(),
                     ratios.least, ratios.largest, ratios.cpu());
}

TuningOptions options_of(int argc, char** argv) {
  TuningOptions options;
  const std::map<std::string, std::string*> texts = {{"--of", &options.of},
                                                     {"--only", &options.cases.only},
                                                     {"--names", &options.names},
                                                     {"--together", &options.together},
                                                     {"--benchmark_out", &options.out}};
  bench::for_each_option(argc, argv, "bench/tuning_bench.cc",
                         [&](const std::string& name, const std::string& value) {
                           if (name == "--seed")
                             options.cases.seed = std::stoull(value);
                           else if (name == "--draws")
                             options.cases.draws = std::stoull(value);
                           else if (const auto text = texts.find(name); text != texts.end())
                             *text->second = value;
                           else
                             return false;
                           return true;
                         });
  return options;
}

std::vector<std::string> settings_of(std::span<const Knob> knobs, const TuningOptions& options) {
  return options.together.empty() ? settings_of(knobs, options.names)
                                  : std::vector{options.together};
}

void add_rows_of_poise(const TuningOptions& options, json& rows) {
  std::vector<Variant> variants;
  for (const std::string& setting : settings_of(kTuningKnobs, options))
    variants.push_back({.setting = setting, .total = {}, .from_scratch = {}});
  if (variants.empty()) return;
  for_each_case(options.cases, [&](const Case& one, const Kind&) { try_variants(one, variants); });
  for (const Variant& variant : variants) {
    rows.push_back(row_of(variant));
    fmt::print("{:<32} {:>4} cases  total {}  from scratch {}{}\n", variant.setting,
               variant.total.cases, text_of(variant.total), text_of(variant.from_scratch),
               variant.has_effect() ? "" : "  no effect");
  }
}

void add_rows_of_juggle(const TuningOptions& options, json& rows) {
  for (const json& row : juggle_rows(settings_of(kJuggleKnobs, options))) {
    rows.push_back(row);
    fmt::print("{:<32} {:>4} cases  {:>3} decided differently  work {:.4f} from {:.4f} to {:.4f}\n",
               row["name"].get<std::string>(), row["cases"].get<int>(), row["changed"].get<int>(),
               row["work"]["geometric_mean"].get<double>(), row["work"]["least"].get<double>(),
               row["work"]["largest"].get<double>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const TuningOptions options = options_of(argc, argv);
    json rows = json::array();
    if (options.of != "juggle") add_rows_of_poise(options, rows);
    if (options.of != "poise") add_rows_of_juggle(options, rows);
    if (rows.empty())
      fail(
          "--names={}: no tuned number has one of these names; poise strategies --tuning lists all",
          options.names);
    if (!options.out.empty())
      write_file(options.out, json{{"context", json::object()}, {"benchmarks", rows}}.dump(1));
  } catch (const Error& error) {
    fmt::print(stderr, "tuning_bench: {}\n", error.what());
    return 2;
  }
}
