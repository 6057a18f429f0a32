// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/load_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/base/text.h"
#include "poise/workload/loads.h"

namespace poise {

namespace {

/// Returns a random number that depends on the seed and the object, but not on the step.
double uniform_of(std::uint64_t seed, std::uint64_t object) {
  return Random(mix(seed) ^ mix(object + 1)).uniform();
}

/// The load of an object drifts along a random curve, made of straight lines between knots that are
/// a fixed number of steps apart. Returns the value of the curve at a knot: 0 at knot 0, and a
/// normally distributed random number at every other knot.
double knot(std::uint64_t seed, std::uint64_t object, std::uint64_t number) {
  return number == 0 ? 0 : Random(mix(seed + number) ^ mix(object + 1)).normal();
}

void drift(const Knobs& knobs, std::uint64_t step, std::uint64_t seed, std::span<double> factors) {
  const auto stretch = static_cast<std::uint64_t>(knobs["steps"]);
  const std::uint64_t number = step / stretch;
  const double part = 1.0 * (step % stretch) / stretch;
  for (std::size_t object = 0; object < factors.size(); ++object) {
    const double normal =
        (1 - part) * knot(seed, object, number) + part * knot(seed, object, number + 1);
    factors[object] *= portable_exp(knobs["sigma"] * normal);
  }
}

void jump(const Knobs& knobs, std::uint64_t step, std::uint64_t seed, std::span<double> factors) {
  if (step < knobs["at"]) return;
  for (std::size_t object = 0; object < factors.size(); ++object)
    if (uniform_of(seed, object) < knobs["share"]) factors[object] *= knobs["factor"];
}

void grow(const Knobs& knobs, std::uint64_t step, std::uint64_t, std::span<double> factors) {
  const auto count = static_cast<std::size_t>(std::ceil(knobs["share"] * factors.size()));
  for (double& factor : factors.first(std::min(count, factors.size())))
    factor *= 1 + knobs["rate"] * step;
}

void wave(const Knobs& knobs, std::uint64_t step, std::uint64_t, std::span<double> factors) {
  const CircleInterval hot{knobs["speed"] * step, knobs["share"]};
  for (std::size_t object = 0; object < factors.size(); ++object)
    if (hot.holds(1.0 * object / factors.size())) factors[object] *= knobs["factor"];
}

constexpr Knob kDriftKnobs[] = {
    {"sigma", 0.3, 0, 3, "standard deviation of the logarithm of a load"},
    {"steps", 20, 1, 1e6, "steps from one random load to the next, between which loads slide"}};
constexpr Knob kJumpKnobs[] = {{"at", 20, 0, 1e6, "the step at which loads jump"},
                               {"share", 0.1, 0, 1, "of the objects, chosen at random"},
                               {"factor", 4, 0, 1e3, "of their loads"}};
constexpr Knob kGrowKnobs[] = {
    {"share", 0.1, 0, 1, "of the objects, the first ones"},
    {"rate", 0.02, 0, 1e3, "growth per step, as a fraction of the first load"}};
constexpr Knob kWaveKnobs[] = {
    {"share", 0.1, 0, 1, "of the objects, consecutive ones"},
    {"factor", 4, 0, 1e3, "of their loads"},
    {"speed", 0.01, 0, 1, "fraction of the objects by which the wave moves on per step"}};

constexpr LoadModelKind kKinds[] = {
    {"drift", "every load drifts at random, on its own", drift, kDriftKnobs},
    {"jump", "loads of some objects jump at a step", jump, kJumpKnobs},
    {"grow", "loads of the first objects grow", grow, kGrowKnobs},
    {"wave", "a hot region moves over the objects, such as a limiter or a refined grid", wave,
     kWaveKnobs}};

}  // namespace

std::span<const LoadModelKind> load_model_kinds() { return kKinds; }

void LoadModel::set_factors(std::uint64_t step, std::uint64_t seed,
                            std::span<double> factors) const {
  std::fill(factors.begin(), factors.end(), 1);
  kind->apply(knobs, step, seed, factors);
}

std::string LoadModel::text() const {
  const std::string settings = knobs.text();
  return settings.empty() ? std::string(kind->name) : fmt::format("{}:{}", kind->name, settings);
}

LoadModel parse_load_model(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto rows = load_model_kinds();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const LoadModelKind& kind) { return kind.name == name; });
  if (row == rows.end()) throw Error(unknown_name("model of loads", name, names_of(rows)));
  LoadModel model{&*row, Knobs(row->knobs)};
  if (name.size() < text.size())
    model.knobs.set_all(fmt::format("loads {}", name), text.substr(name.size() + 1));
  return model;
}

}  // namespace poise
