// SPDX-License-Identifier: BSD-3-Clause
// poise-pingpong: measures the time of a message between pairs of hosts (all pairs, if the time
// suffices) and prints it as lines of JSON on the stdout of rank 0. `poise measure --launcher`
// starts it under MPI; it runs on its own as well.
//
//   {"poise_pingpong":1,"ranks":4,"hosts":["a","b"],"pairs":1}
//   {"from":"a","to":"b","bytes":8,"one_way_ns":[median, first quartile, third quartile]}   …
//   {"done":true}
//
// One rank per host takes part; the others sleep. Pairs are measured one after another, so that
// they do not disturb each other. If all ranks are on one host, two of its ranks take part.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <mpi.h>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <vector>

#include "poise/base/clock.h"
#include "poise/base/text.h"
#include "poise/machine/hosts.h"
#include "poise/machine/spread.h"

namespace {

constexpr int kOrderTag = 1, kCountTag = 2, kBallTag = 3, kResultTag = 4;
constexpr int kBytes[] = {8, 64, 512, 4096, 32768, 262144, 2097152};
constexpr double kEager_s = 100e-6;
constexpr std::chrono::microseconds kSleep(10);
constexpr std::size_t kMinStretches = 9;
constexpr double kMaxStretches = 20000, kStretchNs = 20000;

struct PingpongOptions {
  double seconds = 10;
  bool ranks_as_hosts = false;
};

/// The instruction that rank 0 sends to both ranks of a pair. A negative `partner` means that all
/// pairs are done.
struct Order {
  int partner, serves;
  double seconds;
};

struct Result {
  double median_ns, low_ns, high_ns;
};

int rank_of_self() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Waits for a message. Polls only every 500 µs, because the two ranks that are being measured may
/// need this core.
void wait_for(int source, int tag) {
  for (int is_there = 0; is_there == 0;) {
    MPI_Iprobe(source, tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (is_there == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

/// Polls without a pause for kEager_s, then sleeps for kSleep between polls, because the partner,
/// or the process that transfers the message, may share this rank's core.
void wait_for(MPI_Request request) {
  const double start_s = poise::wall_now_s();
  for (int is_done = 0;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    if (poise::wall_now_s() - start_s > kEager_s) std::this_thread::sleep_for(kSleep);
  }
}

void throw_ball(int partner, std::vector<char>& ball) {
  MPI_Request request{};
  MPI_Isend(ball.data(), ball.size(), MPI_BYTE, partner, kBallTag, MPI_COMM_WORLD, &request);
  wait_for(request);
}

void catch_ball(int partner, std::vector<char>& ball) {
  MPI_Request request{};
  MPI_Irecv(ball.data(), ball.size(), MPI_BYTE, partner, kBallTag, MPI_COMM_WORLD, &request);
  wait_for(request);
}

/// Tells the partner the number of rounds, exchanges a message with it in each round, and measures
/// the time of each group of rounds. Returns the mean one-way time of each group in nanoseconds.
std::vector<double> play(int partner, std::vector<char>& ball, std::size_t stretches, int rounds) {
  const std::uint64_t all_rounds = stretches * rounds;
  MPI_Send(&all_rounds, 1, MPI_UINT64_T, partner, kCountTag, MPI_COMM_WORLD);
  std::vector<double> times_ns;
  for (std::size_t s = 0; s < stretches; ++s) {
    const double start_s = poise::wall_now_s();
    for (int i = 0; i < rounds; ++i) {
      throw_ball(partner, ball);
      catch_ball(partner, ball);
    }
    times_ns.push_back(1e9 * (poise::wall_now_s() - start_s) / (2.0 * rounds));
  }
  return times_ns;
}

/// Measures the times of many groups of round trips. The groups are short, so that both partners
/// run at the same time during most groups even if other processes share the cores.
Result serve(int partner, std::vector<char>& ball, double seconds) {
  play(partner, ball, kMinStretches, 1);  // a first group, not timed, opens the connection
  const double round_ns = 2 * poise::spread_of(play(partner, ball, kMinStretches, 1)).median;
  const int rounds = static_cast<int>(std::clamp(kStretchNs / round_ns, 1.0, 1000.0));
  const double in_time = seconds * 1e9 / (round_ns * rounds);
  const auto stretches =
      static_cast<std::size_t>(std::clamp<double>(in_time, kMinStretches, kMaxStretches));
  const poise::Spread spread = poise::spread_of(play(partner, ball, stretches, rounds));
  const std::uint64_t end = 0;
  MPI_Send(&end, 1, MPI_UINT64_T, partner, kCountTag, MPI_COMM_WORLD);
  return {spread.median, spread.low, spread.high};
}

void answer(int partner, std::vector<char>& ball) {
  for (;;) {
    std::uint64_t rounds = 0;
    MPI_Recv(&rounds, 1, MPI_UINT64_T, partner, kCountTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rounds == 0) return;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      catch_ball(partner, ball);
      throw_ball(partner, ball);
    }
  }
}

std::vector<Result> obey(const Order& order) {
  std::vector<Result> results;
  for (const int bytes : kBytes) {
    std::vector<char> ball(bytes, 'x');
    if (order.serves != 0)
      results.push_back(serve(order.partner, ball, order.seconds / std::size(kBytes)));
    else
      answer(order.partner, ball);
  }
  return results;
}

void follow_orders() {
  for (;;) {
    wait_for(0, kOrderTag);
    Order order{};
    MPI_Recv(&order, sizeof order, MPI_BYTE, 0, kOrderTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (order.partner < 0) return;
    const std::vector<Result> results = obey(order);
    if (order.serves != 0)
      MPI_Send(results.data(), results.size() * sizeof(Result), MPI_BYTE, 0, kResultTag,
               MPI_COMM_WORLD);
  }
}

void send_order(int rank, const Order& order) {
  MPI_Send(&order, sizeof order, MPI_BYTE, rank, kOrderTag, MPI_COMM_WORLD);
}

/// Measures a pair of ranks and returns the results of its first rank.
std::vector<Result> let_play(int server, int other, double seconds) {
  const Order serving{other, 1, seconds}, answering{server, 0, seconds};
  send_order(other, answering);
  if (server == 0) return obey(serving);
  send_order(server, serving);
  wait_for(server, kResultTag);
  std::vector<Result> results(std::size(kBytes));
  MPI_Recv(results.data(), results.size() * sizeof(Result), MPI_BYTE, server, kResultTag,
           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return results;
}

/// Returns the name of each rank's host.
std::vector<std::string> hosts_of_ranks(bool ranks_as_hosts) {
  int ranks = 0, length = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  MPI_Get_processor_name(name, &length);
  std::vector<char> names(ranks * sizeof name);
  MPI_Allgather(name, sizeof name, MPI_CHAR, names.data(), sizeof name, MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> hosts;
  for (int r = 0; r < ranks; ++r) {
    hosts.emplace_back(&names[r * sizeof name]);
    if (ranks_as_hosts) hosts.back() += fmt::format("/{}", r);
  }
  return hosts;
}

/// Removes characters that JSON would escape. Host names do not contain any.
std::string json_string(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') plain += c;
  return fmt::format("\"{}\"", plain);
}

void print_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// On rank 0: starts the measurements of one pair after another.
void direct(const std::vector<std::string>& host_of_rank, const PingpongOptions& options) {
  std::vector<std::string> hosts;
  std::vector<int> player;  // first rank of each host
  for (std::size_t r = 0; r < host_of_rank.size(); ++r) {
    if (std::find(hosts.begin(), hosts.end(), host_of_rank[r]) != hosts.end()) continue;
    hosts.push_back(host_of_rank[r]);
    player.push_back(r);
  }
  const std::uint32_t num_hosts = hosts.size();
  const bool is_one_host = num_hosts == 1;
  // Each pair of hosts is measured for at least 20 ms.
  auto pairs = poise::choose_pairs(num_hosts, static_cast<std::size_t>(options.seconds / 0.02));
  if (is_one_host) pairs = {{0, 0}};
  std::string names;
  for (const std::string& host : hosts)
    names += fmt::format("{}{}", names.empty() ? "" : ",", json_string(host));
  print_line(fmt::format(R"({{"poise_pingpong":1,"ranks":{},"hosts":[{}],"pairs":{}}})",
                         host_of_rank.size(), names, pairs.size()));
  for (const auto& [a, b] : pairs) {
    const double seconds = options.seconds / pairs.size();
    const auto results = let_play(player[a], is_one_host ? 1 : player[b], seconds);
    for (std::size_t i = 0; i < results.size(); ++i)
      print_line(fmt::format(R"({{"from":{},"to":{},"bytes":{},"one_way_ns":[{},{},{}]}})",
                             json_string(hosts[a]), json_string(hosts[b]), kBytes[i],
                             results[i].median_ns, results[i].low_ns, results[i].high_ns));
  }
  for (int r = 1; r < std::ssize(host_of_rank); ++r) send_order(r, {-1, 0, 0});
  print_line(R"({"done":true})");
}

PingpongOptions options_of(int argc, char** argv) {
  PingpongOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--ranks-as-hosts")
      options.ranks_as_hosts = true;
    else if (argument == "--seconds" && i + 1 < argc)
      options.seconds = std::max(0.1, poise::parse_number(argv[++i]).value_or(10));
  }
  return options;
}

/// Returns the name of the MPI library, such as "Open MPI v4.1.4". If a user starts the program
/// with the launcher of another MPI, each process is the only rank of its own job; the name helps
/// the user to notice the mistake.
std::string name_of_mpi() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int size = 0;
  MPI_Get_library_version(version, &size);
  const std::string text(version);
  return text.substr(0, text.find_first_of(",\n"));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::prctl(PR_SET_TIMERSLACK, 1000);  // 1 µs, so that short sleeps end on time
  const std::vector<std::string> hosts = hosts_of_ranks(options_of(argc, argv).ranks_as_hosts);
  const bool is_alone = hosts.size() < 2;
  if (is_alone)
    std::fprintf(stderr,
                 "poise-pingpong: it needs at least two ranks; start two or more, with the "
                 "launcher of %s\n",
                 name_of_mpi().c_str());
  else if (rank_of_self() == 0)
    direct(hosts, options_of(argc, argv));
  else
    follow_orders();
  MPI_Finalize();
  return is_alone ? 2 : 0;
}
