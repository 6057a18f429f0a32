// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/cost_model.h"

#include <array>

#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise {

namespace {

constexpr std::array<std::string_view, 2> kNames{"nuco", "physical"};

}  // namespace

std::string_view name_of(CostFormula formula) { return kNames[index_of(formula)]; }

CostFormula formula_named(std::string_view name) {
  for (const auto formula : {CostFormula::nuco, CostFormula::physical})
    if (name == name_of(formula)) return formula;
  throw Error(unknown_name("model", name, kNames));
}

}  // namespace poise
