// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/point_to_point.h"

#include "runtimes/profile/hash.h"

namespace poise::profile {

namespace {

// Neighbourhood collectives and window epochs count as messages in streams of their own. The ID of
// such a stream is a hash of one of these constants and of the ID of the communicator or window, so
// no receive of the program matches it.
constexpr std::uint64_t kNeighbourhood = ~std::uint64_t{0}, kPosted = 1, kPostedBeforeComplete = 2,
                        kCompleted = 3;

/// True if the call fills an array of statuses.
bool has_statuses(Meaning meaning) {
  return meaning == Meaning::waitall || meaning == Meaning::waitsome ||
         meaning == Meaning::testall || meaning == Meaning::testsome;
}

}  // namespace

bool PointToPoint::concerns(const Function& function) {
  return function.meaning >= Meaning::send && function.meaning <= Meaning::window_test;
}

bool PointToPoint::is_of_window(const Function& function) {
  return function.meaning >= Meaning::window_post && function.meaning <= Meaning::window_test;
}

std::optional<Envelope> PointToPoint::envelope_of(const Function& function,
                                                  const Arguments& arguments, int partner,
                                                  int tag) {
  const int rank = arguments.number(partner);
  if (rank == mpi_.proc_null || ends_.has_given_up()) return std::nullopt;
  Communicator* const communicator = communicators_.of(arguments.comm(function.comm));
  if (communicator == nullptr || communicator->id == 0) return std::nullopt;
  Envelope envelope{.communicator = communicator->id,
                    .partner = Envelope::kAny,
                    .tag = static_cast<std::int32_t>(arguments.number(tag))};
  if (envelope.tag == mpi_.any_tag) envelope.tag = Envelope::kAny;
  if (rank == mpi_.any_source) return envelope;
  envelope.partner = communicator->world_rank(rank);
  if (envelope.partner < 0) return std::nullopt;
  return envelope;
}

void PointToPoint::see_status(const Function& function, const Arguments& arguments, Word* words,
                              std::size_t count) {
  if (function.status < 0 || !mpi_.is_status_ignored(arguments.language(), words[function.status]))
    return;
  own_statuses_.assign((count * mpi_.status_size() + 7) / 8, 0);
  words[function.status] = reinterpret_cast<Word>(own_statuses_.data());
}

void PointToPoint::find_active(const Function& function, const Arguments& arguments) {
  active_.clear();
  for (int i = 0; i < arguments.num_requests(); ++i) {
    const Word request = arguments.request(function.request, i);
    if (const Request* const found = requests_.find(request))
      active_.push_back({request, i, *found});
  }
}

void PointToPoint::before(const Function& function, const Arguments& arguments, Word* words) {
  if (ends_.has_given_up() || is_of_window(function)) return;
  if (completes_requests(function.meaning)) {
    if (requests_.size() == 0) return active_.clear();
    find_active(function, arguments);
    for (const Active& active : active_) {
      if (ends_.envelope(active.state.id).is_exact()) continue;
      const auto count =
          has_statuses(function.meaning) ? arguments.number(function.count) : std::int64_t{1};
      return see_status(function, arguments, words, count);
    }
    return;
  }
  if (function.status >= 0) {  // a receive or a probe
    const int tag = function.receive_tag >= 0 ? function.receive_tag : function.tag;
    if (arguments.number(function.source) == mpi_.any_source ||
        arguments.number(tag) == mpi_.any_tag)
      see_status(function, arguments, words, 1);
    return;
  }
  if (function.meaning == Meaning::cancel) return ends_.give_up();
  if (function.meaning != Meaning::request_free) return;
  const Word request = arguments.request(function.request);
  persistent_.erase(request);
  const Request* const found = requests_.find(request);
  if (found == nullptr) return;
  if (!ends_.envelope(found->id).is_exact()) return ends_.give_up();
  complete(*found, 0, 0);
  requests_.erase(request);
}

bool PointToPoint::after(const Function& function, const Arguments& arguments,
                         std::int64_t entered_ns, std::int64_t left_ns) {
  if (ends_.has_given_up()) return false;
  switch (function.meaning) {
    case Meaning::send: return after_send(function, arguments, entered_ns, left_ns);
    case Meaning::receive:
    case Meaning::matched_probe: return after_receive(function, arguments, entered_ns, left_ns);
    case Meaning::probe: return after_probe(function, arguments, entered_ns, left_ns);
    case Meaning::send_init:
    case Meaning::receive_init: {
      const bool is_send = function.meaning == Meaning::send_init;
      if (function.partitions >= 0) return false;  // partitioned operations match only each other
      const auto envelope =
          envelope_of(function, arguments, is_send ? function.peer : function.source, function.tag);
      if (envelope)
        persistent_[arguments.request(function.request)] = {*envelope,
                                                            arguments.comm(function.comm), is_send};
      return false;
    }
    case Meaning::start: start(arguments.request(function.request), entered_ns); return false;
    case Meaning::startall:
      for (int i = 0; i < arguments.number(function.count); ++i)
        start(arguments.request(function.request, i), entered_ns);
      return false;
    case Meaning::window_post:
    case Meaning::window_start:
    case Meaning::window_complete:
    case Meaning::window_wait:
    case Meaning::window_test: return after_window_call(function, arguments, entered_ns, left_ns);
    default:
      return completes_requests(function.meaning) &&
             after_wait(function, arguments, entered_ns, left_ns);
  }
}

bool PointToPoint::after_send(const Function& function, const Arguments& arguments,
                              std::int64_t entered_ns, std::int64_t left_ns) {
  const bool is_now = function.request < 0;
  if (!is_now && function.source >= 0) {  // MPI_Isendrecv: two messages of one request
    ends_.give_up();
    return false;
  }
  bool may_wait = false;
  if (const auto envelope = envelope_of(function, arguments, function.peer, function.tag)) {
    if (is_now)
      may_wait = ends_.sent(*envelope, entered_ns, left_ns - entered_ns);
    else if (const Id id = ends_.begin_send(*envelope, entered_ns); id != MessageEnds::kNone)
      track(arguments.request(function.request), {.id = id});
  }
  if (function.source < 0) return may_wait;
  return after_receive(function, arguments, entered_ns, left_ns) || may_wait;
}

bool PointToPoint::after_receive(const Function& function, const Arguments& arguments,
                                 std::int64_t entered_ns, std::int64_t left_ns) {
  if (found_nothing(function, arguments)) return false;  // MPI_Improbe
  const int tag = function.receive_tag >= 0 ? function.receive_tag : function.tag;
  auto envelope = envelope_of(function, arguments, function.source, tag);
  if (!envelope) return false;
  const bool is_now = function.request < 0;
  // After a blocking receive, the source and tag of its message are known, even if the program
  // accepted any source or tag. The position of this receive among all receives is also
  // known, because no other receive was posted between its start and its end.
  if (is_now && !envelope->is_exact() &&
      !see_met(function, arguments, arguments.comm(function.comm), *envelope, 0))
    return false;
  if (probed_ && probed_->envelope == *envelope) {
    ends_.received(*envelope, entered_ns, probed_->entered_ns, probed_->took_ns);
    probed_.reset();
    return false;  // MPI_Probe was counted
  }
  if (!is_now) {
    const Id id = ends_.begin_receive(*envelope, entered_ns);
    if (id != MessageEnds::kNone)
      track(arguments.request(function.request),
            {.id = id, .communicator = arguments.comm(function.comm)});
    return false;
  }
  return ends_.received(*envelope, entered_ns, entered_ns, left_ns - entered_ns);
}

bool PointToPoint::after_probe(const Function& function, const Arguments& arguments,
                               std::int64_t entered_ns, std::int64_t left_ns) {
  probed_.reset();
  if (found_nothing(function, arguments)) return false;  // MPI_Iprobe
  auto envelope = envelope_of(function, arguments, function.source, function.tag);
  if (!envelope) return false;
  if (!envelope->is_exact() &&
      !see_met(function, arguments, arguments.comm(function.comm), *envelope, 0))
    return false;
  probed_ = Probed{*envelope, entered_ns, left_ns - entered_ns};
  return true;
}

bool PointToPoint::after_neighbourhood(const Communicator& communicator,
                                       const Neighbours& neighbours, std::int64_t entered_ns,
                                       std::int64_t left_ns) {
  if (communicator.id == 0) return false;
  const std::uint64_t stream = mixed(communicator.id, kNeighbourhood);
  send_to(neighbours.to, stream, entered_ns);
  return receive_from(neighbours.from, stream, entered_ns, left_ns - entered_ns);
}

void PointToPoint::send_to(const std::vector<int>& ranks, std::uint64_t stream,
                           std::int64_t entered_ns) {
  Envelope envelope{.communicator = stream};
  for (const int to : ranks) {
    envelope.partner = to;
    ends_.sent(envelope, entered_ns, 0);
  }
}

bool PointToPoint::receive_from(const std::vector<int>& ranks, std::uint64_t stream,
                                std::int64_t entered_ns, std::int64_t took_ns) {
  Envelope envelope{.communicator = stream};
  bool is_recorded = false;
  for (const int from : ranks) {
    envelope.partner = from;
    is_recorded = ends_.received(envelope, entered_ns, entered_ns, took_ns) || is_recorded;
  }
  return is_recorded;
}

/// Treats the calls that begin and end epochs of a window as sends and receives. MPI_Win_post sends
/// to each rank that may access the window. MPI_Win_complete sends to each rank whose window was
/// accessed, and MPI_Win_wait receives these messages. MPI_Win_start and MPI_Win_complete both
/// receive the messages of MPI_Win_post, because it depends on the MPI library which of the two
/// waits for MPI_Win_post. A call that returns before MPI_Win_post is called, or is entered
/// afterwards, has not waited.
bool PointToPoint::after_window_call(const Function& function, const Arguments& arguments,
                                     std::int64_t entered_ns, std::int64_t left_ns) {
  Communicator* const window = communicators_.of_window(arguments.window(function.comm));
  if (window == nullptr || window->id == 0) return false;
  const auto stream = [&](std::uint64_t what) { return mixed(window->id, what); };
  auto& [exposed_to, accessed] = window->epochs;
  const std::int64_t took_ns = left_ns - entered_ns;
  bool may_wait = false;
  switch (function.meaning) {
    case Meaning::window_post:
      communicators_.list_world_ranks(arguments.group(function.group), exposed_to);
      send_to(exposed_to, stream(kPosted), entered_ns);
      send_to(exposed_to, stream(kPostedBeforeComplete), entered_ns);
      return false;
    case Meaning::window_start:
      communicators_.list_world_ranks(arguments.group(function.group), accessed);
      return receive_from(accessed, stream(kPosted), entered_ns, took_ns);
    case Meaning::window_complete:
      send_to(accessed, stream(kCompleted), entered_ns);
      may_wait = receive_from(accessed, stream(kPostedBeforeComplete), entered_ns, took_ns);
      accessed.clear();
      return may_wait;
    default: {  // MPI_Win_wait, MPI_Win_test
      if (found_nothing(function, arguments)) return false;
      may_wait = receive_from(exposed_to, stream(kCompleted), entered_ns, took_ns);
      exposed_to.clear();
      return may_wait;
    }
  }
}

void PointToPoint::begin_neighbourhood(const Communicator& communicator,
                                       const Neighbours& neighbours, Word request,
                                       bool is_persistent, std::int64_t entered_ns) {
  if (communicator.id == 0) return;
  Envelope envelope{.communicator = mixed(communicator.id, kNeighbourhood)};
  send_to(neighbours.to, envelope.communicator, entered_ns);
  Request state{.is_persistent = is_persistent};
  for (const int from : neighbours.from) {
    envelope.partner = from;
    const Id id = ends_.begin_receive(envelope, entered_ns);
    if (id == MessageEnds::kNone) continue;
    if (state.id == MessageEnds::kNone)
      state.id = id;
    else
      add_more(state, id);
  }
  if (state.id != MessageEnds::kNone) track(request, state);
}

void PointToPoint::add_more(Request& state, Id id) {
  if (state.more < 0 && free_more_.empty()) {
    state.more = static_cast<std::int32_t>(more_.size());
    more_.emplace_back();
  } else if (state.more < 0) {
    state.more = free_more_.back();
    free_more_.pop_back();
  }
  more_[state.more].push_back(id);
}

void PointToPoint::track(Word request, const Request& state) {
  Request& entry = requests_[request];
  // MPICH gives the same request handle to all operations that complete immediately.
  if (entry.id != MessageEnds::kNone) {
    if (!ends_.envelope(entry.id).is_exact()) return ends_.give_up();
    complete(entry, 0, 0);
  }
  entry = state;
}

void PointToPoint::complete(const Request& state, std::int64_t wait_begun_ns,
                            std::int64_t took_ns) {
  ends_.complete(state.id, wait_begun_ns, took_ns);
  if (state.more < 0) return;
  for (const Id id : more_[state.more]) ends_.complete(id, wait_begun_ns, took_ns);
  more_[state.more].clear();
  free_more_.push_back(state.more);
}

void PointToPoint::start(Word request, std::int64_t entered_ns) {
  const Persistent* const found = persistent_.find(request);
  if (found == nullptr) return;
  const Id id = found->is_send ? ends_.begin_send(found->envelope, entered_ns)
                               : ends_.begin_receive(found->envelope, entered_ns);
  if (id != MessageEnds::kNone)
    track(request, {.id = id, .is_persistent = true, .communicator = found->communicator});
}

const void* PointToPoint::status_of(const Function& function, const Arguments& arguments,
                                    int index) const {
  const Word word = arguments.word(function.status);
  if (mpi_.is_status_ignored(arguments.language(), word)) return nullptr;
  const auto* const statuses = reinterpret_cast<const char*>(word);
  if (!has_statuses(function.meaning)) return statuses;
  int position = index;
  if (function.index >= 0) {  // statuses are those of the completed requests, in any order
    const int first = arguments.language() == Language::c ? 0 : 1;
    const auto* const indices = reinterpret_cast<const int*>(arguments.word(function.index));
    const int count = *reinterpret_cast<const int*>(arguments.word(function.index_count));
    position = 0;
    while (position < count && indices[position] - first != index) ++position;
    if (position >= count) return nullptr;
  }
  return statuses + static_cast<std::size_t>(position) * mpi_.status_size();
}

bool PointToPoint::see_met(const Function& function, const Arguments& arguments, Word communicator,
                           Envelope& envelope, int index) {
  const void* const status = status_of(function, arguments, index);
  Communicator* const known = status == nullptr ? nullptr : communicators_.of(communicator);
  if (known != nullptr) {
    envelope.partner = known->world_rank(mpi_.source_of(status));
    envelope.tag = mpi_.tag_of(status);
    if (envelope.is_exact()) return true;
  }
  ends_.give_up();
  return false;
}

bool PointToPoint::after_wait(const Function& function, const Arguments& arguments,
                              std::int64_t entered_ns, std::int64_t left_ns) {
  bool may_wait = false;
  Completed completed(function, arguments);
  for (const Active& active : active_) {
    const Id id = active.state.id;
    if (!completed.contains(active.index, active.request, active.state.is_persistent)) continue;
    const Request* const known = requests_.find(active.request);
    // This request was handled before, because the program's array contains it twice.
    if (known == nullptr || known->id != id) continue;
    Envelope& envelope = ends_.envelope(id);
    if (!envelope.is_exact() &&
        !see_met(function, arguments, active.state.communicator, envelope, active.index))
      return false;
    requests_.erase(active.request);
    complete(active.state, entered_ns, left_ns - entered_ns);
    may_wait = true;
  }
  return may_wait;
}

}  // namespace poise::profile
