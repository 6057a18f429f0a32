// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/interpret.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "runtimes/profile/hash.h"

namespace poise::profile {

namespace {

/// True if the collective takes a count per rank.
bool has_counts(Meaning meaning) {
  switch (meaning) {
    case Meaning::alltoallv:
    case Meaning::alltoallw:
    case Meaning::scatterv:
    case Meaning::reduce_scatter:
    case Meaning::allgatherv:
    case Meaning::neighbor_alltoallv:
    case Meaning::neighbor_alltoallw: return true;
    default: return false;
  }
}

bool has_types(Meaning meaning) {
  return meaning == Meaning::alltoallw || meaning == Meaning::neighbor_alltoallw;
}

/// The arguments, by position, from which the size of a collective is computed: the send count and
/// send datatype or, if MPI ignores them, the receive count and receive datatype.
struct Fields {
  int count, type;
};

Fields fields_of(const Function& function, const Arguments& arguments) {
  const bool reads_receiver =
      // Every rank knows the receive counts of all ranks.
      function.meaning == Meaning::allgatherv ||
      (function.receive_count >= 0 && (function.count < 0 || arguments.is_in_place()));
  if (!reads_receiver) return {function.count, function.type};
  return {function.receive_count,
          function.receive_type >= 0 ? function.receive_type : function.type};
}

}  // namespace

std::int64_t Arguments::number(int position) const {
  const Word word = words_[position];
  if (language_ == Language::fortran) return *reinterpret_cast<const std::int32_t*>(word);
  return function_.is_large ? static_cast<std::int64_t>(word) : static_cast<std::int32_t>(word);
}

std::int64_t Arguments::count(int position, int index) const {
  const Word word = words_[position];
  if (function_.is_large) return reinterpret_cast<const std::int64_t*>(word)[index];
  return reinterpret_cast<const std::int32_t*>(word)[index];
}

Word Arguments::handle_at(Word address, int index, Word (MpiLibrary::*convert)(int) const) const {
  if (language_ == Language::fortran || !mpi_.is_open_mpi) {
    const int value = reinterpret_cast<const std::int32_t*>(address)[index];
    return (mpi_.*convert)(value);
  }
  return reinterpret_cast<const Word*>(address)[index];
}

Word Arguments::comm(int position) const {
  if (language_ == Language::c) return mpi_.plain(words_[position]);
  return handle_at(words_[position], 0, &MpiLibrary::comm_of);
}

Word Arguments::type(int position, int index) const {
  if (index < 0 && language_ == Language::c) return mpi_.plain(words_[position]);
  return handle_at(words_[position], std::max(0, index), &MpiLibrary::type_of);
}

Word Arguments::window(int position) const {
  if (language_ == Language::c) return mpi_.plain(words_[position]);
  return handle_at(words_[position], 0, &MpiLibrary::win_of);
}

Word Arguments::group(int position) const {
  if (language_ == Language::c) return mpi_.plain(words_[position]);
  return handle_at(words_[position], 0, &MpiLibrary::group_of);
}

Word Arguments::request(int position, int index) const {
  return handle_at(words_[position], index, &MpiLibrary::request_of);
}

int Arguments::num_requests() const {
  return has_request_array(function_.meaning) ? static_cast<int>(number(function_.count)) : 1;
}

bool Arguments::has_request() const {
  for (int i = 0; i < num_requests(); ++i)
    if (request(function_.request, i) != mpi_.request_null) return true;
  return false;
}

Word Arguments::comm_at_address(int position) const {
  return handle_at(words_[position], 0, &MpiLibrary::comm_of);
}

Word Arguments::window_at_address(int position) const {
  return handle_at(words_[position], 0, &MpiLibrary::win_of);
}

Word Arguments::file(int position) const {
  return language_ == Language::c ? words_[position] : file_at_address(position);
}

Word Arguments::file_at_address(int position) const {
  const Word address = words_[position];
  if (language_ == Language::c) return *reinterpret_cast<const Word*>(address);
  return mpi_.file_of(*reinterpret_cast<const int*>(address));
}

bool Arguments::is_in_place() const {
  return function_.buffer >= 0 && mpi_.is_in_place(language_, words_[function_.buffer]);
}

bool found_nothing(const Function& function, const Arguments& arguments) {
  if (!is_poll(function)) return false;
  const int position = function.flag >= 0 ? function.flag : function.index_count;
  return *reinterpret_cast<const int*>(arguments.word(position)) == 0;
}

Completed::Completed(const Function& function, const Arguments& arguments)
    : function_(function), arguments_(arguments) {
  are_all_ = function.meaning == Meaning::wait || function.meaning == Meaning::waitall;
  if (function.meaning != Meaning::test && function.meaning != Meaning::testall) return;
  are_all_ = *reinterpret_cast<const int*>(arguments.word(function.flag)) != 0;
  are_none_ = !are_all_;
}

bool Completed::has_index(int index) {
  if (!has_indices_) read_indices();
  return std::binary_search(indices_.begin(), indices_.end(), index);
}

void Completed::read_indices() {
  has_indices_ = true;
  const auto* const indices = reinterpret_cast<const int*>(arguments_.word(function_.index));
  const int count = function_.index_count < 0
                        ? 1
                        : *reinterpret_cast<const int*>(arguments_.word(function_.index_count));
  const int first = arguments_.language() == Language::c ? 0 : 1;
  for (int i = 0; i < count; ++i) indices_.push_back(indices[i] - first);
  std::sort(indices_.begin(), indices_.end());
}

void Interpreter::before(const Function& function, const Arguments& arguments) {
  switch (function.meaning) {
    case Meaning::communicator_free:
      return communicators_.forget(arguments.comm_at_address(function.comm));
    case Meaning::window_free:
      return communicators_.forget_window(arguments.window_at_address(function.comm));
    case Meaning::file_close:
      return communicators_.forget_file(arguments.file_at_address(function.comm));
    case Meaning::type_free: sizes_ = {}; return;
    case Meaning::request_free: persistent_.erase(arguments.request(function.request)); return;
    case Meaning::start:
      if (const auto found = persistent_.find(arguments.request(function.request));
          found != persistent_.end())
        commit(found->second);
      return;
    case Meaning::startall:
      for (int i = 0; i < arguments.number(function.count); ++i)
        if (const auto found = persistent_.find(arguments.request(function.request, i));
            found != persistent_.end())
          commit(found->second);
      return;
    default: return;
  }
}

void Interpreter::after(const Function& function, const Arguments& arguments) {
  if (function.created_comm >= 0) return add_communicator(function, arguments);
  const bool sends = is_collective(function.meaning) || function.meaning == Meaning::send ||
                     function.meaning == Meaning::send_init || is_remote(function.meaning);
  if (!sends) return;
  traffic_.clear();
  if (is_collective(function.meaning))
    add_collective(function, arguments, traffic_);
  else
    add_point_to_point(function, arguments, traffic_);
  if (function.meaning == Meaning::send_init || function.mode == Mode::persistent)
    persistent_[arguments.request(function.request)] = traffic_;
  else
    commit(traffic_);
}

void Interpreter::add_communicator(const Function& function, const Arguments& arguments) {
  const Word made = arguments.comm_at_address(function.created_comm);
  if (function.meaning != Meaning::communicator_create_group)
    return communicators_.created(arguments.comm(function.comm), made, std::nullopt);
  if (made == mpi_.comm_null) return;
  // MPI_Comm_create_group is collective over the new communicator only, and its ranks may have
  // created different numbers of communicators before. So the new communicator is identified by its
  // parent, its tag, its members, and the number of communicators with the same parent, tag and
  // members created so far. MPI_Intercomm_create has a different parent in each group, and
  // MPI_Intercomm_merge and MPI_Comm_create_from_group have neither a parent nor a tag.
  const Word parent = function.comm < 0 ? mpi_.world : arguments.comm(function.comm);
  const std::uint64_t tag = function.tag < 0
                                ? std::uint64_t{1} << 32
                                : static_cast<std::uint32_t>(arguments.number(function.tag));
  communicators_.created(parent, made, mixed(tag, communicators_.hash_of_members(made)));
}

void Interpreter::add_point_to_point(const Function& function, const Arguments& arguments,
                                     std::vector<Traffic>& traffic) {
  Communicator* const communicator = is_remote(function.meaning)
                                         ? communicators_.of_window(arguments.window(function.comm))
                                         : communicators_.of(arguments.comm(function.comm));
  if (communicator == nullptr) return;
  const int peer = arguments.number(function.peer);
  if (peer == mpi_.proc_null) return;
  const auto size = [&](int count, int type) {
    return count < 0 ? size_of(arguments.type(type)) : bytes_of(arguments, count, type);
  };
  std::uint64_t bytes = size(function.count, function.type);
  if (function.partitions >= 0) bytes *= arguments.number(function.partitions);
  if (function.meaning != Meaning::put_and_get)
    return add(*communicator, peer, 1, bytes, function.meaning == Meaning::get, traffic);
  // With MPI_NO_OP, programs usually pass no data, because they only fetch.
  if (bytes > 0) add(*communicator, peer, 1, bytes, false, traffic);
  const int result = function.receive_type < 0 ? function.type : function.receive_type;
  add(*communicator, peer, 1, size(function.receive_count, result), true, traffic);
}

void Interpreter::add_collective(const Function& function, const Arguments& arguments,
                                 std::vector<Traffic>& traffic) {
  Communicator* const communicator = communicators_.of(arguments.comm(function.comm));
  if (communicator == nullptr) return;
  if (communicator->is_inter) {
    ++sums_.totals.not_understood;
    return;
  }
  if (is_neighbourhood(function.meaning))
    return add_neighbourhood(function, arguments, *communicator, traffic);
  Collective collective{
      .meaning = function.meaning, .rank = communicator->rank, .size = communicator->size};
  if (function.peer >= 0) collective.root = arguments.number(function.peer);
  const bool is_scatter =
      function.meaning == Meaning::scatter || function.meaning == Meaning::scatterv;
  // MPI ignores the send arguments of ranks other than the root.
  if (is_scatter && collective.rank != collective.root) return;
  if (function.meaning != Meaning::barrier) {
    const auto [count, type] = fields_of(function, arguments);
    if (has_counts(function.meaning)) {
      collective.block_bytes = [&arguments, &function, count = count, type = type,
                                this](int other) {
        const Word its =
            has_types(function.meaning) ? arguments.type(type, other) : arguments.type(type);
        return static_cast<std::uint64_t>(
                   std::max<std::int64_t>(0, arguments.count(count, other))) *
               size_of(its);
      };
    } else {
      const bool has_own =
          function.meaning != Meaning::gather && function.meaning != Meaning::gatherv;
      if (has_own || collective.rank != collective.root)
        collective.bytes = bytes_of(arguments, count, type);
    }
  }
  sends_of(collective, [&](int to, std::uint64_t messages, std::uint64_t bytes) {
    add(*communicator, to, messages, bytes, false, traffic);
  });
}

void Interpreter::add_neighbourhood(const Function& function, const Arguments& arguments,
                                    Communicator& communicator, std::vector<Traffic>& traffic) {
  const auto [count, type] = Fields{function.count, function.type};
  const std::vector<int>& receivers = neighbours(communicator).receivers;
  for (int i = 0; i < std::ssize(receivers); ++i) {
    const int peer = receivers[i];
    if (peer == mpi_.proc_null) continue;
    std::uint64_t bytes;
    if (has_counts(function.meaning)) {
      const Word its = has_types(function.meaning) ? arguments.type(type, i) : arguments.type(type);
      bytes = static_cast<std::uint64_t>(arguments.count(count, i)) * size_of(its);
    } else {
      bytes = bytes_of(arguments, count, type);
    }
    add(communicator, peer, 1, bytes, false, traffic);
  }
}

/// A topology never changes, so its neighbours are looked up once.
const Neighbours& Interpreter::neighbours(Communicator& communicator) const {
  if (communicator.neighbours != nullptr) return *communicator.neighbours;
  int kind = 0, count = 0;
  std::vector<int> receivers, senders;
  mpi_.topo_test(communicator.handle, &kind);
  if (kind == mpi_.cart) {
    mpi_.cartdim_get(communicator.handle, &count);
    for (int d = 0; d < count; ++d) {
      std::array<int, 2> both = {};  // neighbours in dimension d: one step back, one step forward
      mpi_.cart_shift(communicator.handle, d, 1, &both[0], &both[1]);
      receivers.insert(receivers.end(), both.begin(), both.end());
    }
  } else if (kind == mpi_.graph) {
    mpi_.graph_neighbors_count(communicator.handle, communicator.rank, &count);
    receivers.resize(count);
    mpi_.graph_neighbors(communicator.handle, communicator.rank, count, receivers.data());
  } else if (kind == mpi_.dist_graph) {
    int incoming = 0, is_weighted = 0;
    mpi_.dist_graph_neighbors_count(communicator.handle, &incoming, &count, &is_weighted);
    const std::size_t in = incoming, out = count;
    std::vector<int> in_weights(in), out_weights(out);
    senders.resize(in);
    receivers.resize(out);
    mpi_.dist_graph_neighbors(communicator.handle, incoming, senders.data(), in_weights.data(),
                              count, receivers.data(), out_weights.data());
  }
  const auto partners = [&](const std::vector<int>& ranks) {
    std::set<int> world_ranks;
    for (const int rank : ranks)
      if (rank != communicator.rank) world_ranks.insert(communicator.world_rank(rank));
    world_ranks.erase(-1);  // MPI_PROC_NULL, or not in MPI_COMM_WORLD
    return std::vector<int>(world_ranks.begin(), world_ranks.end());
  };
  auto result = std::make_unique<Neighbours>();
  result->to = partners(receivers);
  result->from = kind == mpi_.dist_graph ? partners(senders) : result->to;
  result->receivers = std::move(receivers);
  return *(communicator.neighbours = std::move(result));
}

std::uint64_t Interpreter::bytes_of(const Arguments& arguments, int count, int type) const {
  const std::int64_t number = arguments.number(count);
  return number <= 0 ? 0 : number * size_of(arguments.type(type));
}

std::uint64_t Interpreter::size_of(Word type) const {
  // Handles are integers that differ in their lowest bits (MPICH), or aligned addresses, whose
  // lowest bits are all 0 (Open MPI). The shifts make the index depend on higher bits, too.
  KnownSize& known = sizes_[(type ^ type >> 6 ^ type >> 12) % sizes_.size()];
  if (known.type == type && type != 0) return known.bytes;
  std::int64_t size = 0;
  mpi_.type_size(type, &size);
  known = {type, size < 0 ? 0 : static_cast<std::uint64_t>(size)};
  return known.bytes;
}

void Interpreter::add(Communicator& communicator, int peer, std::uint64_t messages,
                      std::uint64_t bytes, bool is_fetched, std::vector<Traffic>& traffic) {
  const int world = communicator.world_rank(peer);
  if (world < 0) {
    sums_.totals.outside_messages += messages;
    return;
  }
  traffic.push_back({static_cast<std::uint32_t>(world), is_fetched, messages, bytes});
}

void Interpreter::commit(const std::vector<Traffic>& traffic) {
  for (const Traffic& sent : traffic)
    sums_.traffic.add(sent.peer, sent.messages, sent.bytes, sent.is_fetched);
}

Communicator* Interpreter::joint(const Function& function, const Arguments& arguments) {
  switch (function.meaning) {
    case Meaning::window_free:
    case Meaning::file_close: return nullptr;  // taken() has found no window or file
    case Meaning::window_fence: return communicators_.of_window(arguments.window(function.comm));
    case Meaning::file_collective: return communicators_.of_file(arguments.file(function.comm));
    // Only the ranks of the new communicator have made this call.
    case Meaning::communicator_create_group:
      return communicators_.of(arguments.comm_at_address(function.created_comm));
    default: return communicators_.of(arguments.comm(function.comm));
  }
}

bool Interpreter::is_known(const Function& function, const Arguments& arguments) const {
  switch (function.meaning) {
    case Meaning::window_fence:
      return communicators_.is_known_window(arguments.window(function.comm));
    case Meaning::file_collective: return true;  // of_file() only looks the handle up in a table
    case Meaning::window_free:
    case Meaning::file_close:
    case Meaning::communicator_create_group: return false;
    default: return communicators_.is_known(arguments.comm(function.comm));
  }
}

std::unique_ptr<Communicator> Interpreter::taken(const Function& function,
                                                 const Arguments& arguments) {
  return function.meaning == Meaning::window_free
             ? communicators_.taken_window(arguments.window_at_address(function.comm))
             : communicators_.taken_file(arguments.file_at_address(function.comm));
}

void Interpreter::add_object(const Function& function, const Arguments& arguments,
                             Communicator& parent) {
  if (function.meaning == Meaning::window_create)
    communicators_.add_window(parent, arguments.window_at_address(function.created_object));
  else if (function.meaning == Meaning::file_open)
    communicators_.add_file(parent, arguments.file_at_address(function.created_object));
}

std::optional<Part> Interpreter::part_in(const Function& function, const Arguments& arguments,
                                         const Communicator& communicator) const {
  if (synchronises(function.meaning)) return Part{true, true};
  const auto is_root = [&] { return arguments.number(function.peer) == communicator.rank; };
  switch (function.meaning) {
    case Meaning::bcast:
    case Meaning::scatter:
    case Meaning::scatterv: return Part{is_root(), !is_root()};
    case Meaning::reduce:
    case Meaning::gather:
    case Meaning::gatherv: return Part{!is_root(), is_root()};
    case Meaning::scan:
    case Meaning::exscan:
      return Part{.delays = true, .waits = communicator.rank > 0, .is_for_lower = true};
    case Meaning::neighbor_allgather:
    case Meaning::neighbor_allgatherv:
    case Meaning::neighbor_alltoall:
    case Meaning::neighbor_alltoallv:
    case Meaning::neighbor_alltoallw: return std::nullopt;
    default:  // other calls that are collective over a communicator, a window, a file, …
      return Part{.delays = true, .waits = true, .may_overtake = true};
  }
}

std::uint64_t Interpreter::agreed_bytes(const Function& function,
                                        const Arguments& arguments) const {
  switch (function.meaning) {
    case Meaning::bcast:
    case Meaning::reduce:
    case Meaning::allreduce:
    case Meaning::scan:
    case Meaning::exscan: return bytes_of(arguments, function.count, function.type);
    default: return 0;
  }
}

}  // namespace poise::profile
