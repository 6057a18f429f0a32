// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/file.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "tests/support/test_folder.h"

#include "poise/base/error.h"

namespace poise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::ptrdiff_t num_files(const TestFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

TEST(File, bytes_are_unchanged_after_writing_and_reading_a_file) {
  const TestFolder folder;
  std::string large(300000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i % 251);
  for (const std::string& bytes : {std::string(), std::string("a\0b\n", 4), large}) {
    write_file(folder.file("x"), bytes);
    EXPECT_TRUE(read_file(folder.file("x")) == bytes) << bytes.size();
  }
  EXPECT_EQ(num_files(folder), 1) << "a temporary file is left";
}

TEST(File, a_new_file_has_the_permissions_that_the_umask_allows) {
  const TestFolder folder;
  for (const mode_t mask : {mode_t{022}, mode_t{077}, mode_t{0}}) {
    const mode_t before = ::umask(mask);
    write_file(folder.file("x"), "text");
    EXPECT_EQ(::umask(before), mask) << "the mask of the process has changed";
    EXPECT_EQ(mode_of(folder.file("x")), 0666 & ~mask);
  }
}

TEST(File, a_failed_write_throws_an_error_that_names_the_path_and_leaves_no_file) {
  const TestFolder folder;
  EXPECT_THAT([&] { write_file(folder.file("no/such"), "x"); },
              ThrowsMessage<Error>(HasSubstr("cannot write " + folder.file("no/such"))));
  EXPECT_EQ(num_files(folder), 0);
}

TEST(File, writing_to_a_full_disk_is_a_system_error) {
  ASSERT_TRUE(is_written_in_place("/dev/full"));
  EXPECT_THROW(write_file("/dev/full", "x"), SystemError);
  EXPECT_NO_THROW(write_file("/dev/null", "x"));
}

TEST(File,
     writes_into_devices_and_pipes_and_targets_of_stdout_and_stderr_instead_of_replacing_them) {
  const TestFolder folder;
  write_file(folder.file("x"), "x");
  EXPECT_TRUE(is_written_in_place("/dev/null"));
  EXPECT_FALSE(is_written_in_place(folder.file("x")));
  EXPECT_FALSE(is_written_in_place(folder.file("no_such_file")));
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    const std::string path = folder.file(stream == STDOUT_FILENO ? "stdout" : "stderr");
    const auto write_after_a_line = [&] {
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0666);
      ::dup2(file, stream);
      const bool has_written = ::write(stream, "first\n", 6) == 6 && is_written_in_place(path);
      write_file(path, "second\n");
      ::_exit(has_written ? 0 : 1);
    };
    EXPECT_EXIT(write_after_a_line(), testing::ExitedWithCode(0), "");
    EXPECT_EQ(read_file(path), "first\nsecond\n");
  }
}

TEST(File, text_is_read_from_a_pipe_to_its_end_but_binary_data_is_refused) {
  const TestFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ASSERT_TRUE(is_written_in_place(path));
  const std::string text(200000, 'y');
  std::thread writer([&] { write_file(path, text); });
  EXPECT_TRUE(read_file(path) == text);
  writer.join();
  ::signal(SIGPIPE, SIG_IGN);
  std::thread second_writer([&] { write_file(path, std::string("a\0b", 3)); });
  EXPECT_THAT([&] { read_file(path); },
              ThrowsMessage<Error>(HasSubstr("its first bytes match no file format")));
  second_writer.join();
  ::signal(SIGPIPE, SIG_DFL);
}

TEST(File, the_error_about_a_file_that_cannot_be_read_names_the_file) {
  const TestFolder folder;
  EXPECT_THAT([&] { read_file(folder.file("none")); },
              ThrowsMessage<Error>(HasSubstr("cannot read " + folder.file("none"))));
  EXPECT_THAT([] { read_file(TestFolder().path()); },
              ThrowsMessage<Error>(HasSubstr("it is a directory")));
  // /proc/self/mem begins with the memory at address 0, which is not mapped, so reading it fails.
  EXPECT_THAT([] { read_file("/proc/self/mem"); },
              ThrowsMessage<Error>(HasSubstr("cannot read /proc/self/mem")));
}

TEST(File, a_byte_order_mark_is_removed_only_from_the_start_of_a_text) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBFtext"), "text");
  EXPECT_EQ(without_byte_order_mark("text\xEF\xBB\xBF"), "text\xEF\xBB\xBF");
  EXPECT_EQ(without_byte_order_mark("\xEF\xBBtext"), "\xEF\xBBtext");
  EXPECT_EQ(without_byte_order_mark(""), "");
}

TEST(File, bytes_count_as_text_only_if_none_of_them_is_nul) {
  EXPECT_TRUE(is_text(""));
  EXPECT_TRUE(is_text("a\x01\xff"));
  EXPECT_FALSE(is_text(std::string_view("a\0", 2)));
}

TEST(File, if_a_write_fails_the_old_file_is_unchanged_and_no_temporary_file_is_left) {
  const TestFolder folder;
  const std::string path = folder.file("x");
  write_file(path, "old");
  const auto write_too_much = [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file(path, std::string(5000, 'x'));
    } catch (const SystemError& error) {
      ::_exit(std::string(error.what()).starts_with("cannot write " + path) ? 0 : 1);
    }
    ::_exit(2);
  };
  EXPECT_EXIT(write_too_much(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(num_files(folder), 1);
  EXPECT_THAT([&] { write_file(folder.file("."), "x"); },
              ThrowsMessage<Error>(HasSubstr("cannot write")));
}

TEST(File, a_single_hyphen_as_file_name_means_standard_input) {
  const TestFolder folder;
  write_file(folder.file("x"), "input");
  const auto read_stdin = [&] {
    ::dup2(::open(folder.file("x").c_str(), O_RDONLY), STDIN_FILENO);
    ::_exit(read_file(std::string(kStdin)) == "input" ? 0 : 1);
  };
  EXPECT_EXIT(read_stdin(), testing::ExitedWithCode(0), "");
}

TEST(File, files_are_read_and_written_although_stdin_is_closed) {
  const TestFolder folder;
  const auto copy = [&] {
    ::close(STDIN_FILENO);  // so the next file that is opened gets descriptor 0
    write_file(folder.file("x"), "text");
    write_file("/dev/null", "text");
    ::_exit(read_file(folder.file("x")) == "text" ? 0 : 1);
  };
  EXPECT_EXIT(copy(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace poise
