// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/kernel.h"

#include <fmt/format.h>

#include "runtimes/cgroup/quota.h"
#include "runtimes/juggle/waiting.h"

#include "poise/base/clock.h"

namespace poise::juggle {

Linux::Linux(pid_t root, bool with_adopted, pid_t not_followed, std::size_t max_threads,
             WaitWatch* waits)
    : root_(root),
      max_threads_(max_threads),
      finder_(root, with_adopted, not_followed, max_threads),
      waits_(waits),
      start_s_(wall_now_s()),
      tickless_cpus_(juggle::tickless_cpus()) {
  if (!tickless_cpus_.empty()) finder_.count_run_times();
}

double Linux::now_s() const { return wall_now_s() - start_s_; }

bool Linux::get_affinity(pid_t thread, CpuSet& set) const {
  return juggle::get_affinity(thread, set);
}

bool Linux::set_affinity(pid_t thread, const CpuSet& set) {
  return juggle::set_affinity(thread, set);
}

std::optional<CpuTime> Linux::read_time(const FoundThread& thread) const {
  return juggle::read_time(thread);
}

std::optional<std::uint64_t> Linux::start_time_of(pid_t process, pid_t thread) const {
  return juggle::start_time_of(process, thread);
}

std::optional<double> Linux::quota_cpus(const std::vector<pid_t>& processes) const {
  return cgroup::quota_cpus(processes.empty() ? std::vector{root_} : processes);
}

bool Linux::waits_actively(pid_t process) const { return juggle::waits_actively(process); }

bool Linux::reports_waits(pid_t process) const { return juggle::reports_waits(process); }

std::optional<WaitReport> Linux::wait_report(pid_t thread) const {
  return waits_ == nullptr ? std::nullopt : waits_->report_of(thread);
}

void Linux::forget_waits(pid_t thread) {
  if (waits_ != nullptr) waits_->forget(thread);
}

std::string Linux::shortage() const {
  if (finder_.is_full())
    return fmt::format("there are more than {} threads; the others are not balanced", max_threads_);
  if (finder_.lacks_files())
    return "the limit of open files is too low (ulimit -n; each thread needs two), so some threads "
           "are not balanced";
  if (finder_.meets_balancer())
    return "another `poise juggle` balances some of the processes; this one leaves them alone";
  if (finder_.lacks_clocks())
    return fmt::format(
        "cpus {} have no clock ticks (nohz_full), and the system refuses to count cpu time "
        "(kernel.perf_event_paranoid), so cpu times are up to a second old",
        cpu_list_text(tickless_cpus_));
  return "";
}

}  // namespace poise::juggle
