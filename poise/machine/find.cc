// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/find.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/random.h"
#include "poise/base/text.h"
#include "poise/machine/discover.h"
#include "poise/machine/job.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"

namespace poise {

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

Machine read_machine_file(const std::string& path) {
  const std::string read = read_file(path);
  const std::string_view bytes = without_byte_order_mark(read);
  const auto first = std::find_if_not(bytes.begin(), bytes.end(),
                                      [](unsigned char c) { return std::isspace(c) != 0; });
  if (first == bytes.end()) fail("{}: the file is empty", path);
  if (*first == '<') return machine_from_hwloc_xml(bytes, path);
  Machine machine = machine_from_json(bytes, path);
  if (!machine.name().empty()) return machine;
  MachineParts parts = machine.parts();
  parts.name = fs::path(path).stem().string();
  return Machine(std::move(parts));
}

/// True if the text has hwloc's synthetic syntax: a word that begins with "pu:", or a bracket.
bool is_synthetic(std::string_view text) {
  if (text.find_first_of("[(") != text.npos) return true;
  for (const std::string_view word : split(text, ' '))
    if (word.starts_with("pu:") || word.starts_with("PU:")) return true;
  return false;
}

Machine named_machine(std::string_view name) {
  for (const std::string& folder : machine_folders()) {
    const fs::path path = fs::path(folder) / fmt::format("{}.json", name);
    if (is_file(path)) return read_machine_file(path.string());
  }
  const std::vector<std::string> names = machine_names();
  std::vector<std::string_view> known(names.begin(), names.end());
  known.insert(known.begin(), {"live", "job"});
  fail("{}; instead of a name, give a .json or .xml file or text such as \"node:2 core:4\"",
       unknown_name("machine", name, known));
}

/// Hashes only what stays the same between reboots. Memory sizes are left out, because a virtual
/// machine may have another memory size after a reboot.
std::uint64_t topology_hash(const Machine& machine) {
  MachineParts parts = machine.parts();
  parts.facts.memory_bytes.clear();
  parts.facts.other_memory.clear();
  std::uint64_t hash = 0;
  for (const unsigned char c : machine_to_json(Machine(std::move(parts)))) hash = mix(hash ^ c);
  return hash;
}

}  // namespace

Machine find_machine(std::string_view argument) {
  const std::string text(argument);
  if (text == "live") return live_machine();
  if (text == "job") return job_machine().machine;
  const bool looks_like_file = text.ends_with(".json") || text.ends_with(".xml") || text == kStdin;
  if (looks_like_file || is_file(text)) return read_machine_file(text);
  if (is_synthetic(text)) return machine_from_hwloc_synthetic(text);
  if (text.find(':') != text.npos) return machine_from_text(text);
  if (text.find('/') != text.npos)
    return read_machine_file(text);  // throws an error that says why the file cannot be read
  return named_machine(text);
}

Machine live_machine() {
  Machine discovered = discover_machine();
  const std::string path = measurement_file(discovered);
  if (path.empty() || !is_file(path)) return discovered;
  Machine stored = machine_from_json(read_file(path), path);
  if (stored.num_places() != discovered.num_places())
    fail(
        "{}: the measurements in this file are of a machine with {} places, but this host has {}; "
        "measure this host with \"poise measure\"",
        path, stored.num_places(), discovered.num_places());
  return stored;
}

void find_slurm_switches(std::vector<JobHost>& hosts) {
  const std::string settings = environment("SLURM_CONF");
  const fs::path folder = settings.empty() ? "/etc/slurm" : fs::path(settings).parent_path();
  if (const fs::path topology = folder / "topology.conf"; is_file(topology))
    find_switches(read_file(topology.string()), hosts);
}

Job job_machine() {
  const std::string slurm = environment("SLURM_JOB_NODELIST"), lsf = environment("LSB_MCPU_HOSTS"),
                    pbs = environment("PBS_NODEFILE");
  std::vector<JobHost> hosts;
  Job job;
  if (!slurm.empty()) {
    hosts = hosts_of_slurm(slurm, environment("SLURM_JOB_CPUS_PER_NODE"));
    find_slurm_switches(hosts);
    job.ranks = ranks_of_slurm(environment("SLURM_TASKS_PER_NODE"));
  } else if (!lsf.empty()) {
    hosts = hosts_of_lsf(lsf);
  } else if (!pbs.empty()) {
    hosts = hosts_of_pbs(read_file(pbs));
  } else {
    fail(
        "this is not a batch job, because none of SLURM_JOB_NODELIST, LSB_MCPU_HOSTS and "
        "PBS_NODEFILE is set; run the program inside a job, or name another machine");
  }
  if (slurm.empty())
    for (const JobHost& host : hosts) job.ranks += host.slots;
  job.machine = machine_of_job(live_machine(), std::move(hosts), job.hosts);
  return job;
}

namespace {

/// Returns the path of the shared library libpoise if this code is in it, otherwise an empty path.
fs::path own_library() {
  Dl_info info{};
  const bool is_known = ::dladdr(reinterpret_cast<const void*>(&machine_folders), &info) != 0;
  const std::string_view name = is_known && info.dli_fname ? info.dli_fname : "";
  return name.find(".so") != name.npos ? fs::path(name) : fs::path();
}

}  // namespace

std::vector<std::string> machine_folders() {
  std::vector<std::string> folders;
  const std::string chosen = environment("POISE_MACHINES");
  for (const std::string_view folder : split(chosen, ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // The folders near the library are searched before those near the program, because the program
  // may be an interpreter such as Python, near which an older version of Poise may be installed.
  for (const fs::path& file : {own_library(), program}) {
    if (file.empty()) continue;
    folders.push_back((file.parent_path() / "machines")
                          .string());  // the folder of machine files in the Python package
    folders.push_back((file.parent_path().parent_path() / "share/poise/machines").string());
  }
  folders.emplace_back(POISE_MACHINES_INSTALLED);
  folders.emplace_back(POISE_MACHINES_SOURCE);
  return folders;
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const std::string& folder : machine_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string measurement_file(const Machine& discovered) {
  std::string folder = environment("XDG_DATA_HOME");
  const std::string home = environment("HOME");
  if (folder.empty() && home.empty()) return "";
  if (folder.empty()) folder = home + "/.local/share";
  return fmt::format("{}/poise/{}-{:016x}.json", folder, discovered.name(),
                     topology_hash(discovered));
}

}  // namespace poise
