// SPDX-License-Identifier: BSD-3-Clause
// Sets of cpus in Linux: parsing lists, getting and setting affinities per thread, memory domains
// and speeds of cpus.
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

/// Linux's cpu numbers, in ascending order.
using Cpus = std::vector<CpuId>;

/// Upper limit for cpu numbers in lists, so that a typing error does not cause a huge allocation.
/// Linux can be built for 8,192 cpus.
constexpr CpuId kMaxCpus = 65'536;

/// Parses Linux's format, such as "0-3,8". Throws Error for any other text, a descending range, and
/// cpus from kMaxCpus on.
Cpus parse_cpu_list(std::string_view text);
std::string cpu_list_text(const Cpus& cpus);

/// A cpu mask in the kernel's format, of any size. A cpu_set_t has room for 1,024 cpus only.
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
  /// The words of the mask. Words at the end may be 0.
  std::span<const Word> words() const { return words_; }
  friend bool operator==(const CpuSet& a, const CpuSet& b);

 private:
  std::vector<Word> words_;
};

/// Returns the intersection of two lists.
Cpus common_cpus(const Cpus& a, const Cpus& b);

/// The signature of sched_getaffinity; tests pass a simulated kernel.
using AffinityCall = int (*)(pid_t thread, std::size_t bytes, cpu_set_t* mask);

/// The affinity of a thread (0: the calling one). Returns false and sets errno on failure. Enlarges
/// the mask until the kernel accepts its size.
bool get_affinity(pid_t thread, CpuSet& set, AffinityCall call = ::sched_getaffinity);
bool set_affinity(pid_t thread, const CpuSet& set);

/// Returns the size of the kernel's cpu masks, in words.
std::size_t affinity_words();

/// Returns a mask that has every cpu. A thread with this affinity may use all cpus of its cgroup.
CpuSet every_cpu();

/// The cpus that this process may use now: allowed by its cgroup, and online.
Cpus allowed_cpus();

/// Returns the cpus in the text of /sys/devices/system/cpu/nohz_full. While one thread computes
/// alone on such a cpu, the kernel has no clock tick there, and updates the thread's schedstat only
/// once per second.
Cpus parse_tickless(std::string_view text);
Cpus tickless_cpus();

/// The index of the memory domain of each cpu. Domains are numbered from 0 in the order of their
/// first cpus. All are 0 if Linux does not report domains.
std::vector<DomainId> domains_of(const Cpus& cpus);

/// The speed of each cpu relative to the fastest, as Linux reports it for unequal cores: given by
/// their capacity, or else estimated from core types and clock frequencies
/// (poise/machine/discover.h). All 1 if Linux reports nothing.
std::vector<double> speeds_of(const Cpus& cpus);

/// Returns the speed of each cpu according to `machine`, relative to the fastest. `machine`
/// identifies a core by the number of its first cpu; `first_sibling` gives this number for each
/// cpu.
std::vector<double> speeds_in(const Machine& machine, const Cpus& first_sibling);

}  // namespace poise::juggle
