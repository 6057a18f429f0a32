// SPDX-License-Identifier: BSD-3-Clause

#include "apps/commands/preloaded_library.h"

#include <filesystem>
#include <system_error>

namespace poise::apps {

namespace fs = std::filesystem;

std::string preloaded_library(const char* name) {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const fs::path above = own.parent_path().parent_path();
  for (const char* const folder : {"lib", POISE_LIBRARY_FOLDER})
    if (const fs::path file = above / folder / name; fs::exists(file, error)) return file.string();
  return "";
}

}  // namespace poise::apps
