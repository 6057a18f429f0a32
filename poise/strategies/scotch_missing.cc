// SPDX-License-Identifier: BSD-3-Clause
/// The strategy scotch of a build without Scotch: it only throws an Error that says so.
#include "poise/base/error.h"
#include "poise/strategies/strategy.h"

namespace poise {

Placement scotch(const Problem&, const Knobs&) {
  fail(
      "strategy scotch: this poise was built without Scotch 7; install it (libscotch-dev on Debian "
      "and Ubuntu) and build again");
}

}  // namespace poise
