#include "runtimes/tasks/collective.h"

#include <fstream>
#include <unordered_map>

namespace poise::tasks {

void reduce(MPI_Comm communicator, int& value, MPI_Op op) {
  complete([&](MPI_Request* request) {
    MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, op, communicator, request);
  });
}

void reduce(MPI_Comm communicator, std::uint64_t* values, int count, MPI_Op op) {
  complete([&](MPI_Request* request) {
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, op, communicator, request);
  });
}

// MPI_Comm_split_type would say it too, with several collective operations that block.
std::vector<std::uint32_t> nodes_of(MPI_Comm communicator) {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  std::string boot;  // hosts of one name, say localhost, differ in it
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  const auto hosts = all_of(communicator, hash_of(boot + name));
  std::unordered_map<std::uint64_t, std::uint32_t> first;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank)
    nodes.push_back(first.emplace(hosts[rank], rank).first->second);
  return nodes;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace poise::tasks
