// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/session.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "runtimes/profile/hash.h"
#include "runtimes/profile/omp_watch.h"
#include "runtimes/profile/reorder.h"
#include "runtimes/profile/settings.h"
#include "runtimes/profile/weak_references.h"

#include "poise/base/clock.h"

namespace poise::profile {

namespace {

constexpr int kThreadMultiple = 3;
constexpr std::size_t kMaxName = 64;

std::atomic<Session*> session = nullptr;
// The session of a process that ends without MPI_Finalize. It is never deleted, because MPI may be
// unable to free its handles.
std::atomic<Session*> abandoned = nullptr;
pid_t owner = 0;  // the process that writes the profile; its forked children must not write it
thread_local int depth __attribute__((tls_model("initial-exec"))) = 0;
// The address of the stack frame of the recorded call, in which `depth` became 1.
thread_local const void* outermost __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool is_main __attribute__((tls_model("initial-exec"))) = false;

/// The current time, for measuring how long a call takes. Only the initial thread reads `ticks`,
/// which is fast but not thread-safe; other threads record few calls.
std::int64_t call_time_ns(TickClock& ticks) { return is_main ? ticks.read_ns() : wall_now_ns(); }

/// True if a call succeeded. C functions return an error code. Fortran routines store it in their
/// last argument, which may be absent; the hidden lengths of strings follow that argument.
bool has_succeeded(const Call& call, int result) {
  if (call.language == Language::c) return result == 0;
  if (call.num_words == 0 || call.function.meaning == Meaning::pcontrol) return true;
  const int last = call.num_words - 1 - call.function.strings;
  const auto* const error = reinterpret_cast<const int*>(call.words[last]);
  return error == nullptr || *error == 0;
}

/// Reads a text from an address that the program passed to MPI_Pcontrol. The address may be
/// invalid.
std::string text_at(Word address) {
  char text[kMaxName + 1] = {};
  const iovec to{text, kMaxName}, from{reinterpret_cast<void*>(address), kMaxName};
  iovec near_end = from;  // the text may end just before an unmapped page
  near_end.iov_len = std::min<std::size_t>(kMaxName, 4096 - address % 4096);
  if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) < 0 &&
      ::process_vm_readv(::getpid(), &to, 1, &near_end, 1, 0) < 0)
    return "";
  return text;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = mixed(hash, static_cast<unsigned char>(c));
  return hash;
}

/// Prints why there is no profile, and tells `poise profile` by an empty file that it need not give
/// a reason.
void note_no_profile(const std::string& why) {
  print_note("no profile: " + why);
  if (settings().parts.empty()) return;
  const std::string told = settings().parts + std::string(kToldFile);
  const int file = ::open(told.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) ::close(file);
}

/// Rank 0 prints one line per wrong setting.
void note_wrong_settings(const MpiLibrary& mpi) {
  int rank = 0, size = 1;
  mpi.comm_rank(mpi.world, &rank);
  mpi.comm_size(mpi.world, &size);
  if (rank != 0) return;
  for (const std::string& note : settings().notes) print_note(note);
  if (const std::string trouble = trouble_with_machine(size); !trouble.empty()) print_note(trouble);
}

/// Returns how many processes the launcher has started, or 0 if the environment does not say. Sets
/// `rank` to the index of this process among them.
int launched(int& rank) {
  const std::pair<const char*, const char*> names[] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}};
  for (const auto& [size_name, rank_name] : names) {
    const char *const size = std::getenv(size_name), *const own = std::getenv(rank_name);
    if (size == nullptr || own == nullptr) continue;
    rank = std::atoi(own);
    return std::atoi(size);
  }
  return 0;
}

/// True if the launcher started several processes, but each is alone in its MPI_COMM_WORLD: the
/// launcher belongs to another MPI than the program, or ranks of a job run this program as a
/// command. The profiles of these processes would overwrite each other.
bool is_alone_in_job(const MpiLibrary& mpi) {
  int size = 0, rank = 0;
  mpi.comm_size(mpi.world, &size);
  const int started = launched(rank);
  if (size > 1 || started < 2) return false;
  if (rank == 0)
    note_no_profile("the launcher started " + std::to_string(started) +
                    " processes, but each has an MPI_COMM_WORLD of its own; use the launcher of "
                    "the MPI with which the program was built");
  return true;
}

/// Prints that some ranks have not joined. Both rank 0 and rank 1 print this, because one of them
/// may be the rank that has not joined.
void note_missing_ranks(const MpiLibrary& mpi) {
  int rank = 0;
  mpi.comm_rank(mpi.world, &rank);
  if (rank > 1) return;
  const std::string limit_s = std::to_string(static_cast<int>(tuning::kMaxJoin_s));
  if (Exchange::was_refused())
    return note_no_profile("ranks joined it more than " + limit_s +
                           " s apart, as on a busy machine");
  note_no_profile("rank " + std::to_string(rank) + " has waited " + limit_s +
                  " s for ranks that run without LD_PRELOAD: their program is statically linked "
                  "or setuid, or a script removes the variable; or they are late");
}

/// Ends the session of a process that ends without MPI_Finalize.
void abandon_session() {
  Session* const running = session.exchange(nullptr);
  if (running == nullptr) return;
  abandoned = running;
  if (owner == ::getpid()) running->abandon();
}

void begin_session() {
  const Settings& given = settings();
  const bool reorders = given.reorder != Settings::Reorder::off;
  if (session.load() != nullptr || (given.output.empty() && !reorders && given.notes.empty()))
    return;
  const char* why_not = nullptr;
  const MpiLibrary* const mpi = MpiLibrary::load(why_not);
  if (mpi == nullptr) {
    note_no_profile("the MPI library has no " + std::string(why_not));
    return;
  }
  Word parent = mpi->comm_null;
  mpi->comm_get_parent(&parent);
  if (mpi->plain(parent) != mpi->comm_null) return;  // spawned: not part of the launched job
  note_wrong_settings(*mpi);
  if (given.output.empty() || is_alone_in_job(*mpi)) return;
  const Word own = Exchange::joined(*mpi);
  if (own == 0) return note_missing_ranks(*mpi);
  is_main = true;
  owner = ::getpid();
  session.store(new Session(*mpi, own, given), std::memory_order_release);
}

/// Registers the exit handler when the library is loaded. Exit handlers run in reverse order of
/// registration, so this handler runs after the program's own handlers, some of which call
/// MPI_Finalize.
[[gnu::constructor]] void abandon_at_exit() { std::atexit(abandon_session); }

void end_session() {
  Session* const running = session.exchange(nullptr);
  running->finish();
  delete running;
}

}  // namespace

namespace {

bool frees_handle(Meaning meaning) {
  return meaning == Meaning::communicator_free || meaning == Meaning::window_free ||
         meaning == Meaning::type_free;
}

/// Handles a call to MPI during another call to MPI, for example from the callback of an attribute.
/// Nested calls are not profiled, but handles that they free must not be used again.
void enter_nested(const Call& call) noexcept {
  Session* const running = session.load(std::memory_order_acquire);
  if (running == nullptr || !frees_handle(call.function.meaning)) return;
  try {
    running->forget_freed(call);
  } catch (...) {
    session.store(nullptr);
  }
}

/// True if the last recorded call of this thread has ended without leave(), because an error
/// handler threw an exception or jumped out of the call. In this case the stack is now shorter than
/// it was in the call. A destructor in relay() could not detect this case, because exceptions of
/// the program cannot pass clean-up code that is linked to another unwinder.
bool has_jumped_out(const void* stack) { return depth != 0 && stack >= outermost; }

}  // namespace

bool enter(Call& call) noexcept {
  const void* const stack = __builtin_frame_address(0);
  if (has_jumped_out(stack)) {
    depth = 0;
    Session* const running = session.load(std::memory_order_acquire);
    if (running != nullptr) running->forget_call();
  }
  if (depth != 0) {
    enter_nested(call);
    return false;
  }
  Session* const running = session.load(std::memory_order_acquire);
  const bool is_reordered = is_to_reorder(call);
  if (running == nullptr && call.function.meaning == Meaning::finalize) Exchange::complete_join();
  if (running == nullptr && call.function.meaning != Meaning::init && !is_reordered) return false;
  if (call.function.meaning == Meaning::init) drop_weak_references_to_missing_functions();
  depth = 1;
  outermost = stack;
  if (running == nullptr) {
    if (is_reordered) begin_reordering(call);
    return true;
  }
  try {
    running->enter(call);
    if (call.function.meaning == Meaning::finalize) end_session();
    if (call.function.meaning == Meaning::abort) abandon_session();
  } catch (...) {  // out of memory: the program goes on without a profile
    session.store(nullptr);
  }
  if (is_reordered) begin_reordering(call);
  return true;
}

void leave(Call& call, int result) noexcept {
  end_reordering(call);
  try {
    Session* const running = session.load(std::memory_order_acquire);
    if (running != nullptr)
      running->leave(call, result);
    else if (call.function.meaning == Meaning::init && has_succeeded(call, result))
      begin_session();
  } catch (...) {
    session.store(nullptr);
  }
  depth = 0;
}

Session::Session(const MpiLibrary& mpi, Word own, const Settings& settings)
    : mpi_(mpi),
      output_(settings.output),
      exchange_(mpi, own),
      interpreter_(mpi, recorder_.sums()),
      messages_(mpi, interpreter_.communicators(), exchange_.rank()),
      journal_(settings.parts, head()),
      period_ns_(settings.period_ns) {
  int level = 0;
  mpi.query_thread(&level);
  is_multiple_ = level == kThreadMultiple;
  clock_ = CommonClock(exchange_.offset_to_first());
  if (exchange_.rank() == 0 && !settings.parts.empty() && !journal_.is_open())
    print_note("POISE_PROFILE_PARTS: cannot write in " + settings.parts +
               ": there will be no profile if the program does not reach MPI_Finalize");
  begun_ns_ = wall_now_ns();
  recorder_.start(begun_ns_, thread_cpu_now_ns(), meter_.read(),
                  period_ns_ > 0 ? period_ns_ : tuning::kSlice_ns);
}

RankProfile Session::head() const {
  return {.rank = static_cast<std::uint32_t>(exchange_.rank()),
          .num_ranks = static_cast<std::uint32_t>(exchange_.size()),
          .host = host_name(),
          .clock_error_ns = static_cast<std::uint64_t>(clock_.error_ns()),
          .reorderings = reorderings()};
}

void Session::enter(Call& call) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (is_multiple_) lock.lock();
  call.entered_ns = call_time_ns(ticks_);
  if (is_main) {
    const bool polls = is_poll(call.function);
    if (recorder_.slice_is_over(call.entered_ns, polls)) cut_slices(call.entered_ns, polls);
    const std::int64_t cpu_ns =
        recorder_.is_long_until(call.entered_ns) ? read_cpu_clock(call.entered_ns) : 0;
    if (recorder_.enter(call.entered_ns, polls))
      recorder_.read_cpu_at_entry(call.entered_ns, cpu_ns, queued_ns(call.entered_ns, cpu_ns));
  }
  if (call.function.meaning == Meaning::nothing) return;
  const Arguments arguments(mpi_, call.function, call.language, call.words);
  call.asks_for_nothing = is_main && is_poll(call.function) &&
                          completes_requests(call.function.meaning) && !arguments.has_request();
  if (call.function.meaning == Meaning::communicator_free) {
    const auto communicator =
        interpreter_.communicators().taken(arguments.comm_at_address(call.function.comm));
    if (communicator) keep_freed(*communicator);
  }
  // Unlike MPI_Comm_free, these calls wait for other ranks, so they are sampled when they return.
  if (call.function.meaning == Meaning::window_free || call.function.meaning == Meaning::file_close)
    call.freed = interpreter_.taken(call.function, arguments).release();
  if (call.function.meaning == Meaning::request_free &&
      interpreter_.communicators().has_operations())
    free_operation(arguments.request(call.function.request));
  if (PointToPoint::concerns(call.function)) {
    // Messages are no longer recorded once a second thread sends or receives: the receiver cannot
    // know the order of messages of several threads, and `messages_` follows one call at a time.
    // Calls that begin or end epochs of windows are an exception, because the order of epochs does
    // not depend on threads.
    if (!is_main && is_multiple_ && !PointToPoint::is_of_window(call.function))
      messages_.ends().give_up();
    messages_.before(call.function, arguments, call.words);
  }
  if (completes_requests(call.function.meaning) && !collectives_.is_idle()) {
    if (is_main)
      collectives_.before(call.function, arguments);
    else
      collectives_.forget(call.function, arguments);
  }
  interpreter_.before(call.function, arguments);
}

/// Returns what the CPU clock shows, and sets `now_ns` to the time after the read. During the read,
/// the kernel may find that the thread's time slice is over, and give its core to another thread.
/// The thread used up the slice before the read, so the read counts as part of what came before it.
std::int64_t Session::read_cpu_clock(std::int64_t& now_ns) {
  const std::int64_t cpu_ns = thread_cpu_now_ns();
  now_ns = ticks_.read_ns();
  return cpu_ns;
}

/// The total time in which the thread has been queued since it started. Asking the kernel costs
/// 1 us, so the last known value is returned if it can hardly have changed.
std::int64_t Session::queued_ns(std::int64_t now_ns, std::int64_t cpu_ns) const {
  return recorder_.was_off_cpu(now_ns, cpu_ns) ? meter_.queued_ns() : recorder_.queued_ns();
}

void Session::free_operation(Word request) {
  collectives_.forget(request);
  const auto operation = interpreter_.communicators().taken_operation(request);
  if (operation) keep_freed(*operation);
}

/// Keeps the samples of a communicator, window, file or request that the program frees.
void Session::keep_freed(Communicator& communicator) {
  if (sampled_.size() < tuning::kMaxFreed) keep_samples(communicator, tuning::kMaxFreedSamples);
}

/// Ignores the samples if more than `max_samples` would be kept in total.
void Session::keep_samples(Communicator& communicator, std::size_t max_samples) {
  auto samples = samples_of(communicator);
  if (!samples || num_samples_ + samples->samples.size() > max_samples) return;
  num_samples_ += samples->samples.size();
  sampled_.push_back(std::move(samples));
}

void Session::forget_call() {
  if (!is_main) return;
  recorder_.forget_call();
  std::unique_lock lock(mutex_, std::defer_lock);
  if (is_multiple_) lock.lock();
  collectives_.forget_call();
}

void Session::forget_freed(const Call& call) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (is_multiple_) lock.lock();
  const Arguments arguments(mpi_, call.function, call.language, call.words);
  interpreter_.before(call.function, arguments);
}

void Session::leave(Call& call, int result) {
  const std::int64_t now_ns = call_time_ns(ticks_);
  std::unique_lock lock(mutex_, std::defer_lock);
  if (is_multiple_) lock.lock();
  if (is_main) {
    std::int64_t left_ns = now_ns;
    const std::int64_t cpu_ns = recorder_.is_read_due(now_ns) ? read_cpu_clock(left_ns) : 0;
    if (recorder_.leave(call.entered_ns, left_ns, call.function.kind))
      recorder_.read_cpu_at_exit(left_ns, cpu_ns, queued_ns(left_ns, cpu_ns));
  }
  if (call.function.meaning == Meaning::nothing) return;
  if (has_succeeded(call, result))
    note(call, now_ns);
  else
    note_failed(call, now_ns);
  if (call.freed == nullptr) return;
  const std::unique_ptr<Communicator> freed(std::exchange(call.freed, nullptr));
  keep_freed(*freed);
}

/// A call that failed on this rank may have succeeded on other ranks. It is sampled nevertheless:
/// samples are compared across ranks, so all ranks must keep samples of the same collectives.
void Session::note_failed(const Call& call, std::int64_t now_ns) {
  if (is_main && completes_requests(call.function.meaning)) collectives_.forget_call();
  const Mode mode = call.function.mode;
  if (mode == Mode::none) return;
  const Arguments arguments(mpi_, call.function, call.language, call.words);
  if (call.freed == nullptr && !interpreter_.is_known(call.function, arguments)) return;
  if (mode == Mode::blocking)
    sample(call, arguments, now_ns);
  else if (mode == Mode::nonblocking)
    begin_sample(call, arguments, false);
  else
    add_operation(call, arguments, false, now_ns);
}

void Session::note(Call& call, std::int64_t now_ns) {
  const Arguments arguments(mpi_, call.function, call.language, call.words);
  interpreter_.after(call.function, arguments);
  if (PointToPoint::concerns(call.function)) note_messages(call, arguments, now_ns);
  Communicator* communicator = nullptr;
  if (call.function.mode == Mode::blocking)
    communicator = sample(call, arguments, now_ns);
  else if (call.function.mode == Mode::nonblocking)
    begin_sample(call, arguments, true);
  else if (call.function.mode == Mode::persistent)
    add_operation(call, arguments, true, now_ns);
  else if (starts_requests(call.function.meaning) && interpreter_.communicators().has_operations())
    start_operations(call, arguments);
  if (communicator != nullptr && call.function.created_object >= 0)
    interpreter_.add_object(call.function, arguments, *communicator);
  if (!is_main) return;
  if (!recorded_ns_ && messages_.ends().has_given_up()) recorded_ns_ = message_ns();
  if (call.asks_for_nothing || found_nothing(call.function, arguments)) recorder_.poll_was_empty();
  if (call.function.meaning == Meaning::pcontrol) note_pcontrol(call);
  if (communicator != nullptr && is_collective(call.function.meaning))
    note_collective(call, arguments, *communicator);
}

void Session::note_messages(const Call& call, const Arguments& arguments, std::int64_t now_ns) {
  // Only the time of the initial thread is recorded.
  const std::int64_t left_ns = is_main ? now_ns : call.entered_ns;
  const std::int64_t begun_ns = is_main ? recorder_.wait_begun_ns() : call.entered_ns;
  bool may_wait = messages_.after(call.function, arguments, begun_ns, left_ns);
  if (!is_main) return;
  if (completes_requests(call.function.meaning) &&
      collectives_.after(call.function, arguments, begun_ns, now_ns))
    may_wait = true;
  if (may_wait) recorder_.may_wait(WaitsFor::message, now_ns - begun_ns);
}

/// The time spent so far in calls that send, receive or wait for messages.
std::int64_t Session::message_ns() {
  const Totals& totals = recorder_.sums().totals;
  return totals.mpi_ns[index_of(Kind::point_to_point)] + totals.mpi_ns[index_of(Kind::wait)];
}

/// False if the rank has spent a notable part of the run in calls whose waiting is not recorded.
/// These are collectives on intercommunicators and, once the rank has stopped recording messages,
/// all calls that may wait for messages. For example, the rank stops recording messages when the
/// program cancels a receive. Many programs do this only at their end, so nearly all their waits
/// are known.
bool Session::knows_message_waits() {
  const std::int64_t messages_ns = recorded_ns_ ? message_ns() - *recorded_ns_ : 0;
  return messages_ns + inter_ns_ <= tuning::kMaxUnrecorded * (wall_now_ns() - begun_ns_);
}

/// Records that a non-blocking collective has begun. A neighbourhood collective is recorded by
/// `messages_`. For any other collective, keeps a sample without a duration; `collectives_` records
/// the call that waits for the collective.
void Session::begin_sample(const Call& call, const Arguments& arguments, bool has_succeeded) {
  const Function& function = call.function;
  Communicator* const communicator = interpreter_.joint(function, arguments);
  if (communicator == nullptr || communicator->is_inter) return;
  if (is_neighbourhood(function.meaning)) {
    const Neighbours& neighbours = interpreter_.neighbours(*communicator);
    if (has_succeeded)
      messages_.begin_neighbourhood(*communicator, neighbours, arguments.request(function.request),
                                    false, call.entered_ns);
    else
      messages_.after_neighbourhood(*communicator, neighbours, call.entered_ns, call.entered_ns);
    return;
  }
  if (communicator->size < 2) return;
  const auto part = interpreter_.part_in(function, arguments, *communicator);
  if (!part) return;
  const std::uint64_t sequence = communicator->samples.count();
  const bool is_sampled = communicator->samples.next();
  if (is_sampled) communicator->samples.keep(call.entered_ns, Sample::kUntimed, *part);
  if (has_succeeded && part->waits)
    collectives_.begin(arguments.request(function.request), is_sampled ? communicator->id : 0,
                       sequence);
}

/// Keeps a sample of the call if it can be sampled. Returns the communicator, window or file of the
/// call, or null if the object is unknown or an intercommunicator. The calls of all threads are
/// sampled, because all ranks must keep samples of the same calls.
Communicator* Session::sample(const Call& call, const Arguments& arguments, std::int64_t now_ns) {
  const Function& function = call.function;
  Communicator* const communicator =
      is_collective(function.meaning)
          ? interpreter_.communicators().of(arguments.comm(function.comm))
      : call.freed != nullptr ? call.freed
                              : interpreter_.joint(function, arguments);
  if (communicator == nullptr) return nullptr;
  if (communicator->is_inter) {
    if (is_main && is_collective(function.meaning)) inter_ns_ += now_ns - call.entered_ns;
    return nullptr;
  }
  if (is_neighbourhood(function.meaning)) {
    const std::int64_t left_ns = is_main ? now_ns : call.entered_ns;
    if (messages_.after_neighbourhood(*communicator, interpreter_.neighbours(*communicator),
                                      call.entered_ns, left_ns) &&
        is_main)
      recorder_.may_wait(WaitsFor::message, now_ns - call.entered_ns);
    return communicator;
  }
  const auto part = interpreter_.part_in(function, arguments, *communicator);
  if (part && communicator->size > 1) keep_sample(call, *communicator, *part, now_ns);
  return communicator;
}

void Session::keep_sample(const Call& call, Communicator& communicator, Part part,
                          std::int64_t now_ns) {
  const std::int64_t took_ns = is_main ? now_ns - call.entered_ns : Sample::kUntimed;
  if (is_main) recorder_.may_wait(WaitsFor::collective, took_ns);
  if (communicator.samples.next()) communicator.samples.keep(call.entered_ns, took_ns, part);
}

/// Keeps a sample of a call that creates a persistent collective, in which ranks may wait for each
/// other.
void Session::add_operation(const Call& call, const Arguments& arguments, bool has_succeeded,
                            std::int64_t now_ns) {
  const Function& function = call.function;
  Communicator* const parent = interpreter_.joint(function, arguments);
  if (parent == nullptr || parent->is_inter || parent->size < 2) return;
  keep_sample(call, *parent, {.delays = true, .waits = true, .may_overtake = true}, now_ns);
  if (!has_succeeded) return;
  Communicator* const made =
      interpreter_.communicators().add_operation(*parent, arguments.request(function.request));
  if (made == nullptr) return;
  if (is_neighbourhood(function.meaning))
    made->neighbours = std::make_unique<Neighbours>(interpreter_.neighbours(*parent));
  else
    made->part = interpreter_.part_in(function, arguments, *parent).value_or(Part{});
}

/// Records that MPI_Start or MPI_Startall has begun persistent collectives, as begin_sample() does
/// for non-blocking ones.
void Session::start_operations(const Call& call, const Arguments& arguments) {
  const Function& function = call.function;
  const int count = function.count < 0 ? 1 : static_cast<int>(arguments.number(function.count));
  for (int i = 0; i < count; ++i) {
    const Word request = arguments.request(function.request, i);
    Communicator* const operation = interpreter_.communicators().of_operation(request);
    if (operation == nullptr) continue;
    if (operation->neighbours != nullptr) {
      messages_.begin_neighbourhood(*operation, *operation->neighbours, request, true,
                                    call.entered_ns);
      continue;
    }
    const std::uint64_t sequence = operation->samples.count();
    const bool is_sampled = operation->samples.next();
    if (is_sampled) operation->samples.keep(call.entered_ns, Sample::kUntimed, operation->part);
    if (operation->part.waits)
      collectives_.begin(request, is_sampled ? operation->id : 0, sequence, true);
  }
}

void Session::note_collective(const Call& call, const Arguments& arguments,
                              const Communicator& communicator) {
  if (communicator.size != exchange_.size() || period_ns_ > 0) return;
  const Function& function = call.function;
  // In the search for iterations, a token represents the collective. It must not depend on the
  // rank, because all ranks must see the same sequence of tokens.
  const std::uint64_t bytes = std::bit_width(interpreter_.agreed_bytes(function, arguments));
  const std::uint64_t call_token = static_cast<std::uint64_t>(function.meaning) << 8 | bytes;
  const bool is_world = communicator.handle == mpi_.world;
  if (recorder_.collective(mixed(call_token, is_world ? 1 : 0), synchronises(function.meaning)))
    cut(Cuts::collectives);
}

/// MPI_Pcontrol(k) begins a phase with label k, and MPI_Pcontrol(-1, "name") a phase with that
/// name.
void Session::note_pcontrol(const Call& call) {
  if (period_ns_ > 0) return;
  if (!recorder_.series(Cuts::pcontrol).has_labels()) {
    names_.clear();
    if (recorder_.series(Cuts::pcontrol).is_due()) cut(Cuts::pcontrol);
    return;
  }
  const Arguments arguments(mpi_, call.function, call.language, call.words);
  const std::int32_t level = arguments.number(call.function.level);
  std::uint64_t label = std::max(0, level);
  if (level == -1 && call.language == Language::c) {
    const std::string name = text_at(call.words[1]);
    if (!name.empty()) names_[label = hash_of(name) | std::uint64_t{1} << 63] = name;
  }
  cut(Cuts::pcontrol, label);
}

void Session::cut(Cuts cuts, std::uint64_t label) {
  const Phase ended = recorder_.cut(cuts, recorder_.left_ns(), meter_.read(), label);
  journal_.append(cuts, ended, names_);
  recorder_.resume(wall_now_ns());
}

void Session::cut_slices(std::int64_t now_ns, bool is_poll) {
  for (const Phase& phase :
       recorder_.cut_slices(now_ns, thread_cpu_now_ns(), meter_.read(), is_poll))
    journal_.append(Cuts::slices, phase, names_);
}

void Session::cut_all(std::int64_t now_ns) {
  for (const Cuts cuts : {Cuts::pcontrol, Cuts::collectives, Cuts::slices})
    journal_.append(cuts, recorder_.cut(cuts, now_ns, meter_.read()), names_);
}

void Session::abandon() { cut_all(wall_now_ns()); }

Cuts Session::agreed_cuts() {
  // For each way to divide the run, stores the number of phases and the negative of this number.
  // A single reduction (maximum over the ranks) then gives both the largest and the smallest number
  // of phases. The last two values tell whether nearly the whole run falls into one iteration.
  std::vector<double> counts;
  for (int kind = 0; kind < kNumCuts; ++kind) {
    const auto count =
        static_cast<double>(recorder_.series(static_cast<Cuts>(kind)).phases().size());
    counts.push_back(count);
    counts.push_back(-count);
  }
  counts.push_back(-outside_longest_ns(recorder_.series(Cuts::collectives).phases()));
  counts.push_back(wall_now_ns() - begun_ns_);
  const std::vector<double> ends = exchange_.largest(counts);
  const double iterated_ns = -ends[2 * kNumCuts], run_ns = ends[2 * kNumCuts + 1];
  const bool is_one_iteration = iterated_ns < tuning::kMinIterated * run_ns &&
                                ends[2 * index_of(Cuts::slices)] >= tuning::kMinSlices;
  for (const Cuts cuts : {Cuts::pcontrol, Cuts::collectives}) {
    if (cuts == Cuts::collectives && is_one_iteration) continue;
    const std::size_t k = 2 * index_of(cuts);
    if (ends[k] == -ends[k + 1] && ends[k] > 1) return cuts;
    if (cuts == Cuts::pcontrol && ends[k] > 1 && exchange_.rank() == 0)
      print_note("MPI_Pcontrol marks no phases, because the numbers of calls differ between ranks");
  }
  // Ranks may reach MPI_Finalize in different time slices. A rank that has fewer slices than others
  // adds empty ones.
  Series& slices = recorder_.series(Cuts::slices);
  const double missing =
      ends[2 * index_of(Cuts::slices)] - static_cast<double>(slices.phases().size());
  for (int i = 0; i < static_cast<int>(missing); ++i)
    slices.cut(slices.phases().back().end_ns, recorder_.sums(), meter_.read());
  return Cuts::slices;
}

void Session::add_completions() {
  std::unordered_map<std::uint64_t, Sampled*> by_id;
  for (const auto& sampled : sampled_) by_id[sampled->id] = sampled.get();
  for (const Completion& completion : collectives_.completions())
    if (const auto found = by_id.find(completion.communicator); found != by_id.end())
      found->second->completions.push_back(
          {completion.sequence, completion.wait_begun_ns, completion.took_ns});
}

void Session::finish() {
  cut_slices(wall_now_ns());
  cut_all(wall_now_ns());
  const Cuts cuts = agreed_cuts();
  RankProfile profile = head();
  profile.knows_message_waits = knows_message_waits();
  profile.cuts = cuts;
  profile.names = names_;
  profile.team = team_.read();
  profile.cpus = cpus_.read(profile.team.cpus);
  profile.omp_work_ns = omp_work_ns();
  profile.phases = recorder_.series(cuts).take();
  std::vector<double> lengths;
  for (const Phase& phase : profile.phases) lengths.push_back(phase.end_ns - phase.begin_ns);
  std::vector<std::int64_t> longest_ns;
  for (const double length : exchange_.largest(lengths))
    longest_ns.push_back(static_cast<std::int64_t>(length));
  merge_short(profile.phases, longest_ns, tuning::kMinPhase_ns);
  clock_.add(exchange_.offset_to_first());
  for (Communicator* const communicator : interpreter_.communicators().all())
    keep_samples(*communicator, tuning::kMaxCompared);
  add_completions();
  exchange_.find_waits(std::move(sampled_), clock_, waits_);
  exchange_.find_waits(messages_.ends(), clock_, waits_);
  keep_longest(waits_);
  add_waits(waits_, profile.phases);
  profile.clock_error_ns = clock_.error_ns();
  std::string bytes = encode(profile);
  exchange_.gather(bytes);
  if (exchange_.rank() == 0) write(bytes);
  journal_.remove();
}

void Session::write(const std::string& bytes) const {
  const std::string partial = output_ + ".partial";
  std::FILE* const file = std::fopen(partial.c_str(), "we");
  int error = file == nullptr ? errno : 0;
  const auto check = [&error](bool is_done) {
    if (!is_done && error == 0) error = errno;
  };
  if (file != nullptr) {
    check(std::fwrite(kMagic.data(), 1, kMagic.size(), file) == kMagic.size());
    check(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
    check(std::fclose(file) == 0);  // writes what is still in the buffer
  }
  // link() succeeds only if another program of the same command has already written a profile. It
  // fails if the link exists, so the note is printed only once.
  if (error == 0 && !settings().parts.empty() &&
      ::link(output_.c_str(), (output_ + ".first").c_str()) == 0)
    print_note(
        "the command runs several MPI programs: only the profile of the one that ends "
        "last is kept");
  if (error == 0) check(std::rename(partial.c_str(), output_.c_str()) == 0);
  if (error == 0) return;
  note_no_profile("cannot write " + output_ + " on " + host_name() + ": " + std::strerror(error));
  ::unlink(partial.c_str());
}

}  // namespace poise::profile
