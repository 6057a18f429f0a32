// SPDX-License-Identifier: BSD-3-Clause
// Files of a test. Tests run at the same time in several processes, so no two may share a path.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace poise {

/// A new, empty temporary folder, which is removed with all its content at the end.
class TestFolder {
 public:
  TestFolder() : path_(testing::TempDir() + "poise_test_XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create " + path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  /// The path of a file or folder of this name in the folder.
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace poise
