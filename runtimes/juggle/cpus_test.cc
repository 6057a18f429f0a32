#include "runtimes/juggle/cpus.h"

#include <gmock/gmock.h>

#include "poise/base/error.h"

namespace poise::juggle {
namespace {

using testing::ElementsAre;

TEST(Cpus, are_lists_as_linux_writes_them) {
  EXPECT_THAT(parse_cpu_list("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_cpu_list("8,0-1,1"), ElementsAre(0, 1, 8));
  EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(cpu_list_text({5}), "5");
  EXPECT_EQ(cpu_list_text({}), "");
}

TEST(Cpus, that_are_none_are_refused) {
  for (const char* text : {"", "a", "3-1", "0-1-2", "-", "1,,2", "1024", "0-99999999", "1-"})
    EXPECT_THROW(parse_cpu_list(text), Error) << text;
}

TEST(Cpus, go_into_sets_and_back) {
  EXPECT_THAT(cpus_in(set_of({1, 63, 64, 1023})), ElementsAre(1, 63, 64, 1023));
  EXPECT_THAT(common_cpus({0, 2, 3}, {2, 3, 4}), ElementsAre(2, 3));
}

TEST(Cpus, of_this_host_have_domains_and_speeds) {
  const Cpus cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  const auto domains = domains_of(cpus);
  EXPECT_EQ(domains.size(), cpus.size());
  EXPECT_EQ(domains.front(), 0u);
  for (const double speed : speeds_of(cpus)) {
    EXPECT_GT(speed, 0);
    EXPECT_LE(speed, 1);
  }
}

TEST(Cpus, have_the_speeds_of_their_cores) {
  MachineParts parts;
  parts.places = {{0, 1, 0}, {0, 1, 2}, {0, 0.5, 4}, {0, 0.25, 5}};
  parts.levels = {{.name = "core", .first_place = {0, 1, 2, 3, 4}}};
  parts.kind_of_node = {0};
  const Machine machine{std::move(parts)};
  EXPECT_THAT(speeds_in(machine, {0, 0, 2, 4, 5}), ElementsAre(1, 1, 1, 0.5, 0.25));
  EXPECT_THAT(speeds_in(machine, {4, 5}), ElementsAre(1, 0.5));
}

}  // namespace
}  // namespace poise::juggle
