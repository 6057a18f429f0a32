// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/cpus.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "runtimes/juggle/tuning.h"

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/machine/discover.h"

namespace poise::juggle {

namespace {

constexpr CpuId kNoCpu = kMaxCpus;
constexpr std::size_t kMaxMaskBytes = kMaxCpus / 8;

CpuId cpu_in(std::string_view text) {
  const auto number = parse_unsigned(text);
  return number && *number < kNoCpu ? static_cast<CpuId>(*number) : kNoCpu;
}

/// Returns the first line of a kernel file, or an empty text if the file cannot be read.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string path_of(CpuId cpu, std::string_view file) {
  return fmt::format("/sys/devices/system/cpu/cpu{}/{}", cpu, file);
}

/// Reads for each cpu the number in this file below /sys. Returns nothing if a cpu has no such
/// file.
std::optional<std::vector<double>> numbers_of(const Cpus& cpus, std::string_view file) {
  std::vector<double> numbers;
  for (const CpuId cpu : cpus) {
    const auto number = parse_number(first_line(path_of(cpu, file)));
    if (!number || *number <= 0) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

/// True if the cpus are probably cores of one kind. The maximum clock frequencies of such cores may
/// differ somewhat, but the lowest is above `one_kind` times the highest.
bool has_one_kind(const std::vector<double>& clocks) {
  if (std::filesystem::exists("/sys/devices/cpu_atom")) return false;
  const auto [least, most] = std::minmax_element(clocks.begin(), clocks.end());
  return clocks.empty() || *least > kTuning.one_kind * *most;
}

std::vector<double> relative_to_fastest(std::vector<double> speeds) {
  const double fastest = speeds.empty() ? 1 : *std::max_element(speeds.begin(), speeds.end());
  for (double& speed : speeds) speed /= fastest;
  return speeds;
}

}  // namespace

Cpus parse_cpu_list(std::string_view text) {
  Cpus cpus;
  for (const std::string_view piece : split(text, ',')) {
    const auto ends = split(piece, '-');
    const CpuId first = ends.empty() ? kNoCpu : cpu_in(ends.front());
    const CpuId last = ends.empty() ? kNoCpu : cpu_in(ends.back());
    if (ends.size() > 2 || first == kNoCpu || last == kNoCpu || first > last)
      fail(
          "cpus \"{}\": \"{}\" is neither a cpu nor a range; write a list of "
          "numbers below {}, such as 0-3,8",
          text, piece, kMaxCpus);
    for (CpuId cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  if (cpus.empty()) fail("the list of cpus is empty; write a list like 0-3,8");
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string cpu_list_text(const Cpus& cpus) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < cpus.size(); first = end) {
    for (end = first + 1; end < cpus.size() && cpus[end] == cpus[end - 1] + 1;) ++end;
    if (!text.empty()) text += ',';
    text += fmt::format("{}", cpus[first]);
    if (end - first > 1) text += fmt::format("-{}", cpus[end - 1]);
  }
  return text;
}

CpuSet::CpuSet(const Cpus& cpus) {
  for (const CpuId cpu : cpus) {
    const std::size_t word = cpu / kCpusPerWord;
    if (word >= words_.size()) words_.resize(word + 1, 0);
    words_[word] |= Word{1} << (cpu % kCpusPerWord);
  }
}

CpuSet CpuSet::of_words(std::vector<Word> words) {
  CpuSet set;
  set.words_ = std::move(words);
  return set;
}

bool CpuSet::has(CpuId cpu) const {
  const std::size_t word = cpu / kCpusPerWord;
  return word < words_.size() && ((words_[word] >> (cpu % kCpusPerWord)) & 1) != 0;
}

std::size_t CpuSet::count() const {
  std::size_t count = 0;
  for (const Word word : words_) count += std::popcount(word);
  return count;
}

Cpus CpuSet::cpus() const {
  Cpus cpus;
  const CpuId end = words_.size() * kCpusPerWord;
  for (CpuId cpu = 0; cpu < end; ++cpu)
    if (has(cpu)) cpus.push_back(cpu);
  return cpus;
}

bool operator==(const CpuSet& a, const CpuSet& b) {
  const auto word = [](const CpuSet& set, std::size_t i) {
    return i < set.words_.size() ? set.words_[i] : 0;
  };
  for (std::size_t i = 0; i < std::max(a.words_.size(), b.words_.size()); ++i)
    if (word(a, i) != word(b, i)) return false;
  return true;
}

Cpus common_cpus(const Cpus& a, const Cpus& b) {
  Cpus both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

bool get_affinity(pid_t thread, CpuSet& set, AffinityCall call) {
  static std::atomic<std::size_t> enough_bytes{sizeof(cpu_set_t)};
  for (std::size_t bytes = enough_bytes;; bytes *= 2) {
    std::vector<CpuSet::Word> words(bytes / sizeof(CpuSet::Word), 0);
    if (call(thread, bytes, reinterpret_cast<cpu_set_t*>(words.data())) == 0) {
      enough_bytes = bytes;
      set = CpuSet::of_words(std::move(words));
      return true;
    }
    if (errno != EINVAL || bytes >= kMaxMaskBytes) return false;
  }
}

bool set_affinity(pid_t thread, const CpuSet& set) {
  const auto words = set.words();
  return ::sched_setaffinity(thread, words.size_bytes(),
                             reinterpret_cast<const cpu_set_t*>(words.data())) == 0;
}

std::size_t affinity_words() {
  CpuSet set;
  return get_affinity(0, set) ? set.words().size() : CPU_SETSIZE / CpuSet::kCpusPerWord;
}

CpuSet every_cpu() { return CpuSet::of_words(std::vector(affinity_words(), ~CpuSet::Word{0})); }

Cpus allowed_cpus() {
  CpuSet set;
  if (!get_affinity(0, set))
    throw std::runtime_error(
        fmt::format("cannot query which cpus this process may use: {}", std::strerror(errno)));
  return set.cpus();
}

Cpus parse_tickless(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789,-") != text.npos) return {};  // "(null)"
  return parse_cpu_list(text);
}

Cpus tickless_cpus() { return parse_tickless(first_line("/sys/devices/system/cpu/nohz_full")); }

std::vector<DomainId> domains_of(const Cpus& cpus) {
  namespace fs = std::filesystem;
  std::map<CpuId, unsigned long long> node_of;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", none)) {
    const std::string name = entry.path().filename();
    const auto node = name.starts_with("node") ? parse_unsigned(name.substr(4)) : std::nullopt;
    const std::string list = node ? first_line(entry.path() / "cpulist") : "";
    if (list.empty()) continue;  // a memory node without cpus
    for (const CpuId cpu : parse_cpu_list(list)) node_of[cpu] = *node;
  }
  std::map<unsigned long long, DomainId> domain_of_node;
  std::vector<DomainId> domains;
  for (const CpuId cpu : cpus) {
    const auto node = node_of.find(cpu);
    const DomainId next = domain_of_node.size();
    domains.push_back(
        domain_of_node.emplace(node == node_of.end() ? 0 : node->second, next).first->second);
  }
  return domains;
}

std::vector<double> speeds_in(const Machine& machine, const Cpus& first_sibling) {
  std::map<CpuId, double> speed_of;
  for (const Place& place : machine.places()) speed_of[place.os_index] = place.speed;
  std::vector<double> speeds;
  for (const CpuId cpu : first_sibling) {
    const auto speed = speed_of.find(cpu);
    speeds.push_back(speed == speed_of.end() ? 1 : speed->second);
  }
  return relative_to_fastest(std::move(speeds));
}

std::vector<double> speeds_of(const Cpus& cpus) {
  const std::vector<double> equal(cpus.size(), 1.0);
  if (auto capacities = numbers_of(cpus, "cpu_capacity"))
    return relative_to_fastest(std::move(*capacities));
  const auto clocks = numbers_of(cpus, "cpufreq/cpuinfo_max_freq");
  if (!clocks || has_one_kind(*clocks)) return equal;
  Cpus first_sibling;
  for (const CpuId cpu : cpus) {
    const std::string siblings = first_line(path_of(cpu, "topology/thread_siblings_list"));
    first_sibling.push_back(siblings.empty() ? cpu : parse_cpu_list(siblings).front());
  }
  try {
    return speeds_in(discover_machine(), first_sibling);
  } catch (const Error&) {
    return equal;
  }
}

}  // namespace poise::juggle
