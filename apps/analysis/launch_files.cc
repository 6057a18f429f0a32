// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/launch_files.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise::apps {

namespace {

struct LauncherRow {
  std::string_view name;
  Launcher launcher;
  std::string_view file;
};
constexpr LauncherRow kLaunchers[] = {
    {"openmpi", Launcher::openmpi, "rankfile"}, {"mpich", Launcher::mpich, "hosts"},
    {"slurm", Launcher::slurm, "hosts"},        {"cray", Launcher::cray, "MPICH_RANK_ORDER"},
    {"lsf", Launcher::lsf, "map.erf"},          {"pbs", Launcher::pbs, "hosts"}};

constexpr std::string_view kRankVariables[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                               "SLURM_PROCID"};

/// Maximum size of a word of a command line, in bytes. Linux refuses to start a command that has a
/// word of 128 KiB or more (execve(2), MAX_ARG_STRLEN). Launchers may lengthen words by some
/// characters, so this maximum is smaller.
constexpr std::size_t kMaxWord = 120 << 10;

/// Returns a word of a command line as the shell needs it: in quotes if it has special characters.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  const bool is_plain = std::ranges::all_of(text, [&](char c) {
    const char lower = c | 0x20;
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != kPlain.npos;
  });
  if (is_plain) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

class Plan {
 public:
  Plan(const RankMap& map, const std::string& path) : map_(map), path_(path) {
    for (PlaceId p = 0; p < map.machine.num_places(); ++p)
      counts_through_ = counts_through_ && map.machine.place(p).os_index == p;
    if (!map.hosts.empty() && map.hosts.size() < num_nodes_used())
      fail("{} host names are given, but the map uses {} nodes; give one name per node",
           map.hosts.size(), num_nodes_used());
  }

  LaunchFile rankfile() const {
    std::string text;
    for (TaskId r = 0; r < ranks(); ++r) {
      const bool is_named = !map_.hosts.empty() || map_.machine.num_nodes() == 1;
      // If the user names no hosts, "+n0", "+n1", ... tell Open MPI to take the first, second, ...
      // host of its allocation.
      const std::string name = is_named ? host(r) : fmt::format("+n{}", node(r));
      const PlaceId first = core(r), last = first + map_.shape.cores_per_rank - 1;
      fmt::format_to(std::back_inserter(text), "rank {}={} slot={}\n", r, name,
                     first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    }
    return {path_, text};
  }

  std::vector<std::string> openmpi_words(bool is_5) const {
    const bool shares = map_.shape.ranks_per_place > 1;
    if (is_5)
      return {"--map-by", fmt::format("rankfile:file={}{}", path_, shares ? ":oversubscribe" : "")};
    std::vector<std::string> words = {"--rankfile", path_};
    if (shares) words.insert(words.begin(), "--oversubscribe");
    return words;
  }

  LaunchPlan openmpi() const {
    const auto line = [&](bool is_5) {
      std::vector<std::string> words = openmpi_words(is_5);
      for (std::string& word : words) word = shell_word(word);
      return fmt::format("mpirun -np {} {} ./program  # Open MPI {}", ranks(),
                         fmt::join(words, " "), is_5 ? 5 : 4);
    };
    return {{rankfile()}, {line(false), line(true)}};
  }

  /// Returns Hydra's host file, and Hydra's option that binds ranks to cores. Leaves out the option
  /// if a script must bind each rank instead.
  std::pair<LaunchFile, std::optional<std::string>> hydra() const {
    std::string hosts;
    bool host_repeats = false;
    std::vector<std::uint8_t> is_seen(map_.machine.num_nodes(), 0);
    for (TaskId r = 0; r < ranks();) {
      const TaskId begin = r;
      while (r < ranks() && node(r) == node(begin)) ++r;
      host_repeats = host_repeats || std::exchange(is_seen[node(begin)], 1) != 0;
      fmt::format_to(std::back_inserter(hosts), "{}:{}\n", host(begin), r - begin);
    }
    const auto common = common_binding();
    // Hydra starts one proxy per line of the host file, and each proxy starts at the beginning of
    // the list of bindings. If a host had two lines, the ranks of both would get the same cores.
    if (!common || host_repeats) return {{path_, hosts}, std::nullopt};
    return {{path_, hosts}, fmt::format("user:{}", fmt::join(*common, ","))};
  }

  LaunchPlan mpich() const {
    const auto [hosts, binding] = hydra();
    if (binding)
      return {{hosts},
              {fmt::format("mpiexec -n {} -f {} -bind-to {} ./program", ranks(), path_word(),
                           *binding)}};
    return {{hosts, script()},
            {fmt::format("mpiexec -n {} -f {} -bind-to none sh {} ./program", ranks(), path_word(),
                         shell_word(script_path()))}};
  }

  /// Returns srun's option that binds ranks to cores, or nothing if a script must bind each rank.
  std::optional<std::string> slurm_binding() const {
    const auto common = common_binding();
    if (!common) return std::nullopt;
    std::vector<std::string> cpus = *common;
    const bool are_masks = map_.shape.cores_per_rank > 1;
    if (are_masks)
      for (std::string& cpu : cpus) cpu = mask_of(cpu);
    return fmt::format("--cpu-bind={}:{}", are_masks ? "mask_cpu" : "map_cpu",
                       fmt::join(cpus, ","));
  }

  LaunchPlan slurm() const {
    const std::string start = fmt::format("SLURM_HOSTFILE={} srun -n {}{} --distribution=arbitrary",
                                          path_word(), ranks(), overcommit());
    if (const auto binding = slurm_binding())
      return {{{path_, host_per_rank()}}, {fmt::format("{} {} ./program", start, *binding)}};
    return {{{path_, host_per_rank()}, script()},
            {fmt::format("{} --cpu-bind=none sh {} ./program", start, shell_word(script_path()))}};
  }

  /// See launch_options().
  LaunchOptions options(Launcher launcher, bool is_open_mpi_5) const {
    switch (launcher) {
      case Launcher::openmpi: return {{rankfile()}, openmpi_words(is_open_mpi_5), {}, {}};
      case Launcher::mpich: {
        const auto [hosts, binding] = hydra();
        return {{hosts}, {"-f", path_, "-bind-to", binding.value_or("none")}, binder(!binding), {}};
      }
      case Launcher::slurm: {
        const auto binding = slurm_binding();
        return {{{path_, host_per_rank()}},
                {"--distribution=arbitrary", binding.value_or("--cpu-bind=none")},
                binder(!binding),
                {{"SLURM_HOSTFILE", path_}}};
      }
      case Launcher::cray:
      case Launcher::lsf:
      case Launcher::pbs: break;
    }
    fail(
        "this launcher cannot apply a map by command-line options; poise map --for LAUNCHER writes "
        "files that apply the map");
  }

  LaunchPlan cray() const {
    std::vector<TaskId> order(ranks());
    for (TaskId r = 0; r < ranks(); ++r) order[r] = r;
    std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
      return map_.placement.of(a) < map_.placement.of(b);
    });
    std::vector<TaskId> ranks_of(map_.machine.num_nodes(), 0);
    for (const TaskId r : order) ++ranks_of[node(r)];
    const TaskId largest = *std::max_element(ranks_of.begin(), ranks_of.end());
    for (const TaskId r : order)
      if (ranks_of[node(r)] < largest && node(r) != node(order.back()))
        fail(
            "node {} has only {} ranks, but another node has {}; MPICH_RANK_ORDER needs the same "
            "number of ranks on every node except the last",
            node(r), ranks_of[node(r)], largest);
    return {
        {{path_, fmt::format("{}\n", fmt::join(order, ","))}},
        {fmt::format("MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={} srun -n {}{} "
                     "--ntasks-per-node={} --distribution=block -c {} --cpu-bind=cores ./program",
                     path_word(), ranks(), overcommit(), largest, map_.shape.cores_per_rank)}};
  }

  LaunchPlan lsf() const {
    std::string text = "cpu_index_using: physical\n";
    if (map_.shape.ranks_per_place > 1) text += "overlapping_rs: allow\noversubscribe_cpu: allow\n";
    for (TaskId r = 0; r < ranks(); ++r)
      fmt::format_to(std::back_inserter(text), "rank: {}: {{ host: {}; cpu: {{{}}} }}\n", r,
                     node(r) + 1, fmt::join(cpus(r), ","));
    return {{{path_, text}}, {fmt::format("jsrun --erf_input {} ./program", path_word())}};
  }

  LaunchPlan pbs() const {
    return {{{path_, host_per_rank()}, script()},
            {fmt::format("mpiexec -n {} -machinefile {} sh {} ./program", ranks(), path_word(),
                         shell_word(script_path()))}};
  }

 private:
  TaskId ranks() const { return map_.placement.num_tasks(); }
  NodeId node(TaskId r) const { return map_.machine.node_of_place(map_.placement.of(r)); }
  PlaceId first_place(NodeId n) const {
    return map_.machine.first_place(map_.machine.first_domain(n));
  }
  /// Returns the rank's first core, numbered within its node.
  PlaceId core(TaskId r) const { return map_.placement.of(r) - first_place(node(r)); }

  NodeId num_nodes_used() const {
    NodeId nodes = 0;
    for (TaskId r = 0; r < ranks(); ++r) nodes = std::max(nodes, node(r) + 1);
    return nodes;
  }

  std::string host(TaskId r) const {
    if (!map_.hosts.empty()) return map_.hosts[node(r)];
    if (map_.machine.num_nodes() > 1)
      fail("the {} nodes of the machine have no names; name them with --hosts",
           map_.machine.num_nodes());
    return "localhost";
  }

  std::string host_per_rank() const {
    std::string text;
    for (TaskId r = 0; r < ranks(); ++r) text += host(r) + "\n";
    return text;
  }

  /// Returns the operating system's numbers of the rank's cores. These numbers begin at 0 on each
  /// node. If the machine numbers its cores consecutively over all nodes (counts_through_),
  /// subtracts the number of the node's first core.
  std::vector<std::uint32_t> cpus(TaskId r) const {
    std::vector<std::uint32_t> numbers;
    for (PlaceId i = 0; i < map_.shape.cores_per_rank; ++i) {
      const PlaceId place = map_.placement.of(r) + i;
      numbers.push_back(counts_through_ ? place - first_place(node(r))
                                        : map_.machine.place(place).os_index);
    }
    return numbers;
  }

  /// Returns for each k the cores of the k-th rank of a node, joined by "+". Returns nothing if the
  /// k-th ranks of two nodes have different cores. Nodes may differ in their number of ranks.
  std::optional<std::vector<std::string>> common_binding() const {
    std::vector<std::vector<std::string>> of_node(map_.machine.num_nodes());
    for (TaskId r = 0; r < ranks(); ++r)
      of_node[node(r)].push_back(fmt::format("{}", fmt::join(cpus(r), "+")));
    const auto longest = std::max_element(of_node.begin(), of_node.end(),
                                          [](auto& a, auto& b) { return a.size() < b.size(); });
    for (const auto& binding : of_node)
      if (!std::equal(binding.begin(), binding.end(), longest->begin())) return std::nullopt;
    return *longest;
  }

  /// Converts a list of cpus such as "0+1+4" to a hexadecimal mask.
  static std::string mask_of(std::string_view cpus) {
    std::string bits;  // binary digits '0' and '1', the lowest one first
    for (const std::string_view cpu : split(cpus, '+')) {
      const std::size_t bit = *parse_unsigned(cpu);
      if (bits.size() <= bit) bits.resize(bit + 1, '0');
      bits[bit] = '1';
    }
    bits.resize((bits.size() + 3) / 4 * 4, '0');
    std::string mask = "0x";
    for (std::size_t digit = bits.size() / 4; digit-- > 0;) {
      int value = 0;
      for (int i = 3; i >= 0; --i) value = 2 * value + (bits[4 * digit + i] - '0');
      mask += fmt::format("{:x}", value);
    }
    return mask;
  }

  /// The option without which srun refuses to start more ranks than the job has cores.
  std::string_view overcommit() const {
    return map_.shape.ranks_per_place > 1 ? " --overcommit" : "";
  }

  std::string path_word() const { return shell_word(path_); }
  std::string script_path() const { return path_ + ".bind.sh"; }

  /// Returns the beginning of a shell command `case` that sets `cpus` to the cores of the calling
  /// rank. The caller must append "esac", and may add a default case before "esac".
  std::string cases(std::string_view separator) const {
    std::string rank;
    for (const std::string_view variable : kRankVariables)
      rank = fmt::format("${{{}{}}}", variable, rank.empty() ? "" : ":-" + rank);
    std::string text = fmt::format("case {} in{}", rank, separator);
    for (TaskId r = 0; r < ranks(); ++r)
      fmt::format_to(std::back_inserter(text), "{}) cpus={} ;;{}", r, fmt::join(cpus(r), ","),
                     separator);
    return text;
  }

  /// Returns a shell script that binds the calling rank to its cores, then runs the command given
  /// as its arguments.
  LaunchFile script() const {
    return {script_path(),
            "#!/bin/sh\n# Written by \"poise map\": binds each rank to its cores.\n" +
                cases("\n  ") +
                "*) echo \"$0: the launcher sets no rank\" >&2; exit 1 ;;\nesac\n"
                "exec taskset -c \"$cpus\" \"$@\"\n"};
  }

  /// Returns the words of a command that binds the calling rank as script() does. The command needs
  /// no file, because other nodes may be unable to read the files of this node. A rank that the
  /// command cannot bind runs unbound. Returns nothing if no command is needed.
  std::vector<std::string> binder(bool is_needed) const {
    if (!is_needed) return {};
    const std::string text = cases(" ") +
                             "esac; taskset -c \"$cpus\" true 2>/dev/null && "
                             "exec taskset -c \"$cpus\" \"$@\"; exec \"$@\"";
    if (text.size() > kMaxWord)
      fail(
          "the command that binds {} ranks to their cores is too long for a command line; poise "
          "map --for LAUNCHER writes a script that binds them",
          ranks());
    return {"sh", "-c", text, "sh"};
  }

  const RankMap& map_;
  const std::string& path_;
  // True if cores are numbered consecutively over all nodes, so that core p is place p.
  bool counts_through_ = true;
};

}  // namespace

Launcher launcher_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const LauncherRow& row : kLaunchers) {
    if (row.name == name) return row.launcher;
    names.push_back(row.name);
  }
  throw Error(unknown_name("launcher", name, names));
}

std::string_view usual_file(Launcher launcher) {
  return std::find_if(std::begin(kLaunchers), std::end(kLaunchers),
                      [&](const LauncherRow& row) { return row.launcher == launcher; })
      ->file;
}

bool fills_nodes(Launcher launcher) { return launcher == Launcher::cray; }

LaunchOptions launch_options(const RankMap& map, Launcher launcher, const std::string& path,
                             bool is_open_mpi_5) {
  return Plan(map, path).options(launcher, is_open_mpi_5);
}

LaunchPlan launch_plan(const RankMap& map, Launcher launcher, const std::string& path) {
  const Plan plan(map, path);
  switch (launcher) {
    case Launcher::openmpi: return plan.openmpi();
    case Launcher::mpich: return plan.mpich();
    case Launcher::slurm: return plan.slurm();
    case Launcher::cray: return plan.cray();
    case Launcher::lsf: return plan.lsf();
    case Launcher::pbs: return plan.pbs();
  }
  return {};
}

}  // namespace poise::apps
