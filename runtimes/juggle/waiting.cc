// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/waiting.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "runtimes/juggle/threads.h"
#include "runtimes/juggle/wait_table.h"

#include "poise/base/text.h"

namespace poise::juggle {

namespace {

constexpr std::pair<std::string_view, std::string_view> kActive[] = {
    {"OMP_WAIT_POLICY", "active"}, {"GOMP_SPINCOUNT", "infinite"}, {"GOMP_SPINCOUNT", "infinity"},
    {"KMP_BLOCKTIME", "infinite"}, {"KMP_LIBRARY", "turnaround"},
};
constexpr std::string_view kPolling[] = {"/libmpi.so", "/libmpich.so", "/libggml-cpu",
                                         "/libgromacs.so", "/libgromacs_d.so"};

bool are_equal(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == y;
  });
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool waits_actively(std::string_view environ, std::string_view maps) {
  for (const std::string_view variable : split(environ, '\0')) {
    const std::size_t equals = variable.find('=');
    if (equals == variable.npos) continue;
    for (const auto& [name, value] : kActive)
      if (variable.substr(0, equals) == name && are_equal(variable.substr(equals + 1), value))
        return true;
  }
  return std::any_of(std::begin(kPolling), std::end(kPolling),
                     [&](std::string_view library) { return maps.find(library) != maps.npos; });
}

bool waits_actively(pid_t process) {
  const std::string folder = fmt::format("/proc/{}/", process);
  return waits_actively(text_of(folder + "environ"), text_of(folder + "maps"));
}

bool reports_waits(pid_t process) {
  const std::string maps = text_of(fmt::format("/proc/{}/maps", process));
  if (maps.find(kWaitsMemory) != std::string::npos) return true;
  const char state = state_of(process);  // read after `maps`, which is empty if the process ended
  return state == 0 || state == 'Z';
}

}  // namespace poise::juggle
