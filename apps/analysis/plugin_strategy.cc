// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/plugin_strategy.h"

#include <cstdint>
#include <dlfcn.h>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "apps/analysis/problem_arrays.h"

#include "poise/base/error.h"
#include "poise/plugin.h"

namespace poise::apps {

std::function<Placement(const Problem&)> plugin_strategy(const std::string& path) {
  if (path.empty()) fail("plugin: the name of a library is missing; example: plugin:./libmine.so");
  // If a path has no slash, dlopen searches only the system's folders. So this function puts "./"
  // before such a path.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail("plugin:{}: cannot load the library: {}", path, ::dlerror());
  const auto strategy =
      reinterpret_cast<decltype(&poise_strategy)>(::dlsym(library, "poise_strategy"));
  const auto why =
      reinterpret_cast<decltype(&poise_strategy_error)>(::dlsym(library, "poise_strategy_error"));
  if (strategy == nullptr)
    fail("plugin:{}: the library does not define the function poise_strategy; see poise/plugin.h",
         path);
  return [=](const Problem& problem) {
    const ProblemArrays arrays(problem);
    const auto now = problem.current.places();
    std::vector<PlaceId> places(now.begin(), now.end());
    const int status = strategy(&arrays.problem(), places.data());
    const char* const reason = status != 0 && why != nullptr ? why() : nullptr;
    if (status != 0)
      fail("plugin:{}: {}", path, reason ? reason : fmt::format("it returned {}", status));
    return Placement(std::move(places));
  };
}

}  // namespace poise::apps
