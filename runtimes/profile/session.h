// SPDX-License-Identifier: BSD-3-Clause
// The profile of this process while its MPI program runs. It begins in MPI_Init and is written in
// MPI_Finalize.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtimes/profile/exchange.h"
#include "runtimes/profile/function.h"
#include "runtimes/profile/interpret.h"
#include "runtimes/profile/journal.h"
#include "runtimes/profile/machinery.h"
#include "runtimes/profile/pending_collectives.h"
#include "runtimes/profile/point_to_point.h"
#include "runtimes/profile/profile_file.h"
#include "runtimes/profile/recorder.h"
#include "runtimes/profile/team_watch.h"
#include "runtimes/profile/tick_clock.h"

namespace poise::profile {

class Reordered;
struct Settings;

/// A call of the program that is being passed on to MPI.
struct Call {
  const Function& function;
  Language language;
  Word* words;  // the arguments that are passed on
  int num_words;
  std::int64_t entered_ns = 0;
  /// True if the call is a poll like MPI_Test that names no request. MPI then reports success.
  bool asks_for_nothing = false;
  Reordered* reordered = nullptr;  // owned; see reorder.h
  Communicator* freed = nullptr;   // owned; the window or file that the call frees
};

/// To be called before the call is passed on. Returns false if the call is part of another call or
/// nothing is to be recorded; then leave() must not be called.
bool enter(Call& call) noexcept;
/// To be called when MPI has returned from the call. `result` is the value that MPI returned; it is
/// used only if the program called MPI from C.
void leave(Call& call, int result) noexcept;

class Session {
 public:
  /// Collective over MPI_COMM_WORLD; called by the thread that has just initialised MPI. Rank 0
  /// writes the profile to `output`.
  Session(const MpiLibrary& mpi, Word own, const Settings& settings);

  void enter(Call& call);
  void leave(Call& call, int result);
  /// To be called if the program has jumped out of a call, so that leave() was not called.
  void forget_call();
  /// Forgets a handle that is freed by a call to MPI inside another one.
  void forget_freed(const Call& call);
  /// Ends the profile before MPI_Finalize; rank 0 writes it. Collective.
  void finish();
  /// Called if the process ends without MPI_Finalize. Keeps what has been measured so far.
  void abandon();

 private:
  void note(Call& call, std::int64_t now_ns);
  void note_messages(const Call& call, const Arguments& arguments, std::int64_t now_ns);
  void note_failed(const Call& call, std::int64_t now_ns);
  void begin_sample(const Call& call, const Arguments& arguments, bool has_succeeded);
  void add_operation(const Call& call, const Arguments& arguments, bool has_succeeded,
                     std::int64_t now_ns);
  void start_operations(const Call& call, const Arguments& arguments);
  void keep_sample(const Call& call, Communicator& communicator, Part part, std::int64_t now_ns);
  Communicator* sample(const Call& call, const Arguments& arguments, std::int64_t now_ns);
  void note_collective(const Call& call, const Arguments& arguments,
                       const Communicator& communicator);
  std::int64_t read_cpu_clock(std::int64_t& now_ns);
  std::int64_t queued_ns(std::int64_t now_ns, std::int64_t cpu_ns) const;
  void free_operation(Word request);
  void keep_freed(Communicator& communicator);
  void keep_samples(Communicator& communicator, std::size_t max_samples);
  void note_pcontrol(const Call& call);
  void cut(Cuts cuts, std::uint64_t label = 0);
  void cut_slices(std::int64_t now_ns, bool is_poll = false);
  void cut_all(std::int64_t now_ns);
  RankProfile head() const;
  std::int64_t message_ns();
  bool knows_message_waits();
  void add_completions();
  Cuts agreed_cuts();
  void write(const std::string& bytes) const;

  const MpiLibrary& mpi_;
  std::string output_;
  Exchange exchange_;
  CommonClock clock_;
  ThreadMeter meter_;
  TeamWatch team_;
  CpuWatch cpus_;
  TickClock ticks_;
  Recorder recorder_;
  Interpreter interpreter_;
  PointToPoint messages_;
  PendingCollectives collectives_;
  Journal journal_;
  std::mutex mutex_;  // locked wherever several threads may call MPI
  bool is_multiple_ = false;
  std::int64_t begun_ns_ = 0;
  std::optional<std::int64_t> recorded_ns_;  // message_ns() when recording of messages ended
  std::int64_t inter_ns_ = 0;                // time in blocking collectives on intercommunicators
  std::int64_t period_ns_ = 0;  // length of phases that the user set; 0: Poise finds the phases
  std::vector<Wait> waits_;
  /// Samples of freed communicators, windows, files and requests; finish() adds those that still
  /// exist.
  std::vector<std::unique_ptr<Sampled>> sampled_;
  std::size_t num_samples_ = 0;  // in sampled_
  std::map<std::uint64_t, std::string> names_;
};

}  // namespace poise::profile
