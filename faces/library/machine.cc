// SPDX-License-Identifier: BSD-3-Clause
// Machines of libpoise.
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "faces/library/handles.h"

#include "poise/machine/discover.h"
#include "poise/machine/find.h"
#include "poise/machine/json.h"

using poise::library::checked;
using poise::library::guarded;
using poise::library::required;

namespace {

poise_machine* handle_of(const poise::Machine& machine) {
  auto handle = std::make_unique<poise_machine>();
  // The command `poise` also uses the formula `physical` by default.
  handle->machine = with_formula(machine, poise::CostFormula::physical);
  return handle.release();
}

std::string_view text_of(const char* text, std::uint64_t bytes) {
  return {&required(text, "text"), bytes};
}

/// Returns a copy of the machine with one cost replaced. The copy is checked like a machine file.
poise::Machine with_cost(const poise::Machine& machine, const char* name, double value) {
  auto document = nlohmann::json::parse(poise::machine_to_json(machine));
  auto& costs = document.at("costs");
  costs.emplace("shared_network_bytes_per_s", 0.0);  // missing if there is no such network
  if (!costs.contains(name) || !costs[name].is_number()) {
    std::string known;
    for (const auto& [key, number] : costs.items())
      if (number.is_number()) known += (known.empty() ? "" : ", ") + key;
    poise::fail("the machine has no cost named \"{}\"; known costs: {}", name, known);
  }
  costs[name] = value;
  poise::Machine changed = poise::machine_from_json(document.dump(), machine.name());
  return poise::with_formula(changed, machine.costs().formula);
}

}  // namespace

int poise_machine_create(const char* description, poise_machine** machine) {
  return guarded(__func__, [&] {
    poise_machine*& result = required(machine, "machine");
    result = handle_of(poise::find_machine(&required(description, "description")));
  });
}

int poise_machine_from_json(const char* text, uint64_t bytes, poise_machine** machine) {
  return guarded(__func__, [&] {
    poise_machine*& result = required(machine, "machine");
    result = handle_of(poise::machine_from_json(text_of(text, bytes), "the text"));
  });
}

int poise_machine_from_hwloc_xml(const char* text, uint64_t bytes, poise_machine** machine) {
  return guarded(__func__, [&] {
    poise_machine*& result = required(machine, "machine");
    result = handle_of(poise::machine_from_hwloc_xml(text_of(text, bytes), "the text"));
  });
}

void poise_machine_destroy(poise_machine* machine) { poise::library::destroy(machine); }

uint64_t poise_machine_num_places(const poise_machine* machine) {
  uint64_t count = 0;
  guarded(__func__, [&] { count = checked(machine, "machine").machine.num_places(); });
  return count;
}

int poise_machine_json(poise_machine* machine, const char** text) {
  return guarded(__func__, [&] {
    const char*& result = required(text, "text");
    poise_machine& handle = checked(machine, "machine");
    // The text is made only once, so that pointers returned by earlier calls stay valid.
    if (handle.json.empty()) handle.json = poise::machine_to_json(handle.machine);
    result = handle.json.c_str();
  });
}

int poise_machine_set_model(poise_machine* machine, const char* formula) {
  return guarded(__func__, [&] {
    poise_machine& handle = checked(machine, "machine");
    const auto chosen = poise::formula_named(&required(formula, "formula"));
    handle.machine = poise::with_formula(handle.machine, chosen);
    handle.json.clear();
  });
}

int poise_machine_set_cost(poise_machine* machine, const char* name, double value) {
  return guarded(__func__, [&] {
    poise_machine& handle = checked(machine, "machine");
    handle.machine = with_cost(handle.machine, &required(name, "name"), value);
    handle.json.clear();
  });
}
