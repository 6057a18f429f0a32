// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/find.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/test_folder.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/machine/discover.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A temporary folder whose path is the value of an environment variable during a test.
class FolderInVariable {
 public:
  explicit FolderInVariable(const char* variable) : variable_(variable) {
    const char* before = std::getenv(variable);
    before_ = before == nullptr ? "" : before;
    ::setenv(variable, folder_.path().c_str(), 1);
  }
  ~FolderInVariable() {
    if (before_.empty())
      ::unsetenv(variable_);
    else
      ::setenv(variable_, before_.c_str(), 1);
  }
  FolderInVariable(const FolderInVariable&) = delete;
  FolderInVariable& operator=(const FolderInVariable&) = delete;
  const std::string& path() const { return folder_.path(); }

 private:
  const char* variable_;
  std::string before_;
  const TestFolder folder_;
};

TEST(FindMachine, accepts_text_in_the_syntax_of_hwloc_and_in_the_syntax_of_poise) {
  EXPECT_EQ(find_machine("node:2 core:4").num_nodes(), 2u);
  EXPECT_EQ(find_machine("pack:2 core:4 pu:2").num_places(), 8u);
  EXPECT_EQ(find_machine("pack:2 [numa] core:4 pu:1").num_domains(), 2u);
}

TEST(FindMachine, reads_a_file_given_by_path_or_by_name_in_the_folder_set_by_POISE_MACHINES) {
  const FolderInVariable folder("POISE_MACHINES");
  const std::string path = folder.path() + "/mine.json";
  write_file(path, machine_to_json(machine_from_text("numa:2 core:3")));
  EXPECT_EQ(find_machine(path).num_places(), 6u);
  EXPECT_EQ(find_machine("mine").num_places(), 6u);
  write_file(path, R"({"poise_machine": 1, "levels": [{"name": "core", "count": 6}]})");
  EXPECT_EQ(find_machine("mine").name(), "mine") << "a file without a name";
  EXPECT_THAT(machine_names(), ::testing::Contains("mine"));
}

TEST(FindMachine, suggests_the_nearest_name_for_a_typo) {
  const FolderInVariable folder("POISE_MACHINES");
  write_file(folder.path() + "/BigMachine.json", machine_to_json(Machine()));
  EXPECT_THAT([] { find_machine("BigMachin"); },
              ThrowsMessage<Error>(HasSubstr("did you mean \"BigMachine\"?")));
}

TEST(FindMachine, a_name_in_two_folders_is_listed_once_and_selects_the_file_in_the_first_folder) {
  const FolderInVariable folder("POISE_MACHINES");
  const std::vector<std::string> before = machine_names();
  ASSERT_FALSE(before.empty());
  write_file(folder.path() + "/" + before.back() + ".json",
             machine_to_json(machine_from_text("numa:7 core:3")));
  EXPECT_EQ(machine_names(), before);
  EXPECT_EQ(find_machine(before.back()).num_domains(), 7u);
}

TEST(FindMachine, the_error_about_a_missing_file_names_the_file) {
  for (const char* argument : {"/no/such/file.json", "no/such.xml", "no/such", "nothing_like_it"})
    EXPECT_THAT([&] { find_machine(argument); }, ThrowsMessage<Error>(HasSubstr(argument)));
}

TEST(FindMachine, the_machine_name_live_selects_the_stored_measurement_of_this_host) {
  const FolderInVariable folder("XDG_DATA_HOME");
  const Machine discovered = discover_machine();
  const std::string path = measurement_file(discovered);
  ASSERT_TRUE(path.starts_with(folder.path())) << path;
  EXPECT_EQ(live_machine().parts().cache_source, Source::assumed);

  MachineParts parts = discovered.parts();
  parts.cache_source = Source::measured;
  std::filesystem::create_directories(folder.path() + "/poise");
  write_file(path, machine_to_json(Machine(parts)));
  EXPECT_EQ(find_machine("live").parts().cache_source, Source::measured);

  write_file(path, machine_to_json(machine_from_text("core:4097")));
  EXPECT_THROW(live_machine(), Error);
}

/// Sets environment variables during a test; a value that is null unsets the variable.
class Environment {
 public:
  using Variables = std::vector<std::pair<const char*, const char*>>;
  explicit Environment(const Variables& variables) {
    for (const auto& [name, value] : variables) {
      const char* before = std::getenv(name);
      before_.emplace_back(name,
                           before == nullptr ? std::nullopt : std::optional<std::string>(before));
      set(name, value);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) set(name, value ? value->c_str() : nullptr);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const char* name, const char* value) {
    if (value == nullptr)
      ::unsetenv(name);
    else
      ::setenv(name, value, 1);
  }
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST(FindMachine, the_machine_name_job_selects_the_hosts_of_the_batch_job) {
  const FolderInVariable folder("XDG_DATA_HOME");
  const PlaceId places = live_machine().num_places();
  const Environment none(
      {{"SLURM_JOB_NODELIST", nullptr}, {"LSB_MCPU_HOSTS", nullptr}, {"PBS_NODEFILE", nullptr}});
  EXPECT_THAT([] { find_machine("job"); }, ThrowsMessage<Error>(HasSubstr("not a batch job")));
  {
    const Environment lsf(Environment::Variables{{"LSB_MCPU_HOSTS", "b 3 a 4"}});
    EXPECT_EQ(find_machine("job").num_places(), 2 * places);
    EXPECT_EQ(job_machine().ranks, 7u);
    EXPECT_EQ(job_machine().hosts, (std::vector<std::string>{"b", "a"}));
  }
  write_file(folder.path() + "/nodes", "x\ny\nx\n");
  const std::string nodes = folder.path() + "/nodes";
  const Environment pbs(Environment::Variables{{"PBS_NODEFILE", nodes.c_str()}});
  EXPECT_EQ(job_machine().ranks, 3u);
  EXPECT_EQ(job_machine().hosts, (std::vector<std::string>{"x", "y"}));
  write_file(folder.path() + "/topology.conf", "SwitchName=s Nodes=n1,n3\nSwitchName=t Nodes=n2\n");
  const std::string settings = folder.path() + "/slurm.conf";
  const Environment slurm(Environment::Variables{{"SLURM_JOB_NODELIST", "n[1-3]"},
                                                 {"SLURM_JOB_CPUS_PER_NODE", "8(x3)"},
                                                 {"SLURM_TASKS_PER_NODE", "4(x2),5"},
                                                 {"SLURM_CONF", settings.c_str()}});
  const Job job = job_machine();
  EXPECT_EQ(job.ranks, 13u);
  EXPECT_EQ(job.hosts, (std::vector<std::string>{"n1", "n3", "n2"}));
  EXPECT_EQ(job.machine.num_nodes(), 3u);
  EXPECT_EQ(job.machine.levels()[0].name, "switch");
}

TEST(FindMachine, the_file_name_of_a_measurement_depends_on_the_topology_but_not_on_memory_sizes) {
  const FolderInVariable folder("XDG_DATA_HOME");
  MachineParts parts = machine_from_text("numa:2 core:2").parts();
  parts.facts.memory_bytes = {100, 200};
  const std::string path = measurement_file(Machine(parts));
  parts.facts.memory_bytes = {100, 300};
  parts.facts.other_memory = {{"HBM", 1, 2}};
  EXPECT_EQ(measurement_file(Machine(parts)), path);
  parts.places[3].os_index = 9;
  EXPECT_NE(measurement_file(Machine(parts)), path);
  EXPECT_TRUE(path.starts_with(folder.path() + "/poise/numa:2 core:2-")) << path;
  const Environment home(Environment::Variables{{"XDG_DATA_HOME", nullptr}, {"HOME", "/h"}});
  EXPECT_TRUE(measurement_file(Machine(parts)).starts_with("/h/.local/share/poise/numa:2 core:2-"));
  const Environment homeless(Environment::Variables{{"HOME", nullptr}});
  EXPECT_EQ(measurement_file(Machine(parts)), "");
}

TEST(FindMachine, text_that_contains_PU_or_a_bracket_is_read_in_the_syntax_of_hwloc) {
  EXPECT_EQ(find_machine("core:3 PU:2").num_places(), 3u);
  EXPECT_EQ(find_machine("core:3 cpu:2").num_places(), 6u) << "cpu is the name of a level";
  EXPECT_THROW(find_machine("core:3(x"), Error);
}

TEST(FindMachine, a_file_may_begin_with_blanks_and_an_empty_file_is_an_error) {
  const FolderInVariable folder("POISE_MACHINES");
  const std::string path = folder.path() + "/a.json";
  write_file(path, "\xEF\xBB\xBF \n\t" + machine_to_json(machine_from_text("core:3")));
  EXPECT_EQ(find_machine(path).num_places(), 3u);
  write_file(path, " \n");
  EXPECT_THAT([&] { find_machine(path); }, ThrowsMessage<Error>(HasSubstr("the file is empty")));
}

TEST(FindMachine, folders_listed_in_POISE_MACHINES_come_first_and_empty_entries_are_skipped) {
  const Environment folders(Environment::Variables{{"POISE_MACHINES", ":/first::/second:"}});
  const std::vector<std::string> found = machine_folders();
  ASSERT_GT(found.size(), 4u);
  EXPECT_EQ(found[0], "/first");
  EXPECT_EQ(found[1], "/second");
  EXPECT_TRUE(found[2].ends_with("machines")) << found[2];
  const std::vector<std::string> names = machine_names();
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

}  // namespace
}  // namespace poise
