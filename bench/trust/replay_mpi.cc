// SPDX-License-Identifier: BSD-3-Clause
// Replays programs on MPI and measures their time: place p is rank p, ranks sleep instead of
// computing, and messages are non-blocking.
//
// Ranks sleep because there may be more ranks than cores. For the same reason, a rank that waits
// for messages sleeps between two polls. All ranks must share a clock, so their hosts must be
// namespaces of one machine. An iteration starts at a time on which all ranks agree, and ends when
// the last rank has its messages.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fmt/core.h>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/trust/replay.h"
#include "miniapps/arguments.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/random.h"

namespace {

using poise::trust::Message;
using poise::trust::Replay;

// When ranks agree on the start time of an iteration, it is this many seconds in the future,
// because the agreement takes as long as several messages. If a rank starts late nevertheless, this
// margin is multiplied by kMarginGrowth.
constexpr double kStartMargin_s = 0.02, kMarginGrowth = 1.5;
// An iteration in which a rank starts too late is repeated, up to this number of attempts.
constexpr int kMaxTries = 12;

struct Settings {
  std::string path;
  int rounds = 9, poll_us = 1000, timeout_s = 600;
  std::uint64_t seed = 1;
};

void sleep_until(double when_s) {
  timespec when{static_cast<time_t>(when_s), 0};
  when.tv_nsec = static_cast<long>((when_s - when.tv_sec) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

/// Waits for all requests and sleeps meanwhile; MPI_Waitall would spin.
void wait_for(std::vector<MPI_Request>& requests, int poll_us) {
  for (;;) {
    int done = 0;
    MPI_Testall(requests.size(), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done) return;
    sleep_until(poise::wall_now_s() + 1e-6 * poll_us);
  }
}

double max_of_all(double value, int poll_us) {
  double greatest = 0;
  std::vector<MPI_Request> request(1);
  MPI_Iallreduce(&value, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, request.data());
  wait_for(request, poll_us);
  return greatest;
}

/// The work and the messages of one rank in an iteration.
class Part {
 public:
  Part(const Replay& replay, int rank) : rank_(rank), overlap_(replay.overlap) {
    work_s_ = replay.work_s()[rank];
    for (const Message& message : replay.between_places()) {
      if (message.from == rank) out_.push_back(message);
      if (message.to == rank) in_.push_back(message);
    }
  }

  /// Returns the seconds from `start_s` until this rank has all its messages.
  double run(double start_s, int poll_us, std::vector<char>& sent, std::vector<char>& received) {
    requests_.clear();
    post_receives(received);
    sleep_until(start_s);
    if (!overlap_) sleep_until(start_s + work_s_);
    post_sends(sent);
    wait_for(requests_, poll_us);
    if (overlap_) sleep_until(start_s + work_s_);
    return poise::wall_now_s() - start_s;
  }

  std::size_t bytes_sent() const { return longest_of(out_); }
  std::size_t bytes_received() const {
    return std::accumulate(
        in_.begin(), in_.end(), std::size_t{0},
        [](std::size_t sum, const Message& message) { return sum + message.bytes; });
  }

 private:
  static std::size_t longest_of(const std::vector<Message>& messages) {
    std::size_t longest = 0;
    for (const Message& message : messages) longest = std::max<std::size_t>(longest, message.bytes);
    return longest;
  }

  /// Calls `function` with the bytes of each of the message.count messages. All are equally large,
  /// except that the last one also gets the bytes that remain if message.bytes is not a multiple of
  /// message.count.
  template <typename Function>
  static void for_each_of(const Message& message, Function function) {
    const std::uint64_t each = message.bytes / message.count;
    for (std::uint64_t i = 0; i + 1 < message.count; ++i) function(each);
    function(message.bytes - each * (message.count - 1));
  }

  void post_receives(std::vector<char>& buffer) {
    char* at = buffer.data();
    for (const Message& message : in_) {
      for_each_of(message, [&](int bytes) {
        MPI_Irecv(at, bytes, MPI_CHAR, message.from, 0, MPI_COMM_WORLD, &requests_.emplace_back());
        at += bytes;
      });
    }
  }

  void post_sends(const std::vector<char>& buffer) {
    // Each rank begins with the next higher rank. If all ranks first sent to rank 0, that rank
    // would get a message from every rank at the same time.
    const auto first =
        std::find_if(out_.begin(), out_.end(), [&](const Message& m) { return m.to > rank_; });
    const auto send = [&](const Message& message) {
      for_each_of(message, [&](int bytes) {
        MPI_Isend(buffer.data(), bytes, MPI_CHAR, message.to, 0, MPI_COMM_WORLD,
                  &requests_.emplace_back());
      });
    };
    std::for_each(first, out_.end(), send);
    std::for_each(out_.begin(), first, send);
  }

  int rank_;
  bool overlap_;
  double work_s_ = 0;
  std::vector<Message> out_, in_;
  std::vector<MPI_Request> requests_;
};

/// Returns the seconds that the slowest rank needed for one iteration. If a rank starts too late,
/// increases `margin_s` and repeats the iteration.
double time_once(Part& part, const Settings& settings, double& margin_s, std::vector<char>& sent,
                 std::vector<char>& received) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const double start_s = max_of_all(poise::wall_now_s(), settings.poll_us) + margin_s;
    const bool late = poise::wall_now_s() > start_s;
    const double taken_s = part.run(start_s, settings.poll_us, sent, received);
    const double slowest_s = max_of_all(taken_s, settings.poll_us);
    if (max_of_all(late ? 1 : 0, settings.poll_us) == 0) return slowest_s;
    margin_s *= kMarginGrowth;
  }
  throw poise::SystemError(fmt::format(
      "in each of {} attempts, a rank was not ready at the common start time; the host is too busy "
      "for measurements",
      kMaxTries));
}

/// Sorts messages by receiver. The sort is stable, so that both ends see the messages of a pair in
/// the same order.
void sort_by_receiver(Replay& replay) {
  const auto& map = replay.map;
  std::stable_sort(replay.messages.begin(), replay.messages.end(),
                   [&](const Message& a, const Message& b) { return map[a.to] < map[b.to]; });
}

void time_all(std::vector<Replay> replays, const Settings& settings, int rank) {
  std::vector<Part> parts;
  std::vector<char> sent, received;
  for (Replay& replay : replays) {
    sort_by_receiver(replay);
    parts.emplace_back(replay, rank);
    sent.resize(std::max(sent.size(), parts.back().bytes_sent()));
    received.resize(std::max(received.size(), parts.back().bytes_received()));
  }
  std::vector<std::vector<double>> iteration_s(replays.size());
  std::vector<std::size_t> order(replays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  poise::Random random(settings.seed);
  double margin_s = kStartMargin_s;
  for (int round = -1; round < settings.rounds; ++round) {  // round -1 opens the connections
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::size_t i : order) {
      const double seconds = time_once(parts[i], settings, margin_s, sent, received);
      if (round >= 0) iteration_s[i].push_back(seconds);
    }
  }
  if (rank != 0) return;
  for (std::size_t i = 0; i < replays.size(); ++i) {
    fmt::print("{}\n",
               nlohmann::json{{"name", replays[i].name}, {"iteration_s", iteration_s[i]}}.dump());
  }
}

void replay_on_mpi(const Settings& settings) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Replay> replays = poise::trust::read_replays(settings.path);
  for (const Replay& replay : replays) {
    if (replay.layout.num_places() != ranks) {
      throw poise::Error(fmt::format(
          "{}: \"{}\" has {} places, but {} ranks were started; start one rank per place",
          settings.path, replay.name, replay.layout.num_places(), ranks));
    }
  }
  alarm(settings.timeout_s);
  prctl(PR_SET_TIMERSLACK, 1);
  // Raises the priority of this rank. Ranks sleep nearly always; when they wake up, they should not
  // have to wait for a core that other programs use. A rank without the permission to raise its
  // priority keeps the usual one.
  const sched_param priority{.sched_priority = 1};
  sched_setscheduler(0, SCHED_RR, &priority);
  time_all(std::move(replays), settings, rank);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  poise::miniapps::Arguments arguments("Replays programs on MPI and times their iterations",
                                       "trust_replay");
  arguments.add("--replays", settings.path,
                "file with one JSON object per line (form: bench/trust_bench.py)");
  arguments.add("--rounds", settings.rounds,
                "iterations of each program, interleaved in random order", 1, 10000);
  arguments.add("--poll-us", settings.poll_us,
                "microseconds of sleep between two polls for messages", 1, 100000);
  arguments.add("--timeout-s", settings.timeout_s, "time after which the program gives up", 1,
                100000);
  arguments.add("--seed", settings.seed, "seed of the random order", 0, UINT64_MAX);
  if (const auto status = arguments.status_after_parsing(argc, argv)) return *status;
  MPI_Init(&argc, &argv);
  try {
    replay_on_mpi(settings);
  } catch (const poise::SystemError& error) {
    std::fprintf(stderr, "trust_replay: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  } catch (const poise::Error& error) {
    std::fprintf(stderr, "trust_replay: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
