// SPDX-License-Identifier: BSD-3-Clause
// Diagnoses what slows the threads of a program down, and what would help.
//
// The facts come from watching the threads (juggle_watch.h) or from any other measurement. The
// functions are pure: the same facts give the same causes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poise/online/juggle_tuning.h"

namespace poise {

/// What is known about the threads that compute. Times are totals of the whole observation, which
/// lasts watched_s.
struct JuggleFacts {
  double watched_s = 0;                  // how long the threads were watched while they computed
  std::uint32_t threads = 0;             // largest number of threads that computed at the same time
  double threads_s = 0;                  // number of computing threads, integrated over watched_s
  std::vector<std::uint32_t> cpus = {};  // Linux's IDs of the cpus that the threads may use
  std::uint32_t allowed_cpus = 0;        // usable cpus without the quota; 0: as many as `cpus`
  std::vector<std::uint32_t> bound_on = {};  // per cpu: how many threads may use no other cpu
  /// Per cpu: the seconds in which threads bound to this cpu waited for it while none of them ran.
  std::vector<double> taken_s = {};
  std::optional<double> quota_cpus = {};  // the cgroup's limit of cpu time, in cpus
  double asleep_s = 0;                    // sleeping time of the thread that slept most, in seconds
  /// Cpu time that other programs got while threads were ready to run: from all threads, and, if
  /// each thread could have a cpu of its own, from the thread that lost most.
  double taken_cpu_s = 0, lost_cpu_s = 0;
  /// How many times the kernel put a thread on a cpu; the maximum over all threads.
  double turns = 0;
  double acted_s = 0;  // how long the threads were balanced
  double births = 0;   // how many new threads of the program were found
  /// True if waiting threads of the program are known to spin, from its settings or its libraries.
  bool waits_actively = false;
};

/// One reason why the threads of a program lose time.
struct JuggleCause {
  enum class Kind : std::uint8_t {
    unknown,         // the threads did not compute for long enough to tell
    spinning,        // more threads than cpus, and waiting threads use their cpu
    one_cpu,         // all threads are bound to the same cpu, and other cpus are idle
    bound_unevenly,  // more threads are bound to one cpu than to another
    quota,           // the cpu quota is too small for the threads that compute
    stranger,        // another program uses one of the cpus
    short_lived,     // another program, or threads that live too briefly to be measured, use a cpu
    nothing          // there is nothing to gain (must stay the last kind)
  };
  Kind kind = Kind::nothing;
  /// How many times faster the program could be. For the cause `spinning` this is a lower limit;
  /// how much more the program can gain depends on its phases.
  double gain = 1;
  std::string text = {};  // one line: what is wrong, and what would help
};

/// The causes, the one with the largest gain first. The list is never empty: if nothing else is
/// found, it contains Kind::unknown or Kind::nothing.
std::vector<JuggleCause> causes_of(const JuggleFacts& facts, const JuggleTuning& tuning = {});

/// True if poise juggle cannot remove this cause, so that the user has to.
bool is_for_user(JuggleCause::Kind kind);

/// "1 thread" or "N threads".
std::string threads_text(std::size_t count);

/// Name of a kind of cause in JSON output, such as "spinning" or "one_cpu".
const char* name_of(JuggleCause::Kind kind);

}  // namespace poise
