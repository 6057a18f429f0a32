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

/// Lists of cpus end before this number, so that a wrong one costs little memory. Linux can be
/// built for 8,192 cpus.
constexpr CpuId kMaxCpus = 65'536;

/// "0-3,8" as Linux writes it. Throws Error for another text, a falling range and cpus from
/// kMaxCpus on.
Cpus parse_cpu_list(std::string_view text);
std::string cpu_list_text(const Cpus& cpus);

/// A mask of cpus as the kernel reads and writes it, of any size: a cpu_set_t ends at 1,024 cpus.
class CpuSet {
 public:
  using Word = unsigned long;
  static constexpr std::size_t kCpusPerWord = 8 * sizeof(Word);

  CpuSet() = default;
  explicit CpuSet(const Cpus& cpus);
  static CpuSet of_words(std::vector<Word> words);

  bool has(CpuId cpu) const;
  std::size_t count() const;
  Cpus cpus() const;
  /// May end with zeros.
  std::span<const Word> words() const { return words_; }
  friend bool operator==(const CpuSet& a, const CpuSet& b);

 private:
  std::vector<Word> words_;
};

/// What both have.
Cpus common_cpus(const Cpus& a, const Cpus& b);

/// sched_getaffinity; tests put a kernel of their own in its place.
using AffinityCall = int (*)(pid_t thread, std::size_t bytes, cpu_set_t* mask);

/// The cpus a thread may use (0: this one); false with errno when it cannot be asked. The mask
/// grows until the kernel's cpus fit.
bool get_affinity(pid_t thread, CpuSet& set, AffinityCall call = ::sched_getaffinity);
bool set_affinity(pid_t thread, const CpuSet& set);

/// The size of the mask that the kernel fills.
std::size_t affinity_words();

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
