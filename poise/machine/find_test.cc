// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/find.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
class TestFolder {
 public:
  explicit TestFolder(const char* variable)
      : variable_(variable),
        path_(fmt::format("{}/find_test_{}", ::testing::TempDir(), ::getpid())) {
    std::filesystem::create_directories(path_);
    const char* before = std::getenv(variable);
    before_ = before == nullptr ? "" : before;
    ::setenv(variable, path_.c_str(), 1);
  }
  ~TestFolder() {
    if (before_.empty())
      ::unsetenv(variable_);
    else
      ::setenv(variable_, before_.c_str(), 1);
    std::filesystem::remove_all(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  const char* variable_;
  std::string path_, before_;
};

TEST(FindMachine, accepts_text_in_the_syntax_of_hwloc_and_in_the_syntax_of_poise) {
  EXPECT_EQ(find_machine("node:2 core:4").num_nodes(), 2u);
  EXPECT_EQ(find_machine("pack:2 core:4 pu:2").num_places(), 8u);
  EXPECT_EQ(find_machine("pack:2 [numa] core:4 pu:1").num_domains(), 2u);
}

TEST(FindMachine, reads_a_file_given_by_path_or_by_name_in_the_folder_set_by_POISE_MACHINES) {
  const TestFolder folder("POISE_MACHINES");
  const std::string path = folder.path() + "/mine.json";
  write_file(path, machine_to_json(machine_from_text("numa:2 core:3")));
  EXPECT_EQ(find_machine(path).num_places(), 6u);
  EXPECT_EQ(find_machine("mine").num_places(), 6u);
  EXPECT_THAT(machine_names(), ::testing::Contains("mine"));
}

TEST(FindMachine, suggests_the_nearest_name_for_a_typo) {
  const TestFolder folder("POISE_MACHINES");
  write_file(folder.path() + "/BigMachine.json", machine_to_json(Machine()));
  EXPECT_THAT([] { find_machine("BigMachin"); },
              ThrowsMessage<Error>(HasSubstr("did you mean \"BigMachine\"?")));
}

TEST(FindMachine,
     a_name_in_two_folders_is_listed_once_and_stands_for_the_file_in_the_first_folder) {
  const TestFolder folder("POISE_MACHINES");
  const std::vector<std::string> before = machine_names();
  ASSERT_FALSE(before.empty());
  write_file(folder.path() + "/" + before.back() + ".json",
             machine_to_json(machine_from_text("numa:7 core:3")));
  EXPECT_EQ(machine_names(), before);
  EXPECT_EQ(find_machine(before.back()).num_domains(), 7u);
}

TEST(FindMachine, if_a_file_is_missing_the_error_names_it) {
  for (const char* argument : {"/no/such/file.json", "no/such.xml", "no/such", "nothing_like_it"})
    EXPECT_THAT([&] { find_machine(argument); }, ThrowsMessage<Error>(HasSubstr(argument)));
}

TEST(FindMachine, the_machine_name_live_stands_for_the_stored_measurement_of_this_host) {
  const TestFolder folder("XDG_DATA_HOME");
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

}  // namespace
}  // namespace poise
