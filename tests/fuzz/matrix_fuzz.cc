// SPDX-License-Identifier: BSD-3-Clause
// Communication matrices, MatrixMarket or CSV by the first bytes: what is accepted is a valid
// trace.
#include "tests/fuzz/target.h"

#include "poise/trace/matrix.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] {
    const std::string text(text_of(data, size));
    check(text.starts_with(matrix::kMagic) ? matrix::read_matrix_market("fuzz.mtx", text)
                                           : matrix::read_csv("fuzz.csv", text));
  });
  return 0;
}
