// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/start/collective_checks.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "runtimes/tasks/transport/collective.h"

#include "poise/base/error.h"

namespace poise::tasks {

namespace {

std::string line_of(const Registered& function) {
  return '"' + function.name + "\" (" + function.signature + ")";
}

// Returns the signature that a list of lines gives for the function `name`, or nothing if no line
// is about this function.
std::optional<std::string> signature_in(const std::string& lines, const std::string& name) {
  const std::string start = "\n\"" + name + "\" (", text = '\n' + lines;
  const std::size_t at = text.find(start);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + start.size();
  return text.substr(begin, text.find(")\n", begin) - begin);
}

// Returns an error if rank 0, which registered the functions in `lines`, lacks this function or
// registered it with another signature; otherwise an empty text.
std::string difference_to(const std::string& lines, const Registered& function, int rank) {
  const auto signature = signature_in(lines, function.name);
  if (!signature)
    return fmt::format("function {} is registered on rank {} but not on rank 0", line_of(function),
                       rank);
  if (*signature == function.signature) return "";
  return fmt::format("function \"{}\" takes ({}) on rank {} but ({}) on rank 0", function.name,
                     function.signature, rank, *signature);
}

}  // namespace

std::string broadcast_text(MPI_Comm communicator, std::string text, int rank) {
  std::uint64_t length = text.size();
  complete([&](MPI_Request* request) {
    MPI_Ibcast(&length, 1, MPI_UINT64_T, rank, communicator, request);
  });
  text.resize(length);
  if (length == 0) return text;
  complete([&](MPI_Request* request) {
    MPI_Ibcast(text.data(), length, MPI_CHAR, rank, communicator, request);
  });
  return text;
}

std::string first_error(MPI_Comm communicator, const std::string& error) {
  int rank = 0, size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  int first = error.empty() ? size : rank;
  reduce(communicator, first, MPI_MIN);
  if (first == size) return "";
  const std::string text = broadcast_text(communicator, error, first);
  return first == 0 ? text : fmt::format("rank {}: {}", first, text);
}

void throw_if_any_failed(MPI_Comm communicator, const std::string& error) {
  const std::string first = first_error(communicator, error);
  if (first.empty()) return;
  throw Error(error.empty() ? first : error);
}

void check_equal_on_all_ranks(MPI_Comm communicator, std::span<const char* const> names,
                              const Knobs& settings) {
  // For each setting, its value and the bitwise complement of the value. The maximum of the values
  // over all ranks is the largest value. The maximum of the complements is the complement of the
  // smallest value. Largest and smallest value differ if the setting differs between ranks.
  std::vector<std::uint64_t> extremes;
  for (const char* name : names) {
    const auto value = static_cast<std::uint64_t>(settings[name]);
    extremes.insert(extremes.end(), {value, ~value});
  }
  reduce(communicator, extremes.data(), extremes.size(), MPI_MAX);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint64_t min = ~extremes[2 * i + 1], max = extremes[2 * i];
    if (min != max)
      fail(
          "the setting {} of the tasks runtime is {} on one rank and {} on another; "
          "use one value on all ranks",
          names[i], min, max);
  }
}

std::vector<std::uint32_t> number_functions(MPI_Comm communicator,
                                            const std::vector<const Registered*>& functions) {
  std::vector<std::uint32_t> order(functions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return functions[a]->name < functions[b]->name; });
  std::string all;
  for (const std::uint32_t f : order) all += line_of(*functions[f]) + '\n';
  const std::uint64_t hash = hash_of(all);
  std::array<std::uint64_t, 2> extremes = {hash, ~hash};
  reduce(communicator, extremes.data(), 2, MPI_MAX);
  std::string error;
  if (extremes[0] != ~extremes[1]) {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    const std::string root = broadcast_text(communicator, all, 0);
    for (const std::uint32_t f : order)
      if (error.empty()) error = difference_to(root, *functions[f], rank);
    for (std::size_t begin = 0; error.empty() && begin < root.size();) {
      const std::size_t end = root.find('\n', begin);
      const std::string line = root.substr(begin, end - begin);
      if (all.find(line + '\n') == std::string::npos)
        error = fmt::format("function {} is registered on rank 0 but not on rank {}", line, rank);
      begin = end + 1;
    }
    if (!error.empty())
      error += "; register the same functions everywhere before creating a context";
  }
  throw_if_any_failed(communicator, error);
  std::vector<std::uint32_t> position(functions.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  return position;
}

}  // namespace poise::tasks
