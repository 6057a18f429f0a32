// Sets of cpus as Linux knows them: written as lists, asked and set per thread, grouped by memory.
#pragma once

#include <cstdint>
#include <sched.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::juggle {

using CpuId = std::uint32_t;

/// The kernel's numbers of cpus, in rising order.
using Cpus = std::vector<CpuId>;

/// "0-3,8" as Linux writes it. Throws Error for another text, a falling range and for cpus from
/// 1,024 on, which these sets do not hold.
Cpus parse_cpu_list(std::string_view text);
std::string cpu_list_text(const Cpus& cpus);

Cpus cpus_in(const cpu_set_t& set);
cpu_set_t set_of(const Cpus& cpus);

/// What both have.
Cpus common_cpus(const Cpus& a, const Cpus& b);

/// The cpus a thread may use (0: this one); false with errno when it cannot be asked.
bool get_affinity(pid_t thread, cpu_set_t& set);
bool set_affinity(pid_t thread, const cpu_set_t& set);

/// The cpus this process may use now: what its cgroup allows and what is online.
Cpus allowed_cpus();

/// The memory domain of each cpu, dense from 0 in the order of the cpus; all 0 where Linux does not
/// tell.
std::vector<DomainId> domains_of(const Cpus& cpus);

/// The speed of each cpu against the fastest, as Linux tells it for unequal cores: their capacity,
/// else what their kinds and clocks are worth (poise/machine/discover.h); all 1 where it does not.
std::vector<double> speeds_of(const Cpus& cpus);

/// The speed of each cpu as the machine has it; `first_sibling` is the cpu of the same core by
/// which the machine knows it.
std::vector<double> speeds_in(const Machine& machine, const Cpus& first_sibling);

}  // namespace poise::juggle
