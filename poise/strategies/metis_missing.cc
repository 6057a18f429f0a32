// SPDX-License-Identifier: BSD-3-Clause
/// The strategy metis of a build without METIS: it only throws an Error that says so.
#include "poise/base/error.h"
#include "poise/strategies/strategy.h"

namespace poise {

Placement metis(const Problem&, const Knobs&) {
  fail(
      "strategy metis: this poise was built without METIS; install it (libmetis-dev on Debian and "
      "Ubuntu) and build again");
}

}  // namespace poise
