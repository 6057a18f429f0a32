#include "runtimes/profile/exchange.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace poise::profile {

namespace {

constexpr int kTag = 1;
constexpr std::size_t kPiece = 1 << 30;  // a message has at most 2^31 - 1 bytes

/// MPI_DOUBLE_INT.
struct Entry {
  double entered_s;
  int rank;
};

/// The reduction of one communicator's samples while it runs.
struct Reduction {
  Communicator* communicator;
  std::vector<Entry> own, last;
  double counts[2], largest_counts[2];
  Word request = 0;
};

}  // namespace

Exchange::Exchange(const MpiLibrary& mpi) : mpi_(mpi) {
  mpi.comm_dup(mpi.world, &own_);
  mpi.comm_rank(own_, &rank_);
  mpi.comm_size(own_, &size_);
}

std::vector<double> Exchange::largest(const std::vector<double>& own) const {
  std::vector<double> result(own.size());
  mpi_.allreduce(own.data(), result.data(), static_cast<int>(own.size()), mpi_.double_type,
                 mpi_.max, own_);
  return result;
}

bool Exchange::all_agree(double own) const {
  const std::vector<double> ends = largest({own, -own});
  return ends[0] == -ends[1];
}

void Exchange::find_waits(const std::vector<Communicator*>& communicators,
                          std::vector<Wait>& waits) const {
  std::vector<std::unique_ptr<Reduction>> reductions;
  for (Communicator* communicator : communicators) {
    if (communicator->is_inter || communicator->size < 2 || communicator->samples.kept().empty())
      continue;
    auto reduction = std::make_unique<Reduction>();
    reduction->communicator = communicator;
    const auto count = static_cast<double>(communicator->samples.kept().size());
    reduction->counts[0] = count;
    reduction->counts[1] = -count;
    reductions.push_back(std::move(reduction));
  }
  const auto wait_for_all = [&] {
    for (const auto& reduction : reductions) mpi_.wait(&reduction->request, mpi_.status_ignore);
  };
  // Non-blocking, since ranks need not have met their communicators in the same order.
  for (const auto& reduction : reductions)
    mpi_.iallreduce(reduction->counts, reduction->largest_counts, 2, mpi_.double_type, mpi_.max,
                    reduction->communicator->handle, &reduction->request);
  wait_for_all();
  // Ranks that kept different samples, of a collective that failed on some, cannot be compared.
  std::erase_if(reductions,
                [](const auto& r) { return r->largest_counts[0] != -r->largest_counts[1]; });
  for (const auto& reduction : reductions) {
    for (const Sample& sample : reduction->communicator->samples.kept())
      reduction->own.push_back({sample.part.delays ? 1e-9 * static_cast<double>(sample.entered_ns)
                                                   : std::numeric_limits<double>::lowest(),
                                reduction->communicator->rank});
    reduction->last.resize(reduction->own.size());
    mpi_.iallreduce(reduction->own.data(), reduction->last.data(),
                    static_cast<int>(reduction->own.size()), mpi_.double_int, mpi_.maxloc,
                    reduction->communicator->handle, &reduction->request);
  }
  wait_for_all();
  for (const auto& reduction : reductions) {
    const auto kept = reduction->communicator->samples.kept();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Entry& last = reduction->last[i];
      const std::int64_t waited =
          waited_ns(kept[i], static_cast<std::int64_t>(1e9 * last.entered_s));
      const int who = waited > 0 ? reduction->communicator->world_rank(last.rank) : -1;
      waits.push_back({kept[i].entered_ns, kept[i].took_ns, waited, who});
    }
  }
}

void Exchange::gather(std::string& bytes) const {
  for (int step = 1; step < size_; step *= 2) {
    if ((rank_ & step) != 0) {
      const std::uint64_t count = bytes.size();
      mpi_.send(&count, sizeof count, mpi_.byte, rank_ - step, kTag, own_);
      for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece)
        mpi_.send(bytes.data() + begin, static_cast<int>(std::min(kPiece, bytes.size() - begin)),
                  mpi_.byte, rank_ - step, kTag, own_);
      return;
    }
    if (rank_ + step >= size_) continue;
    std::uint64_t count = 0;
    void* const no_status = reinterpret_cast<void*>(mpi_.status_ignore);
    mpi_.recv(&count, sizeof count, mpi_.byte, rank_ + step, kTag, own_, no_status);
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(count));
    for (std::size_t begin = before; begin < bytes.size(); begin += kPiece)
      mpi_.recv(bytes.data() + begin, static_cast<int>(std::min(kPiece, bytes.size() - begin)),
                mpi_.byte, rank_ + step, kTag, own_, no_status);
  }
}

}  // namespace poise::profile
