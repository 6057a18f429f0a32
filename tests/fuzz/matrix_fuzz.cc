// SPDX-License-Identifier: BSD-3-Clause
// Reads communication matrices, as MatrixMarket or CSV according to their first bytes. A matrix
// that is accepted must give a valid trace.
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
