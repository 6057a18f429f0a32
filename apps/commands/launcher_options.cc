// SPDX-License-Identifier: BSD-3-Clause

#include "apps/commands/launcher_options.h"

#include <algorithm>
#include <string_view>

#include "poise/base/text.h"

namespace poise::apps {

namespace {

/// True if the name is among `names`, which are separated by blanks.
bool contains(std::string_view names, std::string_view name) {
  return std::ranges::count(split(names, ' '), name) > 0;
}

// The lists below omit the dashes of options, because Open MPI and Hydra accept one dash or two. A
// flag is an option without a value.

// These options are listed in mpirun(1) of Open MPI 4.1 and by mpirun --help of Open MPI 5.0.
constexpr std::string_view kPlacingOfOpenMpi =
    "map-by bind-to rank-by rankfile rf bynode byslot bycore bind-to-core bind-to-socket "
    "bind-to-none npernode N npersocket pernode ppr cpus-per-proc nolocal cpus-per-rank "
    "cpu-list cpu-set slot-list app loadbalance use-hwthread-cpus default-rf-path";
constexpr std::string_view kFlagsOfOpenMpi =
    "allow-run-as-root bind-to-core bind-to-none bind-to-socket bycore bynode byslot "
    "continuous d debug debug-daemons debug-daemons-file debug-devel disable-recovery "
    "display-allocation display-devel-allocation display-devel-map display-diffable-map "
    "display-map display-topo do-not-launch do-not-resolve enable-instant-on-support "
    "enable-recovery fwd-mpirun-port get-stack-traces index-argv-by-rank "
    "leave-session-attached loadbalance merge-stderr-to-stdout nolocal nooversubscribe "
    "noprefix novm output-proctable oversubscribe pernode preload-binary q quiet "
    "report-bindings report-child-jobs-separately report-state-on-timeout s "
    "set-cwd-to-session-dir show-progress tag-output timestamp-output tv use-hwthread-cpus "
    "use-regexp v verbose xml";

// These options are listed by mpiexec -help of MPICH 4; grr and perhost are Intel MPI's names for
// ppn.
constexpr std::string_view kPlacingOfHydra =
    "bind-to binding map-by f hostfile machinefile machine machines machinelist hosts host "
    "ppn hostlist perhost grr rr order-nodes nolocal skip-launch-node configfile";
constexpr std::string_view kFlagsOfHydra =
    "genvnone genvall envnone envall enable-x disable-x verbose v info print-all-exitcodes "
    "profile rr l prepend-rank disable-auto-cleanup pmi-port nolocal debug skip-launch-node "
    "disable-hostname-propagation localroot cleanup";

// srun(1).
constexpr std::string_view kPlacingOfSlurm =
    "cpu-bind cpu_bind distribution m ntasks-per-node ntasks-per-socket ntasks-per-core "
    "nodelist w relative r hint multi-prog extra-node-info B";
constexpr std::string_view kFlagsOfSlurm =
    "label l unbuffered u verbose v quiet Q exclusive overlap overcommit O oversubscribe s "
    "preserve-env E no-kill k kill-on-bad-exit disable-status X pty immediate hold H "
    "contiguous spread-job use-min-nodes multi-prog test-only no-allocate Z reboot "
    "resv-ports propagate exact whole interactive nice";

/// Options of Open MPI and Hydra that have two values.
constexpr std::string_view kTwoValues = "env genv mca gmca prtemca gprtemca pmixmca gpmixmca";

struct Option {
  std::size_t at;              // index of the option in the command
  std::string_view name;       // without dashes and without "=VALUE"
  std::size_t num_values = 0;  // number of the following words that are values of the option
};

Option option_at(std::size_t at, std::string_view word, Launcher launcher) {
  const bool is_long = word.starts_with("--"), has_value = word.find('=') != word.npos;
  Option option{at, word.substr(is_long ? 2 : 1)};
  option.name = option.name.substr(0, option.name.find('='));
  // In srun's short options the value may follow the letter directly: -n4.
  const bool is_joined = launcher == Launcher::slurm && !is_long && option.name.size() > 1;
  if (is_joined) option.name = option.name.substr(0, 1);
  const std::string_view flags = launcher == Launcher::openmpi ? kFlagsOfOpenMpi
                                 : launcher == Launcher::mpich ? kFlagsOfHydra
                                                               : kFlagsOfSlurm;
  if (is_joined || has_value || contains(flags, option.name)) return option;
  option.num_values = launcher != Launcher::slurm && contains(kTwoValues, option.name) ? 2 : 1;
  return option;
}

/// The options of a launcher, which end before the word `end` or with the command.
struct Options {
  std::vector<Option> all;
  std::size_t end = 1;
};

Options options_of(const std::vector<std::string>& command, Launcher launcher) {
  Options options;
  for (std::size_t& i = options.end; i < command.size() && command[i].starts_with('-');) {
    if (command[i] == "--") {
      ++i;
      break;
    }
    options.all.push_back(option_at(i, command[i], launcher));
    i += 1 + options.all.back().num_values;
  }
  options.end = std::min(options.end, command.size());
  return options;
}

bool is_placing(std::string_view name, Launcher launcher) {
  if (launcher == Launcher::openmpi) return contains(kPlacingOfOpenMpi, name);
  return contains(launcher == Launcher::mpich ? kPlacingOfHydra : kPlacingOfSlurm, name);
}

/// True if Open MPI's parameter of this name (--mca NAME VALUE) places or binds ranks.
bool is_placing_parameter(std::string_view name) {
  return name.ends_with("mapping_policy") || name.ends_with("ranking_policy") ||
         name.ends_with("binding_policy") || name.ends_with("rank_file_path");
}

}  // namespace

std::string placing_option(const std::vector<std::string>& command, Launcher launcher) {
  for (const Option& option : options_of(command, launcher).all) {
    const std::string& word = command[option.at];
    if (is_placing(option.name, launcher)) return word.substr(0, word.find('='));
    const bool has_parameter = launcher == Launcher::openmpi && option.num_values == 2;
    if (has_parameter && option.at + 1 < command.size() &&
        is_placing_parameter(command[option.at + 1]))
      return word + " " + command[option.at + 1];
  }
  return "";
}

bool has_option(const std::vector<std::string>& command, Launcher launcher, std::string_view name) {
  const std::vector<Option> all = options_of(command, launcher).all;
  return std::ranges::find(all, name, &Option::name) != all.end();
}

std::size_t program_index(const std::vector<std::string>& command, Launcher launcher) {
  return options_of(command, launcher).end;
}

}  // namespace poise::apps
