// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/offload_policy.h"

#include <array>

#include "poise/base/error.h"
#include "poise/base/offload_policies.h"

namespace poise {

#define POISE_DECLARE(name, sight, what) \
  std::vector<Loan> offload_##name(const LoanQuestion& question, OffloadMemory& memory);
POISE_OFFLOAD_POLICIES(POISE_DECLARE)
#undef POISE_DECLARE

namespace {

constexpr auto kPolicies = std::to_array<OffloadPolicy>({
#define POISE_ROW(name, sight, what) {#name, OffloadPolicy::Sight::sight, offload_##name},
    POISE_OFFLOAD_POLICIES(POISE_ROW)
#undef POISE_ROW
});

}  // namespace

std::vector<Loan> offload_none(const LoanQuestion&, OffloadMemory&) { return {}; }

std::span<const OffloadPolicy> offload_policies() { return kPolicies; }

const OffloadPolicy& offload_policy(std::string_view name) {
  for (const OffloadPolicy& policy : kPolicies)
    if (policy.name == name) return policy;
  fail("there is no offload policy \"{}\"; poise/base/offload_policies.h lists the policies", name);
}

}  // namespace poise
