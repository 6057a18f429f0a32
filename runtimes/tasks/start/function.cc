// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/start/function.h"

#include <deque>
#include <mutex>

#include "poise/base/error.h"

namespace poise::tasks {

namespace {

struct Registry {
  std::mutex mutex;
  std::deque<Registered> functions;
};

Registry& registry() {
  static Registry* all = new Registry;  // never destroyed: static objects may use it at exit
  return *all;
}

}  // namespace

FunctionId register_function(std::string_view name, std::string signature, Body body) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const Registered& known : all.functions)
    if (known.name == name) fail("two functions are registered as \"{}\"; names must differ", name);
  all.functions.push_back({std::string(name), std::move(signature), std::move(body)});
  return all.functions.size() - 1;
}

std::vector<const Registered*> registered_functions() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<const Registered*> functions;
  for (const Registered& function : all.functions) functions.push_back(&function);
  return functions;
}

}  // namespace poise::tasks
