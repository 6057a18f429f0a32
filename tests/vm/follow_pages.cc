// SPDX-License-Identifier: BSD-3-Clause
// Touches memory on the first cpu, moves to the last cpu, and moves the pages to that cpu's domain.
// Prints how many pages the kernel counts in each domain before and after.
#include <array>
#include <cstdio>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "runtimes/objects/pages.h"

namespace {

constexpr std::size_t kBytes = 16 << 20;

void go_to(long cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

// Prints the counts N0=…, N1=… of /proc/self/numa_maps for the mapping at `memory`.
void print_domains(const char* when, const void* memory) {
  std::ostringstream start;
  start << std::hex << reinterpret_cast<std::uintptr_t>(memory) << ' ';
  std::ifstream file("/proc/self/numa_maps");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(start.str(), 0) != 0) continue;
    std::printf("%s:", when);
    std::istringstream words(line);
    for (std::string word; words >> word;)
      if (word[0] == 'N' && word.find('=') != std::string::npos) std::printf(" %s", word.c_str());
    std::printf("\n");
  }
}

}  // namespace

int main() {
  go_to(0);
  // An inaccessible page on each side keeps the kernel from merging this mapping with another one.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const all = mmap(nullptr, kBytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return 1;
  void* const memory = static_cast<std::byte*>(all) + page;
  if (mprotect(memory, kBytes, PROT_READ | PROT_WRITE) != 0) return 1;
  const std::array object{std::span(static_cast<std::byte*>(memory), kBytes)};
  for (std::byte& byte : object[0]) byte = std::byte{1};
  go_to(sysconf(_SC_NPROCESSORS_ONLN) - 1);
  print_domains("before", memory);
  const auto counts = poise::objects::bring_pages(object);
  print_domains("after", memory);
  std::printf("here %zu, moved %zu, stayed %zu\n", counts.here, counts.moved, counts.stayed);
}
