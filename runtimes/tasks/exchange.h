// One rank's share in the exchange with all others: lends, borrows, brings results home, passes on
// loads and finds the end. Holds no policy of its own: how much to lend is
// poise/online/lending.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtimes/tasks/arena.h"
#include "runtimes/tasks/bells.h"
#include "runtimes/tasks/board.h"
#include "runtimes/tasks/bytes.h"
#include "runtimes/tasks/context.h"
#include "runtimes/tasks/loads.h"
#include "runtimes/tasks/measured.h"
#include "runtimes/tasks/neighbours.h"
#include "runtimes/tasks/post.h"
#include "runtimes/tasks/wave.h"
#include "runtimes/tasks/workplace.h"

#include "poise/base/knobs.h"
#include "poise/base/random.h"
#include "poise/online/lending.h"

namespace poise::tasks {

/// Not for several threads at once, and the only part that calls MPI.
class Exchange {
 public:
  /// Collective.
  Exchange(MPI_Comm communicator, const Neighbours& neighbours, const Knobs& settings,
           Policy policy, Workplace& workplace);

  /// Looks at messages and does what is due. `wait`: the number of the wait this rank is in (it
  /// enters it with the first call that names it); `all_inside`: no thread of the program can
  /// submit any more before it ends.
  void step(double now_s, std::uint64_t wait, bool all_inside, unsigned threads);

  /// Whether something has come from this node, or was under way after the last step. For several
  /// threads at once.
  bool has_mail() const { return bells_.rings() || under_way_.load(std::memory_order_relaxed); }
  /// Until more is announced than what had been when so much was heard, but so long at most. For
  /// several threads at once.
  std::uint32_t heard() const { return bells_.heard(); }
  void sleep_till_more_is_heard(std::uint32_t heard, double most_s) {
    bells_.rung().sleep(most_s, [=, this] { return bells_.heard() != heard; });
  }
  /// Where a helper sleeps until this rank is called, somebody idle getting no answer to its
  /// question; and how often it was, so that no call is missed before the helper sleeps.
  Sleeper& called() { return bells_.called(); }
  std::uint32_t calls() const { return bells_.calls(); }
  /// Whether nothing but loads told in passing can have come where it has none. For several threads
  /// at once.
  bool hears_all() const { return hears_all_.load(std::memory_order_relaxed); }

  /// Whether it is called for all that cannot wait until a task has ended. For several threads at
  /// once.
  bool is_called() const { return pull_ && hears_all(); }
  /// How many waves have come by, the last of which may be the end. For several threads at once.
  std::uint32_t waves() const { return waves_.load(std::memory_order_relaxed); }

  /// The last wait that has ended.
  std::uint64_t done_wait() const { return wave_.done() ? wave_.wait() : wave_.wait() - 1; }

  /// Completes all messages; collective.
  void drain();

  /// Own tasks whose results came home: finish them outside of the exchange's lock.
  std::vector<std::unique_ptr<Task>> take_finished() { return std::exchange(finished_, {}); }

  std::vector<std::uint32_t> missing() const { return wave_.missing(); }
  MPI_Comm communicator() const { return post_.communicator(); }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t num_ranks() const { return num_ranks_; }
  const Counters& counters() const { return counters_; }
  Arena& arena() { return arena_; }

 private:
  enum class Kind : std::uint8_t {
    tasks,
    results,
    request,
    decline,
    load,
    wave,
    replica,
    claim,
    grant,
    refuse
  };
  static constexpr std::uint64_t kOfReplica = std::uint64_t{1}
                                              << 63;  // of a slot: the rest is a ticket
  struct Replica {
    std::unique_ptr<Task> task;
    Ticket ticket = 0;
    std::uint64_t* token = nullptr;  // null: to be had of its home only
    bool claimed = false;
  };
  struct Peer {
    std::uint64_t lent = 0, borrowed = 0;  // tasks to and from it since the start
    std::uint64_t arrived = 0;             // of those lent, as it last said
    std::deque<double> on_the_way_s;       // how long each takes that was lent and has not arrived
    double all_on_the_way_s = 0;
    double slowness = 1;  // its seconds for one of ours
    Neighbour at;
    bool asks = false;  // waits for an answer of this rank
    double asked_at_s = 0;
    double patience_s = 0;
  };

  // Heads.
  Writer begin(Kind kind, std::uint32_t to, double asked_at_s = 0);
  void send(std::uint32_t to, Writer&& head, std::vector<Large> larges = {},
            std::shared_ptr<const void> keep = nullptr);
  void post(std::uint32_t to, Writer&& head, std::vector<Large> larges = {},
            std::shared_ptr<const void> keep = nullptr);  // without ringing
  void handle(const Post::Arrival& arrival);
  void hear(Load load, std::uint32_t from);
  void send_waves(const std::vector<WaveMessage>& messages);
  Load own_load(const Workplace::State& state) const;

  // Lending.
  void lend_if_it_pays(const Workplace::State& state);
  std::vector<Loan> loans(const Workplace::State& state);
  std::vector<Loan> loans_of_program(const LendingView& view);
  std::vector<Loan> loans_by_cost(const LendingView& view, const Workplace::State& state);
  double may_cost_s(const std::vector<Loan>& loans, const LendingView& view) const;
  double handling_s(const Workplace::State& state, double bytes) const;
  void state_load(const Workplace::State& state);
  std::vector<Loan> trial_loans(const Workplace::State& state) const;
  bool may_borrow(std::uint32_t rank) const;
  double share_left(const Load& load) const;
  Borrower borrower(std::uint32_t rank, const Workplace::State& state) const;
  void lend(Loan loan, double task_bytes);
  void lend_named(const Loan& loan, double task_bytes, bool asked);
  std::size_t lend_at_once(const Loan& loan, double task_bytes, bool borrowed_too);
  std::vector<std::unique_ptr<Task>> take_for(const Loan& loan, double task_bytes,
                                              bool borrowed_too);
  Reason reason_to_lend(std::uint32_t rank, const std::vector<std::unique_ptr<Task>>& tasks) const;
  bool is_ready_to_leave(std::unique_ptr<Task>& task);
  void give_slot(Task& task);
  std::size_t room_at(std::uint32_t rank, double task_bytes) const;
  void decline(std::uint32_t rank);

  // Packing.
  bool goes_on_its_own(std::size_t bytes, const Writer& head) const;
  void write_task(Writer& head, Task& task, std::uint32_t to, std::vector<Large>& larges);
  std::optional<Arena::Spot> spot_of(Task& task, std::size_t i, std::uint32_t to);
  void handle_tasks(const Post::Arrival& arrival, Reader& reader, std::uint32_t from);
  void read_task(const Post::Arrival& arrival, Reader& reader, std::uint32_t from,
                 std::function<void(std::unique_ptr<Task>)> then);
  void read_items(const Post::Arrival& arrival, Reader& reader, std::uint32_t from,
                  std::unique_ptr<Task> task, std::uint32_t num_items,
                  std::function<void(std::unique_ptr<Task>)> then);

  // Replicas: copies of tasks that are elsewhere ahead of time.
  void want_replicas(const Workplace::State& state);
  void send_replicas();
  void send_replica(Task& task, std::uint32_t to);
  void handle_replica(const Post::Arrival& arrival, Reader& reader, std::uint32_t from);
  void handle_claim(Reader& reader, std::uint32_t from);
  void claimed(Reader& reader, std::uint32_t home, bool granted);
  void use_replicas(const Workplace::State& state);
  bool claim_any();
  void tell_cancelled(const Task& task);
  void drop_replicas();
  std::unique_ptr<Task> take_away(std::uint64_t slot);

  // Borrowing.
  void ask_if_hungry(const Workplace::State& state);
  void call_if_unanswered();
  void answered(std::uint32_t from, double asked_at_s, bool with_tasks);

  // Results.
  void send_results(const Workplace::State& state);
  void send_results_home(std::uint32_t home, std::vector<std::unique_ptr<Task>> tasks);
  void handle_results(const Post::Arrival& arrival, Reader& reader, std::uint32_t from);
  void write_output(Writer& head, const Item& item, std::vector<Large>& larges);
  void write_result(Writer& head, Buffer& result, std::vector<Large>& larges);
  void read_result_bytes(Buffer& result, Reader& reader, std::vector<Large>& larges);
  double read_result(const Post::Arrival& arrival, Reader& reader, std::uint32_t from);
  void learn_time(const Task& task, double seconds, std::uint32_t ran_on);
  std::vector<Large> read_outputs(Task& task, Reader& reader);
  std::unique_ptr<Task> take_slot(std::uint64_t slot);

  void tell_node(const Workplace::State& state);
  void hear_node();
  void gossip(const Workplace::State& state);

  const Knobs& settings_;
  Workplace& workplace_;
  Post post_;
  Arena arena_;
  Bells bells_;
  Board board_;
  // After the last step: something from or to this rank; and nothing of importance that no bell
  // tells of.
  std::atomic<bool> under_way_{false}, hears_all_{false};
  std::uint32_t rank_ = 0, num_ranks_ = 1;
  unsigned threads_ = 1;  // that run tasks now
  Wave wave_;
  std::atomic<std::uint32_t> waves_{0};
  Loads loads_;
  Random random_;
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> nearest_first_;  // all other ranks
  Ways ways_;
  Handling packing_, unpacking_;  // of lent tasks, and of results until they are finished
  std::vector<std::unique_ptr<Task>> slots_;  // own tasks that are away
  std::vector<std::uint64_t> free_slots_;
  std::vector<std::unique_ptr<Task>> finished_;
  std::vector<std::unique_ptr<Task>> results_;  // of borrowed tasks, to be sent
  double results_since_s_ = 0;
  std::vector<Buffer> kept_results_;  // which their homes read where they are, until the wait ends
  double kept_bytes_ = 0;
  Tokens tokens_;
  std::vector<Replica> replicas_;  // the oldest first
  std::uint64_t wanted_wait_ = 0;  // the latest for which the program's policy said what to copy
  double now_s_ = 0, wait_since_s_ = 0;
  double next_decision_s_ = 0, next_gossip_s_ = 0, next_ask_s_ = 0, ask_pause_s_ = 0;
  double next_lesson_s_ = 0;
  struct Unanswered {
    std::uint32_t rank;
    double asked_s;
  };
  std::deque<Unanswered> unanswered_;  // the latest questions
  double next_replicas_s_ = 0;
  std::uint32_t version_ = 0;
  Load told_node_;
  std::vector<std::uint32_t> unseen_by_;  // ranks to be told by messages
  bool in_wait_ = false, asked_now_ = false, said_policy_failed_ = false;
  double stated_load_ = 0;
  Counters counters_;

  // Settings that every step reads.
  const bool pull_, push_;
  const std::size_t policy_;
  const Policy program_;
  const double min_gain_, batch_bytes_;
  const std::size_t large_bytes_;
  const CountThresholds thresholds_;
};

}  // namespace poise::tasks
