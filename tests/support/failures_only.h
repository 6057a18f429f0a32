// SPDX-License-Identifier: BSD-3-Clause
// A test listener for ranks other than 0: it prints failures only.
#pragma once

#include <cstdio>
#include <gtest/gtest.h>

namespace poise {

class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(),
                   result.message());
  }

  int rank_;
};

/// Makes ranks other than 0 print failed tests only. Rank 0 prints GoogleTest's full output.
inline void report_as(int rank) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank == 0) return;
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailuresOnly(rank));
}

}  // namespace poise
