// SPDX-License-Identifier: BSD-3-Clause
// Tests that types written for cereal work with Poise's archives, and that types written for Poise
// work with cereal's archives.
#include <cereal/archives/binary.hpp>
#include <cereal/types/base_class.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <gtest/gtest.h>
#include <sstream>

#include "runtimes/archive/archive.h"

namespace poise {
namespace {

struct Cell {
  int level = 0;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(level));
  }
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// A type that is serialized by save() and load(); load() recomputes `sum`.
struct Ghosts {
  std::vector<double> values;
  double sum = 0;
  template <typename Archive>
  void save(Archive& archive) const {
    archive(values);
  }
  template <typename Archive>
  void load(Archive& archive) {
    archive(values);
    sum = 0;
    for (const double value : values) sum += value;
  }
  friend bool operator==(const Ghosts&, const Ghosts&) = default;
};

struct Patch : Cell {
  std::string name;
  std::map<int, Ghosts> ghosts;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(cereal::base_class<Cell>(this), cereal::make_nvp("name", name), CEREAL_NVP(ghosts));
  }
  friend bool operator==(const Patch&, const Patch&) = default;
};

Patch patch() {
  Patch result;
  result.level = 3;
  result.name = "north";
  result.ghosts[2] = {{1, 2.5}, 3.5};
  return result;
}

TEST(Cereal, types_written_for_cereal_work_with_poise_archives) {
  const Buffer buffer = to_bytes(patch());
  Sizer sizer;
  sizer(patch());
  EXPECT_EQ(sizer.bytes(), buffer.size());
  EXPECT_EQ(from_bytes<Patch>(buffer.bytes()), patch());
}

TEST(Cereal, types_written_for_poise_work_with_cereal_archives) {
  std::stringstream stream;
  cereal::BinaryOutputArchive out(stream);
  out(patch());
  cereal::BinaryInputArchive in(stream);
  Patch read;
  in(read);
  EXPECT_EQ(read, patch());
}

}  // namespace
}  // namespace poise
