// SPDX-License-Identifier: BSD-3-Clause
// Measures how much each tuned number in poise/online/lending_tuning.h matters for lending. The
// benchmark halves and doubles one number at a time and simulates ranks that lend tasks, in virtual
// time. Its results are the same in each run.
//
//     lending_tuning_bench [--seeds=N] [--only=NAME] [--set=NAME=VALUE,...] [--benchmark_out=FILE]
//
// For each changed value and each kind of scenario the benchmark divides the makespan with this
// value by the makespan with the original value. It prints the geometric mean of these ratios over
// all seeds with its standard error, and the same for the number of messages. A number is not
// needed if the mean ratio of the makespans is within 0.5 % of 1 for every kind of scenario. A
// number has no effect in these scenarios if neither half nor twice its value changes a makespan or
// a number of messages.
//
// The numbers are constants in Poise. This program compiles the decisions with a copy of the header
// in which they are variables (bench/lending/mutable_numbers.py). --set prints one row in which
// all listed numbers are changed.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/lending/scenarios.h"
#include "bench/options.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/online/lending_tuning.h"

namespace {

using namespace poise;
using namespace poise::bench;
using lending_tuning::Number;
using nlohmann::json;

// A mean ratio that differs from 1 by more than this counts as an effect.
constexpr double kEffect = 0.005;

struct LendingTuningOptions {
  std::uint64_t seeds = 24;
  std::string only, set, out;
};

/// Logarithms of the makespan and of the number of messages of one simulated scenario.
struct Result {
  double makespan = 0, messages = 0;
};

using Results = std::vector<std::vector<Result>>;  // indexed by kind of scenario, then by seed

Results simulate_all(std::uint64_t seeds) {
  Results results;
  for (const ScenarioKind& kind : kScenarioKinds) {
    std::vector<Result>& of_kind = results.emplace_back();
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const LendingOutcome outcome = simulate_lending(kind.make(seed));
      if (!outcome.trouble.empty()) fail("{}, seed {}: {}", kind.name, seed, outcome.trouble);
      of_kind.push_back({std::log(outcome.makespan_s), std::log(outcome.messages + 1.0)});
    }
  }
  return results;
}

/// The geometric mean of ratios, and its standard error.
struct Mean {
  double value = 1, error = 0;
};

Mean mean_of(const std::vector<Result>& changed, const std::vector<Result>& usual,
             double Result::*what) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    const double log = changed[i].*what - usual[i].*what;
    sum += log;
    squares += log * log;
  }
  const double n = usual.size(), mean = sum / n;
  const double variance = std::max(0.0, squares / n - mean * mean);
  return {std::exp(mean), std::sqrt(variance / std::max(1.0, n - 1))};
}

json row_of(const std::string& name, const Results& changed, const Results& usual) {
  json row{{"name", name}};
  bool acts = false, has_effect = false;
  for (std::size_t kind = 0; kind < usual.size(); ++kind) {
    const Mean time = mean_of(changed[kind], usual[kind], &Result::makespan);
    const Mean messages = mean_of(changed[kind], usual[kind], &Result::messages);
    acts |= time.value != 1 || time.error != 0 || messages.value != 1 || messages.error != 0;
    has_effect |= std::abs(time.value - 1) > kEffect;
    row["kinds"].push_back({{"kind", kScenarioKinds[kind].name},
                            {"makespan", time.value},
                            {"makespan_error", time.error},
                            {"messages", messages.value}});
  }
  row["acts"] = acts;
  row["has_effect"] = has_effect;
  return row;
}

void print(const json& row) {
  std::string text = fmt::format("{:<34}", row["name"].get<std::string>());
  for (const json& kind : row["kinds"])
    text += fmt::format(" {:.4f}±{:.4f} ({:.2f})", kind["makespan"].get<double>(),
                        kind["makespan_error"].get<double>(), kind["messages"].get<double>());
  const char* const remark = !row["acts"]        ? "  does not act"
                             : row["has_effect"] ? ""
                                                 : "  no effect";
  fmt::print("{}{}\n", text, remark);
}

const Number& number_called(const std::string& name) {
  for (const Number& number : lending_tuning::kNumbers)
    if (number.name == name) return number;
  fail("there is no tuned number \"{}\"; poise/online/lending_tuning.h lists all", name);
}

LendingTuningOptions options_of(int argc, char** argv) {
  LendingTuningOptions options;
  const std::map<std::string, std::string*> texts = {
      {"--only", &options.only}, {"--set", &options.set}, {"--benchmark_out", &options.out}};
  bench::for_each_option(argc, argv, "bench/lending_tuning_bench.cc",
                         [&](const std::string& name, const std::string& value) {
                           if (name == "--seeds")
                             options.seeds = std::stoull(value);
                           else if (const auto text = texts.find(name); text != texts.end())
                             *text->second = value;
                           else
                             return false;
                           return true;
                         });
  return options;
}

json rows_of(const LendingTuningOptions& options) {
  const Results usual = simulate_all(options.seeds);
  json rows = json::array();
  const auto add = [&](const std::string& name) {
    rows.push_back(row_of(name, simulate_all(options.seeds), usual));
    print(rows.back());
  };
  if (!options.set.empty()) {
    for (const auto change : split(options.set, ',')) {
      const std::string one(change);
      const std::size_t equals = one.find('=');
      if (equals == std::string::npos) fail("--set={}: it must have the form NAME=VALUE", one);
      number_called(one.substr(0, equals)).set(std::stod(one.substr(equals + 1)));
    }
    add(options.set);
    return rows;
  }
  if (!options.only.empty()) number_called(options.only);  // throws if there is no such number
  for (const Number& number : lending_tuning::kNumbers) {
    if (!options.only.empty() && options.only != number.name) continue;
    const double initial = number.get();
    for (const double factor : {0.5, 2.0}) {
      number.set(factor * initial);
      if (number.get() != initial && number.get() != 0)
        add(fmt::format("{}={:g}", number.name, number.get()));
      number.set(initial);
    }
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const LendingTuningOptions options = options_of(argc, argv);
    const json rows = rows_of(options);
    if (!options.out.empty())
      write_file(options.out, json{{"context", json::object()}, {"benchmarks", rows}}.dump(1));
  } catch (const Error& error) {
    fmt::print(stderr, "lending_tuning_bench: {}\n", error.what());
    return 2;
  }
}
