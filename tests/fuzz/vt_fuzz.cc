// SPDX-License-Identifier: BSD-3-Clause
// Reads vt LBDatafiles, plain or brotli. Zero bytes separate the files of ranks 0, 1, ….
#include "tests/fuzz/target.h"

#include "poise/base/text.h"
#include "poise/trace/vt.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] {
    std::vector<vt::RankFile> files;
    for (const std::string_view text : split(text_of(data, size), '\0')) {
      const std::uint32_t rank = files.size();
      files.push_back(vt::parse_rank_file("data." + std::to_string(rank) + ".json", rank, text));
    }
    if (!files.empty()) check(vt::join(std::move(files)));
  });
  return 0;
}
